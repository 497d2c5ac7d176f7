/* What disturbed a measurement: other programs, the host of a virtual machine, a processor or a
 * control group that was held back. Linux tells; elsewhere nothing is known. */
#ifndef RUNG_LAB_WATCH_H
#define RUNG_LAB_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counts at one moment. */
typedef struct lab_watch {
  bool known;
  double at;         /* seconds */
  double busy;       /* processor seconds of all programs together */
  double stolen;     /* that this virtual machine wanted and its host gave to others */
  double own;        /* of this process and those it waited for */
  int64_t throttled; /* how often processors were too hot, or this control group over its quota */
} lab_watch;

/* Between two moments. */
typedef struct lab_disturbance {
  double others;     /* processors that other programs kept busy, the mean; NaN: not known */
  double stolen;     /* processors that the host gave to others; NaN: not known */
  int64_t throttled; /* times */
} lab_disturbance;

lab_watch lab_watch_now(void);
/* Shorter than half a second nothing but `throttled` is known: processor time is counted in
 * hundredths. */
lab_disturbance lab_watch_between(const lab_watch *from, const lab_watch *to);
/* In a sentence; "" where nothing speaks against the measurement. `processors`: of the machine. */
const char *lab_watch_text(const lab_disturbance *found, int processors, char *text, size_t room);

/* The busy and the stolen seconds of /proc/stat's text, of `ticks` a second; false: there are none.
 */
bool lab_watch_stat(const char *text, double ticks, double *busy, double *stolen);
/* How often a control group was throttled, of its cpu.stat's text; 0 where it does not say. */
int64_t lab_watch_quota(const char *text);

#endif
