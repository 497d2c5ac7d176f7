/* Explaining on a GPU: its counters are read from outside, so the command runs itself again under
 * ncu, for one rung, and takes what that saw. */
#include <stdlib.h>
#include <string.h>

#include "cli/explain.h"
#include "lab/counters.h"

/* Set for the run that is counted. */
static const char counted[] = "RUNG_EXPLAIN_COUNTED";

bool explain_is_counted(void) {
  return getenv(counted) != NULL;
}

rung_status explain_on_gpu(rung_context *context, const rung_case *test_case, const char *device,
                           explained *the, rung_error *error) {
  rung_status status = lab_try(context, test_case, the->row, the->block, &the->verdict, error);
  if (status != RUNG_OK || the->verdict.finding != LAB_GOOD || explain_is_counted()) return status;
  char self[CLI_SELF], block[16], seed[32];
  status = cli_self(self, "counted", error);
  if (status != RUNG_OK) return status;
  snprintf(block, sizeof block, "%d", the->block);
  snprintf(seed, sizeof seed, "%llu", (unsigned long long)test_case->seed);
  const char *program[] = {self,
                           "explain",
                           test_case->operation->name,
                           "--rung",
                           the->row->name,
                           "--sizes",
                           test_case->label,
                           "--device",
                           device,
                           "--seed",
                           seed,
                           NULL,
                           NULL,
                           NULL};
  if (the->block > 0) {
    program[11] = "--block";
    program[12] = block;
  }
  setenv(counted, "1", 1);
  status = lab_counters(program, &the->profile, error);
  unsetenv(counted);
  return status;
}
