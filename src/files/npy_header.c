#include "files/npy_header.h"

#include <stdio.h>
#include <string.h>

enum { QUOTED = 48, TAKEN = 64, KEY_DESCR = 1, KEY_ORDER = 2, KEY_SHAPE = 4, KEY_ALL = 7 };

typedef struct parser {
  const char *name, *text;
  size_t length, at;
  rung_error *error;
} parser;

static rung_status refuse(const parser *p, const char *expected) {
  return rung_fail(p->error, RUNG_BAD_FILE,
                   "%s: its header is not an .npy dictionary: %s expected at byte %zu", p->name,
                   expected, p->at);
}

static int peek(const parser *p) {
  return p->at < p->length ? (unsigned char)p->text[p->at] : -1;
}

static void skip_space(parser *p) {
  for (;;) {
    int c = peek(p);
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f') return;
    p->at++;
  }
}

/* Skips white space, then takes `c` if it stands there. */
static bool take(parser *p, int c) {
  skip_space(p);
  if (peek(p) != c) return false;
  p->at++;
  return true;
}

/* A string's bytes stay in the text. Escapes are refused: numpy writes none in what we accept. */
static rung_status take_string(parser *p, const char **start, size_t *length) {
  skip_space(p);
  int quote = peek(p);
  if (quote != '\'' && quote != '"') return refuse(p, "a string");
  size_t begin = ++p->at;
  for (; peek(p) != quote; p->at++) {
    int c = peek(p);
    if (c < 0) return refuse(p, "a closing quote");
    if (c < ' ' || c > '~' || c == '\\') return refuse(p, "plain ASCII");
  }
  *start = p->text + begin;
  *length = p->at - begin;
  p->at++;
  return RUNG_OK;
}

static bool take_word(parser *p, const char *word) {
  size_t length = strlen(word);
  skip_space(p);
  if (p->length - p->at < length || memcmp(p->text + p->at, word, length) != 0) return false;
  p->at += length;
  return true;
}

static rung_status take_bool(parser *p, bool *value) {
  if (take_word(p, "True")) {
    *value = true;
    return RUNG_OK;
  }
  *value = false;
  return take_word(p, "False") ? RUNG_OK : refuse(p, "True or False");
}

/* One extent of the shape. */
static rung_status take_extent(parser *p, int64_t *value) {
  skip_space(p);
  if (peek(p) == '-')
    return rung_fail(p->error, RUNG_BAD_FILE, "%s: its shape has a negative extent", p->name);
  size_t begin = p->at;
  *value = 0;
  for (int c; c = peek(p), c >= '0' && c <= '9'; p->at++) {
    if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, c - '0', value))
      return rung_fail(p->error, RUNG_BAD_FILE,
                       "%s: its shape has an extent that does not fit in 64 bits", p->name);
  }
  if (p->at == begin) return refuse(p, "a number");
  if (p->text[begin] == '0' && p->at - begin > 1) {
    p->at = begin;
    return refuse(p, "a number without leading zeros");
  }
  if (peek(p) == 'L') p->at++;
  return RUNG_OK;
}

static rung_status take_shape(parser *p, npy_header *header) {
  if (!take(p, '(')) return refuse(p, "a tuple");
  header->ndim = 0;
  bool comma = true; /* (3) is a number in brackets, no tuple */
  while (!take(p, ')')) {
    if (!comma) return refuse(p, "',' or ')'");
    int64_t extent = 0;
    rung_status status = take_extent(p, &extent);
    if (status) return status;
    if (header->ndim == RUNG_MAX_DIMS)
      return rung_fail(p->error, RUNG_BAD_FILE,
                       "%s: its shape has more than %d dimensions, the most that are taken",
                       p->name, RUNG_MAX_DIMS);
    header->shape[header->ndim++] = extent;
    comma = take(p, ',');
  }
  if (header->ndim == 1 && !comma) return refuse(p, "',' after a tuple's only number");
  return RUNG_OK;
}

/* What numpy's other types are called, for the sentence that refuses them. */
static const char *foreign_type(char letter) {
  switch (letter) {
    case 'O':
      return " (pickled Python objects)";
    case 'b':
      return " (booleans)";
    case 'c':
      return " (complex numbers)";
    case 'S':
    case 'a':
    case 'U':
      return " (strings)";
    case 'V':
      return " (raw bytes, bf16 among them)";
    case 'M':
    case 'm':
      return " (dates or times)";
    default:
      return "";
  }
}

unsigned npy_dtypes(void) {
  unsigned set = 0;
  for (int i = 0; i < RUNG_DTYPES; i++)
    if (rung_traits_of((rung_dtype)i)->npy != '\0') set |= RUNG_TYPE(i);
  return set;
}

/* "u1, i1 ... and f8" */
static void list_codes(char text[TAKEN]) {
  unsigned left = npy_dtypes();
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < RUNG_DTYPES && used < TAKEN; i++) {
    const rung_traits *traits = rung_traits_of((rung_dtype)i);
    if (!(left & RUNG_TYPE(i))) continue;
    left &= ~RUNG_TYPE(i);
    used += (size_t)snprintf(text + used, TAKEN - used, "%s%c%zu",
                             used == 0 ? ""
                             : left    ? ", "
                                       : " and ",
                             traits->npy, traits->bytes);
  }
}

static rung_status take_descr(parser *p, npy_header *header) {
  skip_space(p);
  if (peek(p) == '[' || peek(p) == '(' || peek(p) == '{')
    return rung_fail(p->error, RUNG_BAD_FILE,
                     "%s: holds structured elements; expected: numbers of one plain type", p->name);
  const char *text;
  size_t length;
  rung_status status = take_string(p, &text, &length);
  if (status) return status;
  char order = length > 0 ? text[0] : '\0';
  bool ordered = order == '<' || order == '>' || order == '=' || order == '|';
  for (int i = 0; ordered && length == 3 && i < RUNG_DTYPES; i++) {
    const rung_traits *traits = rung_traits_of((rung_dtype)i);
    if (text[1] != traits->npy || text[2] != (char)('0' + traits->bytes)) continue;
    header->dtype = (rung_dtype)i;
    bool byte = traits->bytes == 1;
    if (order == '|' && !byte) break; /* "no byte order" of several bytes means nothing */
    bool native_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    header->big_endian = !byte && (order == '>' || (order == '=' && native_big));
    return RUNG_OK;
  }
  char letter = '\0', taken[TAKEN];
  if (length > (size_t)ordered) letter = text[ordered];
  list_codes(taken);
  return rung_fail(p->error, RUNG_BAD_FILE,
                   "%s: has elements of type '%.*s'%s; expected: %s, with < or > before them",
                   p->name, (int)(length < QUOTED ? length : QUOTED), text, foreign_type(letter),
                   taken);
}

/* The product in elements and in bytes, as if no extent were zero: strides must fit too. */
static rung_status measure(parser *p, npy_header *header) {
  int64_t bytes = (int64_t)rung_dtype_bytes(header->dtype);
  header->count = 1;
  for (int i = 0; i < header->ndim; i++) {
    int64_t extent = header->shape[i];
    if (!rung_multiply(bytes, extent > 0 ? extent : 1, &bytes))
      return rung_fail(p->error, RUNG_BAD_FILE,
                       "%s: its shape stands for more bytes than fit in 64 bits", p->name);
    header->count *= extent; /* at most the product in bytes, which fits */
  }
  return RUNG_OK;
}

static rung_status take_entry(parser *p, npy_header *header, int *seen) {
  const char *key;
  size_t length;
  rung_status status = take_string(p, &key, &length);
  if (status) return status;
  static const struct {
    const char *name;
    int bit;
  } keys[] = {{"descr", KEY_DESCR}, {"fortran_order", KEY_ORDER}, {"shape", KEY_SHAPE}};
  int bit = 0;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strlen(keys[i].name) == length && memcmp(keys[i].name, key, length) == 0) bit = keys[i].bit;
  if (bit == 0 || (*seen & bit))
    return rung_fail(p->error, RUNG_BAD_FILE,
                     "%s: its header has %s '%.*s'; it must have 'descr', 'fortran_order' and "
                     "'shape', each once",
                     p->name, bit ? "a second key" : "an unknown key",
                     (int)(length < QUOTED ? length : QUOTED), key);
  *seen |= bit;
  if (!take(p, ':')) return refuse(p, "':'");
  if (bit == KEY_DESCR) return take_descr(p, header);
  if (bit == KEY_ORDER) return take_bool(p, &header->fortran);
  return take_shape(p, header);
}

rung_status npy_header_parse(const char *name, const char *text, size_t length, npy_header *header,
                             rung_error *error) {
  parser p = {.name = name, .text = text, .length = length, .error = error};
  *header = (npy_header){0};
  int seen = 0;
  bool comma = true;
  if (!take(&p, '{')) return refuse(&p, "'{'");
  while (!take(&p, '}')) {
    if (!comma) return refuse(&p, "',' or '}'");
    rung_status status = take_entry(&p, header, &seen);
    if (status) return status;
    comma = take(&p, ',');
  }
  skip_space(&p);
  if (p.at != p.length) return refuse(&p, "nothing more");
  if (seen != KEY_ALL)
    return rung_fail(error, RUNG_BAD_FILE, "%s: its header has no '%s'", name,
                     !(seen & KEY_DESCR)   ? "descr"
                     : !(seen & KEY_ORDER) ? "fortran_order"
                                           : "shape");
  return measure(&p, header);
}
