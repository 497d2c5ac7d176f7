/* The table of a case's keys: what it reads, the label it writes, the help it prints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/keys.h"

typedef struct request {
  int64_t n, rare;
  double width;
  int kind;
} request;

static bool has_rare(const void *of) {
  return ((const request *)of)->rare != 7;
}

static const char *const kinds[] = {"even", "odd", NULL};
static const rung_key keys[] = {
    RUNG_INTEGER(request, n, 1, INT64_C(1) << 40, 1000, .name = "n", .help = "how many"),
    RUNG_CHOICE(request, kind, 1, .name = "kind", .names = kinds, .help = "which"),
    RUNG_REAL(request, width, 0, 10, -1, .name = "width", .help = "how wide",
              .depends = "as wide as can be"),
    RUNG_INTEGER(request, rare, 0, 9, 7, .name = "rare", .help = "seldom", .shown = has_rare),
    {0}};

static void reads_what_is_given_and_what_is_not(void **state) {
  (void)state;
  request r;
  assert_int_equal(rung_keys_read(keys, "", &r, NULL), RUNG_OK);
  assert_true(r.n == 1000 && r.kind == 1 && r.width == -1 && r.rare == 7);
  assert_int_equal(rung_keys_read(keys, "rare=3 kind=even width=0.1 n=1099511627776", &r, NULL),
                   RUNG_OK);
  assert_true(r.n == INT64_C(1) << 40 && r.kind == 0 && r.width == 0.1 && r.rare == 3);
}

static void refuses_what_is_out_of_range(void **state) {
  (void)state;
  static const char *const bad[] = {"n=0", "n=1099511627777", "kind=neither", "width=11", "rare=10",
                                    "m=1", "n=1 n=1"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    request r;
    rung_error error = {0};
    assert_int_equal(rung_keys_read(keys, bad[i], &r, &error), RUNG_BAD_ARGUMENT);
    assert_true(error.sentence[0] != '\0');
  }
}

/* Whatever the room, what is beyond it stays as it was. */
static void labels_are_whole_or_cut(void **state) {
  (void)state;
  const request r = {.n = 5, .rare = 2, .width = 0.1, .kind = 0};
  static const char whole[] = "n=5 kind=even width=0.1 rare=2";
  for (size_t room = 1; room <= sizeof whole + 1; ++room) {
    char label[64];
    memset(label, '#', sizeof label);
    rung_keys_label(keys, &r, label, room);
    const size_t length = room - 1 < sizeof whole - 1 ? room - 1 : sizeof whole - 1;
    assert_int_equal(strlen(label), length);
    assert_memory_equal(label, whole, length);
    for (size_t i = room; i < sizeof label; ++i) assert_int_equal(label[i], '#');
  }
  const request usual = {.n = 5, .rare = 7, .width = 2, .kind = 1};
  char label[64], again[64];
  request back;
  rung_keys_label(keys, &usual, label, sizeof label);
  assert_string_equal(label, "n=5 kind=odd width=2");
  assert_int_equal(rung_keys_read(keys, label, &back, NULL), RUNG_OK);
  rung_keys_label(keys, &back, again, sizeof again);
  assert_string_equal(label, again);
}

static void the_help_has_every_key(void **state) {
  (void)state;
  char *text = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  assert_non_null(to);
  rung_keys_help(keys, to);
  fclose(to);
  static const char *const parts[] = {"n          how many; default 1000",
                                      "kind       which; default odd", "one of even odd",
                                      "width      how wide; default as wide as can be", "rare "};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
    if (!strstr(text, parts[i])) fail_msg("the help lacks \"%s\":\n%s", parts[i], text);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_what_is_given_and_what_is_not),
      cmocka_unit_test(refuses_what_is_out_of_range),
      cmocka_unit_test(labels_are_whole_or_cut),
      cmocka_unit_test(the_help_has_every_key),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
