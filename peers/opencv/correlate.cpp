/* cv::filter2D and cv::sepFilter2D, into the result's own memory. From kernels of 11 by 11 on the
 * former turns to a Fourier transform. */
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <exception>

#include "core/error.h"
#include "ops/correlate/correlate.h"
#include "ops/correlate/separable.h"
#include "peers/versions.h"

static int depth_of(rung_dtype dtype) {
  return dtype == RUNG_U8    ? CV_8U
         : dtype == RUNG_U16 ? CV_16U
         : dtype == RUNG_F32 ? CV_32F
                             : CV_64F;
}

static int border_of(rung_edge edge) {
  return edge == RUNG_EDGE_CONSTANT  ? cv::BORDER_CONSTANT
         : edge == RUNG_EDGE_NEAREST ? cv::BORDER_REPLICATE
         : edge == RUNG_EDGE_REFLECT ? cv::BORDER_REFLECT
                                     : cv::BORDER_REFLECT_101;
}

static cv::Mat image_of(const correlate_problem *p, const rung_view *view) {
  const size_t row = static_cast<size_t>(view->stride[0]) * rung_dtype_bytes(view->dtype);
  return cv::Mat(static_cast<int>(p->height), static_cast<int>(p->width),
                 CV_MAKETYPE(depth_of(view->dtype), p->channels), view->data, row);
}

static void filter(const rung_task *task) {
  const correlate_problem *p = static_cast<const correlate_problem *>(task->problem);
  const cv::Mat in = image_of(p, &task->arrays[CORRELATE_IN]);
  const int type = p->types.accumulate == RUNG_I64 ? CV_32S : depth_of(p->types.accumulate);
  const cv::Mat given(p->kernel_rows, p->kernel_columns, type, const_cast<void *>(p->taps));
  cv::Mat taps = given, out = image_of(p, &task->arrays[CORRELATE_OUT]);
  if (type == CV_32S) given.convertTo(taps, CV_32F);
  cv::setNumThreads(task->device->threads);
  cv::filter2D(in, out, -1, taps,
               cv::Point(static_cast<int>(-p->first_column), static_cast<int>(-p->first_row)), 0,
               border_of(p->edge));
}

static void filter_separably(const rung_task *task) {
  const correlate_problem *p = static_cast<const correlate_problem *>(task->problem);
  const cv::Mat in = image_of(p, &task->arrays[CORRELATE_IN]);
  cv::Mat out = image_of(p, &task->arrays[CORRELATE_OUT]);
  correlate_factors factors;
  char why[RUNG_REASON];
  if (!correlate_separate(p, 0, &factors, why)) return; /* it was asked before */
  cv::setNumThreads(task->device->threads);
  cv::sepFilter2D(in, out, -1, cv::Mat(1, p->kernel_columns, CV_64F, factors.row),
                  cv::Mat(p->kernel_rows, 1, CV_64F, factors.column),
                  cv::Point(static_cast<int>(-p->first_column), static_cast<int>(-p->first_row)), 0,
                  border_of(p->edge));
}

static rung_status guarded(const rung_task *task, void (*run)(const rung_task *)) {
  try {
    run(task);
    return RUNG_OK;
  } catch (const std::exception &error) {
    return rung_fail(task->error, RUNG_DEVICE_FAILED, "OpenCV: %s", error.what());
  }
}

extern "C" rung_status peer_correlate_opencv(const rung_task *task) {
  return guarded(task, filter);
}

extern "C" rung_status peer_correlate_opencv_separable(const rung_task *task) {
  return guarded(task, filter_separably);
}
