/* Several devices of one process, by a list of their names. */
#include <stdio.h>
#include <string.h>

#include "core/context.h"
#include "core/layout.h"
#include "rung/ranks.h"

enum { LIST = 64 * RUNG_DEVICES, SHOWN = 80 };

/* "cuda:0,cuda:1": every GPU that can be used; "cpu" where there is none. */
static void list_all(char *list) {
  rung_device_info info = {.size = sizeof info};
  size_t used = 0;
  for (int i = 0; rung_device_at(i, &info) == RUNG_OK; i++)
    if (strcmp(info.kind, "cuda") == 0 && info.usable && used + sizeof info.device < LIST)
      used += (size_t)snprintf(list + used, LIST - used, "%s%s", used > 0 ? "," : "", info.device);
  if (used == 0) strcpy(list, "cpu");
}

/* Ends each name; how many there are, and of how many the CPU is meant. */
static int part_names(char *list, int *cpus) {
  int count = 1;
  *cpus = 0;
  for (char *name = list, *at = list;; at++) {
    if (*at != ',' && *at != '\0') continue;
    const bool last = *at == '\0';
    *at = '\0';
    *cpus += strcmp(name, "cpu") == 0;
    if (last) return count;
    name = at + 1;
    count++;
  }
}

/* The context that tells why there are none. */
static rung_status refuse(rung_context **contexts, int *count, const char *devices,
                          const char *wanted) {
  const rung_status status = rung_open(contexts, &(rung_options){.device = "none"});
  *count = *contexts != NULL;
  if (*contexts == NULL) return status;
  return rung_fail(&(*contexts)->error, RUNG_BAD_ARGUMENT, "devices is \"%.*s\"; expected: %s",
                   SHOWN, devices, wanted);
}

static rung_status open_each(rung_context **contexts, int count, const char *names,
                             rung_options *options) {
  for (int i = 0; i < count; i++, names += strlen(names) + 1) {
    options->device = names;
    const rung_status status = rung_open(&contexts[i], options);
    if (status == RUNG_OK) continue;
    for (int k = 0; k < i; k++) rung_close(contexts[k]);
    contexts[0] = contexts[i];
    return status;
  }
  return RUNG_OK;
}

rung_status rung_open_devices(rung_context **contexts, int *count, const char *devices,
                              const rung_options *options) {
  static const char names[] = "names of devices with commas between them, or \"all\"";
  char list[LIST];
  rung_options known = {.size = sizeof known};
  rung_device cpu;
  rung_error error = {0};
  int cpus;
  if (contexts == NULL || count == NULL) return RUNG_BAD_ARGUMENT;
  if (options != NULL && rung_read_struct(&error, "options", &rung_options_layout, options, &known))
    return refuse(contexts, count, devices != NULL ? devices : "", "options whose size is set");
  if (devices == NULL || strlen(devices) >= sizeof list)
    return refuse(contexts, count, devices != NULL ? devices : "NULL", names);
  if (known.device != NULL) return refuse(contexts, count, devices, "options without a device");
  strcpy(list, devices);
  if (strcmp(list, "all") == 0) list_all(list);
  *count = part_names(list, &cpus);
  if (*count > RUNG_DEVICES) return refuse(contexts, count, devices, "at most 64 names");
  if (cpus > 1 && known.threads == 0 && rung_find_device("cpu", &cpu, NULL) == RUNG_OK)
    known.threads = cpu.threads > cpus ? cpu.threads / cpus : 1;
  const rung_status status = open_each(contexts, *count, list, &known);
  if (status != RUNG_OK) *count = contexts[0] != NULL;
  return status;
}
