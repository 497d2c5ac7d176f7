/* Any bytes as what explain, timeline or scaling wrote: refused by a sentence, or counts, pictures
 * and times that a page holds as text. */
#include <math.h>

#include "cli/look.h"
#include "cli/report.h"
#include "fuzz/fuzz.h"

static void look(const looks *all) {
  for (int f = 0; f < all->counted; f++)
    for (int k = 0; k < all->counts[f].count; k++) {
      const look_rung *rung = &all->counts[f].rungs[k];
      for (int i = 0; i < FIGURES; i++)
        if (!isnan(rung->figures.at[i]) && !(rung->figures.at[i] >= 0))
          fuzz_wrong("a figure of %g", rung->figures.at[i]);
    }
  for (int i = 0; i < all->timed; i++)
    if (all->times[i].timeline.count < 1) fuzz_wrong("a timeline of no blocks");
}

/* All markup is ours. */
static void check_page(const char *text) {
  for (const char *at = text; *at; at++) {
    if ((unsigned char)*at < ' ' && *at != '\n') fuzz_wrong("a control byte %d in the page", *at);
    if (*at == '<' && (strncmp(at, "<script", 7) == 0 || strncmp(at, "<img", 4) == 0))
      fuzz_wrong("markup that is not ours");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  looks all = {0};
  rung_error error = {0};
  look_is((const char *)data, size);
  rung_status status = look_read(&all, "fuzz", (const char *)data, size, &error);
  if (status != RUNG_OK && error.sentence[0] == '\0') fuzz_wrong("refused without a sentence");
  if (status == RUNG_OK) {
    char *text = NULL;
    size_t length = 0;
    report r = {.looks = &all, .error = &error, .to = open_memstream(&text, &length)};
    look(&all);
    if (r.to) {
      report_scaling(&r);
      report_looks(&r);
      fclose(r.to);
      check_page(text);
    }
    free(text);
  }
  looks_free(&all);
  return 0;
}
