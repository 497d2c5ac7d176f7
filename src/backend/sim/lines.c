/* From addresses to lines of source, by the debugging information in the program itself (elfutils'
 * libdw). Without it, or in a stripped program, lines are not known and addresses are given. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/sim/sim.h"

/* An address that is returned to lies after the call it is about. */
#define CALL_OF(pc) ((pc)-1)

#ifdef RUNG_WITH_LIBDW
#include <elfutils/libdwfl.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Opened once and kept: the files' names it gives live as long. NULL: it cannot be had. */
static Dwfl *symbols(void) {
  static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                           .find_debuginfo = dwfl_standard_find_debuginfo};
  static Dwfl *opened;
  static bool tried;
  if (tried) return opened;
  tried = true;
  opened = dwfl_begin(&callbacks);
  if (opened != NULL &&
      (dwfl_linux_proc_report(opened, getpid()) != 0 || dwfl_report_end(opened, NULL, NULL) != 0)) {
    dwfl_end(opened);
    opened = NULL;
  }
  return opened;
}

bool sim_has_lines(void) {
  return true;
}

bool sim_line_of(sim_pc pc, const char **file, int *line) {
  pthread_mutex_lock(&lock);
  Dwfl *dwfl = symbols();
  Dwfl_Line *found = NULL;
  Dwfl_Module *module = dwfl != NULL ? dwfl_addrmodule(dwfl, CALL_OF(pc)) : NULL;
  if (module != NULL) found = dwfl_module_getsrc(module, CALL_OF(pc));
  *line = 0;
  *file = found != NULL ? dwfl_lineinfo(found, NULL, line, NULL, NULL, NULL) : NULL;
  pthread_mutex_unlock(&lock);
  return *file != NULL && *line > 0;
}
#else
bool sim_has_lines(void) {
  return false;
}

bool sim_line_of(sim_pc pc, const char **file, int *line) {
  (void)pc;
  *file = NULL;
  *line = 0;
  return false;
}
#endif

/* A path from the project's root, where one can be told. */
static const char *short_path(const char *file) {
  const char *from = file;
  for (const char *at = file; (at = strstr(at, "/src/")) != NULL; at++) from = at + 1;
  for (const char *at = file; from == file && (at = strstr(at, "/tests/")) != NULL; at++)
    from = at + 1;
  return from;
}

void sim_line_text(sim_pc pc, char *text, size_t room) {
  const char *file;
  int line;
  if (sim_line_of(pc, &file, &line))
    snprintf(text, room, "%s:%d", short_path(file), line);
  else
    snprintf(text, room, "address %#zx", (size_t)CALL_OF(pc));
}
