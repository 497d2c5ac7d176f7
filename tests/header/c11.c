/* The public header as C11, with nothing included before it: what a caller's first program does. */
#include <rung/ranks.h>
#include <rung/rung.h>

#include <rung/lab.h>
#include <rung/nccl.h> /* by the stand-in for NCCL */

#include <stdio.h>
#include <string.h>

_Static_assert(RUNG_OK == 0 && RUNG_RANKS_FAILED == 15, "status values are pinned");

/* 1 + 2 + 3 + 4, with a struct whose size is said and one whose size is not. */
static int sums(void) {
  const float data[] = {1, 2, 3, 4};
  const int64_t count = 4;
  float sum = 0;
  rung_context *context;
  rung_call call = {.size = sizeof call, .rung = "serial"};
  rung_device_info opened = {.size = sizeof opened};
  rung_status status = rung_open(&context, &(rung_options){.device = "cpu", .threads = 1});
  DLTensor in = rung_array_f32(data, &count), out = rung_number_f32(&sum);
  if (!status) status = rung_reduce(context, RUNG_SUM, &in, RUNG_ALL, &out, &call);
  if (!status) status = rung_opened(context, &opened);
  if (status) printf("%s\n", rung_last_error(context));
  rung_close(context);
  return !status && sum == 10 && strcmp(call.used, "serial") == 0 && opened.threads == 1;
}

/* A job's line. */
static const char *nothing(const rung_lab_job *job) {
  (void)job;
  return NULL;
}
RUNG_LAB_KERNELS = {
    {.size = sizeof(rung_lab_kernel), .operation = "scan", .name = "none", .launch = nothing}, {0}};

static int lines(void) {
  const rung_lab_job job = {.size = sizeof job, .line = "n=-12 op=sum type=f32 inner=x outer="};
  return rung_lab_number(&job, "n", 3) == -12 && rung_lab_number(&job, "m", 3) == 3 &&
         rung_lab_number(&job, "inner", 4) == 4 && rung_lab_number(&job, "outer", 5) == 5 &&
         rung_lab_number(&job, "p", 6) == 6 && rung_lab_is(&job, "op", "sum") &&
         !rung_lab_is(&job, "op", "su") && !rung_lab_is(&job, "op", "sums") &&
         rung_lab_is(&job, "outer", "") && !rung_lab_is(&job, "ype", "f32") &&
         rung_lab_value(&job, "um") == NULL && rung_kernels[0].launch(&job) == NULL;
}

/* One rank of NCCL. */
static int of_nccl(void) {
  ncclComm_t comm;
  rung_nccl nccl;
  if (ncclCommInitAll(&comm, 1, NULL) != ncclSuccess) return 0;
  const int opened = rung_nccl_open(&nccl, comm, 0) == ncclSuccess && nccl.ranks.count == 1;
  return opened && rung_nccl_close(&nccl) == ncclSuccess && ncclCommDestroy(comm) == ncclSuccess;
}

int main(void) {
  rung_options options = {.device = "cpu"};
  rung_call call = {.rung = "auto"};
  if (strcmp(rung_version(), RUNG_VERSION) != 0) {
    printf("the library says %s, its header %s\n", rung_version(), RUNG_VERSION);
    return 1;
  }
  if (rung_status_text(RUNG_OK) == NULL || options.threads != 0 || call.used != NULL) return 1;
  if (!sums() || !of_nccl() || !lines()) return 1;
  printf("%s\n", rung_version());
  return 0;
}
