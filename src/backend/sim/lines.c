/* From addresses to lines of source, by the debugging information in the program itself (elfutils'
 * libdw). Without it, or in a stripped program, lines are not known and addresses are given. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/sim/sim.h"

/* An address that is returned to lies after the call it is about. */
#define CALL_OF(pc) ((pc)-1)

#ifdef RUNG_WITH_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Opened once and kept: the files' names it gives live as long. NULL: it cannot be had. */
static Dwfl *symbols(void) {
  static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                           .find_debuginfo = dwfl_standard_find_debuginfo};
  static Dwfl *opened;
  static bool tried;
  if (tried) return opened;
  opened = dwfl_begin(&callbacks);
  if (opened != NULL &&
      (dwfl_linux_proc_report(opened, getpid()) != 0 || dwfl_report_end(opened, NULL, NULL) != 0)) {
    dwfl_end(opened);
    opened = NULL;
  }
  tried = opened != NULL || errno != ENOMEM;
  return opened;
}

/* The scopes that an address lies in, as they lie in one another, the innermost first; to be freed.
 * dwarf_getscopes() itself goes on from a function in line to where that function stands. */
static int scopes_at(Dwarf_Die *unit, Dwarf_Addr at, Dwarf_Die **scopes) {
  Dwarf_Die *innermost = NULL;
  *scopes = NULL;
  if (dwarf_getscopes(unit, at, &innermost) <= 0) return 0;
  const int count = dwarf_getscopes_die(&innermost[0], scopes);
  free(innermost);
  return count;
}

/* What a kernel calls of ours is in line everywhere: its own source is where it was called from. */
static const char *called_from(Dwfl_Module *module, sim_pc pc, const char *file, int *line) {
  Dwarf_Addr bias;
  Dwarf_Die *unit = dwfl_module_addrdie(module, pc, &bias), *scopes;
  Dwarf_Files *files;
  size_t file_count;
  if (unit == NULL || dwarf_getsrcfiles(unit, &files, &file_count) != 0) return file;
  const int count = scopes_at(unit, pc - bias, &scopes);
  for (int i = 0; i < count && strstr(file, "/backend/sim/") != NULL; i++) {
    Dwarf_Attribute from, at;
    Dwarf_Word number, where;
    if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine ||
        dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_file, &from), &number) != 0 ||
        dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_line, &at), &where) != 0)
      continue;
    const char *caller = dwarf_filesrc(files, number, NULL, NULL);
    if (caller == NULL) continue;
    file = caller;
    *line = (int)where;
  }
  free(scopes);
  return file;
}

bool sim_has_lines(void) {
  return true;
}

static const char *look_up(sim_pc pc, int *line) {
  Dwfl *dwfl = symbols();
  Dwfl_Line *found = NULL;
  Dwfl_Module *module = dwfl != NULL ? dwfl_addrmodule(dwfl, CALL_OF(pc)) : NULL;
  if (module != NULL) found = dwfl_module_getsrc(module, CALL_OF(pc));
  *line = 0;
  const char *file = found != NULL ? dwfl_lineinfo(found, NULL, line, NULL, NULL, NULL) : NULL;
  if (file != NULL) file = called_from(module, CALL_OF(pc), file, line);
  return errno != ENOMEM ? file : NULL;
}

/* Looking up is slow, and barriers ask again and again. */
bool sim_line_of(sim_pc pc, const char **file, int *line) {
  enum { KNOWN = 1 << 10 };
  static struct {
    sim_pc pc;
    const char *file;
    int line;
  } known[KNOWN];
  const size_t at = (pc * 0x9e3779b97f4a7c15u >> 40) % KNOWN;
  pthread_mutex_lock(&lock);
  errno = 0;
  if (known[at].pc != pc) {
    known[at].file = look_up(pc, &known[at].line);
    known[at].pc = known[at].file == NULL && errno == ENOMEM ? 0 : pc;
  }
  *file = known[at].file;
  *line = known[at].line;
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
  *line = errno = 0;
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
