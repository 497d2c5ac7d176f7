/* The same on all cores: blocks of rows are dealt out, or the matrices of a batch. */
#include "ops/matmul/cpu/product.h"

rung_status RUNG_ENTRY(matmul_threads)(const rung_task *task) {
  return RUNG_ENTRY(matmul_product)(task, (int)task->device->threads);
}
