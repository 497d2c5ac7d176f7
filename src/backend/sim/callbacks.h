/* Gives the calls that -fsanitize=thread and -fsanitize-coverage=trace-pc make the compiler write
 * names of our own (backend/sim/watch.c). Were they to keep theirs, a program linked with the
 * library could not be checked by ThreadSanitizer itself. */
#ifndef RUNG_BACKEND_SIM_CALLBACKS_H
#define RUNG_BACKEND_SIM_CALLBACKS_H

#ifdef RUNG_SIM_WATCHED
#define RUNG_SIM_RENAME(from, to) __asm__(".set " #from ", " #to)
#define RUNG_SIM_RENAME_SIZES(from, to) \
  RUNG_SIM_RENAME(from##1, to##1);      \
  RUNG_SIM_RENAME(from##2, to##2);      \
  RUNG_SIM_RENAME(from##4, to##4);      \
  RUNG_SIM_RENAME(from##8, to##8);      \
  RUNG_SIM_RENAME(from##16, to##16)

RUNG_SIM_RENAME_SIZES(__tsan_read, rung_sim_read);
RUNG_SIM_RENAME_SIZES(__tsan_write, rung_sim_write);
RUNG_SIM_RENAME_SIZES(__tsan_unaligned_read, rung_sim_read);
RUNG_SIM_RENAME_SIZES(__tsan_unaligned_write, rung_sim_write);
RUNG_SIM_RENAME_SIZES(__tsan_volatile_read, rung_sim_volatile_read);
RUNG_SIM_RENAME_SIZES(__tsan_volatile_write, rung_sim_volatile_write);
RUNG_SIM_RENAME_SIZES(__tsan_unaligned_volatile_read, rung_sim_volatile_read);
RUNG_SIM_RENAME_SIZES(__tsan_unaligned_volatile_write, rung_sim_volatile_write);
RUNG_SIM_RENAME(__tsan_read_range, rung_sim_read_range);
RUNG_SIM_RENAME(__tsan_write_range, rung_sim_write_range);
RUNG_SIM_RENAME(__tsan_init, rung_sim_nothing);
RUNG_SIM_RENAME(__sanitizer_cov_trace_pc, rung_sim_step);
#endif

#endif
