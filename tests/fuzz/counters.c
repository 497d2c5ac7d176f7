/* Any text as the table that ncu prints: refused with a sentence, or kernels with names. */
#include "lab/counters.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  rung_error error = {0};
  rung_profile profile;
  memcpy(text, data, size);
  text[size] = '\0';
  if (lab_counters_parse(text, &profile, &error) == RUNG_OK) {
    if (profile.count < 1) fuzz_wrong("no kernel, and no sentence");
    for (int k = 0; k < profile.count; k++)
      if (profile.kernels[k].launches < 1) fuzz_wrong("a kernel that nobody launched");
    rung_profile_free(&profile);
  } else if (error.sentence[0] == '\0' || profile.kernels != NULL) {
    fuzz_wrong("refused without a sentence, or kernels are left");
  }
  free(text);
  return 0;
}
