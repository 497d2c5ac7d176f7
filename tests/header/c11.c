/* The public header as C11, with nothing included before it: what a caller's first program does. */
#include <rung/rung.h>

#include <stdio.h>
#include <string.h>

_Static_assert(RUNG_OK == 0 && RUNG_CHECK_FAILED == 14, "status values are pinned");

int main(void) {
  rung_options options = {.device = "cpu"};
  rung_call call = {.rung = "auto"};
  if (strcmp(rung_version(), RUNG_VERSION) != 0) {
    printf("the library says %s, its header %s\n", rung_version(), RUNG_VERSION);
    return 1;
  }
  if (rung_status_text(RUNG_OK) == NULL || options.threads != 0 || call.used != NULL) return 1;
  printf("%s\n", rung_version());
  return 0;
}
