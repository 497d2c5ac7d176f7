/* What follows what where products of f16 and bf16 are made as products of f32. */
#include "ops/matmul/widened.h"

_Static_assert(sizeof(matmul_problem) <= RUNG_PROBLEM_BYTES, "a problem fits a step");

rung_status matmul_after_widening(const rung_task *task, rung_step *step) {
  const matmul_problem *p = task->problem;
  if (p->types.in == RUNG_F32) return RUNG_OK; /* it was the end */
  const matmul_widened of = matmul_widened_of(task);
  const bool narrow = p->types.out != RUNG_F32;
  rung_view *arrays = step->task.arrays;
  matmul_problem *product = (matmul_problem *)step->problem.bytes;
  *product = *p;
  product->types = matmul_types_of(RUNG_F32, RUNG_F32, false);
  product->batch_axes = p->batch > 1;
  arrays[MATMUL_A] = of.a.view;
  arrays[MATMUL_B] = of.b.view;
  arrays[MATMUL_ADDED] = task->arrays[MATMUL_ADDED];
  arrays[MATMUL_C] = task->arrays[MATMUL_C];
  if (narrow) { /* the chains alone: factors and what is added are the end's */
    product->alpha = 1;
    product->beta = 0;
    product->whole = task;
    arrays[MATMUL_ADDED].count = 0;
    arrays[MATMUL_C] = of.chains.view;
  }
  matmul_measure(product, arrays);
  return rung_choose(&matmul_operation, &step->task, product->types, NULL, &step->row, task->error);
}

rung_status matmul_after_chains(const rung_task *task, rung_step *step) {
  const matmul_problem *p = task->problem;
  const rung_task *whole = p->whole;
  if (whole == NULL) return RUNG_OK;
  matmul_problem *end = (matmul_problem *)step->problem.bytes;
  *end = *(const matmul_problem *)whole->problem;
  end->types.in = RUNG_F32;
  step->task.arrays[MATMUL_A] = task->arrays[MATMUL_C];
  step->task.arrays[MATMUL_ADDED] = whole->arrays[MATMUL_ADDED];
  step->task.arrays[MATMUL_C] = whole->arrays[MATMUL_C];
  step->row = matmul_operation.rows;
  while (step->row->then != matmul_after_widening) step->row++;
  return RUNG_OK;
}
