/* cuDNN: a convolution of one image with one filter, by whichever algorithm its own search finds
 * fastest. Its functions and constants are declared here as its documentation has them. */
#include <stdio.h>

#include "core/error.h"
#include "core/part.h"
#include "peers/filters/filters.h"

/* cudnn_graph.h, cudnn_cnn.h */
enum { DATA_FLOAT = 0, DATA_DOUBLE = 1, CROSS_CORRELATION = 1, FORMAT_NCHW = 0, FMA_MATH = 3 };
enum { ALGORITHMS = 8 };
typedef struct cudnn_algorithm {
  int algorithm, status;
  float ms;
  size_t bytes;
  int deterministic, math, reserved[3];
} cudnn_algorithm;

static struct {
  size_t (*version)(void);
  const char *(*error)(int status);
  int (*create)(void **handle);
  int (*set_stream)(void *handle, void *stream);
  int (*create_tensor)(void **tensor);
  int (*set_tensor)(void *tensor, int type, int n, int c, int h, int w, int n_step, int c_step,
                    int h_step, int w_step);
  int (*create_filter)(void **filter);
  int (*set_filter)(void *filter, int type, int format, int k, int c, int h, int w);
  int (*create_convolution)(void **convolution);
  int (*set_convolution)(void *convolution, int pad_h, int pad_w, int step_h, int step_w,
                         int wide_h, int wide_w, int mode, int sum_type);
  int (*set_math)(void *convolution, int math);
  int (*find)(void *handle, void *in, void *filter, void *convolution, void *out, int most,
              int *count, cudnn_algorithm *found);
  int (*forward)(void *handle, const void *alpha, void *in, const void *in_data, void *filter,
                 const void *filter_data, void *convolution, int algorithm, void *work,
                 size_t work_bytes, const void *beta, void *out, void *out_data);
} cudnn;

char peer_cudnn_text[PEER_TEXT];

bool peer_cudnn_look(void) {
  static const char *const names[] = {"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so", NULL};
  static const peer_symbol symbols[] = {
      {"cudnnGetVersion", &cudnn.version},
      {"cudnnGetErrorString", &cudnn.error},
      {"cudnnCreate", &cudnn.create},
      {"cudnnSetStream", &cudnn.set_stream},
      {"cudnnCreateTensorDescriptor", &cudnn.create_tensor},
      {"cudnnSetTensor4dDescriptorEx", &cudnn.set_tensor},
      {"cudnnCreateFilterDescriptor", &cudnn.create_filter},
      {"cudnnSetFilter4dDescriptor", &cudnn.set_filter},
      {"cudnnCreateConvolutionDescriptor", &cudnn.create_convolution},
      {"cudnnSetConvolution2dDescriptor", &cudnn.set_convolution},
      {"cudnnSetConvolutionMathType", &cudnn.set_math},
      {"cudnnFindConvolutionForwardAlgorithm", &cudnn.find},
      {"cudnnConvolutionForward", &cudnn.forward},
  };
  if (peer_cudnn_text[0]) return true;
  void *library = peer_library(names);
  if (!library || !peer_symbols(library, symbols, sizeof symbols / sizeof *symbols)) return false;
  snprintf(peer_cudnn_text, sizeof peer_cudnn_text,
           "cuDNN %zu, CUDNN_FMA_MATH, cudnnFindConvolutionForwardAlgorithm", cudnn.version());
  return true;
}

bool peer_cudnn_supports(const rung_task *task, char why[RUNG_REASON]) {
  const correlate_problem *p = (const correlate_problem *)task->problem;
  if (!peer_cudnn_text[0]) {
    snprintf(why, RUNG_REASON,
             "libcudnn.so.9 or .8 cannot be loaded (LD_LIBRARY_PATH may name its folder)");
    return false;
  }
  if (!peer_filters_one(task, why)) return false;
  if (p->edge == RUNG_EDGE_CONSTANT && p->edge_value == 0) return true;
  snprintf(why, RUNG_REASON, "as a peer it takes zeros beyond the edge; expected: edge=constant:0");
  return false;
}

static rung_status say(const rung_task *task, const char *what, int status) {
  if (status == 0) return RUNG_OK;
  return rung_fail(task->error, RUNG_DEVICE_FAILED, "%s: %s", what, cudnn.error(status));
}

/* All that a call needs, made at the first one for a shape. */
typedef struct cudnn_plan {
  void *handle, *in, *out, *filter, *convolution, *work;
  correlate_problem of;
  rung_dtype dtype;
  int device;
  int algorithm;
  size_t work_bytes;
} cudnn_plan;

static rung_status set_image(const rung_task *task, void *tensor, int type, const rung_view *view) {
  const correlate_problem *p = (const correlate_problem *)task->problem;
  const int row = (int)view->stride[0], all = (int)(view->stride[0] * p->height);
  return say(task, "cudnnSetTensor4dDescriptorEx",
             cudnn.set_tensor(tensor, type, 1, 1, (int)p->height, (int)p->width, all, all, row, 1));
}

/* The fastest that its search, which runs them all, found to work. */
static rung_status search(const rung_task *task, cudnn_plan *plan) {
  const rung_backend *backend = rung_backend_of(task->device->kind, task->error);
  cudnn_algorithm found[ALGORITHMS];
  int count = 0;
  const int status = cudnn.find(plan->handle, plan->in, plan->filter, plan->convolution, plan->out,
                                ALGORITHMS, &count, found);
  if (status != 0 || count == 0 || found[0].status != 0 || !backend)
    return say(task, "cudnnFindConvolutionForwardAlgorithm", status ? status : found[0].status);
  if (plan->work) backend->release(task->state, plan->work);
  plan->work = NULL;
  plan->algorithm = found[0].algorithm;
  plan->work_bytes = found[0].bytes;
  return plan->work_bytes == 0
             ? RUNG_OK
             : backend->allocate(task->state, plan->work_bytes, &plan->work, task->error);
}

static rung_status make_plan(const rung_task *task, cudnn_plan *plan) {
  const correlate_problem *p = (const correlate_problem *)task->problem;
  const int type = p->types.in == RUNG_F64 ? DATA_DOUBLE : DATA_FLOAT;
  plan->device = -1;
  rung_status status = RUNG_OK;
  if (!plan->handle) {
    status = say(task, "cudnnCreate", cudnn.create(&plan->handle));
    if (!status) status = say(task, "cuDNN", cudnn.create_tensor(&plan->in));
    if (!status) status = say(task, "cuDNN", cudnn.create_tensor(&plan->out));
    if (!status) status = say(task, "cuDNN", cudnn.create_filter(&plan->filter));
    if (!status) status = say(task, "cuDNN", cudnn.create_convolution(&plan->convolution));
  }
  if (!status) status = set_image(task, plan->in, type, &task->arrays[CORRELATE_IN]);
  if (!status) status = set_image(task, plan->out, type, &task->arrays[CORRELATE_OUT]);
  if (!status)
    status = say(
        task, "cudnnSetFilter4dDescriptor",
        cudnn.set_filter(plan->filter, type, FORMAT_NCHW, 1, 1, p->kernel_rows, p->kernel_columns));
  if (!status)
    status = say(task, "cudnnSetConvolution2dDescriptor",
                 cudnn.set_convolution(plan->convolution, p->kernel_rows / 2, p->kernel_columns / 2,
                                       1, 1, 1, 1, CROSS_CORRELATION, type));
  if (!status)
    status = say(task, "cudnnSetConvolutionMathType", cudnn.set_math(plan->convolution, FMA_MATH));
  if (!status) status = search(task, plan);
  if (!status) {
    plan->of = *p;
    plan->dtype = p->types.in;
    plan->device = task->device->index;
  }
  return status;
}

static bool fits(const cudnn_plan *plan, const rung_task *task) {
  const correlate_problem *p = (const correlate_problem *)task->problem;
  return plan->device == task->device->index && plan->dtype == p->types.in &&
         plan->of.height == p->height && plan->of.width == p->width &&
         plan->of.kernel_rows == p->kernel_rows && plan->of.kernel_columns == p->kernel_columns;
}

rung_status peer_cudnn(const rung_task *task) {
  static cudnn_plan plan = {.device = -1};
  const correlate_problem *p = (const correlate_problem *)task->problem;
  const float one32 = 1, zero32 = 0;
  const double one64 = 1, zero64 = 0;
  const bool wide = p->types.in == RUNG_F64;
  void *taps;
  rung_status status = peer_filters_taps(task, false, &taps);
  if (!status && !fits(&plan, task)) status = make_plan(task, &plan);
  if (!status) status = say(task, "cudnnSetStream", cudnn.set_stream(plan.handle, task->stream));
  if (status) return status;
  return say(task, "cudnnConvolutionForward",
             cudnn.forward(plan.handle, wide ? (const void *)&one64 : &one32, plan.in,
                           task->arrays[CORRELATE_IN].data, plan.filter, taps, plan.convolution,
                           plan.algorithm, plan.work, plan.work_bytes,
                           wide ? (const void *)&zero64 : &zero32, plan.out,
                           task->arrays[CORRELATE_OUT].data));
}
