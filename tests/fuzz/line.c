/* Any text as the line of a case, of every operation: refused with a sentence, or its label, where
 * that is a line, is read as the same. */
#include "fuzz/fuzz.h"
#include "lab/case.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0 || size > 4096) return 0;
  int operations = 0;
  while (rung_all_cases[operations] != NULL) operations++;
  const rung_cases *cases = rung_all_cases[data[0] % operations];
  if (cases->keys == NULL) return 0;
  char *text = malloc(size), label[2][RUNG_LABEL];
  union {
    double aligned;
    char bytes[4096];
  } request;
  rung_error error = {0};
  memcpy(text, data + 1, size - 1);
  text[size - 1] = '\0';
  if (rung_keys_read(cases->keys, text, &request, &error) == RUNG_OK) {
    rung_keys_label(cases->keys, &request, label[0], RUNG_LABEL);
    /* Where a default depends on other keys, which is not yet looked at, a label may be refused. */
    if (strlen(label[0]) < RUNG_LABEL - 1 &&
        rung_keys_read(cases->keys, label[0], &request, &error) == RUNG_OK) {
      rung_keys_label(cases->keys, &request, label[1], RUNG_LABEL);
      if (strcmp(label[0], label[1]) != 0)
        fuzz_wrong("\"%s\" is read as \"%s\"", label[0], label[1]);
    }
  } else if (error.sentence[0] == '\0') {
    fuzz_wrong("\"%s\" is refused without a sentence", text);
  }
  free(text);
  return 0;
}
