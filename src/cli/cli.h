/* What the verbs of the command share: options, failures, results, progress.
 *
 * A verb is one function and one file. It parses with cli_parse(), returns an exit code, and
 * never exits by itself. Failures travel as rung_status and rung_error like everywhere else;
 * cli_end() turns the last one into a line on standard error and an exit code. */
#ifndef RUNG_CLI_CLI_H
#define RUNG_CLI_CLI_H

#include <jansson.h>
#include <stdio.h>

#include "files/array.h"
#include "files/replace.h"
#include "lab/json.h"

/* Exit codes of the command; pinned, documented in its manual. */
enum {
  CLI_DONE = 0,
  CLI_CHECK_FAILED = 1,
  CLI_BAD_USAGE = 2,
  CLI_BAD_INPUT = 3,
  CLI_NO_DEVICE = 4,
  CLI_OUT_OF_MEMORY = 5
};

/* ---- verbs: main.c ------------------------------------------------------------------------ */

typedef struct cli_verb {
  const char *name, *line; /* one line: what it is for */
  int (*run)(int argc, char **argv);
  bool together; /* ranks do it together: ranks.h */
} cli_verb;

int verb_bench(int argc, char **argv);
int verb_clocks(int argc, char **argv);
int verb_compare(int argc, char **argv);
int verb_convolve(int argc, char **argv);
int verb_correlate(int argc, char **argv);
int verb_devices(int argc, char **argv);
int verb_explain(int argc, char **argv);
int verb_histogram(int argc, char **argv);
int verb_ladder(int argc, char **argv);
int verb_matmul(int argc, char **argv);
int verb_pairs(int argc, char **argv);
int verb_radiator(int argc, char **argv);
int verb_reduce(int argc, char **argv);
int verb_report(int argc, char **argv);
int verb_scan(int argc, char **argv);
int verb_stencil(int argc, char **argv);
int verb_timeline(int argc, char **argv);
int verb_tour(int argc, char **argv);
int verb_tune(int argc, char **argv);
int verb_verify(int argc, char **argv);

/* ---- options: options.c ------------------------------------------------------------------- */

/* Options that mean the same in every verb that takes them. */
typedef struct cli_common {
  const char *device, *devices; /* NULL: not given */
  const char *rung;
  int block; /* 0: not given */
  bool typed, mathed;
  rung_dtype type;
  rung_math math;
  int threads; /* 0: all */
  uint64_t seed;
  bool json, quiet;
  const char *output; /* NULL: not given */
} cli_common;

/* Which of them a verb takes. --quiet and --help are always taken. */
enum {
  CLI_DEVICE = 1 << 0,
  CLI_RUNG = 1 << 1,
  CLI_BLOCK = 1 << 2,
  CLI_TYPE = 1 << 3,
  CLI_MATH = 1 << 4,
  CLI_THREADS = 1 << 5,
  CLI_SEED = 1 << 6,
  CLI_JSON = 1 << 7,
  CLI_OUTPUT = 1 << 8,
  CLI_DEVICE_LIST = 1 << 9
};

typedef struct cli_option {
  const char *name;     /* long name; NULL: only the letter */
  int letter;           /* 0: only the long name */
  const char *argument; /* what the help calls it; NULL: takes none; "[=X]": may be left out */
  const char *help;
} cli_option;

/* How a verb is called. */
typedef struct cli_usage {
  const char *verb, *synopsis, *about;
  const char *example;
  unsigned common;         /* CLI_DEVICE | ... */
  unsigned types;          /* that --type takes; 0: f32 and f64 */
  bool fixed;              /* --math takes "fixed" */
  const char *device_help; /* NULL: the usual lines */
  const char *rung_help;
  const char *output_help;
  const cli_option *options; /* its own, ended by a row of zeros; may be NULL */
  /* Takes option `index` of those above. */
  rung_status (*take)(void *to, int index, const char *value, rung_error *error);
  int least, most; /* positional arguments allowed */
} cli_usage;

/* Parses; after it argv[*first ... argc) are the positional arguments. True: go on. False: the
 * verb returns *code at once (help was printed, or an error). */
bool cli_parse(const cli_usage *usage, int argc, char **argv, cli_common *common, void *to,
               int *first, int *code);

/* Numbers of options, strictly: the whole text, in range. `option` is as the user types it. */
rung_status cli_int(const char *option, const char *text, int64_t least, int64_t most,
                    int64_t *value, rung_error *error);
rung_status cli_double(const char *option, const char *text, double *value, rung_error *error);
/* Numbers parted by blanks or commas. *count is how many there are; the first `most` are stored. */
rung_status cli_numbers(const char *option, const char *text, int most, double *values, int *count,
                        rung_error *error);

/* An option of several words, "--range LO HI", becomes one word, "--range=LO HI", before parsing:
 * getopt's options have one argument. `words` has room for argc + 1; returns how many there are. */
typedef struct cli_joined {
  const char *option;
  int words;
  char room[256];
} cli_joined;
int cli_join(int argc, char **argv, cli_joined *joined, char **words);

/* ---- terminals: terminal.c ---------------------------------------------------------------- */

/* Standard output, where it is a terminal, wraps lines at its width from now on. */
void cli_terminal(void);
/* Lines stay as they are, however wide. */
void cli_wide(void);
/* The columns that lines are wrapped at; 0 where `descriptor` is no terminal, or lines stay whole.
 */
int cli_columns(int descriptor);
/* The columns that help is written for: a terminal's, at most 80. */
int cli_help_columns(void);
/* Prints text without line ends, of whose first line `used` columns are taken; further lines begin
 * after `indent` blanks. */
void cli_wrap(FILE *to, const char *text, size_t length, int columns, int used, int indent);

/* A word that is not known, and which of the candidates tried was probably meant. */
typedef struct cli_guess {
  const char *word, *best; /* best NULL: none is near */
  int distance;
  const char *dashes; /* what stands before it; NULL: nothing */
} cli_guess;
enum { CLI_GUESS = 64 };
void cli_guess_try(cli_guess *guess, const char *candidate);
/* "; did you mean 'scan'?", or "". */
const char *cli_guess_text(const cli_guess *guess, char text[CLI_GUESS]);

/* ---- failures: fail.c --------------------------------------------------------------------- */

int cli_code_of(rung_status status);
/* "rung VERB: sentence" on standard error where there is a failure; its exit code. Ranks agree on
 * it, and one says it. */
int cli_end(const char *verb, const rung_error *error);
/* A remark that is no failure, on standard error, unless --quiet. */
/* Text that files, paths or arguments may be part of, on its way to a terminal. */
void cli_print(FILE *to, const char *text);
void cli_note(const cli_common *common, const char *verb, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- devices: device.c -------------------------------------------------------------------- */

/* Opens a context that prefers what was tuned; on failure *context is NULL and *error says why. */
rung_status cli_open(const cli_common *common, const char *device, rung_context **context,
                     rung_error *error);

/* --like: what the simulated GPU is to be like. *made, "sim:a100" in `text` or `device` as it is,
 * is NULL where neither is given. Whether there is such a GPU is for the library to say. */
enum { CLI_LIKE_TEXT = 32 };
#define CLI_LIKE \
  { "like", 0, "GPU", "the GPU that the simulated one is like: h200 (default), h100, a100, t4" }
rung_status cli_like(const char *device, const char *like, char text[CLI_LIKE_TEXT],
                     const char **made, rung_error *error);

/* Carries a library call's failure over into *error. */
rung_status cli_carry(rung_context *context, rung_status status, rung_error *error);

/* What opening it gives: with the threads of the options, and all that is then known. */
rung_status cli_opened(const cli_common *common, const char *device, rung_device_info *info,
                       rung_error *error);

/* ---- lists and ranges: sweep.c ------------------------------------------------------------ */

/* What is to be done with each value, or line; a failure ends it. */
typedef rung_status cli_each(void *to, const char *text, rung_error *error);

/* Calls `each` with every value of "8,100..1000+100,2^10..2^20": values with commas between them,
 * of which FIRST..LAST stands for FIRST, twice that ... as long as LAST is not passed,
 * FIRST..LAST*FACTOR and FIRST..LAST+STEP for other steps. Refuses a place with nothing in it, a
 * range that is none, and more than 4096 values of one. */
rung_status cli_each_value(const char *list, cli_each *each, void *to, rung_error *error);
/* Calls `each` with every line that a line of key=value pairs stands for, whose values may be such
 * lists: each with each, the last key's values going round fastest. Refuses more than 4096. */
rung_status cli_sweep(const char *line, cli_each *each, void *to, rung_error *error);

/* ---- results: results.c ------------------------------------------------------------------- */

/* Results go to -o FILE or standard output. */
rung_status cli_results_begin(file_replace *file, const cli_common *common, rung_error *error);
/* Takes json; NULL: memory ran out for it. Writes all of it or nothing. */
rung_status cli_results_json(file_replace *file, json_t *json, rung_error *error);
/* The same without blanks, and every value of the object's lists on a line of its own: for records,
 * which are kept. */
rung_status cli_results_lines(file_replace *file, json_t *json, rung_error *error);

/* ---- programs: child.c -------------------------------------------------------------------- */

enum { CLI_LAST_WORDS = 512 };
typedef struct cli_child_end {
  int code;   /* 128 and the signal's number where one ended it */
  int signal; /* 0: none did */
  char *said; /* on its standard output, with a 0 at its end; to be freed */
  size_t length;
  char last[CLI_LAST_WORDS]; /* the last line of a standard error that is kept; "": there is none */
} cli_child_end;

/* Where its standard error goes. */
typedef enum cli_errors { CLI_ERRORS_SHOWN, CLI_ERRORS_DROPPED, CLI_ERRORS_KEPT } cli_errors;

/* The path of this program, to run it anew. RUNG_UNSUPPORTED: it cannot find itself to be `done`,
 * say "launched". */
enum { CLI_SELF = 4096 };
rung_status cli_self(char path[CLI_SELF], const char *done, rung_error *error);

/* Runs a program of PATH with that standard input until it ends. A signal that ends this process
 * ends the program too. Status: RUNG_FILE_FAILED where it cannot be run; RUNG_OUT_OF_MEMORY, also
 * where it says more than about `most` bytes. */
rung_status cli_child(char *const *argv, const char *input, cli_errors errors, size_t most,
                      cli_child_end *end, rung_error *error);

/* ---- JSON: json.c ------------------------------------------------------------------------- */

/* Add a value, which is taken. Where that fails, for the value is NULL or memory runs out, all is
 * dropped and NULL, and stays so: one look at the end, that of cli_results_json(), is enough. */
void cli_append(json_t **list, json_t *value);
void cli_set(json_t **object, const char *key, json_t *value);
json_t *cli_real(double value);   /* of a measurement: null where there is none */
json_t *cli_number(double value); /* of a result: "nan", "inf" or "-inf" where JSON has none */
json_t *cli_reals(const double *from, int64_t count);
json_t *cli_integers(const int64_t *from, int64_t count);

/* ---- CSV: csv.c --------------------------------------------------------------------------- */

/* A field of a row, but the first, with the comma before it; of no number an empty one. */
void csv_text(FILE *to, const char *text);
void csv_number(FILE *to, double value);

/* ---- numbers for people: results.c ---------------------------------------------------------- */

/* "1.23 ms", "4.5 s": a time with three digits. */
const char *cli_time(double milliseconds, char text[32]);
/* "1.5 GiB" */
const char *cli_bytes(double bytes, char text[32]);

/* Colour of a terminal's text where `stream` is one and NO_COLOR is not set, else "". */
const char *cli_colour(FILE *stream, const char *sequence);
#define CLI_BOLD "\033[1m"
#define CLI_RED "\033[31m"
#define CLI_GREEN "\033[32m"
#define CLI_PLAIN "\033[0m"

/* ---- progress: progress.c ----------------------------------------------------------------- */

/* A bar on standard error, where that is a terminal and --quiet was not given. It may not move
 * before cli_progress_end(). */
typedef struct cli_progress {
  bool shown;
  double base, share; /* this step's part of the whole */
  double last;        /* seconds, when it was drawn last */
  char label[96];
  /* Of a long call or read, that a thread looks into. */
  int inside; /* CLI_INSIDE_ ... */
  char what[64];
  const rung_context *context;
  int64_t loop; /* the one it saw last */
  int passes;   /* that ended, of those it saw */
  bool seen;    /* it saw this loop get on */
} cli_progress;
enum { CLI_INSIDE_NOTHING, CLI_INSIDE_CALL, CLI_INSIDE_READ };

void cli_progress_begin(cli_progress *progress, const cli_common *common);
/* The steps to come are share of the whole, from base on. */
void cli_progress_part(cli_progress *progress, double base, double share, const char *label);
/* What comes is one call of the library, on that context: its device tells how far it is. */
void cli_progress_call(cli_progress *progress, double base, double share, const char *label,
                       const char *what, const rung_context *context);
/* What comes reads a file: how much of it has been read is shown. */
void cli_progress_read(cli_progress *progress, const char *what);
/* So far of the step, 0 ... 1. As lab_sample() calls it; `to` is a cli_progress. */
void cli_progress_show(void *to, double done, const char *what);
/* The line is gone. */
void cli_progress_end(cli_progress *progress);

#endif
