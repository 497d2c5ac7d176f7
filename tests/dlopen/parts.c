/* parts LIBRUNG...: what each library says of device "sim", and that its CPU works all the same. */
#include "dlopen/uses.h"

int main(int count, char **paths) {
  for (int i = 1; i < count; i++) {
    rung_found found;
    char said[512], unsaid[512];
    if (rung_find(paths[i], &found) != 0) return 1;
    const int status = rung_sums_on(&found, "sim", said, sizeof said);
    const int cpu = rung_sums_on(&found, "cpu", unsaid, sizeof unsaid);
    printf("%s: sim %d, cpu %d: %s\n", found.version(), status, cpu, said);
  }
  return 0;
}
