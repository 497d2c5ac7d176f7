/* Any bytes as a file of records: refused by a sentence, or cases that a report can be made of. */
#include <math.h>

#include "fuzz/fuzz.h"
#include "lab/read.h"

static void look(const lab_read_case *of) {
  if (!of->operation || !of->type || !of->device || strlen(of->label) >= sizeof of->label)
    fuzz_wrong("a case without what it needs");
  for (int i = 0; i < of->count; i++) {
    const lab_read_candidate *c = &of->candidates[i];
    const double part = lab_read_part(of, c);
    if (strlen(c->rung) + strlen(c->idea) + strlen(c->order) + strlen(c->stop) > 1 << 20)
      fuzz_wrong("names longer than the file");
    if (!isnan(part) && !(part >= 0 && part <= 1)) fuzz_wrong("%g of the peak", part);
    for (int k = 0; k < c->count; k++)
      if (!(c->samples[k] > 0 && isfinite(c->samples[k]) && c->clocks[k] >= 0))
        fuzz_wrong("a sample of %g", c->samples[k]);
    if (c->count > 0 && !(c->time.min <= c->time.median && c->time.median <= c->time.max))
      fuzz_wrong("a median outside of the samples");
    for (int k = 0; k < c->launches; k++)
      if (!(c->time.min <= c->medians[k] && c->medians[k] <= c->time.max))
        fuzz_wrong("a launch's median outside of the samples");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  lab_records records = {0};
  rung_error error = {0};
  const rung_status status = lab_read(&records, "fuzz", (const char *)data, size, &error);
  if (status != RUNG_OK && error.sentence[0] == '\0') fuzz_wrong("refused without a sentence");
  for (int i = 0; status == RUNG_OK && i < records.count; i++) {
    look(&records.cases[i]);
    lab_read_best(&records.cases[i]);
  }
  lab_records_free(&records);
  return 0;
}
