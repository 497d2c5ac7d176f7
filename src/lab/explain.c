/* Counting what a rung's kernels do, and seeing that the run which was counted was right. */
#include <string.h>

#include "lab/fixture.h"

/* Launches once, between the two ends of a profile where there is to be one. A rung that fails is a
 * finding; *profile is what was counted until then. */
static rung_status launch(lab_fixture *fixture, const rung_row *row, int block, bool keep,
                          rung_profile *profile, lab_verdict *verdict, rung_error *error) {
  const rung_backend *backend = fixture->context->backend;
  rung_state *state = fixture->context->state;
  rung_error why = {0};
  rung_status status = profile ? backend->profile_begin(state, keep, error) : RUNG_OK;
  if (status != RUNG_OK) return status;
  const rung_status launched = lab_fixture_launch(fixture, row, block, &why);
  if (profile) status = backend->profile_end(state, profile, error);
  if (launched != RUNG_OK)
    lab_find_failure(verdict, &why);
  else if (status == RUNG_OK)
    lab_fixture_check(fixture, row, verdict);
  /* That says nothing of the rung. */
  if (verdict->cause == RUNG_OUT_OF_MEMORY)
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s", verdict->sentence);
  return launched == RUNG_OK ? status : RUNG_OK;
}

static rung_status run_once(lab_fixture *fixture, const rung_row *row, int block, bool keep,
                            rung_profile *profile, lab_verdict *verdict, rung_error *error) {
  rung_error why = {0};
  rung_status status = lab_fixture_prepare(fixture, row, block, &why);
  if (status == RUNG_UNSUPPORTED || status == RUNG_BAD_ARGUMENT) { /* the latter: its block */
    lab_find(verdict, LAB_UNSUPPORTED, "%s", why.sentence);
    return RUNG_OK;
  }
  if (status != RUNG_OK) return rung_fail(error, status, "%s", why.sentence);
  status = lab_fixture_poison(fixture, error);
  if (status == RUNG_OK) status = launch(fixture, row, block, keep, profile, verdict, error);
  return status;
}

/* *profile may be NULL. */
static rung_status run(rung_context *context, const rung_case *test_case, const rung_row *row,
                       int block, bool keep, rung_profile *profile, lab_verdict *verdict,
                       rung_error *error) {
  *verdict = (lab_verdict){.finding = LAB_GOOD};
  lab_fixture *fixture = NULL;
  rung_status status = lab_fixture_open(context, test_case, &fixture, error);
  if (status == RUNG_OK) status = run_once(fixture, row, block, keep, profile, verdict, error);
  lab_fixture_close(fixture);
  return status;
}

rung_status lab_explain(rung_context *context, const rung_case *test_case, const rung_row *row,
                        int block, bool keep, rung_profile *profile, lab_verdict *verdict,
                        rung_error *error) {
  memset(profile, 0, sizeof *profile);
  *verdict = (lab_verdict){.finding = LAB_GOOD};
  if (!context->backend->profile_begin)
    return rung_fail(
        error, RUNG_UNSUPPORTED,
        "device is \"%s\", which cannot be asked what its kernels do; expected: \"sim\"",
        context->backend->name);
  rung_status status = run(context, test_case, row, block, keep, profile, verdict, error);
  if (status != RUNG_OK || verdict->finding != LAB_GOOD) rung_profile_free(profile);
  return status;
}

rung_status lab_try(rung_context *context, const rung_case *test_case, const rung_row *row,
                    int block, lab_verdict *verdict, rung_error *error) {
  return run(context, test_case, row, block, false, NULL, verdict, error);
}

void lab_profile_total(const rung_profile *profile, rung_counts *total) {
  memset(total, 0, sizeof *total);
  for (int i = 0; i < profile->count; i++) rung_counts_add(total, &profile->kernels[i].total);
}
