/* Calls over the ranks of NCCL: the bits of one call on the whole; messages of all lengths; a rank
 * that fails, one that never comes, and then all of them again. With the stand-ins beside this file
 * (standin/), ranks are threads on CPUs, and every call of NCCL and CUDA fails once; with NCCL and
 * CUDA, ranks are all GPUs of the machine, a thread each:
 *
 *   cc -O2 -Iinclude -I/usr/local/cuda/include -I$NCCL/include tests/nccl/ranks.c \
 *     -o build/nccl-ranks -Lbuild/cuda -lrung -L/usr/local/cuda/lib64 -lcudart \
 *     $NCCL/lib/libnccl.so.2 -lpthread \
 *     -Wl,-rpath,$PWD/build/cuda:/usr/local/cuda/lib64:$NCCL/lib && build/nccl-ranks --time
 *
 * where $NCCL has include/nccl.h (PyTorch's: .../site-packages/nvidia/nccl), and -I of DLPack where
 * that is not in /usr/include. A line a check; the last one is "the same bits over ranks of NCCL".
 * --time: how long exchanges take, too. Exit status 77: there is no GPU. */
#include <rung/nccl.h>

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { MOST = 5, TOTAL = 100003, BINS = 20, POINTS = 500, LONG = 20000000 };

/* What all ranks do at once; `with` is theirs together. */
typedef void job(int rank, int count, rung_nccl *nccl, rung_context *context);

typedef struct member {
  job *work;
  ncclComm_t comm;
  int rank, count;
  double deadline;
  rung_context *context;
  ncclResult_t opened, closed;
  char why[RUNG_TEXT]; /* what opening failed by */
} member;

static float data[TOTAL], wanted[MOST][TOTAL], found[MOST][TOTAL];
static int wrong, others; /* others: GPUs, or what stands for them */
static size_t shrunk = 1; /* chunks and long messages, by this factor */
static ncclComm_t comms[MOST];
static rung_context *contexts[MOST];
static pthread_barrier_t all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#ifdef RUNG_STANDIN
static atomic_int noticed;
#endif

static void check(int right, int rank, const char *what, const char *said) {
  if (right) return;
  pthread_mutex_lock(&lock);
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, said);
  wrong++;
  pthread_mutex_unlock(&lock);
}

/* ---- ranks -------------------------------------------------------------------------------------
 */

/* The device that is current in a rank's thread: another one than its own, where there is one. */
static void make_current(int rank, int count) {
#ifdef RUNG_STANDIN
  standin_rank = rank;
  standin_device = (rank + 1) % count;
#else
  check(cudaSetDevice((rank + 1) % count) == cudaSuccess, rank, "cudaSetDevice", "");
#endif
}

static void compare_current(int rank, int count) {
#ifdef RUNG_STANDIN
  const int device = standin_device;
  check(standin_depth == 0, rank, "a group that is not over", "");
  if (standin_faulty == rank) return; /* it may be the very call that fails */
#else
  int device = -1;
  cudaGetDevice(&device);
#endif
  check(device == (rank + 1) % count, rank, "another device is current", "");
}

static void *live(void *of) {
  member *m = (member *)of;
  rung_nccl nccl;
  make_current(m->rank, m->count);
  m->opened = rung_nccl_open(&nccl, m->comm, m->deadline);
  if (m->opened == ncclSuccess) {
    nccl.chunk /= shrunk;
    if (m->work != NULL) m->work(m->rank, m->count, &nccl, m->context);
    m->closed = rung_nccl_close(&nccl);
  }
  memcpy(m->why, nccl.why, sizeof m->why);
  compare_current(m->rank, m->count);
  return NULL;
}

/* Runs work() by `count` ranks; NULL: they open and close. */
static void run(int count, double deadline, job *work, member members[MOST]) {
  pthread_t threads[MOST];
  pthread_barrier_init(&all, NULL, (unsigned)count);
  for (int r = 0; r < count; r++) {
    memset(&members[r], 0, sizeof members[r]);
    members[r].work = work;
    members[r].comm = comms[r];
    members[r].rank = r;
    members[r].count = count;
    members[r].deadline = deadline;
    members[r].context = contexts[r];
    if (pthread_create(&threads[r], NULL, live, &members[r]) != 0) abort();
  }
  for (int r = 0; r < count; r++) pthread_join(threads[r], NULL);
  pthread_barrier_destroy(&all);
}

static void open_comms(int count) {
  int devices[MOST];
  for (int r = 0; r < count; r++) devices[r] = r;
  check(ncclCommInitAll(comms, count, devices) == ncclSuccess, 0, "ncclCommInitAll", "");
}

/* Nothing is left, and nothing would have hung. */
static void compare_left(void) {
#ifdef RUNG_STANDIN
  check(standin_live == 0, 0, "something is left", "");
  check(standin_hangs == 0, 0, "something would have hung", "");
  standin_live = standin_hangs = 0;
#endif
}

static void close_comms(int count) {
  for (int r = 0; r < count; r++)
    check(ncclCommDestroy(comms[r]) == ncclSuccess, r, "ncclCommDestroy", "");
  compare_left();
}

static void say(const char *name, int count, int before) {
  printf("%s: %s, %d rank%s\n", wrong == before ? "passed" : "failed", name, count,
         count == 1 ? "" : "s");
  fflush(stdout);
}

/* ---- the same bits -----------------------------------------------------------------------------
 */

static int64_t cut(int rank, int count) { /* the second rank has nothing */
  return rank == 2 && count > 2 ? TOTAL / count : (int64_t)TOTAL * rank / count;
}

/* Rows of `columns` elements that a rank has, of as many as fit into `rows`. */
static int64_t row(int rank, int count, int64_t rows) {
  return rows * rank / count;
}

static void lines(int rank, int count, rung_nccl *nccl, rung_context *context) {
  const rung_bins bins = {.kind = RUNG_BINS_EVEN, .count = BINS, .low = 0, .high = 1};
  const rung_ranks *ranks = &nccl->ranks;
  int64_t length = TOTAL, first = cut(rank, count), mine = cut(rank + 1, count) - first;
  int64_t bars = BINS, counts[2][BINS] = {{0}};
  float sums[2] = {0, 0}, *out = found[rank] + first;
  DLTensor whole = rung_array_f32(data, &length), in = rung_array_f32(data + first, &mine);
  DLTensor scanned = rung_array_f32(wanted[rank], &length), part = rung_array_f32(out, &mine);
  DLTensor sum = rung_number_f32(&sums[0]), over = rung_number_f32(&sums[1]);
  DLTensor counted = rung_array_i64(counts[0], &bars), together = rung_array_i64(counts[1], &bars);
  const int bad = rung_reduce(context, RUNG_SUM, &whole, RUNG_ALL, &sum, NULL) ||
                  rung_scan(context, RUNG_SUM, &whole, 0, 1, &scanned, NULL) ||
                  rung_histogram(context, &bins, &whole, &counted, NULL, NULL) ||
                  rung_reduce_ranks(context, ranks, RUNG_SUM, &in, &over, NULL) ||
                  rung_scan_ranks(context, ranks, RUNG_SUM, &in, 1, &part, NULL) ||
                  rung_histogram_ranks(context, ranks, &bins, &in, &together, NULL, NULL);
  check(!bad, rank, "lines", rung_last_error(context));
  check(memcmp(&sums[0], &sums[1], sizeof sums[0]) == 0, rank, "other sums", "");
  check(memcmp(wanted[rank] + first, out, (size_t)mine * sizeof *out) == 0, rank, "other scans",
        "");
  check(memcmp(counts[0], counts[1], sizeof counts[0]) == 0, rank, "other counts", "");
}

static void pairs(int rank, int count, rung_nccl *nccl, rung_context *context) {
  const int64_t first = row(rank, count, POINTS);
  int64_t shape[2] = {POINTS, 3}, part[2] = {row(rank + 1, count, POINTS) - first, 3};
  int64_t bars = BINS, counts[2][BINS] = {{0}};
  const rung_distances bins = {.count = BINS, .width = 0.05};
  DLTensor whole = rung_array(data, rung_type(kDLFloat, 32), 2, shape);
  DLTensor mine = rung_array(data + 3 * first, rung_type(kDLFloat, 32), 2, part);
  const rung_points set = {.at = &whole}, here = {.at = &mine};
  DLTensor counted = rung_array_i64(counts[0], &bars), together = rung_array_i64(counts[1], &bars);
  const int bad = rung_pairs(context, &set, NULL, NULL, &bins, &counted, NULL, NULL, NULL) ||
                  rung_pairs_ranks(context, &nccl->ranks, &here, NULL, NULL, &bins, &together, NULL,
                                   NULL, NULL);
  check(!bad, rank, "pairs", rung_last_error(context));
  check(memcmp(counts[0], counts[1], sizeof counts[0]) == 0, rank, "other pairs", "");
}

/* One grid, image or matrix whose rows the ranks share. */
enum { ROWS = 200, COLUMNS = 300 };
typedef struct rows {
  DLTensor whole, all, in, out;
  int64_t shape[2], part[2], first;
} rows;

static void share(rows *r, int rank, int count) {
  const DLDataType f32 = rung_type(kDLFloat, 32);
  r->first = row(rank, count, ROWS);
  r->shape[0] = ROWS;
  r->part[0] = row(rank + 1, count, ROWS) - r->first;
  r->shape[1] = r->part[1] = COLUMNS;
  r->whole = rung_array(data, f32, 2, r->shape);
  r->all = rung_array(wanted[rank], f32, 2, r->shape);
  r->in = rung_array(data + r->first * COLUMNS, f32, 2, r->part);
  r->out = rung_array(found[rank] + r->first * COLUMNS, f32, 2, r->part);
  memset(wanted[rank], 0, sizeof wanted[rank]);
  memset(found[rank], 0, sizeof found[rank]);
}

static void compare_rows(const rows *r, int rank, int bad, const char *what,
                         rung_context *context) {
  const int64_t at = r->first * COLUMNS;
  check(!bad, rank, what, rung_last_error(context));
  check(memcmp(wanted[rank] + at, found[rank] + at,
               (size_t)(r->part[0] * COLUMNS) * sizeof **found) == 0,
        rank, what, "other bits");
}

static void grids(int rank, int count, rung_nccl *nccl, rung_context *context) {
  const double weights[] = {1, 2, 1};
  const rung_stencil_model model = {.radius = 1, .weights = weights, .divide = 4, .steps = 10};
  const rung_ranks *ranks = &nccl->ranks;
  rung_radiator_model heat;
  float kernel[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
  int64_t square[2] = {3, 3};
  DLTensor box = rung_array(kernel, rung_type(kDLFloat, 32), 2, square);
  rows r;
  share(&r, rank, count);
  compare_rows(&r, rank,
               rung_stencil(context, &model, &r.whole, &r.all, NULL, NULL) ||
                   rung_stencil_ranks(context, ranks, &model, COLUMNS, &r.in, &r.out, NULL, NULL),
               "stencil", context);
  share(&r, rank, count);
  compare_rows(&r, rank,
               rung_radiator_preset(NULL, &heat) ||
                   rung_radiator(context, &heat, 10, &r.all, NULL, NULL) ||
                   rung_radiator_ranks(context, ranks, &heat, 10, COLUMNS, &r.out, NULL, NULL),
               "radiator", context);
  share(&r, rank, count);
  compare_rows(&r, rank,
               rung_correlate(context, NULL, &r.whole, &box, &r.all, NULL) ||
                   rung_correlate_ranks(context, ranks, NULL, &r.in, &box, &r.out, NULL),
               "correlate", context);
  share(&r, rank, count);
  compare_rows(&r, rank,
               rung_convolve(context, NULL, &r.whole, &box, &r.all, NULL) ||
                   rung_convolve_ranks(context, ranks, NULL, &r.in, &box, &r.out, NULL),
               "convolve", context);
}

/* C of A (200, 200) and B (200, 300), whose rows are shared as C's are. */
static void products(int rank, int count, rung_nccl *nccl, rung_context *context) {
  const DLDataType f32 = rung_type(kDLFloat, 32);
  rows r;
  share(&r, rank, count);
  int64_t square[2] = {ROWS, ROWS}, part[2] = {r.part[0], ROWS};
  DLTensor a = rung_array(data + 7, f32, 2, square);
  DLTensor mine = rung_array(data + 7 + r.first * ROWS, f32, 2, part);
  compare_rows(&r, rank,
               rung_matmul(context, 1, &a, &r.whole, 0, &r.all, NULL) ||
                   rung_matmul_ranks(context, &nccl->ranks, 1, &mine, &r.in, 0, &r.out, NULL),
               "matmul", context);
}

#ifndef RUNG_STANDIN
/* A part in the device's own memory. */
static void on_devices(int rank, int count, rung_nccl *nccl, rung_context *context) {
  int64_t length = TOTAL, first = cut(rank, count), mine = cut(rank + 1, count) - first;
  float sums[2] = {0, 0};
  void *there = NULL, *result = NULL;
  DLTensor whole = rung_array_f32(data, &length), sum = rung_number_f32(&sums[0]);
  check(cudaSetDevice(rank) == cudaSuccess && cudaMalloc(&there, sizeof data) == cudaSuccess &&
            cudaMalloc(&result, sizeof sums[1]) == cudaSuccess &&
            cudaMemcpy(there, data + first, (size_t)mine * sizeof *data, cudaMemcpyHostToDevice) ==
                cudaSuccess,
        rank, "memory", "");
  DLTensor in = rung_on_cuda(rung_array_f32((float *)there, &mine), rank);
  DLTensor over = rung_on_cuda(rung_number_f32((float *)result), rank);
  const int bad = rung_reduce(context, RUNG_SUM, &whole, RUNG_ALL, &sum, NULL) ||
                  rung_reduce_ranks(context, &nccl->ranks, RUNG_SUM, &in, &over, NULL);
  check(!bad, rank, "arrays of devices", rung_last_error(context));
  check(cudaMemcpy(&sums[1], result, sizeof sums[1], cudaMemcpyDeviceToHost) == cudaSuccess, rank,
        "copy", "");
  check(memcmp(&sums[0], &sums[1], sizeof sums[0]) == 0, rank, "other sums", "");
  cudaFree(there);
  cudaFree(result);
  cudaSetDevice((rank + 1) % count);
}
#endif

/* ---- messages ----------------------------------------------------------------------------------
 */

static char *sent_bytes, *got_bytes[MOST][MOST];
static int anywhere; /* by exchange_anywhere() */

/* What rank `from` sends has its own beginning. */
static const char *bytes_from(int from) {
  return sent_bytes + 1000 * from;
}

static int move(rung_nccl *nccl, rung_parcel *sent, int sends, rung_parcel *received, int receives,
                char why[RUNG_TEXT]) {
  return (anywhere ? nccl->ranks.exchange_anywhere : nccl->ranks.exchange)(nccl, sent, sends,
                                                                           received, receives, why);
}

#ifdef RUNG_STANDIN
/* What is called a device's memory: messages of ranks with odd numbers. */
static int lies_there(const void *memory) {
  const char *at = (const char *)memory;
  for (int r = 1; r < MOST; r += 2) {
    if (at == bytes_from(r)) return 1;
    for (int from = 0; from < MOST; from++)
      if (at == got_bytes[r][from]) return 1;
  }
  return 0;
}
#endif

/* Each rank sends `sent` bytes to all, which expect `expected`; the last rank in the second way to
 * the one before it only. */
static void send_all(int rank, int count, rung_nccl *nccl, size_t sent, size_t expected) {
  rung_parcel parcels[2 * MOST];
  char why[RUNG_TEXT] = "";
  int sends = 0, receives = 0;
  memset(parcels, 0, sizeof parcels);
  for (int r = 0; r < count; r++) {
    if (r == rank) continue;
    memset(got_bytes[rank][r], 0x3c, expected + 1);
    parcels[sends].rank = r;
    parcels[sends].data = (void *)(size_t)bytes_from(rank);
    parcels[sends++].bytes = sent;
  }
  for (int r = 0; r < count; r++) {
    if (r == rank) continue;
    parcels[sends + receives].rank = r;
    parcels[sends + receives].data = got_bytes[rank][r];
    parcels[sends + receives++].bytes = expected;
  }
  const int failed = move(nccl, parcels, sends, parcels + sends, receives, why);
  check(!failed, rank, "an exchange", why);
  for (int i = 0; i < sends + receives; i++) {
    const char *got = got_bytes[rank][parcels[i].rank];
    check(parcels[i].moved == sent, rank, "as many bytes as were sent", "");
    if (i < sends) continue;
    const size_t whole = sent < expected ? sent : expected;
    check(memcmp(got, bytes_from(parcels[i].rank), whole) == 0, rank, "other bytes", "");
    check(got[whole] == 0x3c, rank, "bytes behind the message", "");
  }
}

static void messages(int rank, int count, rung_nccl *nccl, rung_context *context) {
  const size_t frame = RUNG_NCCL_SHORT, chunk = nccl->chunk;
  const size_t sizes[] = {
      1, 688, frame, frame + 1, frame + chunk, 2 * frame + 2 * chunk, LONG / shrunk};
  const int most = sizeof sizes / sizeof sizes[0];
  (void)context;
  for (int i = 0; i < most; i++) send_all(rank, count, nccl, sizes[i], sizes[i]);
  /* Shorter and longer than was expected: told, and the next ones are whole. */
  for (int i = 1; i < most - 1; i++) {
    send_all(rank, count, nccl, sizes[i - 1], sizes[i]);
    send_all(rank, count, nccl, sizes[i], sizes[i - 1]);
    send_all(rank, count, nccl, sizes[i], sizes[i]);
  }
}

/* A ring: from each rank to the next one, and no other. */
static void ring(int rank, int count, rung_nccl *nccl, rung_context *context) {
  const int next = (rank + 1) % count, before = (rank + count - 1) % count;
  char why[RUNG_TEXT] = "";
  (void)context;
  rung_parcel to = {next, (void *)(size_t)bytes_from(rank), LONG, 0};
  rung_parcel from = {before, got_bytes[rank][before], LONG, 0};
  check(!move(nccl, &to, 1, &from, 1, why), rank, "a ring", why);
  check(to.moved == LONG && from.moved == LONG &&
            memcmp(got_bytes[rank][before], bytes_from(before), LONG) == 0,
        rank, "a ring", "other bytes");
}

static int make_messages(int count) {
  if (sent_bytes == NULL) {
    sent_bytes = (char *)malloc(LONG + 1000 * MOST);
    if (sent_bytes == NULL) return 0;
    for (int i = 0; i < LONG + 1000 * MOST; i++)
      sent_bytes[i] = (char)((unsigned)i * 2654435761u >> 13);
  }
  for (int a = 0; a < count; a++)
    for (int b = 0; b < count; b++)
      if (got_bytes[a][b] == NULL && (got_bytes[a][b] = (char *)malloc(LONG + 1)) == NULL) return 0;
  return 1;
}

static void free_messages(void) {
  free(sent_bytes);
  for (int a = 0; a < MOST; a++)
    for (int b = 0; b < MOST; b++) free(got_bytes[a][b]);
}

/* ---- what fails --------------------------------------------------------------------------------
 */

/* The last rank refuses its arguments: all do. */
static void refuse(int rank, int count, rung_nccl *nccl, rung_context *context) {
  const int last = count - 1;
  int64_t length = 1;
  float sum = 7;
  char begins[48];
  DLTensor in = rung_array_f32(data, &length), out = rung_number_f32(&sum);
  const rung_status status =
      rung_reduce_ranks(context, &nccl->ranks, RUNG_SUM, &in, rank == last ? NULL : &out, NULL);
  snprintf(begins, sizeof begins, "rank %d: out is NULL", last);
  check(status == RUNG_BAD_ARGUMENT &&
            strncmp(rung_last_error(context), begins, strlen(begins)) == 0 && sum == 7,
        rank, "a refusal", rung_last_error(context));
}

/* Rank 0 calls nothing until the others have given it up, however long that takes. */
static void wait_in_vain(int rank, int count, rung_nccl *nccl, rung_context *context) {
  int64_t length = 1;
  float sum = 7;
  DLTensor in = rung_array_f32(data, &length), out = rung_number_f32(&sum);
  (void)count;
  for (int call = 0; call < 2 && rank > 0; call++) {
    const rung_status status = rung_reduce_ranks(context, &nccl->ranks, RUNG_SUM, &in, &out, NULL);
    const char *said = rung_last_error(context);
    check(status == RUNG_RANKS_FAILED && strncmp(said, "rank 0", 6) == 0 && sum == 7 &&
              strstr(said, call ? "an earlier call" : "nothing has moved"),
          rank, "a rank that never comes", said);
#ifdef RUNG_STANDIN /* with NCCL, others may be named too: all are of one kernel */
    check(call > 0 || strncmp(said, "rank 0 ", 7) == 0, rank, "another rank is named", said);
#endif
  }
  pthread_barrier_wait(&all);
}

/* One check by `count` ranks; every one opens and closes. */
static void try(const char *name, int count, double deadline, job *work) {
  member members[MOST];
  const int before = wrong;
  run(count, deadline, work, members);
  for (int r = 0; r < count; r++)
    check(members[r].opened == ncclSuccess && members[r].closed == ncclSuccess, r,
          "opening or closing", members[r].why);
  say(name, count, before);
}

#ifdef RUNG_STANDIN

/* Seconds after which a rank gives up the others: a hundred times what the messages take, by an
 * emulated processor too, and on a machine that others use. */
static const double patience = 0.2;

/* Everything that a job of each kind calls of NCCL and CUDA fails once, in one rank. */
static void some(int rank, int count, rung_nccl *nccl, rung_context *context) {
  int64_t length = 1;
  float sum = 7;
  char why[RUNG_TEXT] = "";
  DLTensor in = rung_array_f32(data, &length), out = rung_number_f32(&sum);
  const rung_status status = rung_reduce_ranks(context, &nccl->ranks, RUNG_SUM, &in, &out, NULL);
  check(status == RUNG_OK || (status == RUNG_RANKS_FAILED && strlen(rung_last_error(context)) > 20),
        rank, "a call that fails", rung_last_error(context));
  const size_t bytes = LONG / shrunk;
  rung_parcel to = {(rank + 1) % count, (void *)(size_t)bytes_from(rank), bytes, 0};
  rung_parcel from = {(rank + count - 1) % count, got_bytes[rank][0], bytes, 0};
  const int failed = move(nccl, &to, 1, &from, 1, why);
  check(!failed || strlen(why) > 10, rank, "an exchange that fails", why);
  check(failed || from.moved == bytes, rank, "an exchange", "it says that it has not failed");
}

static void fail_each(int count) {
  const int before = wrong;
  int tried = 0, struck = 1;
  standin_tells = 1;
  for (int at = 1; struck; at++, tried++) {
    member members[MOST];
    open_comms(count);
    for (int r = 0; r < count; r++) comms[r]->blocking = 0; /* some never split */
    standin_faulty = tried % count;
    standin_fault_at = at;
    standin_calls = 0;
    run(count, patience, some, members);
    struck = standin_calls >= at;
    standin_faulty = -1;
    for (int r = 0; r < count; r++) {
      const member *m = &members[r];
      check(m->opened == ncclSuccess || m->why[0] != 0, r, "no word of why it did not open", "");
      check(at > 1 || m->opened == (r == 0 ? ncclInvalidArgument : ncclInProgress), r,
            "a split that not all have called", m->why);
      check(m->closed == ncclSuccess || m->why[0] != 0, r, "no word of why it did not close", "");
      ncclCommAbort(comms[r]);
    }
    compare_left();
  }
  standin_tells = 0;
  say("each call of NCCL and CUDA fails once", count, before);
  printf("  %d calls\n", tried - 1);
}

/* A byte of a message is another one, on its way: of its number, in front and behind. */
static void altered(int rank, int count, rung_nccl *nccl, rung_context *context) {
  int64_t length = 1;
  float sum = 7;
  DLTensor in = rung_array_f32(data, &length), out = rung_number_f32(&sum);
  pthread_barrier_wait(&all);
  if (rank == 0) standin_alters = 2 * count;
  pthread_barrier_wait(&all);
  const rung_status status = rung_reduce_ranks(context, &nccl->ranks, RUNG_SUM, &in, &out, NULL);
  const char *said = rung_last_error(context);
  check(status == RUNG_RANKS_FAILED && sum == 7, rank, "a message that was altered", said);
  if (strstr(said, "not the next one")) noticed++;
}

static void alter(int count) {
  const int before = wrong;
  standin_tells = 1;
  for (int byte = 0; byte < RUNG_NCCL_FRAME; byte += RUNG_NCCL_FRAME - 8) {
    member members[MOST];
    open_comms(count);
    noticed = 0;
    standin_altered = byte;
    run(count, 60, altered, members);
    check(noticed == 1, 0, "a message that was altered", "nobody has noticed");
    close_comms(count);
  }
  standin_tells = 0;
  say("a message that was altered", count, before);
}

#endif

/* ---- times, for reading only -------------------------------------------------------------------
 */

static double seconds(void) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void time_small(int rank, int count, rung_nccl *nccl, rung_context *context) {
#ifdef RUNG_STANDIN
  enum { CALLS = 20 };
#else
  enum { CALLS = 1000 };
#endif
  int64_t length = 1000;
  float sum = 0;
  double begun = 0;
  DLTensor in = rung_array_f32(data, &length), out = rung_number_f32(&sum);
  for (int i = -20; i < CALLS; i++) {
    if (i == 0) begun = seconds();
    const rung_status status = rung_reduce_ranks(context, &nccl->ranks, RUNG_SUM, &in, &out, NULL);
    check(!status, rank, "a small call", rung_last_error(context));
  }
  if (rank == 0)
    printf("  rung_reduce_ranks of %d x 1000 f32: %.1f us\n", count,
           1e6 * (seconds() - begun) / CALLS);
}

static void time_messages(int rank, int count, rung_nccl *nccl, rung_context *context) {
  const int next = (rank + 1) % count, before = (rank + count - 1) % count;
  (void)context;
  for (size_t bytes = 8; bytes <= LONG;
       bytes = bytes < 1000000 ? 50 * bytes : LONG + (bytes == LONG)) {
    enum { TIMES = 50 };
    double begun = 0;
    char why[RUNG_TEXT] = "";
    for (int i = -5; i < TIMES; i++) {
      if (i == 0) begun = seconds();
      rung_parcel to = {next, sent_bytes, bytes, 0},
                  from = {before, got_bytes[rank][before], bytes, 0};
      check(!nccl->ranks.exchange(nccl, &to, 1, &from, 1, why), rank, "an exchange", why);
    }
    const double each = (seconds() - begun) / TIMES;
    if (rank == 0)
      printf("  %9zu bytes to the next rank: %10.1f us, %6.2f GB/s\n", bytes, 1e6 * each,
             1e-9 * (double)bytes / each);
  }
}

/* ---- all of it ---------------------------------------------------------------------------------
 */

static int open_contexts(void) {
#ifdef RUNG_STANDIN
  others = MOST;
#else
  if (cudaGetDeviceCount(&others) != cudaSuccess || others == 0) return 77;
  if (others > MOST) others = MOST;
#endif
  for (int r = 0; r < others; r++) {
    char name[32] = "cpu";
#ifndef RUNG_STANDIN
    snprintf(name, sizeof name, "cuda:%d", r);
#endif
    const rung_options options = {.device = name, .threads = 1};
    if (rung_open(&contexts[r], &options) == RUNG_OK) continue;
    fprintf(stderr, "%s: %s\n", name, rung_last_error(contexts[r]));
    return 1;
  }
  return 0;
}

/* Between threads, chunks are of a sixteenth where that is all that differs: as many rounds, and a
 * sixteenth of the copies, which ThreadSanitizer and emulated processors take a minute for. One set
 * of messages between two ranks and the rings fill the chunks. */
static void shrink(int is_small) {
#ifdef RUNG_STANDIN
  shrunk = is_small ? 16 : 1;
#else
  (void)is_small;
#endif
}

static void try_all(int count, int timed) {
  open_comms(count);
  try("sums, scans and histograms", count, 0, lines);
  try("pairs", count, 0, pairs);
  try("stencil, radiator, correlate and convolve", count, 0, grids);
  try("products", count, 0, products);
#ifndef RUNG_STANDIN
  try("arrays in devices' memory", count, 0, on_devices);
#endif
  if (count > 1) {
    shrink(count > 2);
    try("messages of all lengths", count, 0, messages);
    shrink(0);
    try("a ring", count, 0, ring);
    shrink(1);
    anywhere = 1;
    try("messages that may lie anywhere", count, 0, messages);
    anywhere = 0;
    shrink(0);
    try("a refusal", count, 0, refuse);
    try("a rank that never comes", count, 1, wait_in_vain);
    try("all of them again", count, 0, lines);
    try("a small call", count, 0, time_small);
    if (timed) try("times", count, 0, time_messages);
  }
  close_comms(count);
#ifdef RUNG_STANDIN
  if (count == 3) alter(count);
  anywhere = 1;
  shrink(1);
  if (count == 2) fail_each(count);
  shrink(0);
  anywhere = 0;
#endif
}

int main(int argc, char **argv) {
  const int timed = argc > 1 && strcmp(argv[1], "--time") == 0;
  for (int i = 0; i < TOTAL; i++) data[i] = (float)((unsigned)i * 2654435761u >> 8) * 0x1p-24f;
  const int bad = open_contexts();
  if (bad) return bad;
  if (!make_messages(others)) return 1;
#ifdef RUNG_STANDIN
  standin_is_there = lies_there;
#endif
  for (int count = 1; count <= others; count++) try_all(count, timed);
  free_messages();
  for (int r = 0; r < others; r++) rung_close(contexts[r]);
  if (!wrong) printf("the same bits over ranks of NCCL\n");
  return wrong != 0;
}
