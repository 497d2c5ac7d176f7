/* Fibres: stacks that are switched between without a system call. Each belongs to one worker (a
 * host thread inside a launch); control passes between the worker and one of its fibres only. */
#ifndef RUNG_BACKEND_SIM_FIBRE_H
#define RUNG_BACKEND_SIM_FIBRE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sim_fibre {
  struct sim_fibre *next; /* in a list of free ones */
  void *stack_pointer;    /* while it does not run */
  char *stack;            /* its lowest usable byte; a page below is never mapped */
  size_t bytes;
  void *fake_stack; /* AddressSanitizer's */
} sim_fibre;

/* The worker's side: where fibres return to. */
typedef struct sim_shore {
  void *stack_pointer;
  const void *bottom; /* of the worker's own stack, for AddressSanitizer */
  size_t bytes;
} sim_shore;

/* Runs on a fibre again and again: whenever it returns, control goes to the shore, and it is called
 * anew when the fibre is entered next. */
typedef void sim_fibre_body(void);

/* A fibre that has not begun; NULL: no memory. */
sim_fibre *sim_fibre_make(sim_fibre_body *body, sim_shore *shore);
void sim_fibre_free(sim_fibre *fibre);
/* Forgets whatever the fibre was doing. */
void sim_fibre_reset(sim_fibre *fibre, sim_fibre_body *body, sim_shore *shore);

/* From the worker: runs the fibre until it leaves. */
void sim_fibre_enter(sim_fibre *fibre, sim_shore *shore);
/* From the fibre: back to the worker, until it is entered again. */
void sim_fibre_leave(sim_fibre *fibre, sim_shore *shore);

/* Whether an address lies on the fibre's stack. */
static inline bool sim_fibre_holds(const sim_fibre *fibre, const void *address) {
  return (size_t)((const char *)address - fibre->stack) < fibre->bytes;
}

#endif
