#include "cli/rows.h"

#include <string.h>

rung_status cli_devices_of(const char *asked, cli_devices *devices, rung_error *error) {
  *devices = (cli_devices){0};
  if (asked && strcmp(asked, "auto") != 0) {
    rung_device device;
    rung_status status = rung_find_device(asked, &device, error);
    if (status) return status;
    devices->count = 1;
    snprintf(devices->names[0], CLI_DEVICE_NAME, "%s", asked);
    return RUNG_OK;
  }
  rung_device_info info = {.size = sizeof info};
  for (int i = 0; rung_device_at(i, &info) == RUNG_OK; i++) {
    if (strcmp(info.kind, "sim") == 0) continue;
    if (!info.usable)
      snprintf(devices->absent, sizeof devices->absent, "%s", info.why_not);
    else if (devices->count < CLI_DEVICES)
      snprintf(devices->names[devices->count++], CLI_DEVICE_NAME, "%s", info.device);
  }
  return RUNG_OK;
}

const rung_row *cli_row_of(const char *operation, rung_family family, const char *name) {
  const rung_operation *of = rung_operation_named(operation);
  for (int i = 0; i < of->count; i++)
    if (of->rows[i].family == family && strcmp(of->rows[i].name, name) == 0) return &of->rows[i];
  return NULL;
}

bool cli_on_device(const rung_row *row, const rung_device *device) {
  return (row->family == RUNG_ON_CPU) == (device->kind == RUNG_CPU);
}

/* "reduce, scan": for a sentence. */
static void list_operations(char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; rung_operations[i] && used < size; i++)
    used +=
        (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", rung_operations[i]->name);
}

static rung_status find_operation(const char *name, const rung_operation **found,
                                  rung_error *error) {
  *found = rung_operation_named(name);
  if (*found) return RUNG_OK;
  char list[200], meant[CLI_GUESS];
  cli_guess guess = {.word = name};
  for (int i = 0; rung_operations[i]; i++) cli_guess_try(&guess, rung_operations[i]->name);
  list_operations(list, sizeof list);
  return rung_fail(error, RUNG_UNKNOWN_NAME, "there is no operation '%.40s'%s there are: %s", name,
                   guess.best ? cli_guess_text(&guess, meant) : ";", list);
}

rung_status cli_operations_of(int count, char *const *names,
                              const rung_operation *list[CLI_OPERATIONS + 1],
                              const rung_operation *const **operations, rung_error *error) {
  rung_status status = RUNG_OK;
  int listed = 0;
  *operations = count > 0 ? list : rung_operations;
  for (int i = 0; i < count && !status; i++) {
    bool before = false;
    status = find_operation(names[i], &list[listed], error);
    for (int k = 0; k < listed; k++) before = before || list[k] == list[listed];
    listed += !before;
  }
  list[listed] = NULL;
  return status;
}

rung_status cli_kernels(const char *path, const rung_operation *list[CLI_OPERATIONS + 1],
                        const rung_operation *const **operations, rung_error *error) {
  if (!path) return RUNG_OK;
  int count = 0;
  for (; (*operations)[count]; count++) list[count] = (*operations)[count];
  list[count] = NULL;
  *operations = list;
  return lab_kernels_open(path, list, error);
}

bool cli_in_list(const char *list, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = list; *at; at += strcspn(at, ",")) {
    at += *at == ',';
    if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
  }
  return false;
}

rung_status cli_check_rung(const char *rung, const rung_operation *const *operations,
                           rung_error *error) {
  char meant[CLI_GUESS];
  cli_guess guess = {.word = rung};
  if (!rung) return RUNG_OK;
  for (int k = 0; operations[k]; k++)
    for (int i = 0; i < operations[k]->count; i++) {
      if (strcmp(operations[k]->rows[i].name, rung) == 0) return RUNG_OK;
      cli_guess_try(&guess, operations[k]->rows[i].name);
    }
  return rung_fail(error, RUNG_UNKNOWN_NAME, "there is no rung '%.40s'%s `rung ladder` lists them",
                   rung, guess.best ? cli_guess_text(&guess, meant) : ";");
}

rung_status cli_check_rungs(const char *list, const rung_operation *const *operations,
                            rung_error *error) {
  rung_status status = RUNG_OK;
  for (const char *at = list; at && !status;) {
    char name[CLI_GUESS];
    const size_t length = strcspn(at, ",");
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    status = cli_check_rung(name, operations, error);
    at = at[length] == ',' ? at + length + 1 : NULL;
  }
  return status;
}
