/* The operations, named once: what must cover all of them is made from this list, in this order. */
#ifndef RUNG_OPS_OPERATIONS_H
#define RUNG_OPS_OPERATIONS_H

#define RUNG_EVERY_OPERATION(X) \
  X(stencil) X(reduce) X(scan) X(matmul) X(correlate) X(histogram) X(pairs)

#define RUNG_COUNT_ONE(name) +1
enum { RUNG_OPERATIONS = 0 RUNG_EVERY_OPERATION(RUNG_COUNT_ONE) };

#endif
