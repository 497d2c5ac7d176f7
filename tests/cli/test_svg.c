/* Text in pictures of ours: what XML takes for its own is told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cli/svg.h"

static void text_is_escaped(void **state) {
  static const struct {
    const char *words, *written;
  } cases[] = {{"a<b> & \"c\" 'd'", "a&#60;b&#62; &#38; &#34;c&#34; &#39;d&#39;"},
               {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
               {"\x01\x7f \xff \xc3", "?? ? ?"},
               {"\xef\xbf\xbf", "???"},
               {"", ""}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    assert_non_null(to);
    svg_escape(to, cases[i].words);
    assert_int_equal(fclose(to), 0);
    assert_string_equal(text, cases[i].written);
    free(text);
  }
}

/* A head and two lines of text. The caller frees it. */
static char *picture(bool inlined) {
  char *text = NULL;
  size_t length = 0;
  FILE *to = open_memstream(&text, &length);
  assert_non_null(to);
  svg_begin(to, 20, 10, "x", inlined, "1 < 2", "\"so\"");
  svg_words(to, 3, 4, "kind", "a&b");
  svg_words(to, 5, 6, NULL, "c");
  assert_int_equal(fclose(to), 0);
  return text;
}

static void heads_are_whole(void **state) {
  char *text = picture(true);
  (void)state;
  assert_string_equal(
      text,
      "<svg viewBox=\"0 0 20 10\" role=\"img\" aria-labelledby=\"x-t x-d\" "
      "width=\"20\" height=\"10\" xmlns=\"http://www.w3.org/2000/svg\">\n"
      "<title id=\"x-t\">1 &#60; 2</title>\n<desc id=\"x-d\">&#34;so&#34;</desc>\n"
      "<text x=\"3\" y=\"4\" class=\"kind\">a&#38;b</text><text x=\"5\" y=\"6\">c</text>");
  free(text);
}

/* A file of its own has no page whose font and colour it could take. */
static void files_have_a_font_and_a_colour(void **state) {
  char *text = picture(false);
  (void)state;
  assert_non_null(strstr(text, " font-family=\"system-ui,sans-serif\">\n<title"));
  assert_non_null(strstr(text, "<style>svg{color:"));
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_is_escaped),
      cmocka_unit_test(heads_are_whole),
      cmocka_unit_test(files_have_a_font_and_a_colour),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
