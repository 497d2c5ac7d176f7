/* Any bytes as a file of points: the first byte says of which format, and what is asked of it.
 * Frames come until the file is refused or ends; every number of theirs is looked at. */
#include <math.h>

#include "files/points.h"
#include "fuzz/fuzz.h"

static void look(const points_frame *frame, const points_how *how) {
  for (int64_t i = 0; i < frame->count; i++) {
    for (int d = 0; d < 3; d++)
      if (!isfinite(frame->at[i][d])) fuzz_wrong("a coordinate that is not finite");
    if (frame->labels != NULL && (memchr(frame->labels[i].name, 0, 16) == NULL ||
                                  memchr(frame->labels[i].element, 0, 4) == NULL))
      fuzz_wrong("a label without an end");
    /* Of gro and pdb they are counted from 0; what other formats say may be any integer. */
    if (frame->molecules != NULL && frame->molecules[i] < 0 &&
        (strcmp(how->format, "gro") == 0 || strcmp(how->format, "pdb") == 0))
      fuzz_wrong("a molecule below 0");
    if (how->weights != NULL && !isfinite(frame->weights[i])) fuzz_wrong("a weight not finite");
  }
  if (how->no_box && frame->has_box) fuzz_wrong("a box that nobody asked for");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const formats[] = {"xyz", "gro", "pdb", "lammps", "csv", "npy"};
  if (size == 0) return 0;
  const points_how how = {.format = formats[data[0] % 6],
                          .weights = data[0] & 64 ? "q" : NULL,
                          .no_box = (data[0] & 128) != 0};
  rung_error error = {0};
  points *points;
  char path[32];
  const int file = fuzz_file(data + 1, size - 1, path);
  rung_status status = points_open(&points, path, &how, &error);
  int64_t all = 0;
  for (bool more = true; status == RUNG_OK && more;) {
    points_frame frame;
    status = points_next(points, &frame, &more, &error);
    if (status != RUNG_OK || !more) continue;
    look(&frame, &how);
    all += frame.count;
    if (all > (int64_t)size) fuzz_wrong("more points than bytes");
  }
  if (status != RUNG_OK && error.sentence[0] == '\0') fuzz_wrong("refused without a sentence");
  points_close(points);
  close(file);
  return 0;
}
