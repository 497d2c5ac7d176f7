#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/ranks.h"
#include "lab/line.h"

enum {
  OPTIONS = 40,
  LETTERS = 2 * OPTIONS + 2,
  BLOCK_MOST = 1024,
  THREADS_MOST = 4096,
  TYPES_SHOWN = 96,
  PROSE = 1024,
  PLAIN = 32,
  HELP_COLUMN =
      27, /* where an option's help begins; on a terminal below NARROW columns further left */
  HELP_NARROW = 6,
  NARROW = 60
};

/* The options of cli_common, in the order of the CLI_ bits; then those every verb takes. */
enum {
  DEVICE,
  RUNG,
  BLOCK,
  TYPE,
  MATH,
  THREADS,
  SEED,
  JSON,
  OUTPUT,
  DEVICES,
  MASKED,
  QUIET = MASKED,
  WIDE,
  HELP,
  COMMONS
};
static const cli_option commons[COMMONS] = {
    {"device", 0, "NAME", "auto, cpu, cuda, cuda:<index> or sim"},
    {"rung", 0, "NAME", "a rung's name, as `rung ladder` lists them; default auto, the best"},
    {"block", 0, "B", "threads per block, 1 ... 1024; default: the rung's own choice"},
    {"type", 0, "TYPE", ""},
    {"math", 0, "MATH", "strict: the same bits everywhere; fast: within a stated error bound"},
    {"threads", 0, "T", "CPU threads, 1 ... 4096; default: as many as the process may use"},
    {"seed", 0, "S", "where random inputs begin; default 1"},
    {"json", 0, NULL, "print one JSON object"},
    {"output", 'o', "FILE", "write results there, whole or not at all; default: standard output"},
    {"devices", 0, "LIST",
     "several, as \"cuda:0,cuda:1\", that share the work out; all: every GPU"},
    {"quiet", 0, NULL, "no remarks and no progress on standard error"},
    {"wide", 0, NULL, "do not wrap lines at the width of the terminal"},
    {"help", 'h', NULL, "print this and exit"}};

/* ---- numbers ------------------------------------------------------------------------------ */

rung_status cli_int(const char *option, const char *text, int64_t least, int64_t most,
                    int64_t *value, rung_error *error) {
  const char *end = NULL;
  int64_t number = 0;
  const bool whole = rung_whole_number(text, &end, &number) && *end == '\0';
  if (whole && number >= least && number <= most) {
    *value = number;
    return RUNG_OK;
  }
  if (most == INT64_MAX)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "%s '%.40s'; expected: a whole number, %lld or more",
                     option, text, (long long)least);
  return rung_fail(error, RUNG_BAD_ARGUMENT,
                   "%s '%.40s'; expected: a whole number from %lld to %lld", option, text,
                   (long long)least, (long long)most);
}

rung_status cli_double(const char *option, const char *text, double *value, rung_error *error) {
  char *end = NULL;
  errno = 0;
  double number = strtod(text, &end);
  bool whole = end != text && *end == '\0' && !isspace((unsigned char)text[0]);
  /* ERANGE is also set of a subnormal, which is a number like any other. */
  if (!whole || !isfinite(number))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "%s '%.40s' is no number; expected: a finite decimal number", option, text);
  *value = number;
  return RUNG_OK;
}

rung_status cli_numbers(const char *option, const char *text, int most, double *values, int *count,
                        rung_error *error) {
  char *copy = strdup(text), *rest = NULL;
  if (!copy) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for %s", option);
  rung_status status = RUNG_OK;
  *count = 0;
  for (char *word = strtok_r(copy, " ,\t\n", &rest); word && !status;
       word = strtok_r(NULL, " ,\t\n", &rest)) {
    double value = 0;
    status = cli_double(option, word, &value, error);
    if (!status && *count < most) values[*count] = value;
    (*count)++;
  }
  free(copy);
  return status;
}

static unsigned types_of(const cli_usage *usage) {
  return usage->types != 0 ? usage->types : RUNG_SINGLE_DOUBLE;
}

static rung_status take_type(const cli_usage *usage, const char *text, cli_common *common,
                             rung_error *error) {
  rung_dtype type;
  char taken[TYPES_SHOWN];
  if (!rung_dtype_named(text, &type) || !(types_of(usage) & RUNG_TYPE(type))) {
    rung_dtypes_text(types_of(usage), taken, sizeof taken);
    return rung_fail(error, RUNG_UNKNOWN_NAME, "--type '%.40s' is not taken; expected: %s", text,
                     taken);
  }
  common->type = type;
  common->typed = true;
  return RUNG_OK;
}

static rung_status take_math(const cli_usage *usage, const char *text, cli_common *common,
                             rung_error *error) {
  static const char *const names[] = {"strict", "fast", "fixed"};
  const int count = usage->fixed ? RUNG_MATH_FIXED + 1 : RUNG_MATH_FIXED;
  for (int i = 0; i < count; i++) {
    if (strcmp(text, names[i]) != 0) continue;
    common->math = (rung_math)i;
    common->mathed = true;
    return RUNG_OK;
  }
  if (strcmp(text, "fixed") == 0)
    return rung_fail(
        error, RUNG_UNSUPPORTED,
        "--math fixed is of rung matmul alone; expected: strict or fast, and for a job "
        "of matmul in fixed point bits=, 8 ... 31, in its line, as in --sizes \"n=1024 "
        "bits=31\"");
  return rung_fail(error, RUNG_UNKNOWN_NAME, "--math '%.40s' is not known; expected: %s", text,
                   usage->fixed ? "strict, fast or fixed" : "strict or fast");
}

static rung_status take_common(const cli_usage *usage, cli_common *common, int index,
                               const char *value, rung_error *error) {
  int64_t number = 0;
  rung_status status = RUNG_OK;
  switch (index) {
    case DEVICE:
      common->device = value;
      break;
    case DEVICES:
      common->devices = value;
      break;
    case RUNG:
      common->rung = value;
      break;
    case BLOCK:
      status = cli_int("--block", value, 1, BLOCK_MOST, &number, error);
      common->block = (int)number;
      break;
    case TYPE:
      return take_type(usage, value, common, error);
    case MATH:
      return take_math(usage, value, common, error);
    case THREADS:
      status = cli_int("--threads", value, 1, THREADS_MOST, &number, error);
      common->threads = (int)number;
      break;
    case SEED:
      status = cli_int("--seed", value, 0, INT64_MAX, &number, error);
      common->seed = (uint64_t)number;
      break;
    case JSON:
      common->json = true;
      cli_wide();
      break;
    case WIDE:
      cli_wide();
      break;
    case OUTPUT:
      common->output = value;
      break;
    case QUIET:
      common->quiet = true;
      break;
    default:
      break;
  }
  return status;
}

/* ---- help --------------------------------------------------------------------------------- */

/* "[=LIST]" may be left out. */
static int takes(const cli_option *option) {
  if (!option->argument) return no_argument;
  return option->argument[0] == '[' ? optional_argument : required_argument;
}

static void print_option(const cli_option *option, const char *help, int columns) {
  char left[64];
  const bool narrow = columns < NARROW;
  const int indent = narrow ? HELP_NARROW : HELP_COLUMN;
  int used = snprintf(left, sizeof left, option->letter ? "-%c" : "  ", option->letter);
  if (option->name)
    used += snprintf(left + used, sizeof left - (size_t)used, "%s--%s",
                     option->letter ? ", " : "  ", option->name);
  if (option->argument)
    snprintf(left + used, sizeof left - (size_t)used,
             takes(option) == optional_argument ? "%s" : " %s", option->argument);
  if (!help) help = option->help;
  printf(narrow ? "  %s" : "  %-24s ", narrow ? left + strspn(left, " ") : left);
  if (narrow || strlen(left) > HELP_COLUMN - 3) printf("\n%*s", indent, "");
  cli_wrap(stdout, help, strlen(help), columns, indent, indent);
  putchar('\n');
}

/* A line that ends a sentence ends where it does; others are filled. */
static void print_prose(const char *text, int columns) {
  char line[PROSE];
  size_t used = 0;
  for (const char *at = text;; at++) {
    const bool ends = *at == '\0' || (*at == '\n' && at > text && at[-1] == '.');
    if (!ends && used < sizeof line) line[used++] = *at == '\n' ? ' ' : *at;
    if (ends) {
      cli_wrap(stdout, line, used, columns, 0, 0);
      putchar('\n');
      used = 0;
    }
    if (*at == '\0') return;
  }
}

static void print_help(const cli_usage *usage) {
  char types[TYPES_SHOWN];
  rung_dtypes_text(types_of(usage), types, sizeof types);
  const int columns = cli_help_columns();
  const int indent = printf("Usage: rung %s ", usage->verb);
  cli_wrap(stdout, usage->synopsis, strlen(usage->synopsis), columns, indent, indent);
  printf("\n\n");
  print_prose(usage->about, columns);
  printf("\nOptions:\n");
  for (const cli_option *option = usage->options; option && option->help; option++)
    print_option(option, NULL, columns);
  for (int i = 0; i < COMMONS; i++) {
    if (i < MASKED && !(usage->common >> i & 1)) continue;
    const char *help = i == DEVICE   ? usage->device_help
                       : i == RUNG   ? usage->rung_help
                       : i == OUTPUT ? usage->output_help
                       : i == TYPE   ? types
                       : i == MATH && usage->fixed
                           ? "strict: the same bits everywhere; fast: within a stated error bound; "
                             "fixed: in fixed point, the same bits everywhere"
                           : NULL;
    print_option(&commons[i], help, columns);
  }
  printf("\nExample:\n  %s\n", usage->example);
}

/* ---- parsing ------------------------------------------------------------------------------ */

/* getopt's tables; an option's `val` is its index + 1000, own options before the common ones. */
typedef struct tables {
  struct option longs[2 * OPTIONS + 1];
  char plain[OPTIONS][PLAIN]; /* names without the hyphens in them, which may be left out */
  char letters[LETTERS];
  const cli_option *options[OPTIONS];
  int own, count, longs_count, letters_count;
} tables;

enum { VALUE = 1000 };

static void add_name(tables *t, const cli_option *option, const char *name) {
  t->longs[t->longs_count++] = (struct option){name, takes(option), NULL, VALUE + t->count};
}

static void add_option(tables *t, const cli_option *option) {
  if (option->name) add_name(t, option, option->name);
  if (option->name && strchr(option->name, '-')) {
    char *to = t->plain[t->count];
    for (const char *at = option->name; *at && to < t->plain[t->count] + PLAIN - 1; at++)
      if (*at != '-') *to++ = *at;
    add_name(t, option, t->plain[t->count]);
  }
  if (option->letter) {
    t->letters[t->letters_count++] = (char)option->letter;
    if (option->argument) t->letters[t->letters_count++] = ':';
  }
  t->options[t->count++] = option;
}

static void make_tables(const cli_usage *usage, tables *t) {
  *t = (tables){.letters = ":", .letters_count = 1};
  for (const cli_option *option = usage->options; option && option->help; option++)
    add_option(t, option);
  t->own = t->count;
  for (int i = 0; i < COMMONS; i++)
    if (i >= MASKED || (usage->common >> i & 1)) add_option(t, &commons[i]);
}

/* The index in the tables of what getopt_long() returned. */
static int index_of(const tables *t, int found) {
  if (found >= VALUE) return found - VALUE;
  for (int i = 0; i < t->count; i++)
    if (t->options[i]->letter == found) return i;
  return -1;
}

static rung_status refuse_option(const cli_usage *usage, const tables *t, int found, char **argv,
                                 rung_error *error) {
  const char *word = argv[optind - 1];
  char letter[3] = {'-', (char)optopt, '\0'};
  if (optopt > 0 && optopt < VALUE) word = letter;
  const char *fault = "is not an option of this verb";
  cli_guess guess = {.word = strncmp(word, "--", 2) == 0 ? word + 2 : ""};
  char meant[CLI_GUESS];
  if (found == ':') {
    fault = "needs a value";
  } else if (optopt >= VALUE && t->options[optopt - VALUE]->argument == NULL) {
    fault = "takes no value";
  }
  for (int i = 0; found == '?' && i < t->count; i++)
    if (t->options[i]->name) cli_guess_try(&guess, t->options[i]->name);
  guess.dashes = "--";
  return rung_fail(error, RUNG_BAD_ARGUMENT, "'%.60s' %s%s `rung help %s` lists them", word, fault,
                   guess.best ? cli_guess_text(&guess, meant) : ";", usage->verb);
}

static rung_status take_options(const cli_usage *usage, int argc, char **argv, cli_common *common,
                                void *to, bool *help, rung_error *error) {
  tables t;
  make_tables(usage, &t);
  opterr = 0;
  optind = 1;
  int found;
  while ((found = getopt_long(argc, argv, t.letters, t.longs, NULL)) != -1) {
    if (found == '?' || found == ':') return refuse_option(usage, &t, found, argv, error);
    int index = index_of(&t, found);
    rung_status status = RUNG_OK;
    if (index < t.own) {
      status = usage->take(to, index, optarg, error);
    } else {
      int which = (int)(t.options[index] - commons);
      if (which == HELP) {
        *help = true;
        return RUNG_OK;
      }
      status = take_common(usage, common, which, optarg, error);
    }
    if (status) return status;
  }
  int given = argc - optind;
  if (given > usage->most)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "'%.60s' is one argument too many; usage: rung %s %s",
                     argv[optind + usage->most], usage->verb, usage->synopsis);
  if (given < usage->least)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "an argument is missing; usage: rung %s %s",
                     usage->verb, usage->synopsis);
  return RUNG_OK;
}

/* Options that exclude each other. */
static rung_status check_common(const cli_common *common, rung_error *error) {
  if (common->device && common->devices)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--device and --devices are both given; expected: one of them");
  if (common->devices && ranks_all())
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--devices is not taken over ranks, which have a device each; expected: "
                     "--device, or a run without mpirun");
  return RUNG_OK;
}

int cli_join(int argc, char **argv, cli_joined *joined, char **words) {
  int count = 0;
  for (int i = 0; i < argc; i++) {
    words[count++] = argv[i];
    if (strcmp(argv[i], "--") == 0) {
      while (++i < argc) words[count++] = argv[i];
      break;
    }
    if (strcmp(argv[i], joined->option) != 0 || i + joined->words >= argc ||
        strpbrk(argv[i + 1], " :") != NULL)
      continue;
    size_t used = (size_t)snprintf(joined->room, sizeof joined->room, "%s=", joined->option);
    for (int k = 1; k <= joined->words && used < sizeof joined->room; k++)
      used += (size_t)snprintf(joined->room + used, sizeof joined->room - used, "%s%s",
                               k > 1 ? " " : "", argv[i + k]);
    if (used >= sizeof joined->room) continue;
    words[count - 1] = joined->room;
    i += joined->words;
  }
  words[count] = NULL;
  return count;
}

bool cli_parse(const cli_usage *usage, int argc, char **argv, cli_common *common, void *to,
               int *first, int *code) {
  rung_error error = {0};
  bool help = false;
  *common = (cli_common){.seed = 1};
  rung_status status = take_options(usage, argc, argv, common, to, &help, &error);
  if (!status) status = check_common(common, &error);
  if (help && !status) print_help(usage);
  *first = optind;
  *code = cli_end(usage->verb, &error);
  if (ranks_number() > 0) common->quiet = true;
  return *code == CLI_DONE && !help;
}
