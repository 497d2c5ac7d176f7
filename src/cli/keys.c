/* The keys of a job's line, for the help of verbs that take one. */
#include <string.h>

#include "cli/rows.h"

static void print_keys(const rung_operation *operation) {
  const rung_key *keys = rung_cases_of(operation)->keys;
  if (!keys) return;
  printf("\nKeys of a job of %s, as in \"%s\":\n", operation->name,
         rung_cases_of(operation)->bench[0]);
  rung_keys_help(keys, stdout);
}

void cli_help_keys(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    for (int k = 0; rung_operations[k]; k++)
      if (strcmp(argv[i], rung_operations[k]->name) == 0) {
        print_keys(rung_operations[k]);
        return;
      }
}
