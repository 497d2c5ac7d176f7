/* A kernel's source with its counts beside it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explain.h"
#include "lab/store.h"

/* `NEAR` lines on either side of one that is shown are shown too; a gap is worth dots from MANY. */
enum { NEAR = 1, MANY = 3, ROW = 1024 };

static const struct {
  rung_counter counter;
  const char *heading;
} fields[] = {
    {RUNG_GLOBAL_LOADS, "loads"},
    {RUNG_GLOBAL_LOAD_SECTORS, "ld.sect"},
    {RUNG_GLOBAL_STORES, "stores"},
    {RUNG_GLOBAL_STORE_SECTORS, "st.sect"},
    {RUNG_SHARED_LOADS, "sh.loads"},
    {RUNG_SHARED_LOAD_CONFLICTS, "ld.confl"},
    {RUNG_SHARED_STORES, "sh.store"},
    {RUNG_SHARED_STORE_CONFLICTS, "st.confl"},
    {RUNG_GLOBAL_ATOMICS, "atomics"},
    {RUNG_SHARED_ATOMICS, "sh.atom"},
    {RUNG_ATOMIC_DEPTH, "deepest"},
    {RUNG_BARRIERS, "barriers"},
    {RUNG_EXCHANGES, "shuffles"},
    {RUNG_STEPS, "steps"},
    {RUNG_PARTIAL_STEPS, "partial"},
    {RUNG_DIVERGENT_BRANCHES, "divergent"},
    {RUNG_FLOPS, "flops"},
};
enum { FIELD_COUNT = sizeof fields / sizeof *fields };

/* ---- the worst lines ------------------------------------------------------------------------ */

typedef enum mark { SECTORS, CONFLICTS, DIVERGENCE, MARKS } mark;
static const struct {
  char letter;
  const char *meaning;
} marks[MARKS] = {{'S', "most sectors more than its bytes need"},
                  {'C', "most bank conflicts"},
                  {'D', "most steps by part of a warp"}};

static int64_t badness(const rung_counts *counts, mark which) {
  const int64_t *at = counts->at;
  switch (which) {
    case SECTORS:
      return at[RUNG_GLOBAL_LOAD_SECTORS] + at[RUNG_GLOBAL_STORE_SECTORS] -
             (at[RUNG_GLOBAL_LOAD_BYTES] + at[RUNG_GLOBAL_STORE_BYTES]) / 32;
    case CONFLICTS:
      return at[RUNG_SHARED_LOAD_CONFLICTS] + at[RUNG_SHARED_STORE_CONFLICTS];
    default:
      return at[RUNG_PARTIAL_STEPS];
  }
}

/* What a line must reach to be worth a mark: a twentieth of all there is of it. */
static int64_t least_badness(const rung_counts *total, mark which) {
  const int64_t *at = total->at;
  switch (which) {
    case SECTORS:
      return 1 + (at[RUNG_GLOBAL_LOAD_SECTORS] + at[RUNG_GLOBAL_STORE_SECTORS]) / 20;
    case CONFLICTS:
      return 1 + (at[RUNG_SHARED_LOADS] + at[RUNG_SHARED_STORES]) / 20;
    default:
      return 1 + at[RUNG_STEPS] / 20;
  }
}

static void find_worst(const rung_profile_kernel *kernel, const rung_profile_line *worst[MARKS]) {
  for (int which = 0; which < MARKS; which++) {
    int64_t most = least_badness(&kernel->total, (mark)which) - 1;
    worst[which] = NULL;
    for (int i = 0; i < kernel->line_count; i++) {
      const int64_t here = badness(&kernel->lines[i].counts, (mark)which);
      if (here <= most) continue;
      most = here;
      worst[which] = &kernel->lines[i];
    }
  }
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Longer than any source of ours. */
static const int64_t most_bytes = 1 << 20;

/* Bytes that a terminal takes for commands do not reach it. */
static void make_plain(char *text) {
  for (char *at = text; *at; at++)
    if ((unsigned char)*at < ' ' && *at != '\n' && *at != '\t') *at = '?';
}

static bool split(explain_source *of) {
  int count = 1;
  for (const char *at = of->text; (at = strchr(at, '\n')); at++) count++;
  of->lines = calloc((size_t)count, sizeof *of->lines);
  of->shown = calloc((size_t)count, sizeof *of->shown);
  if (!of->lines || !of->shown) return false;
  char *rest = of->text;
  while (rest) of->lines[of->count++] = strsep(&rest, "\n");
  return true;
}

/* A file that cannot be read has no lines; false: no memory. */
static bool read_source(explain_source *of) {
  const int descriptor = lab_open_regular(of->file, most_bytes);
  if (descriptor < 0) return errno != ENOMEM;
  of->text = lab_take_text(descriptor, NULL);
  if (!of->text) return false;
  make_plain(of->text);
  return split(of);
}

static explain_source *source_of(const explain_sources *all, const char *file) {
  for (int i = 0; i < all->count; i++)
    if (all->at[i].file == file) return &all->at[i];
  return NULL;
}

static bool add_source(explain_sources *all, const char *file) {
  if (!explain_path(file) || source_of(all, file)) return true;
  explain_source *more = realloc(all->at, ((size_t)all->count + 1) * sizeof *more);
  if (!more) return false;
  all->at = more;
  all->at[all->count] = (explain_source){.file = file};
  return read_source(&all->at[all->count++]);
}

rung_status explain_sources_read(const rung_profile *profile, explain_sources *all,
                                 rung_error *error) {
  bool whole = true;
  for (int k = 0; k < profile->count; k++)
    for (int i = 0; i < profile->kernels[k].line_count; i++)
      whole = whole && add_source(all, profile->kernels[k].lines[i].file);
  return whole ? RUNG_OK
               : rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the kernels' source");
}

void explain_sources_free(explain_sources *all) {
  for (int i = 0; i < all->count; i++) {
    free(all->at[i].text);
    free(all->at[i].lines);
    free(all->at[i].shown);
  }
  free(all->at);
  *all = (explain_sources){0};
}

const char *explain_file(const char *file) {
  static const char *const roots[] = {"/src/", "/tests/"};
  const char *path = NULL;
  for (int r = 0; r < 2 && file && !path; r++)
    for (const char *at = file; (at = strstr(at, roots[r])); at++) path = at + 1;
  return path ? path : file;
}

const char *explain_path(const char *file) {
  const char *path = explain_file(file);
  const bool ours = path && (strncmp(path, "src/", 4) == 0 || strncmp(path, "tests/", 6) == 0);
  return ours && strncmp(path, "src/backend/", 12) != 0 ? path : NULL;
}

/* ---- which lines are shown ------------------------------------------------------------------ */

static int indent_of(const char *line) {
  const int indent = (int)strspn(line, " \t");
  return line[indent] == '\0' || line[indent] == '#' ? -1 : indent; /* blank, directive */
}

/* A line with its neighbours, and the heads of the loops and functions it stands in: the lines
 * above that are further to the left. */
static void show_around(explain_source *of, int line) {
  const int at = line - 1;
  if (at < 0 || at >= of->count) return;
  for (int i = at - NEAR; i <= at + NEAR; i++)
    if (i >= 0 && i < of->count) of->shown[i] = true;
  int indent = indent_of(of->lines[at]);
  for (int i = at - 1; i >= 0 && indent > 0; i--) {
    const int here = indent_of(of->lines[i]);
    if (here < 0 || here >= indent) continue;
    of->shown[i] = true;
    indent = here;
  }
}

static void close_gaps(explain_source *of) {
  int last = -1;
  for (int i = 0; i < of->count; i++) {
    if (!of->shown[i]) continue;
    for (int k = last + 1; last >= 0 && i - last <= MANY && k < i; k++) of->shown[k] = true;
    last = i;
  }
}

/* ---- printing ------------------------------------------------------------------------------- */

/* How wide each field is; 0: nothing of it in the whole kernel, so it is left out. */
static void measure_fields(const rung_counts *total, int widths[FIELD_COUNT]) {
  enum { MILLION = 1000000, DIGITS = 6 };
  for (int f = 0; f < FIELD_COUNT; f++) {
    const int64_t count = total->at[fields[f].counter];
    char text[32];
    widths[f] = 0;
    if (count == 0 || count == RUNG_NOT_COUNTED) continue;
    const int heading = (int)strlen(fields[f].heading);
    const int widest = count < MILLION ? (int)strlen(explain_count((double)count, text)) : DIGITS;
    widths[f] = heading > widest ? heading : widest;
  }
}

/* `counts` NULL: blanks. */
static int put_counts(const int widths[FIELD_COUNT], const rung_counts *counts, char *row) {
  int used = 0;
  for (int f = 0; f < FIELD_COUNT; f++) {
    if (widths[f] == 0) continue;
    char text[32];
    const int64_t count = counts ? counts->at[fields[f].counter] : 0;
    used += sprintf(row + used, " %*s", widths[f], count ? explain_count((double)count, text) : "");
  }
  return used;
}

/* One kernel's listing. */
typedef struct listing {
  FILE *to;
  const rung_profile_kernel *kernel;
  const explain_sources *sources;
  const rung_profile_line *worst[MARKS];
  int widths[FIELD_COUNT];
} listing;

static void print_line(const listing *of, const rung_profile_line *line, int number,
                       const char *text) {
  char letters[MARKS + 1] = "   ", row[ROW];
  for (int which = 0; which < MARKS && line; which++)
    if (of->worst[which] == line) letters[which] = marks[which].letter;
  const int used = put_counts(of->widths, line ? &line->counts : NULL, row);
  snprintf(row + used, sizeof row - (size_t)used, "  %s", text);
  for (size_t end = strlen(row); end > 0 && row[end - 1] == ' '; end--) row[end - 1] = '\0';
  fprintf(of->to, "%s%s%s %5d%s\n", cli_colour(of->to, CLI_RED), letters,
          cli_colour(of->to, CLI_PLAIN), number, row);
}

static void print_heading(const listing *of, const char *path) {
  fprintf(of->to, "\n%s%s%s\n%s %5s", cli_colour(of->to, CLI_BOLD), path,
          cli_colour(of->to, CLI_PLAIN), "   ", "line");
  for (int f = 0; f < FIELD_COUNT; f++)
    if (of->widths[f] > 0) fprintf(of->to, " %*s", of->widths[f], fields[f].heading);
  fputc('\n', of->to);
}

/* lines[0 ... count) are of one file. */
static void print_file(const listing *of, const rung_profile_line *lines, int count) {
  explain_source *text = source_of(of->sources, lines->file);
  if (text->count > 0) memset(text->shown, 0, (size_t)text->count * sizeof *text->shown);
  print_heading(of, explain_path(lines->file));
  for (int i = 0; i < count; i++) show_around(text, lines[i].line);
  close_gaps(text);
  int next = 0;
  bool dots = false;
  for (int k = 0; k < text->count; k++) {
    if (!text->shown[k]) {
      if (dots) fprintf(of->to, "%*s...\n", MARKS + 3, "");
      dots = false;
      continue;
    }
    const bool counted = next < count && lines[next].line == k + 1;
    print_line(of, counted ? &lines[next] : NULL, k + 1, text->lines[k]);
    next += counted;
    dots = true;
  }
  for (; next < count; next++) print_line(of, &lines[next], lines[next].line, "");
}

static void print_legend(const listing *of) {
  const char *before = "\nMarked: ";
  for (int which = 0; which < MARKS; which++) {
    if (!of->worst[which]) continue;
    fprintf(of->to, "%s%c %s", before, marks[which].letter, marks[which].meaning);
    before = "; ";
  }
  if (*before == ';') fputs(".\n", of->to);
}

/* More than steps. */
static bool does_something(const rung_counts *counts) {
  for (int i = 0; i < RUNG_COUNTERS; i++)
    if (i != RUNG_STEPS && counts->at[i] > 0) return true;
  return false;
}

static void print_kernel(FILE *to, const rung_profile_kernel *kernel) {
  char shared[32];
  const bool once = kernel->launches == 1;
  fprintf(to, "\n%skernel %s%s: %lld launch%s, %lld blocks of %d threads, %s of shared memory\n",
          cli_colour(to, CLI_BOLD), kernel->name, cli_colour(to, CLI_PLAIN),
          (long long)kernel->launches, once ? "" : "es", (long long)kernel->blocks, kernel->threads,
          cli_bytes((double)kernel->shared_bytes, shared));
}

void explain_print_source(FILE *to, const rung_profile_kernel *kernel,
                          const explain_sources *sources) {
  listing of = {.to = to, .kernel = kernel, .sources = sources};
  rung_counts lent = {0};
  print_kernel(to, kernel);
  if (kernel->line_count == 0) {
    fprintf(to, "This device cannot tell lines of source apart.\n");
    return;
  }
  find_worst(kernel, of.worst);
  measure_fields(&kernel->total, of.widths);
  for (int first = 0, end; first < kernel->line_count; first = end) {
    const char *file = kernel->lines[first].file, *path = explain_path(file);
    for (end = first; end < kernel->line_count && kernel->lines[end].file == file; end++)
      if (!path) rung_counts_add(&lent, &kernel->lines[end].counts);
    if (path) print_file(&of, &kernel->lines[first], end - first);
  }
  if (does_something(&lent)) {
    char row[ROW];
    put_counts(of.widths, &lent, row);
    fprintf(to, "\n%s %5s%s  in no line of these: what the device lends kernels\n", "   ", "", row);
  }
  print_legend(&of);
}
