/* Any text as the values of options that the command takes: of an absent file, so that all are read
 * and nothing is computed. The command refuses them, or the file, with one line on standard error
 * and the exit status 2 or 3. Also as a range of jobs, and as what the environment says. */
#include "cli/cli.h"
#include "fuzz/fuzz.h"

enum { WORDS = 8 };

typedef struct verb {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *options[WORDS]; /* ended by NULL */
} verb;

#define COMMON "--threads=", "--type="
static const verb verbs[] = {
    {"stencil",
     verb_stencil,
     {"--weights=", "--divide=", "--steps=", "--fixed=", "--edge=", COMMON}},
    {"correlate",
     verb_correlate,
     {"--kernel=", "--border=", "--origin=", "--region=", "--scale=", "--strip=", COMMON}},
    {"reduce", verb_reduce, {"--op=", "--axis=", "--block=", COMMON}},
    {"scan", verb_scan, {"--op=", "--math=", "--block=", COMMON}},
    {"histogram", verb_histogram, {"--modulo=", "--bins=", "--range=", COMMON}},
    {"pairs",
     verb_pairs,
     {"--width=", "--bins=", "--log=", "--max=", "--box=", "--frames=", "--volume="}},
    {"pairs", verb_pairs, {"--format=", "--select=", "--with=", "--sample=", "--width=", COMMON}}};
enum { VERBS = sizeof verbs / sizeof *verbs };

/* The next part of the input, up to a byte 0 or its end, behind `prefix`. */
static char *next_word(fuzz_input *input, const char *prefix) {
  const uint8_t *end = memchr(input->at, 0, input->left);
  const size_t length = end != NULL ? (size_t)(end - input->at) : input->left;
  char *word = malloc(strlen(prefix) + length + 1);
  strcpy(word, prefix);
  memcpy(word + strlen(prefix), input->at, length);
  word[strlen(prefix) + length] = '\0';
  input->at += length + (end != NULL);
  input->left -= length + (end != NULL);
  return word;
}

static void run_verb(fuzz_input *input, const verb *verb) {
  char *words[WORDS + 3], *said = NULL;
  size_t bytes = 0;
  int count = 0, options = 0;
  while (options < WORDS && verb->options[options] != NULL) options++;
  words[count++] = strdup(verb->name);
  words[count++] = strdup("/nowhere/absent.csv");
  while (input->left > 1 && count < WORDS + 2)
    words[count++] = next_word(input, verb->options[fuzz_pick(input, options)]);
  words[count] = NULL;
  FILE *terminal = stderr;
  stderr = open_memstream(&said, &bytes);
  const int code = verb->run(count, words);
  fclose(stderr);
  stderr = terminal;
  if (code != CLI_BAD_USAGE && code != CLI_BAD_INPUT) fuzz_wrong("exit status %d: %s", code, said);
  if (bytes == 0 || memchr(said, '\n', bytes) != said + bytes - 1) fuzz_wrong("said: %s", said);
  free(said);
  while (count > 0) free(words[--count]);
}

static rung_status count_line(void *to, const char *line, rung_error *error) {
  int *lines = to;
  if (strlen(line) > 4096) return rung_fail(error, RUNG_BAD_ARGUMENT, "a line of any length");
  ++*lines;
  return RUNG_OK;
}

static void sweep(fuzz_input *input) {
  char *line = next_word(input, "");
  rung_error error = {0};
  int lines = 0;
  if (cli_sweep(line, count_line, &lines, &error) == RUNG_OK ? lines < 1 || lines > 4096
                                                             : error.sentence[0] == '\0')
    fuzz_wrong("%d lines of \"%s\", \"%s\"", lines, line, error.sentence);
  free(line);
}

static void open_context(fuzz_input *input) {
  char *isa = next_word(input, ""), *limit = next_word(input, ""), *device = next_word(input, "");
  rung_context *context;
  setenv("RUNG_ISA", isa, 1);
  setenv("RUNG_MEMORY_LIMIT", limit, 1);
  const rung_status status =
      rung_open(&context, &(rung_options){.device = *device != '\0' ? device : "cpu"});
  if ((status == RUNG_OK) != (rung_last_error(context)[0] == '\0'))
    fuzz_wrong("status %d, \"%s\"", (int)status, rung_last_error(context));
  rung_close(context);
  unsetenv("RUNG_ISA");
  unsetenv("RUNG_MEMORY_LIMIT");
  free(isa);
  free(limit);
  free(device);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_input input = {data, size};
  const int chosen = fuzz_pick(&input, VERBS + 2);
  if (chosen < VERBS)
    run_verb(&input, &verbs[chosen]);
  else if (chosen == VERBS)
    sweep(&input);
  else
    open_context(&input);
  return 0;
}
