/* cv::calcHist. Its counts are floats, which hold every count below 2^24; they are widened to the
 * contract's 64 bits. */
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <exception>

#include "core/error.h"
#include "ops/histogram/histogram.h"
#include "peers/versions.h"

static void count(const rung_task *task) {
  const histogram_problem *problem = (const histogram_problem *)task->problem;
  const bool bytes = problem->dtype == RUNG_U8;
  const int bins = problem->rule.bins, channel = 0;
  const float range[] = {bytes ? 0.0f : (float)problem->rule.low,
                         bytes ? 256.0f : (float)problem->rule.high};
  const float *ranges[] = {range};
  /* Rows, as an image has them, so that it may share them out. */
  const int width = problem->columns % 16384 == 0 ? 16384 : (int)problem->columns;
  const cv::Mat image((int)(problem->columns / width), width, bytes ? CV_8U : CV_32F,
                      task->arrays[HISTOGRAM_IN].data);
  cv::Mat counts;
  cv::setNumThreads(task->device->threads);
  cv::calcHist(&image, 1, &channel, cv::noArray(), counts, 1, &bins, ranges);
  uint64_t *out = (uint64_t *)task->arrays[HISTOGRAM_COUNTS].data;
  for (int k = 0; k < bins; ++k) out[k] = (uint64_t)counts.at<float>(k);
  uint64_t *outside = (uint64_t *)task->arrays[HISTOGRAM_OUTSIDE].data;
  for (int k = 0; k < HISTOGRAM_OUTER && outside; ++k) outside[k] = 0; /* of bytes, none are */
}

extern "C" rung_status peer_histogram_opencv(const rung_task *task) {
  try {
    count(task);
    return RUNG_OK;
  } catch (const std::exception &error) {
    return rung_fail(task->error, RUNG_DEVICE_FAILED, "OpenCV: %s", error.what());
  }
}
