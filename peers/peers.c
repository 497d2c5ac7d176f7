/* The table of peers. */
#include "peers/peers.h"

#include <stdio.h>
#include <string.h>

#include "ops/correlate/correlate.h"
#include "ops/correlate/separable.h"
#include "ops/histogram/histogram.h"
#include "ops/pairs/pairs.h"
#include "ops/reduce/reduce.h"
#include "ops/scan/scan.h"
#include "peers/blas/blas.h"
#include "peers/filters/filters.h"
#include "peers/programs/pairs.h"
#include "peers/programs/program.h"
#include "peers/versions.h"

/* Rows of a library that was not found stay, without an entry: a bench says so. A CPU's peer picks
 * its instructions itself. */
#ifdef RUNG_PEER_CUB
#define CUB(entry)                                                                     \
  .name = "cub", .peer = RUNG_PEER_CUB, .order = RUNG_TEXTBOOK, .family = RUNG_ON_GPU, \
  .capability = 75, .scratch_bytes = entry##_scratch, .launch = {entry}
#define CUB_SETTLED(entry) CUB(entry), .settle = entry##_settle
#else
#define CUB(entry) .name = "cub", .peer = "CUB, not found", .family = RUNG_ON_GPU
#define CUB_SETTLED(entry) CUB(entry)
#endif
#ifdef RUNG_PEER_TBB
#define TBB(entry)                                                                     \
  .name = "tbb", .peer = RUNG_PEER_TBB, .order = RUNG_TEXTBOOK, .family = RUNG_ON_CPU, \
  .launch = {entry, entry, entry}
#else
#define TBB(entry) .name = "tbb", .peer = "TBB, not found", .family = RUNG_ON_CPU
#endif

#ifdef RUNG_PEER_OPENCV
#define OPENCV_AS(title, entry)                                                           \
  .name = title, .peer = RUNG_PEER_OPENCV, .order = RUNG_TEXTBOOK, .family = RUNG_ON_CPU, \
  .launch = {entry, entry, entry}
#else
#define OPENCV_AS(title, entry) .name = title, .peer = "OpenCV, not found", .family = RUNG_ON_CPU
#endif
#define OPENCV(entry) OPENCV_AS("opencv", entry)

/* ---- reduce -----------------------------------------------------------------------------------
 */

/* CUB's reduces lines without gaps between them, too. */
static bool lines_without_gaps(const rung_task *task, char why[RUNG_REASON]) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const reduce_layout layout = reduce_layout_of(task);
  const bool exact = problem->what == RUNG_SUM || problem->what == RUNG_MIN;
  if (exact && problem->form != REDUCE_ACROSS && problem->columns > 0 &&
      problem->columns <= UINT32_MAX &&
      (problem->outer == 1 || (layout.in_outer == problem->columns && layout.out_outer == 1)))
    return true;
  snprintf(why, RUNG_REASON,
           "as a peer it takes the sums or minima of lines without gaps, of 1 ... 2^32 - 1 "
           "elements each");
  return false;
}

/* The others reduce one array without gaps. */
static bool one_array(const rung_task *task, char why[RUNG_REASON]) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const bool exact = problem->what == RUNG_SUM || problem->what == RUNG_MIN;
  if (exact && problem->form != REDUCE_ACROSS && problem->outer == 1 && problem->columns > 0 &&
      problem->columns <= UINT32_MAX)
    return true;
  snprintf(why, RUNG_REASON,
           "as a peer it takes the sum or the minimum of one array without gaps, of 1 ... 2^32 - 1 "
           "elements");
  return false;
}

#define REDUCED                                                                                  \
  .types = {RUNG_SINGLE_DOUBLE | RUNG_TYPE(RUNG_U8) | RUNG_TYPE(RUNG_U32) | RUNG_TYPE(RUNG_I64), \
            REDUCE_DTYPES, REDUCE_DTYPES}

static rung_row reduce_peers[] = {
    {CUB(peer_reduce_cub), REDUCED, .supports = lines_without_gaps,
     .idea = "cub::DeviceReduce::Sum, Min; of several lines cub::DeviceSegmentedReduce"},
    {TBB(peer_reduce_tbb), REDUCED, .supports = one_array, .idea = "std::reduce, par_unseq"},
};

/* ---- scan ---------------------------------------------------------------------------------------
 */

static bool one_line(const rung_task *task, char why[RUNG_REASON]) {
  const scan_problem *problem = (const scan_problem *)task->problem;
  if (problem->what == RUNG_SUM && problem->lines == 1 && problem->columns <= UINT32_MAX)
    return true;
  snprintf(why, RUNG_REASON, "as a peer it takes the sums of one line of 1 ... 2^32 - 1 elements");
  return false;
}

#define SCAN_PEER_DTYPES                                                                  \
  (RUNG_SINGLE_DOUBLE | RUNG_TYPE(RUNG_I32) | RUNG_TYPE(RUNG_U32) | RUNG_TYPE(RUNG_I64) | \
   RUNG_TYPE(RUNG_U64))
#define SCANNED .supports = one_line, .types = RUNG_ALIKE(SCAN_PEER_DTYPES)

static rung_row scan_peers[] = {
    {CUB(peer_scan_cub), SCANNED, .idea = "cub::DeviceScan::InclusiveSum, ExclusiveSum"},
    {TBB(peer_scan_tbb), SCANNED, .idea = "std::inclusive_scan, exclusive_scan, par_unseq"},
};

/* ---- histogram ----------------------------------------------------------------------------------
 */

static bool one_row(const rung_task *task, char why[RUNG_REASON]) {
  const histogram_problem *problem = (const histogram_problem *)task->problem;
  const bool bytes = problem->kind == RUNG_BINS_BYTES;
  if (problem->rows == 1 && problem->columns > 0 && problem->columns < INT32_MAX &&
      (bytes || task->arrays[HISTOGRAM_OUTSIDE].count == 0))
    return true;
  snprintf(why, RUNG_REASON,
           "as a peer it counts one row of 1 ... 2^31 - 2 elements, and nothing outside the bins; "
           "outside=0 would do");
  return false;
}

/* Bins that CUB's integer arithmetic finds: of u32, modulo or even between whole numbers. */
static bool cub_counts(const rung_task *task, char why[RUNG_REASON]) {
  const histogram_problem *problem = (const histogram_problem *)task->problem;
  const histogram_rule *rule = &problem->rule;
  const bool bytes = problem->kind == RUNG_BINS_BYTES;
  const bool whole =
      problem->dtype == RUNG_U32 &&
      (problem->kind == RUNG_BINS_MODULO ||
       (problem->kind == RUNG_BINS_EVEN && rule->low >= 0 && rule->high <= 0x1p32 &&
        rule->low == (double)(uint64_t)rule->low && rule->high == (double)(uint64_t)rule->high));
  if (bytes || whole) return one_row(task, why);
  snprintf(why, RUNG_REASON, "as a peer it takes all bytes, or modulo or even bins of u32");
  return false;
}

static bool opencv_counts(const rung_task *task, char why[RUNG_REASON]) {
  const histogram_problem *problem = (const histogram_problem *)task->problem;
  if (problem->kind == RUNG_BINS_BYTES ||
      (problem->kind == RUNG_BINS_EVEN && problem->dtype == RUNG_F32))
    return one_row(task, why);
  snprintf(why, RUNG_REASON, "as a peer it takes all bytes, or even bins of f32");
  return false;
}

#define COUNTED(dtypes) \
  { dtypes, RUNG_TYPE(RUNG_U64), HISTOGRAM_COUNT_DTYPES }

static rung_row histogram_peers[] = {
    {CUB_SETTLED(peer_histogram_cub),
     .idea = "cub::DeviceHistogram::HistogramEven, counts of 32 bits", .supports = cub_counts,
     .types = COUNTED(RUNG_TYPE(RUNG_U8) | RUNG_TYPE(RUNG_U32))},
    {OPENCV(peer_histogram_opencv), .idea = "cv::calcHist, float counts widened",
     .supports = opencv_counts, .types = COUNTED(RUNG_TYPE(RUNG_U8) | RUNG_TYPE(RUNG_F32))},
};

/* ---- correlate --------------------------------------------------------------------------------
 */

static bool opencv_filters(const rung_task *task, char why[RUNG_REASON]) {
  const correlate_problem *p = (const correlate_problem *)task->problem;
  if (p->kernels == 1 && p->rows == p->height && p->columns == p->width &&
      p->types.in == p->types.out && p->edge != RUNG_EDGE_WRAP &&
      (p->edge != RUNG_EDGE_CONSTANT || p->edge_value == 0))
    return true;
  snprintf(why, RUNG_REASON,
           "as a peer it takes one kernel and a whole image to one of the same type, of any edge "
           "but wrap and constants other than 0");
  return false;
}

static bool opencv_separates(const rung_task *task, char why[RUNG_REASON]) {
  return opencv_filters(task, why) &&
         correlate_is_separable((const correlate_problem *)task->problem, why);
}

#define FILTERED (CORRELATE_INTEGERS | RUNG_SINGLE_DOUBLE)
#define NPP_FILTERED (CORRELATE_INTEGERS | RUNG_TYPE(RUNG_F32))

static rung_row correlate_peers[] = {
    {.name = "npp",
     .peer = "NPP, not found",
     .family = RUNG_ON_GPU,
     .capability = 75,
     .order = RUNG_TEXTBOOK,
     .types = {NPP_FILTERED, CORRELATE_SUM_DTYPES, NPP_FILTERED},
     .idea =
         "nppiFilterBorder32f, whose integers are cut off; of integers and of f32 nppiFilterBorder",
     .supports = peer_npp_supports,
     .launch = {peer_npp}},
    {.name = "cudnn",
     .peer = "cuDNN, not found",
     .family = RUNG_ON_GPU,
     .capability = 75,
     .order = RUNG_TEXTBOOK,
     .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE),
     .idea = "cudnnConvolutionForward, one image by one filter",
     .supports = peer_cudnn_supports,
     .launch = {peer_cudnn}},
    {OPENCV(peer_correlate_opencv), .idea = "cv::filter2D; by Fourier transforms from 11 by 11 on",
     .supports = opencv_filters, .types = {FILTERED, CORRELATE_SUM_DTYPES, FILTERED}},
    {OPENCV_AS("opencv-separable", peer_correlate_opencv_separable),
     .idea = "cv::sepFilter2D, which is told the column and the row", .supports = opencv_separates,
     .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE)},
};

#ifdef RUNG_PEER_OPENCV
/* How it was built the library itself knows. */
static void look_at_opencv(rung_row *rows, int count) {
  static char text[PEER_TEXT];
  if (!text[0]) peer_opencv_built(RUNG_PEER_OPENCV, text, sizeof text);
  for (int i = 0; i < count; i++)
    if (strcmp(rows[i].peer, RUNG_PEER_OPENCV) == 0) rows[i].peer = text;
}
#else
static void look_at_opencv(rung_row *rows, int count) {
  (void)rows;
  (void)count;
}
#endif

static void look_for_filters(void) {
  if (peer_npp_look()) correlate_peers[0].peer = peer_npp_text;
  if (peer_cudnn_look()) correlate_peers[1].peer = peer_cudnn_text;
}

/* ---- the table ----------------------------------------------------------------------------------
 */

#define PEERS(of) \
  { .name = #of, .rows = of##_peers, .count = sizeof of##_peers / sizeof *of##_peers }

static const rung_operation peers[] = {
    PEERS(reduce),
    PEERS(scan),
    PEERS(histogram),
    PEERS(correlate),
    {.name = "matmul", .rows = peer_matmul_rows, .count = PEER_MATMUL},
    {.name = "pairs", .rows = peer_pairs_rows, .count = PEER_PAIRS}};

static bool has_programs(const rung_operation *operation, const rung_device *device) {
  return strcmp(operation->name, "pairs") == 0 && device->kind == RUNG_CPU;
}

const rung_operation *rung_peers_of(const rung_operation *operation, const rung_device *device) {
  static const rung_operation none = {.name = "none"};
  if (has_programs(operation, device)) peer_pairs_look();
  if (strcmp(operation->name, "matmul") == 0) peer_matmul_look(device->kind);
  if (strcmp(operation->name, "correlate") == 0 && device->kind == RUNG_CUDA) look_for_filters();
  if (device->kind == RUNG_CPU) {
    look_at_opencv(correlate_peers, sizeof correlate_peers / sizeof *correlate_peers);
    look_at_opencv(histogram_peers, sizeof histogram_peers / sizeof *histogram_peers);
  }
  for (size_t i = 0; i < sizeof peers / sizeof peers[0]; ++i)
    if (strcmp(peers[i].name, operation->name) == 0) return &peers[i];
  return &none;
}

rung_status rung_peers_begin(const rung_case *test_case, const rung_device *device,
                             rung_error *error) {
  return has_programs(test_case->operation, device) ? peer_pairs_begin(test_case, error) : RUNG_OK;
}

void rung_peers_end(void) {
  program_close();
}
