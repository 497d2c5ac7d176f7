// The public header as C++17: C linkage, and no construct that C++ lacks.
#include <rung/rung.h>

#include <cstdio>
#include <cstring>

static_assert(RUNG_OK == 0 && RUNG_CHECK_FAILED == 14, "status values are pinned");

int main() {
  rung_options options{};
  rung_call call{};
  if (std::strcmp(rung_version(), RUNG_VERSION) != 0) {
    std::printf("the library says %s, its header %s\n", rung_version(), RUNG_VERSION);
    return 1;
  }
  if (rung_status_text(RUNG_OK) == nullptr || options.threads != 0 || call.used) return 1;
  std::printf("%s\n", rung_version());
  return 0;
}
