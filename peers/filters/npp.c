/* NPP's filters with a border; it wants the taps from the last on. Its functions and structs are
 * declared here as its documentation has them, so that the toolkit's headers are not needed. */
#include <stdio.h>

#include "core/error.h"
#include "peers/filters/filters.h"

/* nppdefs.h */
typedef struct npp_stream {
  void *stream;
  int device, processors, threads_a_processor, threads_a_block;
  size_t shared_bytes;
  int major, minor;
  unsigned flags;
  int reserved;
} npp_stream;
typedef struct npp_size {
  int width, height;
} npp_size;
typedef struct npp_point {
  int x, y;
} npp_point;
typedef struct npp_version {
  int major, minor, build;
} npp_version;
enum { BORDER_REPLICATE = 2 };

/* nppi_filtering_functions.h. Sums of floats, and of 32-bit integers, divided in the end. */
typedef int filter_floats(const void *in, int in_step, npp_size size, npp_point from, void *out,
                          int out_step, npp_size roi, const void *taps, npp_size kernel,
                          npp_point anchor, int border, npp_stream stream);
typedef int filter_integers(const void *in, int in_step, npp_size size, npp_point from, void *out,
                            int out_step, npp_size roi, const void *taps, npp_size kernel,
                            npp_point anchor, int divisor, int border, npp_stream stream);

static struct {
  filter_floats *u8, *u16, *f32;
  filter_integers *u8_integers, *u16_integers;
} npp;

char peer_npp_text[PEER_TEXT];

bool peer_npp_look(void) {
  static const char *const names[] = {"libnppif.so.13", "libnppif.so.12", "libnppif.so",
                                      "/usr/local/cuda/lib64/libnppif.so", NULL},
                           *const core_names[] = {"libnppc.so.13", "libnppc.so.12", "libnppc.so",
                                                  "/usr/local/cuda/lib64/libnppc.so", NULL};
  static const peer_symbol symbols[] = {
      {"nppiFilterBorder32f_8u_C1R_Ctx", &npp.u8},
      {"nppiFilterBorder32f_16u_C1R_Ctx", &npp.u16},
      {"nppiFilterBorder_32f_C1R_Ctx", &npp.f32},
      {"nppiFilterBorder_8u_C1R_Ctx", &npp.u8_integers},
      {"nppiFilterBorder_16u_C1R_Ctx", &npp.u16_integers},
  };
  const npp_version *(*version)(void);
  const peer_symbol core[] = {{"nppGetLibVersion", &version}};
  if (peer_npp_text[0]) return true;
  void *base = peer_library(core_names), *library = base ? peer_library(names) : NULL;
  if (!library || !peer_symbols(base, core, 1) ||
      !peer_symbols(library, symbols, sizeof symbols / sizeof *symbols))
    return false;
  const npp_version *of = version();
  snprintf(peer_npp_text, sizeof peer_npp_text, "NPP %d.%d.%d, nppiFilterBorder_*_C1R_Ctx",
           of->major, of->minor, of->build);
  return true;
}

bool peer_npp_supports(const rung_task *task, char why[RUNG_REASON]) {
  const correlate_problem *p = (const correlate_problem *)task->problem;
  if (!peer_npp_text[0]) {
    snprintf(why, RUNG_REASON,
             "libnppif.so.13 or .12 cannot be loaded; the CUDA toolkit has it (LD_LIBRARY_PATH may "
             "name its folder)");
    return false;
  }
  if (!peer_filters_one(task, why)) return false;
  if (p->edge == RUNG_EDGE_NEAREST) return true;
  snprintf(why, RUNG_REASON,
           "as a peer it takes the edge that repeats the outermost pixels; "
           "expected: edge=edge");
  return false;
}

static rung_status say(const rung_task *task, int status) {
  if (status == 0) return RUNG_OK;
  return rung_fail(task->error, RUNG_DEVICE_FAILED, "NPP's filter ended with %d", status);
}

rung_status peer_npp(const rung_task *task) {
  const correlate_problem *p = (const correlate_problem *)task->problem;
  const rung_view *in = &task->arrays[CORRELATE_IN], *out = &task->arrays[CORRELATE_OUT];
  const rung_device *device = task->device;
  const npp_stream stream = {.stream = task->stream,
                             .device = device->index,
                             .processors = device->processors,
                             .threads_a_processor = device->threads,
                             .threads_a_block = 1024,
                             .shared_bytes = (size_t)48 << 10,
                             .major = device->capability / 10,
                             .minor = device->capability % 10};
  const npp_size size = {(int)p->width, (int)p->height},
                 kernel = {p->kernel_columns, p->kernel_rows};
  const npp_point anchor = {(int)-p->first_column, (int)-p->first_row};
  const int in_step = (int)(in->stride[0] * (int64_t)rung_dtype_bytes(in->dtype)),
            out_step = (int)(out->stride[0] * (int64_t)rung_dtype_bytes(out->dtype));
  void *taps;
  const rung_status status = peer_filters_taps(task, true, &taps);
  if (status != RUNG_OK) return status;
  if (p->types.accumulate == RUNG_I64) {
    filter_integers *filter = p->types.in == RUNG_U8 ? npp.u8_integers : npp.u16_integers;
    return say(task, filter(in->data, in_step, size, (npp_point){0, 0}, out->data, out_step, size,
                            taps, kernel, anchor, 1, BORDER_REPLICATE, stream));
  }
  filter_floats *filter = p->types.in == RUNG_U8    ? npp.u8
                          : p->types.in == RUNG_U16 ? npp.u16
                                                    : npp.f32;
  return say(task, filter(in->data, in_step, size, (npp_point){0, 0}, out->data, out_step, size,
                          taps, kernel, anchor, BORDER_REPLICATE, stream));
}
