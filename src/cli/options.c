#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum {
  OPTIONS = 40,
  LETTERS = 2 * OPTIONS + 2,
  BLOCK_MOST = 1024,
  THREADS_MOST = 4096,
  TYPES_SHOWN = 96
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
  MASKED,
  QUIET = MASKED,
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
    {"quiet", 0, NULL, "no remarks and no progress on standard error"},
    {"help", 'h', NULL, "print this and exit"}};

/* ---- numbers ------------------------------------------------------------------------------ */

rung_status cli_int(const char *option, const char *text, int64_t least, int64_t most,
                    int64_t *value, rung_error *error) {
  char *end = NULL;
  errno = 0;
  long long number = strtoll(text, &end, 10);
  bool whole = end != text && *end == '\0' && !isspace((unsigned char)text[0]);
  if (whole && errno == 0 && number >= least && number <= most) {
    *value = number;
    return RUNG_OK;
  }
  const char *fault = whole ? "is out of range" : "is no integer";
  if (most == INT64_MAX)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "%s '%.40s' %s: %lld or more would do", option, text,
                     fault, (long long)least);
  return rung_fail(error, RUNG_BAD_ARGUMENT, "%s '%.40s' %s: %lld ... %lld would do", option, text,
                   fault, (long long)least, (long long)most);
}

rung_status cli_double(const char *option, const char *text, double *value, rung_error *error) {
  char *end = NULL;
  errno = 0;
  double number = strtod(text, &end);
  bool whole = end != text && *end == '\0' && !isspace((unsigned char)text[0]);
  /* ERANGE is also set of a subnormal, which is a number like any other. */
  if (!whole || !isfinite(number))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "%s '%.40s' is no number: a finite decimal number would do", option, text);
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
    return rung_fail(error, RUNG_UNKNOWN_NAME, "--type '%.40s' is not taken: %s would do", text,
                     taken);
  }
  common->type = type;
  common->typed = true;
  return RUNG_OK;
}

static rung_status take_math(const char *text, cli_common *common, rung_error *error) {
  bool fast = strcmp(text, "fast") == 0;
  if (!fast && strcmp(text, "strict") != 0)
    return rung_fail(error, RUNG_UNKNOWN_NAME,
                     "--math '%.40s' is not known: strict or fast would do", text);
  common->math = fast ? RUNG_MATH_FAST : RUNG_MATH_STRICT;
  common->mathed = true;
  return RUNG_OK;
}

static rung_status take_common(const cli_usage *usage, cli_common *common, int index,
                               const char *value, rung_error *error) {
  int64_t number = 0;
  rung_status status = RUNG_OK;
  switch (index) {
    case DEVICE:
      common->device = value;
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
      return take_math(value, common, error);
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

static void print_option(const cli_option *option, const char *help) {
  char left[64];
  int used = snprintf(left, sizeof left, option->letter ? "-%c" : "  ", option->letter);
  if (option->name)
    used += snprintf(left + used, sizeof left - (size_t)used, "%s--%s",
                     option->letter ? ", " : "  ", option->name);
  if (option->argument) snprintf(left + used, sizeof left - (size_t)used, " %s", option->argument);
  printf("  %-24s %s\n", left, help ? help : option->help);
}

static void print_help(const cli_usage *usage) {
  char types[TYPES_SHOWN];
  rung_dtypes_text(types_of(usage), types, sizeof types);
  printf("Usage: rung %s %s\n\n%s\n\nOptions:\n", usage->verb, usage->synopsis, usage->about);
  for (const cli_option *option = usage->options; option && option->help; option++)
    print_option(option, NULL);
  for (int i = 0; i < COMMONS; i++) {
    if (i < MASKED && !(usage->common >> i & 1)) continue;
    const char *help = i == DEVICE   ? usage->device_help
                       : i == RUNG   ? usage->rung_help
                       : i == OUTPUT ? usage->output_help
                       : i == TYPE   ? types
                                     : NULL;
    print_option(&commons[i], help);
  }
  printf("\nExample:\n  %s\n", usage->example);
}

/* ---- parsing ------------------------------------------------------------------------------ */

/* getopt's tables; an option's `val` is its index + 1000, own options before the common ones. */
typedef struct tables {
  struct option longs[OPTIONS + 1];
  char letters[LETTERS];
  const cli_option *options[OPTIONS];
  int own, count, longs_count, letters_count;
} tables;

enum { VALUE = 1000 };

static void add_option(tables *t, const cli_option *option) {
  if (option->name)
    t->longs[t->longs_count++] = (struct option){
        option->name, option->argument ? required_argument : no_argument, NULL, VALUE + t->count};
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
  if (found == ':') {
    fault = "needs a value";
  } else if (optopt >= VALUE && t->options[optopt - VALUE]->argument == NULL) {
    fault = "takes no value";
  }
  return rung_fail(error, RUNG_BAD_ARGUMENT, "'%.60s' %s; `rung %s --help` lists them", word, fault,
                   usage->verb);
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
  if (help && !status) print_help(usage);
  *first = optind;
  *code = cli_end(usage->verb, &error);
  return !status && !help;
}
