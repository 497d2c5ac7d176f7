/* Many tests in one program, for most of what a small one takes is the linker's: the build gives
 * the main() of every test a name of its own, and writes the table TESTS of them. The argument says
 * which one runs, "unit/line"; ctest starts the program anew for each. */
#include <stdio.h>
#include <string.h>

#define TEST(name, entry) int entry(void);
#include TESTS
#undef TEST

#define TEST(name, entry) {name, entry},
static const struct {
  const char *name;
  int (*run)(void);
} tests[] = {
#include TESTS
};

int main(int count, char **words) {
  const int known = (int)(sizeof tests / sizeof *tests);
  for (int i = 0; count == 2 && i < known; i++)
    if (strcmp(words[1], tests[i].name) == 0) return tests[i].run();
  fprintf(stderr, "%s: expected: one of\n", words[0]);
  for (int i = 0; i < known; i++) fprintf(stderr, "  %s\n", tests[i].name);
  return 2;
}
