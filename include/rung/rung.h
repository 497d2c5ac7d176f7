/* Rung: fast data-parallel kernels with the same bits on every device.
 *
 * This header is the whole public interface. It compiles as C11 and as C++17.
 *
 * Conventions, stated once:
 *  - Arrays are DLPack DLTensors, borrowed for the length of a call and never owned. Any strides
 *    are accepted (negative and zero ones too on inputs); NULL strides mean compact row-major.
 *  - Arrays may lie in host memory (kDLCPU, kDLCUDAHost) or, for a CUDA context, in the memory of
 *    its device (kDLCUDA). All arrays of one call lie on the same side.
 *  - Every call that can fail returns a rung_status; 0 is success. After a failure
 *    rung_last_error() holds one sentence that names the argument, its value and what would be
 *    accepted. A call refused for its arguments has written nothing.
 *  - Calls on host arrays return when the result is there. Calls on device arrays are
 *    asynchronous on the context's stream.
 *  - A context serves one thread at a time; different contexts share nothing.
 *  - The library never prints, exits or aborts. */
#ifndef RUNG_RUNG_H
#define RUNG_RUNG_H

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#define RUNG_VERSION_MAJOR 0
#define RUNG_VERSION_MINOR 1
#define RUNG_VERSION_PATCH 0
#define RUNG_VERSION "0.1.0"

#if defined(__GNUC__)
#define RUNG_API __attribute__((visibility("default")))
#else
#define RUNG_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status ------------------------------------------------------------------------------- */

/* What a call came to. Values are pinned: they never change meaning and are never reused. */
typedef enum rung_status {
  RUNG_OK = 0,
  RUNG_BAD_ARGUMENT = 1,   /* a value outside what the argument allows */
  RUNG_BAD_SHAPE = 2,      /* a shape, stride or number of dimensions that does not fit */
  RUNG_BAD_DTYPE = 3,      /* an element type the operation does not take */
  RUNG_BAD_PLACE = 4,      /* an array in memory the context cannot reach */
  RUNG_OVERLAP = 5,        /* an output that shares memory with another array */
  RUNG_UNKNOWN_NAME = 6,   /* no rung, preset, device or instruction set of that name */
  RUNG_UNSUPPORTED = 7,    /* this rung cannot do this job here; the sentence says why */
  RUNG_NO_DEVICE = 8,      /* the device asked for is not there, or the build lacks its backend */
  RUNG_OUT_OF_MEMORY = 9,  /* host or device memory ran out */
  RUNG_TOO_LARGE = 10,     /* a size whose bytes or indices do not fit in 64 bits */
  RUNG_DEVICE_FAILED = 11, /* the device reported an error; the context must be closed */
  RUNG_BAD_FILE = 12,      /* (the command only) a file that is not what it says it is */
  RUNG_FILE_FAILED = 13,   /* (the command only) a file that cannot be read or written */
  RUNG_CHECK_FAILED = 14   /* (the lab only) a result that is not the one required */
} rung_status;

/* The status's own short text, "out of memory" for one: never NULL, static, for any value. */
RUNG_API const char *rung_status_text(rung_status status);

/* "0.1.0": the version of the library that is linked, against RUNG_VERSION of this header. */
RUNG_API const char *rung_version(void);

/* ---- context ------------------------------------------------------------------------------ */

typedef struct rung_context rung_context;

/* All members may be zero; each zero asks for the default. */
typedef struct rung_options {
  const char *device; /* "cpu", "cuda", "cuda:<index>", "auto" (default: the first CUDA device
                         that works, else the CPU). Borrowed for the call. */
  int threads;        /* CPU threads; 0: as many as the process may use. 1 ... 4096. */
  const char *isa;    /* CPU instruction set: "baseline", "avx2", "avx512", NULL: the best this
                         CPU has, or what the environment's RUNG_ISA says. */
  void *stream;       /* the caller's cudaStream_t, borrowed until rung_close(); NULL: a stream
                         of the context's own. Ignored on the CPU. */
} rung_options;

/* Opens a context. *context receives a context even on failure (unless host memory itself is out:
 * then NULL), so that rung_last_error(*context) can say why; close it in every case.
 * options may be NULL: all defaults.
 *
 * The environment's RUNG_MEMORY_LIMIT, bytes as "3000000" or "64M" (K, M, G: 2^10, 2^20, 2^30), is
 * the most of the device's memory that the context takes for scratch, staged arrays and packed
 * ones: jobs that need more are cut into pieces, with the same bits, or refused (OUT_OF_MEMORY).
 *
 * Status: OK, NO_DEVICE, UNKNOWN_NAME, BAD_ARGUMENT,
 * UNSUPPORTED (an instruction set this CPU lacks, a GPU below 7.5), OUT_OF_MEMORY,
 * DEVICE_FAILED. */
RUNG_API rung_status rung_open(rung_context **context, const rung_options *options);

/* Waits for the work the context has under way, frees what it owns. NULL is allowed. */
RUNG_API void rung_close(rung_context *context);

/* Waits until all work of this context is done and reports what went wrong in it. */
RUNG_API rung_status rung_synchronize(rung_context *context);

/* One sentence about the last failed call on this context; "" if none failed. Never NULL; valid
 * until the next call on the context. NULL context: "out of memory". */
RUNG_API const char *rung_last_error(const rung_context *context);

/* How a single call is to be run. NULL or all zero: the best canonical rung. */
typedef enum rung_math {
  RUNG_MATH_STRICT = 0, /* the same bits everywhere */
  RUNG_MATH_FAST = 1    /* faster arithmetic within the error bound the operation states */
} rung_math;

typedef struct rung_call {
  const char *rung; /* a rung's name as `rung ladder` lists it; NULL or "auto": the best one */
  int block;        /* threads per block, 1 ... 1024; 0: the rung's own. Rungs that choose their
                       block themselves, and those of the CPU, take no notice of it. */
  rung_math math;
  const char *used; /* written: the name of the rung that ran (static storage) */
} rung_call;

/* ---- stencil: a weighted row stencil applied p times ----------------------------------------
 *
 * Rows are independent. One step, for every column j that is not fixed:
 *     new[j] = sum over k = -radius ... radius of (weights[k + radius] / divide) * old[j + k]
 * Order of arithmetic: one chain of fused multiply-adds from the rightmost tap to the leftmost,
 * with the weights put on a grid first so that their sum is kept: docs/NUMERICS.md states it. */

#define RUNG_STENCIL_MAX_RADIUS 8

/* What stands beyond a row's ends; names and meaning as in scipy.ndimage. */
typedef enum rung_edge {
  RUNG_EDGE_WRAP = 0,     /* a b c d | a b c d | a b c d */
  RUNG_EDGE_CONSTANT = 1, /* k k k k | a b c d | k k k k */
  RUNG_EDGE_NEAREST = 2,  /* a a a a | a b c d | d d d d */
  RUNG_EDGE_REFLECT = 3,  /* d c b a | a b c d | d c b a */
  RUNG_EDGE_MIRROR = 4    /*   d c b | a b c d | c b a   */
} rung_edge;

typedef struct rung_stencil_model {
  int radius;            /* 1 ... RUNG_STENCIL_MAX_RADIUS */
  const double *weights; /* 2 * radius + 1 finite values, from the leftmost tap to the rightmost */
  double divide;         /* finite, not 0: every weight is divided by it */
  int64_t steps;         /* p >= 0; 0 copies the input */
  int64_t fixed;         /* the first so many columns keep their values; 0 ... columns */
  rung_edge edge;
  double edge_value; /* for RUNG_EDGE_CONSTANT; rounded to the arrays' type */
} rung_stencil_model;

/* in:    (rows, columns), f32 or f64, rows >= 1, columns >= 1.
 * out:   the same shape and dtype; zero strides refused. It is the very same view as `in` (done in
 *        place) or shares no memory with it.
 * means: NULL, or (rows), the dtype of `in`: the mean of every row of `out`, in the canonical
 *        order of sums (docs/NUMERICS.md), divided in double. */
RUNG_API rung_status rung_stencil(rung_context *context, const rung_stencil_model *model,
                                  const DLTensor *in, DLTensor *out, DLTensor *means,
                                  rung_call *call);

/* ---- radiator: heat in a cylindrical radiator ------------------------------------------------
 *
 * The stencil of radius 2 on a grid whose left columns are hot. Row i (from 0) of n:
 *   column 0: hot[0] * ((i + 1) / n)^power,   column 1, if fixed: hot[1] * the same;
 *   the others start at `start`, or, where falling != 0, at column0 * (m - j)^2 / m^2.
 * Columns `fixed` and up take steps; both ends wrap. Every start value is computed in double in
 * the order written here and rounded once to the grid's type. */
typedef struct rung_radiator_model {
  double weights[5];
  double divide;
  double hot[2];
  int power;   /* 1 or 2 */
  int fixed;   /* 1 or 2 */
  int falling; /* 0 or 1 */
  double start;
} rung_radiator_model;

/* Fills *model from a preset: "2016", "2019", "2021", "2023", "2025"; NULL: "2019". Returns
 * RUNG_UNKNOWN_NAME and leaves *model alone for any other name. */
RUNG_API rung_status rung_radiator_preset(const char *name, rung_radiator_model *model);

/* The presets' names, oldest first, ended by NULL. Static. */
RUNG_API const char *const *rung_radiator_presets(void);

/* Computes the model's start and takes `steps` >= 0 steps.
 * grid:  (n, m), f32 or f64, n >= 1, m >= 4: written; read never. Zero strides refused.
 * means: NULL, or (n), the grid's dtype: the mean of every row, as in rung_stencil(). */
RUNG_API rung_status rung_radiator(rung_context *context, const rung_radiator_model *model,
                                   int64_t steps, DLTensor *grid, DLTensor *means, rung_call *call);

/* ---- reduce: sum, minimum, maximum, mean ------------------------------------------------------
 *
 * Sum of floats: the canonical order (docs/NUMERICS.md) over the elements in row-major order of
 *   their indices, whatever the strides; along an axis, over each line's elements in the order of
 *   their indices. Of integers: in 64 bits, modulo 2^64. The sum of nothing is +0.
 * Minimum, maximum: IEEE 754-2019 minimum and maximum: a NaN wins, -0 is below +0. Those of nothing
 *   are refused (RUNG_BAD_SHAPE) wherever there is a result to write.
 * Mean of n: the sum, to double, over n in double, rounded to out's type. Of nothing: a NaN. */
typedef enum rung_reduction {
  RUNG_SUM = 0,
  RUNG_MIN = 1,
  RUNG_MAX = 2,
  RUNG_MEAN = 3
} rung_reduction;

/* For `axis`: everything to one number. */
#define RUNG_ALL (-2147483647 - 1)

/* in:   u8, i32, u32, i64, u64, f32 or f64; 0 to 8 dimensions, at most 2^40 elements to a result.
 * axis: 0 ... ndim - 1, or -1 ... -ndim counted from the last, or RUNG_ALL.
 * out:  the shape of `in` without the axis; where that leaves no dimension, 0 dimensions or shape
 *       (1). Its dtype is that of `in` for minimum and maximum, and for sum and mean of floats; i64
 *       or u64 for the sum of signed or unsigned integers, f64 for their mean. Zero strides
 *       refused. Shares no memory with `in`. */
RUNG_API rung_status rung_reduce(rung_context *context, rung_reduction what, const DLTensor *in,
                                 int axis, DLTensor *out, rung_call *call);

/* ---- scan: sums, minima or maxima of all beginnings --------------------------------------------
 *
 * Along the last axis, inclusive: out[i] is the sum, minimum or maximum of in[0 ... i]. Exclusive:
 * of in[0 ... i - 1], and out[0] that of nothing: 0 (+0), the largest number of the type for a
 * minimum (+inf of floats), the least for a maximum (-inf).
 *
 * Sum of floats: one fixed association, the same everywhere (docs/NUMERICS.md); exclusive[i + 1]
 *   need not have the bits of inclusive[i]. Of integers: modulo 2^bits.
 * Minimum, maximum: IEEE 754-2019 minimum and maximum: a NaN wins and stays, -0 is below +0.
 *
 * what:      RUNG_SUM, RUNG_MIN or RUNG_MAX.
 * in:        i32, u32, i64, u64, f32 or f64; 1 to 8 dimensions, at most 2^40 elements in a line.
 * exclusive: 0 or 1.
 * out:       in's shape and dtype. Zero strides refused. The very view of `in`, or no memory
 *            shared with it. */
RUNG_API rung_status rung_scan(rung_context *context, rung_reduction what, const DLTensor *in,
                               int exclusive, DLTensor *out, rung_call *call);

/* ---- histogram: how many elements fall into each bin -------------------------------------------
 *
 * Bins, numbered from 0:
 *   RUNG_BINS_MODULO  of integers: element x falls into bin x mod count, never negative
 *   RUNG_BINS_EVEN    bin k holds e_k <= x < e_(k+1), the last one its upper edge too: the bins of
 *                     numpy.histogram(x, count, (low, high))
 *   RUNG_BINS_EDGES   the same with e_k = edges[k]
 *   RUNG_BINS_BYTES   of u8: 256 bins, one a value
 *
 * Even edges, in double: e_k = k * ((high - low) / count) + low, e_count = high. (Where that
 * quotient underflows to 0: e_k = (k / count) * (high - low) + low.) Of f32 elements every edge is
 * rounded to float, as numpy's are. In full: the largest k < count with e_k <= x, for
 * e_0 <= x <= e_count.
 *
 * Elements are compared with edges as doubles; an i64 is rounded to the nearest double first. What
 * is below e_0, above e_count or NaN is counted apart, never dropped silently or moved into a bin.
 * Counts are exact, and so the same everywhere. */
typedef enum rung_bins_kind {
  RUNG_BINS_MODULO = 0,
  RUNG_BINS_EVEN = 1,
  RUNG_BINS_EDGES = 2,
  RUNG_BINS_BYTES = 3
} rung_bins_kind;

#define RUNG_MAX_BINS 1048576

typedef struct rung_bins {
  rung_bins_kind kind;
  int64_t count;       /* 1 ... RUNG_MAX_BINS; for bytes 0 or 256 */
  double low, high;    /* even: finite, low < high, and so is their distance; of f32 elements within
                          float's range */
  const double *edges; /* edges: count + 1 finite values, each above the one before; host memory */
} rung_bins;

/* in:      u8, u16, i32, u32, i64, f32 or f64 (modulo: integers only); 0 to 8 dimensions.
 * counts:  (count): of the whole of `in`; or (rows, count), where `in` is (rows, columns): a
 *          histogram of every row. i64 or u64. Written whole, not added to.
 * outside: NULL, or the same without the bins and with 3 in their place: how many elements are
 *          below e_0, above e_count, NaN. i64 or u64. (modulo, bytes: zeros.)
 * Zero strides refused in counts and outside; no two arrays share memory. */
RUNG_API rung_status rung_histogram(rung_context *context, const rung_bins *bins,
                                    const DLTensor *in, DLTensor *counts, DLTensor *outside,
                                    rung_call *call);

/* ---- pairs: how many pairs of points are how far apart -----------------------------------------
 *
 * Counts pairs by distance: all pairs i < j of one set, or every point of a with every point of b.
 *
 * Distance, in double, without contraction, of points p and q (f32 coordinates are converted):
 *     d2 = (dx * dx + dy * dy) + dz * dz,  dx = p.x - q.x ...,  d = sqrt(d2)
 * In a box it is the least over the images of q, of points that were first brought into the cell
 * (src/ops/pairs/pairs.h states both to the last rounding); a point that has no place there, for it
 * is not finite or some 2^45 cells away, is at the distance NaN from all others.
 *
 * Bins, numbered from 0: bin k holds the pairs with (int)(d / width) == k; or, of given edges, with
 * edges[k] <= d < edges[k + 1], the last one open too. A pair below the first edge, at or above the
 * last one, or whose distance is NaN, is counted apart, never dropped. Counts are exact, and so the
 * same everywhere. */

/* The cell of a periodic system, three vectors from the origin. Any shape and orientation, either
 * handedness; orthorhombic: a = (x, 0, 0), b = (0, y, 0), c = (0, 0, z). GROMACS and LAMMPS write
 * triclinic ones as a = (lx, 0, 0), b = (xy, ly, 0), c = (xz, yz, lz). */
typedef struct rung_box {
  double a[3], b[3], c[3]; /* finite, of lengths 1e-70 ... 1e70; in no plane */
} rung_box;

/* How far from each other two points of a box may be with no doubt which images are meant: half the
 * length of the shortest vector between images of one point. BAD_ARGUMENT, *reach untouched: no
 * cell; the context (which may be NULL) has the sentence. */
RUNG_API rung_status rung_box_reach(rung_context *context, const rung_box *box, double *reach);

/* A set of points. The tensors are borrowed for the call. */
typedef struct rung_points {
  const DLTensor *at;        /* (n, 3), f32 or f64; 0 <= n < 2^31 */
  const DLTensor *weights;   /* NULL, or (n), f64 */
  const DLTensor *molecules; /* NULL, or (n), i64: pairs of the same number are not counted
                                anywhere; a negative number is that of no molecule */
} rung_points;

typedef struct rung_distances {
  int64_t count;       /* 1 ... RUNG_MAX_BINS */
  double width;        /* above 0, finite, and so is count * width; not looked at where there are
                          edges */
  const double *edges; /* NULL, or count + 1 finite values from 0 up, each above the one before;
                          host memory */
} rung_distances;

/* a:       a set.
 * b:       NULL: pairs within a; or the other set, of a's dtype. Both have molecules or neither.
 * box:     NULL: open space. In a box the last edge may not be beyond rung_box_reach().
 * bins:    the last edge is count * width, or edges[count].
 * counts:  (count), i64 or u64: written whole.
 * outside: NULL, or (3), i64 or u64: pairs below the first edge, at or above the last, NaN.
 * sums:    NULL, or (count), f64: the sum over a bin's pairs of the product of their weights, which
 *          the sets must have. Each product, in double, is rounded to a multiple of 2^(e - 62),
 *          where 2^e is the least power of two above the product of the two sets' largest
 *          magnitudes (within one set: of the largest with itself); the sum of these is exact and
 *          rounded once, so that order means nothing. Where that largest product is not finite,
 *          as with any weight that is not, every sum is NaN.
 * Zero strides refused in outputs, which share memory with nothing; inputs may share theirs. */
RUNG_API rung_status rung_pairs(rung_context *context, const rung_points *a, const rung_points *b,
                                const rung_box *box, const rung_distances *bins, DLTensor *counts,
                                DLTensor *outside, DLTensor *sums, rung_call *call);

/* The radial distribution function of counted pairs, over any number of frames:
 *     g[k] = counts[k] / (density * shell_k),  shell_k = 4/3 pi (e_(k+1)^3 - e_k^3)
 * density: the sum over frames of (pairs / volume), where pairs is n (n - 1) / 2 within a set (less
 * the pairs that molecules exclude, if that is what is wanted) and n_a n_b between two.
 *     neighbours[k] = per * (counts[0] + ... + counts[k])
 * is the running coordination number: per = 2 / (n frames) within a set, 1 / (n_a frames) between.
 * counts: bins->count values. g, neighbours: NULL, or as many, written. BAD_ARGUMENT, nothing
 * written: bins that rung_pairs() would refuse, counts NULL, a density not above 0 or not finite
 * (where g is asked for), a `per` not finite (where neighbours are). */
RUNG_API rung_status rung_pairs_rdf(const rung_distances *bins, const int64_t *counts,
                                    double density, double per, double *g, double *neighbours);

#ifdef __cplusplus
}
#endif
#endif
