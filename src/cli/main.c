/* rung: the command. A verb comes first; each is a file beside this one. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/ranks.h"
#include "files/replace.h"

static const cli_verb verbs[] = {
    {"radiator", "heat in a cylindrical radiator, on CPU and GPU, timed and compared",
     verb_radiator, true},
    {"stencil", "a weighted row stencil applied to an array in a file", verb_stencil, true},
    {"correlate", "a filter on an image in a file", verb_correlate, true},
    {"convolve", "the same with the filter's kernel turned round", verb_convolve, true},
    {"reduce", "sum, minimum, maximum or mean of an array in a file", verb_reduce, true},
    {"scan", "prefix sums, minima or maxima of an array in a file", verb_scan, true},
    {"matmul", "the product of two matrices, or of batches of them, in files", verb_matmul, true},
    {"histogram", "how many elements of an array in a file fall into each bin", verb_histogram,
     true},
    {"pairs", "pair distances of points, in a file or random: counts and g(r)", verb_pairs, true},
    {"tour", "every ladder verified and timed on this machine", verb_tour, false},
    {"ladder", "the rungs of each operation, their ideas, what each needs", verb_ladder, false},
    {"verify", "every rung against the reference", verb_verify, false},
    {"bench", "how long each rung takes, and what it gained", verb_bench, false},
    {"compare", "two records, or two commands in turn: same, faster, slower?", verb_compare, false},
    {"report", "records as one page: tables, charts, provenance", verb_report, false},
    {"explain", "what the GPU rungs' kernels do, counted line by line", verb_explain, false},
    {"timeline", "when each block ran, and on which multiprocessor", verb_timeline, false},
    {"tune", "the fastest rung and block by job, kept for this machine", verb_tune, false},
    {"clocks", "what each clock measures, how finely, and when it lies", verb_clocks, false},
    {"devices", "what is here, and what it can do", verb_devices, true}};

static void print_help(FILE *to) {
  fprintf(to,
          "Usage: rung VERB [OPTION]... [ARGUMENT]...\n"
          "       rung help [VERB] | --help | --version\n\n"
          "Sums, prefix sums, matrix products, image filters, histograms, stencils and pair\n"
          "distances, with the same bits on every CPU and GPU.\n\nVerbs:\n");
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
    fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].line);
  fprintf(to,
          "\n`rung help VERB` explains a verb, with an example.\n"
          "Exit status: 0 done, 1 a check failed, 2 bad usage, 3 bad input or output, 4 no such\n"
          "device, 5 out of memory; `rung help compare` has more of its own.\n\n"
          "Example:\n  rung tour\n");
}

static int run_together(const cli_verb *verb, int argc, char **argv) {
  int code;
  if (!ranks_begin(verb->name, verb->together, &code)) return code;
  code = verb->run(argc, argv);
  ranks_end();
  return code;
}

static int run_verb(int argc, char **argv) {
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
    if (strcmp(verbs[i].name, argv[1]) == 0) return run_together(&verbs[i], argc - 1, argv + 1);
  cli_guess guess = {.word = argv[1]};
  char meant[CLI_GUESS];
  cli_guess_try(&guess, "help");
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) cli_guess_try(&guess, verbs[i].name);
  fputs("rung: there is no verb '", stderr);
  cli_print(stderr, argv[1]);
  fprintf(stderr, "'%s `rung --help` lists them\n",
          guess.best ? cli_guess_text(&guess, meant) : ";");
  return CLI_BAD_USAGE;
}

/* `rung help VERB` is `rung VERB --help`; an operation after it has its keys explained. */
static int run_help(int argc, char **argv) {
  if (argc < 3) {
    print_help(stdout);
    return CLI_DONE;
  }
  char option[] = "--help",
       *words[] = {argv[0], argv[2], argc > 3 ? argv[3] : option, option, NULL};
  return run_verb(4, words);
}

/* What was printed must have arrived. */
static int close_output(int code) {
  const int cause = file_flush(stdout);
  if (cause == 0 || (code > CLI_CHECK_FAILED && code <= CLI_OUT_OF_MEMORY)) return code;
  fprintf(stderr, "rung: standard output cannot be written: %s\n", strerror(cause));
  return CLI_BAD_INPUT;
}

/* The stack is as large as it was when the program began, whatever is asked for later. */
static bool has_stack(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= RUNG_STACK) return true;
  fprintf(stderr, "rung: the stack is limited to %llu KiB; expected: %d KiB or more (ulimit -s)\n",
          (unsigned long long)limit.rlim_cur >> 10, RUNG_STACK >> 10);
  return false;
}

/* Where a standard stream is closed, the next file opened would take its place, and what is printed
 * would go there. It is held by what cannot be used as that stream, so that using it fails. */
static void hold_streams(void) {
  for (int d = STDIN_FILENO; d <= STDERR_FILENO; d++)
    if (fcntl(d, F_GETFD) < 0) (void)!open("/dev/null", d == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv) {
  int code = CLI_DONE;
  hold_streams();
  if (!has_stack()) return CLI_OUT_OF_MEMORY;
  cli_terminal();
  if (argc < 2) {
    print_help(stderr);
    return CLI_BAD_USAGE;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
    print_help(stdout);
  } else if (strcmp(argv[1], "help") == 0) {
    code = run_help(argc, argv);
  } else if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
    printf("rung %s\n", rung_version());
  } else {
    code = run_verb(argc, argv);
  }
  return close_output(code);
}
