#include "files/ending.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

typedef void (*undo_function)(void);

static _Atomic undo_function undos[ENDING_MOST];

/* The action stays this one until all is undone: SA_RESETHAND would let a second signal, as
 * timeout(1) and Ctrl-C to a group send them, end the process before its handler has begun. */
static void undo_and_die(int signal) {
  static atomic_flag begun = ATOMIC_FLAG_INIT;
  if (atomic_flag_test_and_set(&begun)) return;
  for (int i = 0; i < ENDING_MOST; i++) {
    const undo_function undo = atomic_load(&undos[i]);
    if (undo) undo();
  }
  const struct sigaction usual = {.sa_handler = SIG_DFL};
  sigaction(signal, &usual, NULL);
  raise(signal); /* delivered when this handler returns, which blocks all signals */
}

static void catch_signals(void) {
  static const int signals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,   SIGPIPE, SIGXFSZ, SIGXCPU,
                                SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL};
  static atomic_flag done = ATOMIC_FLAG_INIT;
  if (atomic_flag_test_and_set(&done)) return;
  struct sigaction action = {.sa_handler = undo_and_die};
  sigfillset(&action.sa_mask);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    struct sigaction old;
    if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
      sigaction(signals[i], &action, NULL);
  }
}

void ending_undo(void (*undo)(void)) {
  for (int i = 0; i < ENDING_MOST; i++) {
    undo_function found = NULL;
    if (!atomic_compare_exchange_strong(&undos[i], &found, undo) && found != undo) continue;
    catch_signals();
    return;
  }
  assert(!"ENDING_MOST is too small");
}
