/* The public header as C11, with nothing included before it: what a caller's first program does. */
#include <rung/ranks.h>
#include <rung/rung.h>

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
  if (!sums() || !of_nccl()) return 1;
  printf("%s\n", rung_version());
  return 0;
}
