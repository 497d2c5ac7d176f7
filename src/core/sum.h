/* The canonical order of sums of floating-point numbers: one order of additions, the same on
 * every device, so that a sum has the same bits everywhere. Every operation that sums uses it.
 *
 * Let x[0 ... n) be the numbers, L = RUNG_SUM_LANES, R = RUNG_SUM_ROWS.
 *  1. Cut x into tiles of L * R consecutive elements; the last one may be shorter.
 *  2. Within a tile t[0 ... count), lane l (0 <= l < L) adds t[l], t[l + L], t[l + 2L] ... in this
 *     order: (t[l] + t[l + L]) + t[l + 2L] and so on. A missing element is -0.0; as v + -0.0 is v
 *     for every v, it may just as well be left out. A lane with no element at all is -0.0.
 *  3. The lanes of the tile fold by halves: for s = L/2, L/4 ... 2, 1, every lane l < s becomes
 *     lane[l] + lane[l + s]. Lane 0 is then the tile's sum.
 *  4. The tiles' sums, in the tiles' order, are an array of ceil(n / (L * R)) numbers. More than
 *     one: sum it by the same rule from step 1. One: it is the sum.
 * Every addition rounds once, to nearest, in the array's own type, subnormals kept; none is fused
 * or re-associated. The sum of nothing is +0. A NaN gives a NaN whose sign and payload are not
 * promised.
 *
 * An element takes part in at most R - 1 + log2(L) = 26 additions a level, and n <= (L * R)^levels,
 * so |error| <= 26 * levels * u * sum|x| to first order (u = 2^-24 for float, 2^-53 for double),
 * where one running sum may err by (n - 1) * u * sum|x|.
 *
 * The two numbers are part of the contract: changing either changes results. They were chosen by
 * measurement: 2048 lanes are a block's full width on a GPU, and a CPU takes them in strips of
 * registers, all rows of a strip in one go. */
#ifndef RUNG_CORE_SUM_H
#define RUNG_CORE_SUM_H

#define RUNG_SUM_LANES 2048
#define RUNG_SUM_ROWS 16
#define RUNG_SUM_TILE (RUNG_SUM_LANES * RUNG_SUM_ROWS)

#endif
