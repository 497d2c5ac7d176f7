#include "core/work.h"

#include "lab/lab.h"

bool lab_work(const rung_context *context, int64_t *number, double *part) {
  return rung_work_of(context, number, part);
}
