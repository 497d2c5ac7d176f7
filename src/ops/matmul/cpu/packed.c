/* Tiles of chains in registers, and A and B packed so that a tile reads them in order. */
#include "ops/matmul/cpu/product.h"

rung_status RUNG_ENTRY(matmul_packed)(const rung_task *task) {
  return RUNG_ENTRY(matmul_product)(task, 1);
}
