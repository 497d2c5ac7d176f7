/* The sum of an array that all GPUs of a machine have parts of, by NCCL: the same bits for any
 * number of them. GPUs of several processes or hosts do as much with a communicator of
 * ncclCommInitRank().
 *
 *   cc nccl.c $(pkg-config --cflags --libs rung) -I/usr/local/cuda/include -L/usr/local/cuda/lib64
 * \ -lcudart -lnccl -o nccl && ./nccl */
#include <rung/nccl.h>

#include <pthread.h>

enum { COUNT = 100000 };
static float data[COUNT];

/* A GPU, and what its thread makes of its part. */
typedef struct member {
  rung_context *context;
  ncclComm_t comm;
  float sum;
  rung_status bad;
} member;

static void *add_up(void *of) {
  member *self = (member *)of;
  rung_nccl nccl;
  if (rung_nccl_open(&nccl, self->comm, 60) != ncclSuccess) {
    fprintf(stderr, "nccl: %s\n", nccl.why);
    exit(1); /* the others would wait */
  }
  const int64_t first = (int64_t)COUNT * nccl.ranks.rank / nccl.ranks.count;
  int64_t count = (int64_t)COUNT * (nccl.ranks.rank + 1) / nccl.ranks.count - first;
  DLTensor part = rung_array_f32(data + first, &count), out = rung_number_f32(&self->sum);
  self->bad = rung_reduce_ranks(self->context, &nccl.ranks, RUNG_SUM, &part, &out, NULL);
  rung_nccl_close(&nccl);
  return NULL;
}

int main(int argc, char **argv) {
  static rung_context *contexts[RUNG_DEVICES];
  static ncclComm_t comms[RUNG_DEVICES];
  static member members[RUNG_DEVICES];
  pthread_t threads[RUNG_DEVICES];
  int count;
  for (int i = 0; i < COUNT; i++) data[i] = (float)(i % 16) / 4;
  rung_status bad = rung_open_devices(contexts, &count, argc > 1 ? argv[1] : "all", NULL);
  if (bad && count > 0) fprintf(stderr, "nccl: %s\n", rung_last_error(contexts[0]));
  if (bad || ncclCommInitAll(comms, count, NULL) != ncclSuccess) return 1;

  for (int i = 0; i < count; i++) {
    members[i].context = contexts[i];
    members[i].comm = comms[i];
    if (pthread_create(&threads[i], NULL, add_up, &members[i]) != 0) return 1;
  }
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  bad = members[0].bad; /* all ranks have the same */
  if (bad) fprintf(stderr, "nccl: %s\n", rung_last_error(contexts[0]));
  if (!bad) printf("the sum is %.0f, over %d ranks\n", (double)members[0].sum, count);

  for (int i = 0; i < count; i++) ncclCommDestroy(comms[i]);
  for (int i = 0; i < count; i++) rung_close(contexts[i]);
  return bad != RUNG_OK;
}
