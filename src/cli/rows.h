/* Operations, rungs and devices as the laboratory sees them: for the verbs that verify, time and
 * explain rungs. */
#ifndef RUNG_CLI_ROWS_H
#define RUNG_CLI_ROWS_H

#include "cli/cli.h"
#include "lab/kernels.h"
#include "lab/lab.h"

/* Names of devices to work on ("cpu", "cuda:0"): the one asked for, or all that are here. */
enum { CLI_DEVICES = 17, CLI_DEVICE_NAME = 16 };
typedef struct cli_devices {
  int count;
  char names[CLI_DEVICES][CLI_DEVICE_NAME];
  char absent[RUNG_SENTENCE]; /* why there is no GPU among them; "" where there is */
} cli_devices;
rung_status cli_devices_of(const char *asked, cli_devices *devices, rung_error *error);

/* After the help of a verb whose arguments name an operation: the keys of its jobs. keys.c. */
void cli_help_keys(int argc, char **argv);

/* An operation's rung of that name; NULL: there is none. */
const rung_row *cli_row_of(const char *operation, rung_family family, const char *name);

/* Why a rung of that family ("cpu", "gpu") is slower than one below it, where records on an H200
 * say so; else NULL. remarks.c. */
const char *cli_slower(const char *operation, const char *rung, const char *on);

bool cli_on_device(const rung_row *row, const rung_device *device);

/* The operations to work on: those named, at most CLI_OPERATIONS and each once, or all where none
 * is. `list` is room for them. */
enum { CLI_OPERATIONS = 16 };
rung_status cli_operations_of(int count, char *const *names,
                              const rung_operation *list[CLI_OPERATIONS + 1],
                              const rung_operation *const **operations, rung_error *error);

/* --kernels FILE: the operations with the file's kernels (rung/lab.h) behind their rungs, from the
 * list that cli_operations_of() was given, until lab_kernels_close(). `path` may be NULL. */
#define CLI_KERNELS                                                                            \
  {                                                                                            \
    "kernels", 0, "FILE",                                                                      \
        "kernels of your own, beside the rungs: a shared object, as docs/YOUR_KERNELS.md says" \
  }
rung_status cli_kernels(const char *path, const rung_operation *list[CLI_OPERATIONS + 1],
                        const rung_operation *const **operations, rung_error *error);

/* Whether the comma-separated list has that name. */
bool cli_in_list(const char *list, const char *name);

/* Refuses a --rung that no operation of the list has; NULL is allowed. */
rung_status cli_check_rung(const char *rung, const rung_operation *const *operations,
                           rung_error *error);
/* The same for several, comma-separated. */
rung_status cli_check_rungs(const char *list, const rung_operation *const *operations,
                            rung_error *error);

#endif
