/* gmx rdf, MDAnalysis and our own `rung pairs`, each from a .gro file to a table of counts, timed
 * from its start to its end. What stands in the table is read here, which is part of the time of
 * all of them. */
#include "peers/programs/pairs.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ops/pairs/lab/cases.h"
#include "ops/pairs/space.h"
#include "peers/programs/program.h"

enum { TEXT = 256, NUMBER = 32 };

/* A .gro file of more digits than usual: four before the decimal point, as GROMACS wants it. */
enum { DECIMALS = 6 };

/* MDAnalysis keeps all ordered pairs in lists: so many bytes for each, as measured (2.4.2). */
#define MDANALYSIS_BYTES 112.0

/* gmx rdf prints ordered pairs a point and a unit of length, with three decimals. That is exact
 * where this product of points and width is not above 1000; wider bins are counted in parts. */
#define GMX_MOST 1000.0

static const char script[] =
    "import sys, MDAnalysis\n"
    "from MDAnalysis.analysis.rdf import InterRDF\n"
    "atoms = MDAnalysis.Universe(sys.argv[1], convert_units=False).atoms\n"
    "rdf = InterRDF(atoms, atoms, nbins=int(sys.argv[2]), range=(0, float(sys.argv[3])),\n"
    "               exclusion_block=(1, 1)).run()\n"
    "print(*(int(count) // 2 for count in rdf.results.count), sep='\\n')\n";
static const char versions[] =
    "import sys, MDAnalysis, numpy\n"
    "print('MDAnalysis %s, NumPy %s, Python %d.%d' %\n"
    "      (MDAnalysis.__version__, numpy.__version__, *sys.version_info[:2]))\n";

static char gmx[PROGRAM_PATH], python[PROGRAM_PATH];
static char gmx_text[TEXT], python_text[TEXT];

/* ---- which there are --------------------------------------------------------------------------
 */

/* What follows "name:" on a line of gmx --version. */
static void fact(const char *text, const char *name, char value[64]) {
  const char *at = strstr(text, name);
  at = at ? at + strlen(name) : "";
  at += strspn(at, " ");
  snprintf(value, 64, "%.*s", (int)strcspn(at, "\r\n"), at);
}

static bool is_gmx(const char *path) {
  char said[4096], version[64], precision[64], simd[64];
  if (!program_ask((const char *[]){path, "--version", NULL}, said, sizeof said)) return false;
  fact(said, "GROMACS version:", version);
  fact(said, "Precision:", precision);
  fact(said, "SIMD instructions:", simd);
  snprintf(gmx_text, sizeof gmx_text, "GROMACS %s, %s precision, %s", version, precision, simd);
  return version[0] != '\0';
}

static bool is_python(const char *path) {
  const char *words[] = {path, "-W", "ignore", "-c", versions, NULL};
  if (!program_ask(words, python_text, sizeof python_text)) return false;
  python_text[strcspn(python_text, "\r\n")] = '\0';
  return python_text[0] != '\0';
}

/* ---- what they can do -------------------------------------------------------------------------
 */

static bool in_a_file(const rung_task *task, char why[RUNG_REASON]) {
  const pairs_case *t = (const pairs_case *)task->problem;
  const pairs_problem *p = &t->problem;
  const bool plain = !p->cross && !p->weighted && !p->excluding && p->n > 1;
  if (plain && t->decimals == DECIMALS && p->box.space == PAIRS_RECTANGULAR &&
      t->judging == PAIRS_WHOLE && (p->even || t->centred > 0))
    return true;
  snprintf(why, RUNG_REASON,
           "as a program it reads a file of points with %d decimals in a rectangular box, few "
           "enough to be checked one count by one: data=liquid box=cube kind=centred would do",
           DECIMALS);
  return false;
}

static bool gmx_counts(const rung_task *task, char why[RUNG_REASON]) {
  if (!in_a_file(task, why)) return false;
  if (gmx[0] == '\0')
    snprintf(why, RUNG_REASON, "gmx is not in PATH; Debian's package gromacs has it");
  else if (((const pairs_case *)task->problem)->centred == 0)
    snprintf(why, RUNG_REASON, "its bins are centred on multiples of their width: kind=centred");
  else
    return true;
  return false;
}

static bool python_counts(const rung_task *task, char why[RUNG_REASON]) {
  const pairs_problem *p = &((const pairs_case *)task->problem)->problem;
  if (!in_a_file(task, why)) return false;
  if (python[0] == '\0') {
    snprintf(why, RUNG_REASON,
             "no python3 in PATH has MDAnalysis; Debian's package python3-mdanalysis has it");
    return false;
  }
  const double *height = p->box.height, ball = 4.0 / 3 * M_PI * p->last * p->last * p->last;
  const double all = (double)p->n * (double)p->n;
  const double needed =
      MDANALYSIS_BYTES * all * fmin(1, ball / (height[0] * height[1] * height[2]));
  const double there = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  if (needed <= 0.75 * there) return true;
  snprintf(why, RUNG_REASON,
           "its lists of pairs would take some %.0f GB, and the machine has %.0f: fewer points or "
           "a shorter last edge would do",
           needed / 1e9, there / 1e9);
  return false;
}

/* ---- what they read ---------------------------------------------------------------------------
 */

static void write_points(FILE *to, const rung_case *test_case) {
  const pairs_problem *p = &((const pairs_case *)test_case->problem)->problem;
  const double(*at)[3] = (const double(*)[3])test_case->arrays[PAIRS_A].data;
  fprintf(to, "points\n%" PRId64 "\n", p->n);
  for (int64_t i = 0; i < p->n; i++) {
    const int number = (int)((i + 1) % 100000);
    fprintf(to, "%5dAR      AR%5d%11.*f%11.*f%11.*f\n", number, number, DECIMALS, at[i][0],
            DECIMALS, at[i][1], DECIMALS, at[i][2]);
  }
  for (int k = 0; k < 3; k++) fprintf(to, "%.17g%c", p->box.cell[k][k], k < 2 ? ' ' : '\n');
}

/* Centred bins' edges; of even ones it is of no use. */
static void write_edges(FILE *to, const rung_case *test_case) {
  const pairs_case *t = (const pairs_case *)test_case->problem;
  char text[112];
  snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }",
           t->problem.bins + 1);
  fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, to);
  fprintf(to, "%-117s\n", text);
  for (int64_t k = 0; k <= t->problem.bins; k++) {
    const double edge = pairs_centred_edge(t->centred, k);
    fwrite(&edge, sizeof edge, 1, to);
  }
}

static rung_status write_file(program_file file, const rung_case *test_case,
                              void (*write_to)(FILE *to, const rung_case *test_case),
                              rung_error *error) {
  errno = 0;
  FILE *to = program_stream(file, "we");
  if (to) write_to(to, test_case);
  const bool written = to && fflush(to) == 0 && !ferror(to);
  const int cause = errno;
  if (to && fclose(to) == 0 && written) return RUNG_OK;
  return rung_fail(error, RUNG_FILE_FAILED,
                   "%s for the peers cannot be written: %s; TMPDIR may name another folder",
                   program_names[file], strerror(cause ? cause : EIO));
}

rung_status peer_pairs_begin(const rung_case *test_case, rung_error *error) {
  const rung_task asked = {.problem = test_case->problem};
  char why[RUNG_REASON];
  if (test_case->types.in != RUNG_F64 || !in_a_file(&asked, why)) return RUNG_OK;
  rung_status status = program_open(error);
  if (!status) status = write_file(PROGRAM_POINTS, test_case, write_points, error);
  if (!status) status = write_file(PROGRAM_EDGES, test_case, write_edges, error);
  if (status) program_close();
  return status;
}

/* ---- what they print --------------------------------------------------------------------------
 */

/* A table under way: its lines' counts are added to the bins they belong to. */
typedef struct table {
  const char *program;
  FILE *from;
  int64_t lines, *counts, *outside;
  int bins;
  rung_error *error;
} table;

static rung_status begin_table(const rung_task *task, const char *program, program_file file,
                               table *t) {
  *t = (table){.program = program,
               .from = program_stream(file, "re"),
               .counts = (int64_t *)task->arrays[PAIRS_COUNTS].data,
               .outside = (int64_t *)task->arrays[PAIRS_OUTSIDE].data,
               .bins = ((const pairs_case *)task->problem)->problem.bins,
               .error = task->error};
  memset(t->counts, 0, (size_t)t->bins * sizeof *t->counts);
  if (t->from) return RUNG_OK;
  return rung_fail(t->error, RUNG_DEVICE_FAILED, "%s ended well and left no table", program);
}

/* The number in column `column` of the next line. */
static bool next_number(table *t, int column, double *value) {
  char line[256], *at = line, *rest = line;
  if (!fgets(line, sizeof line, t->from)) return false;
  t->lines++;
  for (int i = 0; i <= column; i++, at = rest) {
    *value = strtod(at, &rest);
    if (rest == at) return false;
  }
  return isfinite(*value);
}

/* Closes it. Of one set in a box, what is in no bin is beyond the last one. */
static rung_status end_table(table *t, bool whole, const rung_task *task) {
  const pairs_problem *p = &((const pairs_case *)task->problem)->problem;
  fclose(t->from);
  if (!whole)
    return rung_fail(t->error, RUNG_DEVICE_FAILED,
                     "%s left a table that ends, or makes no sense, at line %" PRId64
                     ", before its %d bins are full",
                     t->program, t->lines, t->bins);
  t->outside[PAIRS_BELOW] = t->outside[PAIRS_NAN] = 0;
  t->outside[PAIRS_ABOVE] = pairs_all(p);
  for (int k = 0; k < t->bins; k++)
    t->outside[PAIRS_ABOVE] = (int64_t)((uint64_t)t->outside[PAIRS_ABOVE] - (uint64_t)t->counts[k]);
  return RUNG_OK;
}

static rung_status not_begun(const rung_task *task) {
  return rung_fail(task->error, RUNG_DEVICE_FAILED, "the programs' files are not written");
}

/* To the nearest whole number, for there are decimals in tables. */
static bool add_count(table *t, int bin, double value) {
  if (!(value >= 0 && value < 0x1p62)) return false;
  t->counts[bin] = (int64_t)((uint64_t)t->counts[bin] + (uint64_t)llrint(value));
  return true;
}

static rung_status run_gmx(const rung_task *task) {
  const pairs_case *test_case = (const pairs_case *)task->problem;
  const pairs_problem *p = &test_case->problem;
  const double width = test_case->centred, points = (double)p->n;
  if (!program_is_open()) return not_begun(task);
  /* A bin is as many parts as are needed, an odd number, so that they are centred too. */
  const int half = (int)ceil((points * width / GMX_MOST - 1) / 2), extra = half > 0 ? half : 0;
  const int parts = 2 * extra + 1;
  const double part = width / parts;
  char bin[NUMBER], most[NUMBER];
  snprintf(bin, sizeof bin, "%.17g", part);
  snprintf(most, sizeof most, "%.17g", p->last);
  const char *words[] = {gmx,
                         "rdf",
                         "-nobackup",
                         "-f",
                         program_names[PROGRAM_POINTS],
                         "-s",
                         program_names[PROGRAM_POINTS],
                         "-ref",
                         "all",
                         "-sel",
                         "all",
                         "-bin",
                         bin,
                         "-rmax",
                         most,
                         "-norm",
                         "none",
                         "-xvg",
                         "none",
                         "-o",
                         program_names[PROGRAM_TABLE],
                         NULL};
  table t;
  rung_status status = program_run("gmx rdf", words, task->error);
  if (!status) status = begin_table(task, "gmx rdf", PROGRAM_TABLE, &t);
  if (status) return status;
  bool whole = true;
  for (int64_t j = 0; whole && j < (int64_t)p->bins * parts - extra; j++) {
    double value = 0;
    whole = next_number(&t, 1, &value) &&
            add_count(&t, (int)((j + extra) / parts), value * points * part / 2);
  }
  return end_table(&t, whole, task);
}

static rung_status run_python(const rung_task *task) {
  const pairs_case *test_case = (const pairs_case *)task->problem;
  const pairs_problem *p = &test_case->problem;
  const bool centred =
      test_case->centred > 0; /* even ones of half the width: one, then two a bin */
  const int lines = centred ? 2 * p->bins - 1 : p->bins;
  if (!program_is_open()) return not_begun(task);
  char bins[NUMBER], most[NUMBER];
  snprintf(bins, sizeof bins, "%d", lines);
  snprintf(most, sizeof most, "%.17g", p->last);
  const char *words[] = {python, "-W", "ignore", "-c", script, program_names[PROGRAM_POINTS],
                         bins,   most, NULL};
  table t;
  rung_status status = program_run("MDAnalysis", words, task->error);
  if (!status) status = begin_table(task, "MDAnalysis", PROGRAM_OUTPUT, &t);
  if (status) return status;
  bool whole = true;
  for (int k = 0; whole && k < lines; k++) {
    double value = 0;
    whole = next_number(&t, 0, &value) && add_count(&t, centred ? (k + 1) / 2 : k, value);
  }
  return end_table(&t, whole, task);
}

static rung_status run_rung(const rung_task *task) {
  const pairs_case *test_case = (const pairs_case *)task->problem;
  const pairs_problem *p = &test_case->problem;
  if (!program_is_open()) return not_begun(task);
  char threads[NUMBER], width[NUMBER], most[NUMBER];
  snprintf(threads, sizeof threads, "%d", task->device->threads);
  snprintf(width, sizeof width, "%.17g", p->width);
  snprintf(most, sizeof most, "%.17g", p->last);
  const char *words[16] = {"/proc/self/exe",
                           "pairs",
                           program_names[PROGRAM_POINTS],
                           "--device",
                           "cpu",
                           "--type",
                           "f64",
                           "--threads",
                           threads,
                           "--quiet",
                           "--edges",
                           program_names[PROGRAM_EDGES]};
  if (test_case->centred == 0) {
    words[10] = "--width";
    words[11] = width;
    words[12] = "--max";
    words[13] = most;
  }
  table t;
  rung_status status = program_run("rung pairs", words, task->error);
  if (!status) status = begin_table(task, "rung pairs", PROGRAM_OUTPUT, &t);
  if (status) return status;
  double value = 0;
  char head[256];
  bool whole = fgets(head, sizeof head, t.from) != NULL;
  t.lines++;
  for (int k = 0; whole && k < p->bins; k++)
    whole = next_number(&t, 2, &value) && add_count(&t, k, value);
  return end_table(&t, whole, task);
}

/* ---- the rows ---------------------------------------------------------------------------------
 */

#define PROGRAM                           \
  .family = RUNG_ON_CPU, .program = true, \
  .types = {RUNG_TYPE(RUNG_F64), RUNG_TYPE(RUNG_U64), RUNG_TYPE(RUNG_I64)}

rung_row peer_pairs_rows[PEER_PAIRS] = {
    {PROGRAM, .name = "rung-pairs", .order = RUNG_CANONICAL, .peer = "Rung " RUNG_VERSION,
     .idea = "a program, from a file to a table: rung pairs", .supports = in_a_file,
     .launch = {run_rung, run_rung, run_rung}},
    {PROGRAM, .name = "gmx", .order = RUNG_TEXTBOOK, .peer = "gmx, not found",
     .idea = "a program, from a file to a table: gmx rdf, one thread", .supports = gmx_counts,
     .launch = {run_gmx, run_gmx, run_gmx}},
    {PROGRAM, .name = "mdanalysis", .order = RUNG_TEXTBOOK, .peer = "MDAnalysis, not found",
     .idea = "a program, from a file to a table: MDAnalysis' InterRDF, one thread",
     .supports = python_counts, .launch = {run_python, run_python, run_python}},
};

void peer_pairs_look(void) {
  static bool looked;
  if (looked) return;
  looked = true;
  if (program_find("gmx", is_gmx, gmx)) peer_pairs_rows[1].peer = gmx_text;
  if (program_find("python3", is_python, python)) peer_pairs_rows[2].peer = python_text;
}
