/* Every request of the command, its laboratory, its readers and the library for memory fails once,
 * and so does every one that Jansson makes for them: the command ends with 5, says why and has
 * written nothing, or has done all of it; nothing leaks. Its verbs are called as functions. */
#include "failing.h"

#include <ctype.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "cli/cli.h"
#include "lab/lab.h"

enum { TEXT = 1 << 16, WORDS = 24, POINTS = 1100 };

static char folder[] = "/tmp/rung-test-memory-XXXXXX";
static int streams[2], was[2]; /* standard output and error, while a verb runs; and before */

/* ---- peaks without measuring ------------------------------------------------------------------
 */

rung_status __wrap_lab_peaks_of(rung_context *context, const lab_conditions *now, lab_peaks *peaks,
                                rung_error *error);
rung_status __wrap_lab_peaks_of(rung_context *context, const lab_conditions *now, lab_peaks *peaks,
                                rung_error *error) {
  (void)context;
  (void)error;
  *peaks = (lab_peaks){.levels = 1, .conditions = *now, .fma32 = 1e6, .fma64 = 1e6, .mma64 = 1e6};
  peaks->bandwidth[0] = (lab_bandwidth){1e6, 1e6, 1e6};
  return RUNG_OK;
}

/* ---- files to read ----------------------------------------------------------------------------
 */

static FILE *begin_file(const char *name) {
  FILE *file = fopen(name, "w");
  assert_non_null(file);
  return file;
}

static void write_npy(const char *name, const char *type, const char *shape, const void *data,
                      size_t bytes) {
  char dictionary[128];
  FILE *file = begin_file(name);
  snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
           type, shape);
  fprintf(file, "\x93NUMPY\x01%c\x76%c%-117s\n", 0, 0, dictionary);
  fwrite(data, 1, bytes, file);
  fclose(file);
}

/* More points than a reader makes room for at first. */
static void write_points(void) {
  FILE *xyz = begin_file("in.xyz"), *gro = begin_file("in.gro"), *pdb = begin_file("in.pdb"),
       *dump = begin_file("in.dump"), *csv = begin_file("in.csv");
  static double at[POINTS][3];
  fprintf(xyz, "%d\nLattice=\"9 0 0 0 9 0 0 0 9\"\n", POINTS);
  fprintf(gro, "grains\n%d\n", POINTS);
  fprintf(dump,
          "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n%d\nITEM: BOX BOUNDS pp pp pp\n0 9\n0 9\n0 9\n"
          "ITEM: ATOMS id x y z\n",
          POINTS);
  for (int i = 0; i < POINTS; i++) {
    const double x = i % 11 * .7, y = i / 11 % 10 * .8, z = i / 110 * .5;
    memcpy(at[i], (double[]){x, y, z}, sizeof at[i]);
    fprintf(xyz, "%s %g %g %g\n", i % 2 ? "O" : "H", x, y, z);
    fprintf(gro, "%5d%-5s%5s%5d%8.3f%8.3f%8.3f\n", i / 3 + 1, "SOL", "OW", i + 1, x, y, z);
    fprintf(pdb, "ATOM  %5d  N   ALA A%4d    %8.3f%8.3f%8.3f\n", i + 1, i / 3 + 1, x, y, z);
    fprintf(dump, "%d %g %g %g\n", i + 1, x, y, z);
    fprintf(csv, "%g,%g,%g\n", x, y, z);
  }
  fprintf(gro, "9 9 9\n");
  FILE *const all[] = {xyz, gro, pdb, dump, csv};
  for (int f = 0; f < 5; f++) fclose(all[f]);
  write_npy("points.npy", "<f8", "(1100, 3)", at, sizeof at);
}

/* Links to the images of tests/data. */
static const char *const images[] = {"interlaced.png", "notes.png",       "lzw.tiff",
                                     "tiles.tiff",     "progressive.jpg", "bits.pbm"};
enum { IMAGE_FILES = sizeof images / sizeof *images };

/* What explain and timeline saw. */
static void write_looks(void) {
  FILE *file = begin_file("counts.json");
  fputs(
      "{\"verb\":\"explain\",\"version\":1,\"device\":\"sim\",\"operation\":\"reduce\",\"job\":"
      "\"n=1\",\"rungs\":[{\"rung\":\"one\",\"idea\":\"\",\"block\":0,\"finding\":\"good\","
      "\"meaning\":[\"it\"],\"figures\":{\"launches\":1},\"kernels\":[{\"kernel\":\"k\","
      "\"threads\":"
      "32,\"steps_lost\":0,\"steps\":[{\"warp\":0,\"phase\":0,\"deed\":\"load\",\"place\":0,"
      "\"line\":1,"
      "\"shared\":true,\"lanes\":1,\"all\":3,\"bytes\":4,\"sectors\":0,\"depth\":0,\"addresses\":["
      "0]}"
      "]}]}]}\n",
      file);
  fclose(file);
  file = begin_file("times.json");
  fputs(
      "{\"verb\":\"timeline\",\"version\":1,\"device\":\"sim\",\"operation\":\"reduce\",\"job\":"
      "\"n=1\",\"rung\":\"timed\",\"block_size\":0,\"unit\":\"ns\",\"blocks\":[{\"block\":0,"
      "\"multiprocessor\":0,\"start\":0,\"end\":4}]}\n",
      file);
  fclose(file);
}

/* `launches`: NULL, or the key that says how many samples each took. */
static void write_records(const char *name, const char *launches) {
  FILE *file = begin_file(name);
  fputs(
      "{\"rung-records\":3,\"provenance\":{\"command\":\"rung\"},\"rules\":{\"hot\":false}}\n"
      "{\"device\":{\"backend\":\"cpu\",\"name\":\"it\",\"identity\":\"it\",\"facts\":{\"a\":\"b\"}"
      "}}\n"
      "{\"peaks\":{\"levels\":[{\"level\":\"memory\",\"read_gb_per_s\":10.5}]}}\n",
      file);
  for (int n = 1; n <= 3; n++)
    fprintf(file,
            "{\"operation\":\"reduce\",\"job\":{\"n\":%d},\"type\":\"f32\",\"seed\":\"1\","
            "\"bytes\":20.0,\"flops\":5.0,\"candidates\":1}\n"
            "{\"rung\":\"one\",\"idea\":\"\",\"order\":\"canonical\",\"block\":0,\"before\":"
            "{\"finding\":\"good\"},\"samples_ms\":[1.5,1.5,1.5,1.5,1.5,1.5,%d],\"clocks_mhz\":[0,"
            "0,0,0,0,0,0],%s"
            "\"stop\":\"steady\"}\n",
            n, n, launches ? launches : "");
  fclose(file);
}

static int begin(void **state) {
  (void)state;
  static const float square[] = {1, 2, 3, 4};
  static const double edges[] = {0, 1.5, 2.5, 8};
  json_set_alloc_funcs(malloc, free);
  if (!mkdtemp(folder) || chdir(folder) != 0) return -1;
  setenv("XDG_CACHE_HOME", "/dev/null/nowhere", 1);
  setenv("LC_ALL", "C", 1);
  setenv("PATH", "/nowhere", 1); /* gnuplot's, which would be started a thousand times */
  write_npy("in.npy", "<f4", "(2, 2)", square, sizeof square);
  write_npy("edges.npy", "<f8", "(4,)", edges, sizeof edges);
  write_points();
  FILE *kernel = begin_file("kernel.txt");
  fputs("1 2\n3 4\n", kernel);
  fclose(kernel);
  for (int i = 0; i < IMAGE_FILES; i++) {
    char from[256];
    snprintf(from, sizeof from, IMAGES "/%s", images[i]);
    if (symlink(from, images[i]) != 0) return -1;
  }
  write_records("in.json", NULL);
  write_records("launched.json", "\"launches\":{\"samples\":[1,2,2,0,2]},");
  write_looks();
  for (int s = 0; s < 2; s++) {
    streams[s] = memfd_create("stream", MFD_CLOEXEC);
    was[s] = fcntl(1 + s, F_DUPFD_CLOEXEC, 3);
    if (streams[s] < 0 || was[s] < 0) return -1;
  }
  return 0;
}

static int end(void **state) {
  (void)state;
  static const char *const names[] = {
      "in.npy", "edges.npy",  "points.npy", "in.xyz",      "in.gro",     "in.pdb",       "in.dump",
      "in.csv", "kernel.txt", "in.json",    "counts.json", "times.json", "launched.json"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(names[i]);
  for (int i = 0; i < IMAGE_FILES; i++) unlink(images[i]);
  return chdir("/") == 0 ? rmdir(folder) : -1; /* fails where a file was left behind */
}

/* ---- a run of the command ---------------------------------------------------------------------
 */

typedef struct outcome {
  int code, lowest; /* the next descriptor that is free */
  long requests, held;
  size_t bytes, file_bytes;
  char said[TEXT], complained[TEXT], file[TEXT];
} outcome;

static int (*verb_named(const char *name))(int, char **) {
  static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
  } verbs[] = {{"reduce", verb_reduce},
               {"scan", verb_scan},
               {"stencil", verb_stencil},
               {"matmul", verb_matmul},
               {"correlate", verb_correlate},
               {"radiator", verb_radiator},
               {"histogram", verb_histogram},
               {"pairs", verb_pairs},
               {"ladder", verb_ladder},
               {"devices", verb_devices},
               {"verify", verb_verify},
               {"bench", verb_bench},
               {"explain", verb_explain},
               {"timeline", verb_timeline},
               {"report", verb_report},
               {"compare", verb_compare},
               {"tune", verb_tune}};
  for (size_t v = 0; v < sizeof verbs / sizeof *verbs; v++)
    if (strcmp(verbs[v].name, name) == 0) return verbs[v].run;
  fail_msg("no verb '%s'", name);
  return NULL;
}

static size_t read_back(int descriptor, char *text) {
  const ssize_t got = pread(descriptor, text, TEXT - 1, 0);
  text[got > 0 ? got : 0] = '\0';
  return got > 0 ? (size_t)got : 0;
}

/* What -o wrote, removed. */
static void take_file(outcome *of) {
  const int file = open("out.npy", O_RDONLY | O_CLOEXEC);
  of->file_bytes = file >= 0 ? read_back(file, of->file) : 0;
  if (file >= 0) close(file);
  unlink("out.npy");
}

static void run(const char *line, long request, outcome *of) {
  char words[256], *argv[WORDS + 1] = {NULL}, *rest = words;
  int argc = 0;
  snprintf(words, sizeof words, "%s", line);
  for (char *word; (word = strsep(&rest, " "));) argv[argc++] = word;
  int (*verb)(int, char **) = verb_named(argv[0]);
  for (int s = 0; s < 2; s++) {
    if (ftruncate(streams[s], 0) != 0) abort();
    lseek(streams[s], 0, SEEK_SET);
    dup2(streams[s], 1 + s);
  }
  failing_begin(request);
  of->code = verb(argc, argv);
  of->requests = failing_end();
  of->held = failing_held;
  fflush(stdout);
  for (int s = 0; s < 2; s++) dup2(was[s], 1 + s);
  of->bytes = read_back(streams[0], of->said);
  read_back(streams[1], of->complained);
  take_file(of);
  of->lowest = dup(1);
  close(of->lowest);
}

/* ---- what may come of it ----------------------------------------------------------------------
 */

enum {
  EXACTLY = 0,
  TIMED = 1,  /* times or free memory are among what it says: its numbers are no matter */
  PARTLY = 2, /* where there is no memory for one thing it tells what it can of the others */
  MANY = 4,   /* most of its many requests are like the ones before */
  CHOSEN = 8  /* what it says is a choice by time: that it says something is all */
};
typedef struct job {
  const char *line;
  int how;
} job;

/* With the unit of a time: on a busy machine one of microseconds may take milliseconds. */
static void forget_numbers(char *text) {
  static const char *const units[] = {" us", " ms", " s"};
  char *to = text;
  for (const char *at = text; *at; at++) {
    if (*at >= '0' && *at <= '9') {
      at += strspn(at, "0123456789.e+-");
      for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        const size_t length = strlen(units[u]);
        if (strncmp(at, units[u], length) == 0 && !isalpha((unsigned char)at[length])) {
          at += length;
          break;
        }
      }
      at--;
      *to++ = '#';
    } else if (*at != ' ') { /* columns are as wide as their numbers */
      *to++ = *at;
    }
  }
  *to = '\0';
}

/* Results of text may be full of times; an array is an array. */
static bool same_text(char *a, char *b) {
  forget_numbers(a);
  forget_numbers(b);
  return strcmp(a, b) == 0;
}

static bool same_bytes(const char *a, size_t bytes, const char *b, size_t others) {
  return bytes == others && memcmp(a, b, bytes) == 0;
}

static bool same(const job *job, outcome *a, outcome *b) {
  if (job->how & CHOSEN) return a->said[0] == b->said[0] && a->file[0] == b->file[0];
  const bool array = memchr(a->file, '\0', a->file_bytes) != NULL;
  if (job->how & TIMED)
    return same_text(a->said, b->said) &&
           (array ? same_bytes(a->file, a->file_bytes, b->file, b->file_bytes)
                  : same_text(a->file, b->file));
  return same_bytes(a->said, a->bytes, b->said, b->bytes) &&
         same_bytes(a->file, a->file_bytes, b->file, b->file_bytes);
}

static void judge(const job *job, long request, outcome *of, outcome *expected) {
  const char *fault = NULL;
  if (of->code == 0 && !same(job, of, expected)) fault = "another result";
  if (of->code != 0 && of->code != CLI_OUT_OF_MEMORY) fault = "another exit status";
  if (of->code == CLI_OUT_OF_MEMORY && of->bytes + of->file_bytes > 0 && !(job->how & PARTLY))
    fault = "something was written";
  if (of->code == CLI_OUT_OF_MEMORY && strcasestr(of->complained, "memory") == NULL)
    fault = "not a word of memory";
  if (of->held != expected->held) fault = "a leak";
  if (of->lowest != expected->lowest) fault = "a file was left open";
  if (fault)
    fail_msg("%s: request %ld of %ld failed: %s; status %d, %ld blocks held: %s", job->line,
             request, expected->requests, fault, of->code, of->held - expected->held,
             of->complained);
}

static void fail_each(const job *job) {
  static outcome expected, found;
  run(job->line, 0, &expected); /* what is kept for ever is made now */
  if (expected.code == CLI_NO_DEVICE || strstr(expected.complained, "cannot count") ||
      strstr(expected.complained, "was made without") ||
      strstr(expected.complained, "cannot be loaded"))
    return;
  run(job->line, 0, &expected);
  if (expected.code != 0) fail_msg("%s: %d, %s", job->line, expected.code, expected.complained);
  assert_true(expected.requests > 0);
  for (long k = 1; k <= expected.requests; k = failing_next(k, job->how & MANY ? 30 : 300)) {
    run(job->line, k, &found);
    judge(job, k, &found, &expected);
  }
  run(job->line, 0, &found); /* nothing stayed behind */
  judge(job, 0, &found, &expected);
}

static void arrays(void **state) {
  (void)state;
  static const job jobs[] = {
      {"reduce in.npy --op sum --axis 1 --json --device cpu", EXACTLY},
      {"reduce in.npy --op mean --device cpu -o out.npy --quiet", EXACTLY},
      {"scan in.npy -o out.npy --device cpu --threads 3 --quiet", EXACTLY},
      {"matmul in.npy in.npy -o out.npy --device cpu --quiet", EXACTLY},
      {"histogram in.npy --bins 3 --range 0 4 --json --device cpu", EXACTLY},
      {"histogram in.npy --edges edges.npy --device cpu -o out.npy --quiet", EXACTLY},
      {"stencil in.npy --weights 1,2,1 --means means --device cpu -o out.npy --quiet", EXACTLY},
      {"reduce interlaced.png --op sum --json --device cpu", EXACTLY},
      {"reduce notes.png --op max --axis 0 -o png:- --device cpu --quiet", EXACTLY},
      {"reduce tiles.tiff --op max --axis 0 -o tiff:- --device cpu --quiet", EXACTLY},
      {"reduce lzw.tiff --op mean --axis 2 --type f32 -o pfm:- --device cpu --quiet", EXACTLY},
      {"reduce progressive.jpg --op max --axis 2 -o ppm:- --device cpu --quiet", EXACTLY},
      {"reduce bits.pbm --op sum --device cpu --quiet", EXACTLY},
      {"correlate in.npy --kernel box3 --strip 1 -o out.npy --device cpu --quiet", EXACTLY},
      {"correlate notes.png --kernel in.npy --scale auto -o png:- --device cpu --quiet", EXACTLY},
      {"correlate lzw.tiff --kernel 1,2;3,4 --clip -o tiff:- --device cpu --quiet", EXACTLY},
      {"correlate in.npy --kernel kernel.txt --normalize -o pfm:- --device cpu --quiet", EXACTLY},
      {"reduce in.npy --op sum --axis 1 --json --device sim", MANY},
      {"scan in.npy -o out.npy --device sim --quiet", MANY},
  };
  for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) fail_each(&jobs[j]);
  unlink("means");
}

static void points(void **state) {
  (void)state;
  static const job jobs[] = {
      {"pairs in.xyz --width 1 --json --device cpu", EXACTLY},
      {"pairs in.xyz --width 1 --rdf --select O --with H --device cpu --quiet", EXACTLY},
      {"pairs in.gro --width 0.5 --max 3 -o out.npy --device cpu --quiet", EXACTLY},
      {"pairs in.pdb --edges edges.npy --device cpu --quiet", EXACTLY},
      {"pairs in.dump --format lammps --log 0.5 4 3 --device cpu --quiet", EXACTLY},
      {"pairs in.csv --width 1 --check --device cpu --quiet", EXACTLY},
      {"pairs points.npy --width 1 --device cpu --quiet", EXACTLY},
      {"pairs 100 5000 --json --device cpu", TIMED},
  };
  for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) fail_each(&jobs[j]);
}

static void the_laboratory(void **state) {
  (void)state;
  static const job jobs[] = {
      {"radiator -n 4 -m 4 -p 1 -g -v --json", TIMED},
      {"radiator -n 4 -m 4 -p 1 -g --quiet -o out.npy", TIMED},
      {"devices --device cpu --json", TIMED},
      {"ladder --device cpu --json", MANY},
      {"ladder reduce -o out.npy", EXACTLY},
      {"verify histogram --device cpu --rung serial --part 1/300 --json", TIMED},
      {"verify reduce --device cpu --part 1/300", TIMED},
      {"verify scan --device cpu --part 1/300", TIMED},
      {"verify stencil --device cpu --part 1/300", TIMED},
      {"verify pairs --device cpu --part 1/300", TIMED},
      {"bench reduce --device cpu --rung serial,lanes --sizes n=64 --samples 1 --hot --json",
       TIMED | PARTLY},
      {"bench scan --device cpu --rung serial --sizes n=64 --samples 1 --hot -o out.npy",
       TIMED | PARTLY},
      {"report in.json launched.json -o out.npy --quiet", EXACTLY},
      {"report counts.json in.json times.json -o out.npy --quiet", EXACTLY},
      {"compare in.json in.json", EXACTLY},
      {"compare in.json in.json --json", EXACTLY},
      {"compare launched.json launched.json", EXACTLY},
      {"compare launched.json in.json --json", EXACTLY},
      /* Words of a verb are parted by blanks, those of the shell by tabs too. */
      {"compare --run while\tread\tl;do\techo\t$l;done<in.json "
       "while\tread\tl;do\techo\t$l;done<in.json --launches 12 --quiet",
       MANY},
  };
  for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) fail_each(&jobs[j]);
}

/* Where there is a place to keep it. What --show lists is by the device's identity, and of that the
 * backend tells what it has memory to read. */
static void what_was_tuned(void **state) {
  (void)state;
  static const job jobs[] = {
      {"tune scan --device cpu --threads 2 --sizes n=64 --budget 0.001 --quiet -o out.npy",
       CHOSEN | PARTLY | MANY},
      {"scan in.npy -o out.npy --device cpu --threads 2 --quiet", EXACTLY},
      {"tune --forget --device cpu --threads 2", EXACTLY},
  };
  setenv("XDG_CACHE_HOME", folder, 1);
  for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) fail_each(&jobs[j]);
  setenv("XDG_CACHE_HOME", "/dev/null/nowhere", 1);
  unlink("rung/tuned.json");
  rmdir("rung");
}

static void inside_kernels(void **state) {
  (void)state;
  static const job jobs[] = {
      {"verify reduce --device sim --rung modulo --part 1/300", TIMED | MANY},
      {"explain reduce --rung modulo --sizes n=100", MANY},
      {"explain reduce --rung modulo --sizes n=100 --json", MANY},
      {"explain reduce --rung modulo --picture out.npy", MANY},
      {"timeline reduce --device sim --rung timed --block 32 --json", TIMED | MANY},
      {"timeline reduce --device sim --rung timed --block 32 --picture out.npy", TIMED | MANY},
  };
  for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) fail_each(&jobs[j]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays),         cmocka_unit_test(points),
      cmocka_unit_test(the_laboratory), cmocka_unit_test(what_was_tuned),
      cmocka_unit_test(inside_kernels),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
