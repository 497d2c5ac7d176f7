/* All steps of one row, for one type: between two copies of it in the thread's scratch. */
static void NAME(rowwise_row)(void *arg, int64_t i, int thread) {
  const rung_task *task = arg;
  const stencil_problem *p = task->problem;
  const rung_view *out = &task->arrays[STENCIL_OUT];
  const size_t bytes = stencil_row_bytes(p);
  REAL *old = (REAL *)((char *)task->scratch + (size_t)thread * 2 * bytes);
  REAL *fresh = (REAL *)((char *)old + bytes);
  NAME(load_row)(task, i, old);
  for (int64_t s = 0; s < p->steps; s++) {
    NAME(step_chain)(p, old, fresh);
    REAL *swap = old;
    old = fresh;
    fresh = swap;
  }
  memcpy((REAL *)out->data + i * out->stride[0], old, (size_t)p->columns * sizeof *old);
  NAME(mean_row)(task, i, old);
}
