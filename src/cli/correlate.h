/* rung correlate and rung convolve: what their files share. */
#ifndef RUNG_CLI_CORRELATE_H
#define RUNG_CLI_CORRELATE_H

#include "cli/array.h"

typedef struct correlate_request {
  bool flipped; /* convolve */
  const char *kernel_text;
  bool normalize, clip, scaled, measured, parted; /* measured: --scale auto */
  double low, high;                               /* --scale's: they become 0 and the largest */
  int64_t region[4];                              /* row, column, rows, columns; where `parted` */
  int64_t strip;                                  /* rows at a time; 0: as many as fit */
  rung_filter_model model;
  array_job job;
  grid kernel;
} correlate_request;

/* --kernel: a name, rows of numbers, or a file; divided by its sum where that is asked for. */
rung_status correlate_kernel(const correlate_request *r, grid *kernel, rung_error *error);

/* --border: sets the model's edge and its value. */
rung_status correlate_border(rung_filter_model *model, const char *text, rung_error *error);

/* Refuses what is no image. */
rung_status correlate_takes(const char *path, const array_about *in, rung_error *error);

/* The type of the result, and that of what the library makes, which is to be scaled or the same. */
rung_status correlate_types(const correlate_request *r, rung_dtype in, rung_dtype *made,
                            rung_dtype *sum, rung_error *error);

/* Over ranks: each has rows of the image, and writes those of the result. */
rung_status correlate_share(correlate_request *r, const char *path, rung_error *error);

/* The image through the filter into its file, strip by strip. */
rung_status correlate_run(correlate_request *r, const char *path, rung_error *error);

#endif
