/* Lines of key=value pairs: what is read, and that each refusal names key, value and remedy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lab/line.h"

static const char *const keys[] = {"n", "type", "edge", NULL};
static const char *const types[] = {"f32", "f64", NULL};

static void refused(const char *text, const char *part) {
  rung_error error = {0};
  rung_line line;
  assert_int_equal(rung_line_parse(&error, text, keys, &line), RUNG_BAD_ARGUMENT);
  if (strstr(error.sentence, part) == NULL)
    fail_msg("\"%s\" does not say \"%s\"", error.sentence, part);
}

static void reads_pairs(void **state) {
  (void)state;
  rung_line line, copy;
  assert_int_equal(rung_line_parse(NULL, "  n=12\ttype=f64  edge= ", keys, &line), RUNG_OK);
  assert_int_equal(line.count, 3);
  copy = line;
  memset(&line, 0, sizeof line);
  assert_string_equal(rung_line_get(&copy, "n"), "12");
  assert_string_equal(rung_line_get(&copy, "type"), "f64");
  assert_string_equal(rung_line_get(&copy, "edge"), "");
  assert_null(rung_line_get(&copy, "m"));
  assert_int_equal(rung_line_parse(NULL, "edge=a=b", keys, &line), RUNG_OK);
  assert_string_equal(rung_line_get(&line, "edge"), "a=b");
  assert_int_equal(rung_line_parse(NULL, " \n", keys, &line), RUNG_OK);
  assert_int_equal(line.count, 0);
  assert_int_equal(rung_line_parse(NULL, NULL, keys, &line), RUNG_OK);
  assert_int_equal(line.count, 0);
}

static void refuses_lines(void **state) {
  (void)state;
  refused("n=1 size=3", "\"size\" is no key here; expected: one of n, type, edge");
  refused("N=1", "\"N\"");
  refused("n=1 n=2", "n is given twice");
  refused("n=1 fast", "\"fast\" is no key=value pair");
  refused("=1", "\"\" is no key here");
  char text[RUNG_LINE_TEXT + 1];
  memset(text, ' ', sizeof text);
  text[RUNG_LINE_TEXT] = '\0';
  refused(text, "512 characters; expected: at most 511");
  rung_line line;
  text[RUNG_LINE_TEXT - 1] = '\0';
  assert_int_equal(rung_line_parse(NULL, text, keys, &line), RUNG_OK);
}

static void refuses_too_many_pairs(void **state) {
  (void)state;
  static char names[RUNG_LINE_PAIRS + 1][4];
  const char *many[RUNG_LINE_PAIRS + 2] = {NULL};
  char text[RUNG_LINE_TEXT] = "";
  for (int i = 0; i <= RUNG_LINE_PAIRS; ++i) {
    names[i][0] = (char)('a' + i / 10);
    names[i][1] = (char)('0' + i % 10);
    many[i] = names[i];
    strcat(strcat(text, names[i]), "=1 ");
  }
  rung_error error = {0};
  rung_line line;
  assert_int_equal(rung_line_parse(&error, text, many, &line), RUNG_BAD_ARGUMENT);
  assert_non_null(strstr(error.sentence, "more than 32 pairs"));
  text[strlen(text) - 5] = '\0';
  assert_int_equal(rung_line_parse(&error, text, many, &line), RUNG_OK);
  assert_int_equal(line.count, RUNG_LINE_PAIRS);
}

static rung_status whole(const char *text, int64_t *value, rung_error *error) {
  rung_line line;
  assert_int_equal(rung_line_parse(NULL, text, keys, &line), RUNG_OK);
  return rung_line_int(error, &line, "n", 7, -3, 1000, value);
}

static void reads_whole_numbers(void **state) {
  (void)state;
  int64_t value = 0;
  rung_error error = {0};
  assert_int_equal(whole("n=1000", &value, &error), RUNG_OK);
  assert_int_equal(value, 1000);
  assert_int_equal(whole("n=-3", &value, &error), RUNG_OK);
  assert_int_equal(value, -3);
  assert_int_equal(whole("type=f32", &value, &error), RUNG_OK);
  assert_int_equal(value, 7);
  assert_int_equal(whole("n=2^9", &value, &error), RUNG_OK);
  assert_int_equal(value, 512);
  assert_int_equal(whole("n=1e3", &value, &error), RUNG_OK);
  assert_int_equal(value, 1000);
  value = 7;
  static const char *const bad[] = {
      "n=1001", "n=-4",  "n=",    "n=1.5", "n=seven", "n=99999999999999999999", "n=12x",
      "n=1e4",  "n=1K5", "n=1Ki", "n=2^",  "n=e3",    "n=2^99999999999",        NULL};
  for (int i = 0; bad[i] != NULL; ++i) {
    assert_int_equal(whole(bad[i], &value, &error), RUNG_BAD_ARGUMENT);
    assert_int_equal(value, 7);
    assert_non_null(strstr(error.sentence, bad[i]));
    assert_non_null(strstr(error.sentence, "from -3 to 1000"));
  }
}

static void numbers_have_units(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t value;
    const char *rest;
  } good[] = {{"64Ki", 65536, ""},
              {"3K", 3000, ""},
              {"2^62", INT64_C(1) << 62, ""},
              {"-2^3", -8, ""},
              {"0e9", 0, ""},
              {"0e33111111111", 0, ""},
              {"1e18", INT64_C(1000000000000000000), ""},
              {"10^2 m", 100, " m"},
              {"7KB", 7000, "B"}};
  for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
    const char *rest = NULL;
    int64_t value = -1;
    assert_true(rung_whole_number(good[i].text, &rest, &value));
    assert_int_equal(value, good[i].value);
    assert_string_equal(rest, good[i].rest);
  }
  static const char *const beyond[] = {"2^63", "1e19", "8796093022208Gi", "9223372036854775808",
                                       "-1^9999999999"};
  for (size_t i = 0; i < sizeof beyond / sizeof *beyond; ++i) {
    const char *rest = NULL;
    int64_t value = -1;
    assert_false(rung_whole_number(beyond[i], &rest, &value));
    assert_int_equal(value, -1);
  }
}

static rung_status number(const char *text, double *value, rung_error *error) {
  rung_line line;
  assert_int_equal(rung_line_parse(NULL, text, keys, &line), RUNG_OK);
  return rung_line_double(error, &line, "n", 0.5, -1, 1, value);
}

static void reads_numbers(void **state) {
  (void)state;
  double value = 0;
  rung_error error = {0};
  assert_int_equal(number("n=-0.25", &value, &error), RUNG_OK);
  assert_true(value == -0.25);
  assert_int_equal(number("n=0x1p-4", &value, &error), RUNG_OK);
  assert_true(value == 0.0625);
  assert_int_equal(number("", &value, &error), RUNG_OK);
  assert_true(value == 0.5);
  static const char *const bad[] = {"n=nan", "n=inf", "n=1.01", "n=", "n=1,0", "n=1e999", NULL};
  for (int i = 0; bad[i] != NULL; ++i) {
    assert_int_equal(number(bad[i], &value, &error), RUNG_BAD_ARGUMENT);
    assert_true(value == 0.5);
    assert_non_null(strstr(error.sentence, bad[i]));
    assert_non_null(strstr(error.sentence, "from -1 to 1"));
  }
}

static void reads_choices(void **state) {
  (void)state;
  rung_line line;
  rung_error error = {0};
  int index = -1;
  assert_int_equal(rung_line_parse(NULL, "type=f64 edge=f16", keys, &line), RUNG_OK);
  assert_int_equal(rung_line_choice(&error, &line, "type", types, 0, &index), RUNG_OK);
  assert_int_equal(index, 1);
  assert_int_equal(rung_line_choice(&error, &line, "n", types, 0, &index), RUNG_OK);
  assert_int_equal(index, 0);
  assert_int_equal(rung_line_choice(&error, &line, "edge", types, 1, &index), RUNG_BAD_ARGUMENT);
  assert_int_equal(index, 0);
  assert_string_equal(error.sentence, "edge=f16; expected: one of f32, f64");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_pairs),
      cmocka_unit_test(refuses_lines),
      cmocka_unit_test(refuses_too_many_pairs),
      cmocka_unit_test(reads_whole_numbers),
      cmocka_unit_test(numbers_have_units),
      cmocka_unit_test(reads_numbers),
      cmocka_unit_test(reads_choices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
