/* The lab: checks rungs and times them, and believes neither before it has seen proof.
 *
 * It knows operations only through their ladder tables and cases (core/ladder.h, core/case.h),
 * and devices only through their backend. docs/METHOD.md describes the protocol in full. */
#ifndef RUNG_LAB_LAB_H
#define RUNG_LAB_LAB_H

#include <jansson.h>

#include "core/banks.h"
#include "core/context.h"
#include "lab/case.h"
#include "lab/watch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- stats.c ------------------------------------------------------------------------------ */

/* Numbers of a sample; quartiles by linear interpolation between order statistics (numpy's
 * default), the median of an even count the mean of the middle two. low ... high: where the median
 * of all that might have been sampled lies, in 95 of 100 samples at least; from one order statistic
 * to another, exact for any distribution; NaN of fewer than six. count 0: all NaN, of nothing or
 * because there was no memory. */
typedef struct lab_stats {
  int count;
  double min, q1, median, q3, max;
  double low, high;
} lab_stats;
lab_stats lab_stats_of(const double *samples, int count);
/* Of several launches, counts[i] samples each, one behind the other: median, low and high are those
 * of the launches' medians, q1 and q3 the medians of the launches' own, min and max those of all
 * samples. `medians` gets those of the *launches that have samples, how many these are. count 0,
 * and all NaN: there are none, or there was no memory. */
lab_stats lab_stats_of_launches(const double *samples, const int *counts, int *launches,
                                double *medians);
/* How far the launches' medians are apart, the largest from the least, by `median`; NaN of none. */
double lab_launches_apart(const double *medians, int launches, double median);
double lab_mean(const double *values, int count);
double lab_relative_iqr(const lab_stats *stats);      /* (q3 - q1) / median */
double lab_relative_interval(const lab_stats *stats); /* (high - low) / median */

/* ---- fixture.c: a case set up on a device ---------------------------------------------------- */

/* What the lab concluded of a rung. Names are pinned: they stand in records. */
typedef enum lab_finding {
  LAB_GOOD,
  LAB_UNSUPPORTED,   /* the rung said why not: nothing ran */
  LAB_LAUNCH_FAILED, /* launch or execution reported an error */
  LAB_UNWRITTEN,     /* elements of the output still hold the poison */
  LAB_NAN,           /* NaN where the reference has none */
  LAB_OVERRUN,       /* a canary beside an array died, an input or what is to be zero changed */
  LAB_WRONG,         /* values outside the bound, or not the contract's bits */
  LAB_WRONG_LATER,   /* right at first, not after timing */
  LAB_OTHER_STREAM,  /* work ran although its stream was held */
  LAB_TOO_FAST,      /* less time than the measured peak allows */
  LAB_FINDINGS
} lab_finding;
const char *lab_finding_name(lab_finding finding); /* "good", "launch-failed", ... */

typedef struct lab_verdict {
  lab_finding finding;
  rung_comparison comparison;
  uint64_t bits; /* where good: a hash of all bits of the outputs, of any NaN as one */
  char sentence[RUNG_SENTENCE]; /* where good: "", or what was let pass */
  rung_status cause;            /* LAB_LAUNCH_FAILED: RUNG_OUT_OF_MEMORY, say; else OK */
} lab_verdict;

/* The arrays of a case in the device's memory, each between two canary zones of 4 KiB at least,
 * and scratch likewise. Borrows the case (whose expect() must have run) and the context. */
typedef struct lab_fixture lab_fixture;
rung_status lab_fixture_open(rung_context *context, const rung_case *test_case,
                             lab_fixture **fixture, rung_error *error);
void lab_fixture_close(lab_fixture *fixture);
/* Fills outputs and scratch with poison, writes the canaries anew. */
rung_status lab_fixture_poison(lab_fixture *fixture, rung_error *error);
/* Refuses what the rung does not support, with its reason; grows the scratch to what it needs.
 * Poison comes after: the canaries of the scratch stand where this rung's scratch ends. */
rung_status lab_fixture_prepare(lab_fixture *fixture, const rung_row *row, int block,
                                rung_error *error);
/* The rung that `auto` takes for the fixture's case; NULL: none can do it. */
const rung_row *lab_fixture_auto(const lab_fixture *fixture);
/* Queues the rung once. Refuses a rung whose scratch was not prepared. */
rung_status lab_fixture_launch(lab_fixture *fixture, const rung_row *row, int block,
                               rung_error *error);
/* Waits, looks at canaries and inputs, fetches the outputs and checks them. Where several things
 * are wrong the finding is the first of: launch failed, overrun, unwritten, NaN, wrong. An input
 * that was changed is put right again. */
void lab_fixture_check(lab_fixture *fixture, const rung_row *row, lab_verdict *verdict);
/* The whole of one verification: supports? poison, launch, check; then, where a stream can be
 * held, poison and launch once more behind a held stream and see that nothing ran meanwhile. The
 * free run comes first because a kernel's first launch loads its code, which may wait for the
 * device: behind a held stream that would be a deadlock. */
void lab_verify(lab_fixture *fixture, const rung_row *row, int block, lab_verdict *verdict);

/* ---- sample.c: the sampling protocol ------------------------------------------------------ */

typedef struct lab_rules {
  int least;      /* samples at least: 11 */
  int most;       /* and at most: 101 */
  double spread;  /* stop when the relative IQR falls below, and the median's relative interval
                     below half of it: 0.01 */
  double seconds; /* or when this much time went into one candidate: 10 */
  bool hot;       /* leave the caches as the run before left them: another row, never mixed */
  uint64_t seed;  /* order of interleaving */
  int memory;     /* 0: the kernel alone, in the device's memory; else 1 + a rung_memory, from where
                     and back to which the whole job is timed */
  double warm;    /* seconds that a GPU runs its candidates before their first sample: 0.3 */
  int launches;   /* processes that a job is measured in, one after the other; 0: in this one */
} lab_rules;
lab_rules lab_rules_default(void);

typedef enum lab_stop {
  LAB_STEADY,   /* relative IQR and interval are as narrow as the rules' spread asks */
  LAB_TIME_OUT, /* at least 3 samples (1 where one run takes longer than the time-out) */
  LAB_MOST,     /* the most samples the rules allow */
  LAB_REFUSED   /* not good: before, during or after */
} lab_stop;
const char *lab_stop_text(lab_stop stop); /* "steady", "time-out", "most samples", "refused" */

typedef struct lab_candidate {
  const rung_row *row; /* given */
  int block;           /* given; 0: the rung's own */
  lab_verdict before, after;
  double *samples; /* milliseconds, in the order taken; owned */
  double *clocks;  /* MHz, one a sample */
  double *stages;  /* milliseconds, LAB_STAGES a sample; owned; NULL: only the kernel was timed */
  int count;
  int launches; /* of which these are the samples; 0: of one process */
  double apart; /* how far the launches' medians are apart, by their median */
  lab_stats time, clock;
  lab_stop stop;
} lab_candidate;

/* Verifies every candidate, times the good ones interleaved in seeded order, verifies the last
 * timed output of each again. Whether a time can be true says lab_refuse_impossible().
 * A rung that fails is a finding, not an error. An error is: rules that make no sense, memory, a
 * sample whose hold gave up or whose clock could not be read. The candidates' given members must
 * be set; the rest is written here and is to be freed by lab_candidate_free() in every case.
 * progress (may be NULL) is called after every step with how far it is, 0 ... 1, and the name of
 * the rung that ran. */
rung_status lab_sample(lab_fixture *fixture, lab_candidate *candidates, int count,
                       const lab_rules *rules,
                       void (*progress)(void *to, double done, const char *what), void *to,
                       rung_error *error);
void lab_candidate_free(lab_candidate *candidate);

/* ---- memory.c: the whole job, from host memory of one kind and back ---------------------------
 */

typedef enum lab_stage {
  LAB_COPY_IN,
  LAB_CLEAR_FILL, /* the output, by a fill */
  LAB_CLEAR_COPY, /* the same by copying zeros from the host: beside the whole, for comparison */
  LAB_KERNEL,
  LAB_COPY_OUT, /* of mapped and managed memory: the host looks at every page */
  LAB_STAGES
} lab_stage;
const char *lab_stage_name(lab_stage stage); /* "copy_in": stands in records */

/* Of lab_rules.memory: "pageable", "pinned", "write-combined", "mapped", "managed"; "" for 0.
 * Named: false, *memory untouched, where there is no such kind. */
const char *lab_memory_name(int memory);
bool lab_memory_named(const char *name, int *memory);

/* As lab_sample(), by rules->memory, which is not 0: each candidate is verified in the device's
 * memory, then timed on the host's clock from the host's arrays to the host's arrays, and what the
 * last run left there is checked. Clocks are not known: 0. RUNG_UNSUPPORTED where the device knows
 * one kind of host memory only. */
rung_status lab_sample_memory(rung_context *context, const rung_case *test_case,
                              lab_candidate *candidates, int count, const lab_rules *rules,
                              void (*progress)(void *to, double done, const char *what), void *to,
                              rung_error *error);

/* ---- peak.c: what this device can do, measured; peak_file.c: and kept ------------------------ */

/* When something was measured, and how busy the machine was. */
typedef struct lab_conditions {
  int64_t date; /* seconds since 1970, UTC */
  double load;  /* the mean over the last minute of tasks that want to run, per processor */
} lab_conditions;
lab_conditions lab_conditions_now(void);
/* "2026-11-22T08:30:00Z"; "" where there is no such date. */
void lab_date_text(int64_t date, char text[32]);

typedef struct lab_bandwidth { /* GB/s (1e9 bytes); copy counts both ways */
  double read, write, copy;
} lab_bandwidth;

enum { LAB_LEVELS = RUNG_CACHES + 1, LAB_PEAK_DAYS = 7 };

/* The best that the probes reached. A level's bandwidth is no less than that of the next one. */
typedef struct lab_peaks {
  int levels;                          /* the device's caches, nearest first, and memory, last */
  lab_bandwidth bandwidth[LAB_LEVELS]; /* one a level */
  /* GFMA/s (1e9 fused multiply-adds a second); mma64: of products of matrices. */
  double fma32, fma64, mma64;
  lab_conditions conditions; /* under which they were measured */
  bool kept;                 /* read from the file, not measured now */
} lab_peaks;
/* "L2", "memory" */
void lab_level_name(const rung_device *device, int level, char name[8]);

/* From $XDG_CACHE_HOME/rung/peaks.json (else ~/.cache), by device identity, threads, instruction
 * set and version. False, *peaks untouched: there are none, they cannot be (see docs/METHOD.md),
 * are older than LAB_PEAK_DAYS, or were measured on a machine that was busy, and busier than now.
 */
bool lab_peaks_kept(const rung_device *device, const lab_conditions *now, lab_peaks *peaks);
/* Those that are kept; else measures and keeps them. A place that cannot be written is no error. */
rung_status lab_peaks_of(rung_context *context, const lab_conditions *now, lab_peaks *peaks,
                         rung_error *error);
/* Measures them once more; of `peaks` and the new ones the better stay, and are kept. */
rung_status lab_peaks_again(rung_context *context, const lab_conditions *now, lab_peaks *peaks,
                            rung_error *error);
/* Writes them into the file. */
void lab_peaks_keep(const rung_device *device, const lab_peaks *peaks);

/* ---- limit.c: what the peaks allow a job ------------------------------------------------------
 */

typedef struct lab_limit {
  double ms;          /* the least the job can take: the longer of its bytes and its arithmetic */
  double memory_ms;   /* moving its bytes alone: a loose rung may save arithmetic */
  const char *bound;  /* what takes `ms`: "read", "write", "copy", "fma32", "fma64", "mma64" */
  char level[8];      /* and at which level: "L2", "memory"; of arithmetic "" */
  const char *caches; /* "hot"; "cold"; "not flushed": all of the job fits into a cache that a
                         flush is not sure to empty */
  double load;        /* at which the peaks were measured: see lab_conditions */
} lab_limit;
lab_limit lab_limit_of(const lab_peaks *peaks, const rung_case *test_case,
                       const rung_device *device, bool hot);
/* The part of the peak that a candidate's median reached, at most 1; NaN where it is not good, or
 * a loose rung's arithmetic is not what the limit counts. */
double lab_part_of_peak(const lab_limit *limit, const lab_candidate *candidate);
/* Whether a good candidate's median is below 98 % of what the limit allows it. */
bool lab_impossible(const lab_limit *limit, const lab_candidate *candidate);
/* Makes what is impossible LAB_TOO_FAST, with the reason. */
void lab_refuse_impossible(const lab_limit *limit, lab_candidate *candidates, int count);

/* ---- bench.c: a job's candidates, timed and held to the peaks ---------------------------------
 */

enum { LAB_BLOCKS = 32, LAB_CANDIDATES = 512 };

/* Which rungs, at which block sizes. */
typedef struct lab_choice {
  const char *rungs;      /* "a,b": only these; NULL: all of the device's */
  int blocks[LAB_BLOCKS]; /* ended by 0; none: the rung's own choice */
  bool own_blocks;        /* those of the rung's row instead */
  bool strict;            /* leave loose rungs out */
  const char *peers;      /* "a,b": only these of the peers; NULL: all */
} lab_choice;

/* Other libraries' entries, timed beside the rungs: the caller's, for the lab knows none. */
typedef struct lab_peers {
  /* Those of an operation; one of no rows where there are none. */
  const rung_operation *(*of)(const rung_operation *operation, const rung_device *device);
  /* Around the sampling of a case. end() is called where begin() failed, too. */
  rung_status (*begin)(const rung_case *test_case, const rung_device *device, rung_error *error);
  void (*end)(void);
} lab_peers;

/* What benches are made with. */
typedef struct lab_bench_set_up {
  rung_context *context;  /* given; borrowed. Another one finds other peaks */
  lab_choice choice;      /* given */
  lab_rules rules;        /* given */
  const lab_peers *peers; /* given; NULL: none */
  void (*progress)(void *to, double done, const char *what); /* given; may be NULL */
  void *to;
  lab_peaks peaks; /* found when first needed */
  bool has_peaks;
} lab_bench_set_up;

typedef struct lab_bench {
  rung_context *context; /* borrowed */
  rung_case test_case;
  lab_candidate *candidates; /* the rungs from the lowest up, then the peers */
  int count;
  lab_rules rules;
  lab_peaks peaks;
  lab_limit limit;
  const char *line;          /* borrowed: the job as it was asked for */
  lab_disturbance disturbed; /* while it was sampled */
  bool made;                 /* the case is to be dropped */
} lab_bench;

/* How many candidates a set-up makes of an operation on a device. */
int lab_bench_count(const lab_bench_set_up *set_up, const rung_operation *operation,
                    const rung_device *device);
/* Writes row and block of each of them; the list has room for as many. */
void lab_bench_candidates(const lab_bench_set_up *set_up, const rung_operation *operation,
                          const rung_device *device, lab_candidate *list);
/* Makes the case of `line`, its references and candidates, the rungs of `operation`, and samples
 * them. Where one is faster than the peaks allow, these are measured again (they may come from a
 * busier minute); what is faster still is LAB_TOO_FAST. On failure too *bench is to be freed. */
rung_status lab_bench_run(lab_bench_set_up *set_up, const rung_operation *operation,
                          const rung_cases *cases, const char *line, lab_bench *bench,
                          rung_error *error);
void lab_bench_free(lab_bench *bench);

/* The verdict that counts: the one before timing, or, where that was good, the one after. */
const lab_verdict *lab_candidate_verdict(const lab_candidate *candidate);
bool lab_candidate_good(const lab_candidate *candidate); /* and timed */
/* How many candidates were found wrong; those that do not support the job are not. */
int lab_bench_failures(const lab_bench *bench);
/* Carries over that memory ran out for a candidate, which says nothing of its rung: RUNG_OK or
 * RUNG_OUT_OF_MEMORY. */
rung_status lab_bench_memory(const lab_bench *bench, rung_error *error);
/* The fastest good candidate that is no peer; NULL: none. */
const lab_candidate *lab_bench_fastest(const lab_bench *bench);
/* What a peer is compared with, of the same samples: the best canonical rung, or, where the peer
 * is a program, our own program; NULL: none. */
const lab_candidate *lab_bench_against(const lab_bench *bench, const lab_candidate *peer);
/* How many times as fast as the best of the rung below; NaN: there is none. */
double lab_bench_gain(const lab_bench *bench, const lab_candidate *candidate);

/* ---- stages.c: one job end to end ---------------------------------------------------------- */

/* Milliseconds on the host's clock, the device idle at both ends of each. */
typedef struct lab_stage_times {
  double allocate, copy_in, kernel, copy_out, free;
} lab_stage_times;
/* Runs the job twice from allocation to release, the first time to warm up (code loaded, clocks
 * raised, host pages touched), the second with every stage timed apart. Device memory is new each
 * time and the caches are flushed. `pinned`: the host's arrays lie in pinned memory (where the
 * backend has it). Nothing is verified here: time rungs that lab_verify() found good. */
rung_status lab_stages_of(rung_context *context, const rung_case *test_case, const rung_row *row,
                          int block, bool pinned, lab_stage_times *times, rung_error *error);

/* ---- explain.c: what kernels did ------------------------------------------------------------- */

/* Runs the rung once while the device counts, and checks that run's result like any other: counts
 * of a rung that computes something else explain nothing. A rung that does not support the job or
 * fails is a finding, not an error, and leaves *profile empty; else it is to be freed by
 * rung_profile_free(). An error is: a device that cannot count, memory. The case's expect() must
 * have run. `keep`: the steps of a block of each kernel, too. */
rung_status lab_explain(rung_context *context, const rung_case *test_case, const rung_row *row,
                        int block, bool keep, rung_profile *profile, lab_verdict *verdict,
                        rung_error *error);
/* The same run, not counted: what a device's own counters look at from outside. */
rung_status lab_try(rung_context *context, const rung_case *test_case, const rung_row *row,
                    int block, lab_verdict *verdict, rung_error *error);
/* The sum over a profile's kernels. */
void lab_profile_total(const rung_profile *profile, rung_counts *total);

/* ---- timeline.c: when each block ran ----------------------------------------------------------
 */

typedef struct lab_timeline {
  rung_block_time *blocks; /* in the order of their numbers; owned */
  int64_t count;
} lab_timeline;
/* On the simulator times are those of lab_timeline_schedule(), with as many places as the threads
 * of a multiprocessor allow, 32 at most.
 * Verifies the rung, which also warms it up, runs it once more, checks that run's result like any
 * other, and fetches what its blocks wrote down. A rung that does not support the job, fails or
 * leaves times that cannot be is a finding, not an error, and leaves *timeline empty; else it is to
 * be freed by lab_timeline_free(). An error is: a row without block_times(), memory. The case's
 * expect() must have run. */
rung_status lab_timeline_of(rung_context *context, const rung_case *test_case, const rung_row *row,
                            int block, lab_timeline *timeline, lab_verdict *verdict,
                            rung_error *error);
void lab_timeline_free(lab_timeline *timeline);

/* What can be said of a timeline of at least one block. Times are the device's: nanoseconds of a
 * GPU, steps of the simulator. */
typedef struct lab_timeline_figures {
  uint64_t first, span; /* the first start; from there to the last end */
  uint64_t tick;        /* the largest step of which all times are multiples; 0: all are equal */
  int64_t at_once;      /* blocks that ran at one time, at most */
  int64_t processors;   /* that ran a block */
  int64_t least, most;  /* blocks a processor, of those */
  lab_stats lasted;     /* end - start, over the blocks */
} lab_timeline_figures;
/* For every block of a timeline the place on its multiprocessor that it had: the first that was
 * free when it began, so that of two blocks in one place one ends before the other begins. One a
 * block, to be freed; NULL: memory ran out. */
int64_t *lab_timeline_places(const lab_timeline *timeline);
/* Where a simulated device's blocks would have run and when, all on one clock and the same every
 * time, from how long each took: in the order of their numbers, each in the place that is free
 * first, of several the first multiprocessor's. `resident`: places of each of the `processors`. */
rung_status lab_timeline_schedule(lab_timeline *timeline, int processors, int resident,
                                  rung_error *error);
/* RUNG_OUT_OF_MEMORY is all that can go wrong. */
rung_status lab_timeline_look(const lab_timeline *timeline, lab_timeline_figures *figures,
                              rung_error *error);

/* ---- work.c: how far a call is -----------------------------------------------------------------
 */

/* The number of the loop or launch that a context's device is at, rising, and the part of its work
 * that is done: to be asked by another thread than the one whose call is under way. False: nobody
 * knows. */
bool lab_work(const rung_context *context, int64_t *number, double *part);

/* ---- record.c: what was measured, as versioned JSON Lines (docs/RECORDS.md) -------------------
 */

#define LAB_RECORD_VERSION 3
/* Adds what a bench has found to the lines of a file, an array of objects, begun empty. What the
 * lines before say of provenance, rules, device and peaks is not said again. RUNG_OUT_OF_MEMORY:
 * the lines are no longer whole. */
rung_status lab_record_add(json_t *lines, const lab_bench *bench, const char *command,
                           rung_error *error);
/* The same of a job that was read: its line, with the lines of its rungs, and what holds for it.
 * `facts` of the line, where they are, belong to the device. All is borrowed; peaks NULL: none. */
typedef struct lab_record_job {
  json_t *head, *device, *peaks, *job; /* of device and peaks what the lines hold */
  json_t *rungs;                       /* an array of lines */
} lab_record_job;
rung_status lab_record_join(json_t *lines, const lab_record_job *of, rung_error *error);
/* The line that begins a file, and what is known of a device, as a record has them. NULL: memory
 * ran out. */
json_t *lab_record_head(const lab_rules *rules, const char *command);
json_t *lab_record_device(const rung_context *context);
/* The lines as text, to be freed; NULL: memory ran out. */
char *lab_record_text(const json_t *lines);
/* A file of them, written beside its place and renamed. */
rung_status lab_record_write(const char *path, const json_t *lines, rung_error *error);

#ifdef __cplusplus
}
#endif
#endif
