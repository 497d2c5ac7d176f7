/* What must be undone before a signal ends the process: temporary files, programs that we started.
 * The signals are SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ and SIGXCPU; one that is
 * ignored (nohup) or somebody else's is left alone. */
#ifndef RUNG_FILES_ENDING_H
#define RUNG_FILES_ENDING_H

#ifdef __cplusplus
extern "C" {
#endif

enum { ENDING_MOST = 6 };

/* From now on `undo` is called, on any thread, when such a signal comes, which then takes its usual
 * effect. It does only what is safe in a handler, and what it would undo may be there or not. No
 * more than ENDING_MOST; asking again for the same changes nothing. */
void ending_undo(void (*undo)(void));

#ifdef __cplusplus
}
#endif
#endif
