/* A ladder is a table of rungs; an operation is a ladder and what the lab needs to try it. */
#ifndef RUNG_CORE_LADDER_H
#define RUNG_CORE_LADDER_H

#include "backend/backend.h"
#include "core/tensor.h"

enum { RUNG_TASK_ARRAYS = 10, RUNG_REASON = 240, RUNG_PROBLEM_BYTES = 1024, RUNG_CLASS = 96 };

/* What a rung gets: everything validated, nothing to allocate, nothing to ask. */
typedef struct rung_task {
  const void *problem;                /* the operation's own struct */
  rung_view arrays[RUNG_TASK_ARRAYS]; /* the operation's order: inputs, then outputs */
  void *scratch;                      /* scratch_bytes() of it, aligned to 256 bytes */
  void *zeros;        /* zeroed_bytes() of it, aligned to 256: all zero, and to be left so */
  void *host_scratch; /* host_scratch_bytes() of it, aligned to 16, pinned where there is such */
  int block;          /* threads per block; 0: the rung's own choice */
  void *stream;       /* cudaStream_t; NULL on the CPU */
  rung_state *state;  /* the opened device, for what it keeps from launch to launch; NULL: unset */
  const rung_device *device;
  rung_error *error;
  const void *test_case; /* the lab's rung_case where it is the lab that asks, else NULL */
} rung_task;

/* Queues the work on the task's stream (on the CPU: does it). No allocation, no waiting, no
 * printing. Returns RUNG_OK, or what rung_fail(task->error, ...) returned. */
typedef rung_status rung_launch(const rung_task *task);

/* When one block ran, and on which multiprocessor: rung_global_timer() and rung_processor(). */
typedef struct rung_block_time {
  uint64_t start, end, processor;
} rung_block_time;

/* How a rung's result relates to the operation's contract. */
typedef enum rung_order {
  RUNG_CANONICAL, /* the contract's bits */
  RUNG_TEXTBOOK,  /* another association, shown because it is part of the lesson: within a bound */
  RUNG_LOOSE      /* RUNG_MATH_FAST only: within the bound the contract states for it */
} rung_order;

typedef enum rung_family { RUNG_ON_CPU, RUNG_ON_GPU } rung_family;

typedef struct rung_step rung_step;

typedef struct rung_row {
  const char *name; /* its identity in code, command and record; the file's name too */
  const char *idea; /* the one change against the rung below, one line */
  rung_family family;
  rung_order order;
  rung_type_sets types; /* of elements, sums and results */
  int capability;       /* least compute capability, 75 for 7.5; 0 on the CPU */
  const char *peer;     /* NULL; of a peer (peers/peers.h), the library and its version */
  bool program;         /* a peer that is a program of its own, timed from its start to its end: it
                           is held against our own program, not against a rung */
  const char *hardware; /* NULL, or what it needs that the simulator lacks ("wgmma") */
  const int *blocks;    /* block sizes worth sweeping, ended by 0; NULL: takes no block size */
  bool in_place;        /* the output may be the very view of the input */
  /* Whether it takes the job's inputs where they lie, whatever their strides. NULL: no. */
  bool (*gathers)(const rung_task *task);
  /* Can it do this job on this device? Writes the reason to `why` where not. NULL: always. Only
   * problem, arrays (shapes, strides; data may be NULL), block and device of the task are set. */
  bool (*supports)(const rung_task *task, char why[RUNG_REASON]);
  /* Whether `auto` should think of it for a job that it supports. NULL: always. */
  bool (*pays)(const rung_task *task);
  size_t (*scratch_bytes)(const rung_task *task); /* NULL: none */
  /* Memory of the device that is zero when the launch begins, and that the rung leaves zero: for
   * counters that nobody need clear. NULL: none. */
  size_t (*zeroed_bytes)(const rung_task *task);
  /* Memory of the host that the launch's copies and host functions use in their turn on the stream;
   * launch() itself leaves it alone, for an earlier launch may still be at it. NULL: none. */
  size_t (*host_scratch_bytes)(const rung_task *task);
  /* How many rung_block_time the scratch begins with, one a block, written by the rung. NULL: it
   * writes none. */
  int64_t (*block_times)(const rung_task *task);
  /* Another operation's rung that follows the launch on the same stream. Given the task, sets the
   * step's row, its task's problem (in step->problem) and its task's arrays; leaves the row NULL
   * where nothing follows. Looks at shapes and the device only, and launches nothing: the host runs
   * the step, so that GPU code need not know any ladder. NULL: nothing ever follows. */
  rung_status (*then)(const rung_task *task, rung_step *step);
  /* On the CPU one entry per instruction set (use RUNG_CPU_ENTRIES); NULL: this build lacks it. On
   * the GPU [0] is cuda and [1] the simulator, written once, when the part that has the rung is
   * loaded (core/part.h). */
  rung_launch *launch[RUNG_ISAS];
  /* Of a peer: makes the contract's results of what its library returned, behind the launch, on the
   * same task. The peer's users have no need of it, so that it is not timed. NULL: they are that.
   */
  rung_launch *settle;
} rung_row;

/* A nested rung, and its own task. The stream, device and error are the outer task's, the memory a
 * part of it: set by rung_row_run(). */
struct rung_step {
  const rung_row *row; /* NULL: nothing follows */
  rung_task task;      /* task.problem points at `problem` */
  union {
    char bytes[RUNG_PROBLEM_BYTES];
    double aligned;
  } problem;
};

/* A CPU rung's functions by instruction set: name_baseline, name_avx2, name_avx512. A GPU rung's
 * are <operation>_<rung>_cuda and <operation>_<rung>_sim, '-' written '_': the build finds them by
 * their files, src/ops/<operation>/cuda/<rung>.cu.
 *
 * A build with sanitizers has the code of those sets alone that are watched, and says which of them
 * stands for which (cmake/library.cmake). */
#ifndef RUNG_CODE_OF_BASELINE
#define RUNG_CODE_OF_BASELINE baseline
#endif
#ifndef RUNG_CODE_OF_AVX2
#define RUNG_CODE_OF_AVX2 avx2
#endif
#ifndef RUNG_CODE_OF_AVX512
#define RUNG_CODE_OF_AVX512 avx512
#endif
#define RUNG_CODE_(name, isa) name##_##isa
#define RUNG_CODE(name, isa) RUNG_CODE_(name, isa)
#if defined(__x86_64__)
#define RUNG_CPU_NAMES(name)                                                  \
  RUNG_CODE(name, RUNG_CODE_OF_BASELINE), RUNG_CODE(name, RUNG_CODE_OF_AVX2), \
      RUNG_CODE(name, RUNG_CODE_OF_AVX512)
#define RUNG_CPU_ENTRIES(name) \
  { RUNG_CPU_NAMES(name) }
#else
#define RUNG_CPU_NAMES(name) name##_baseline
#define RUNG_CPU_ENTRIES(name) \
  { name##_baseline, NULL, NULL }
#endif
#define RUNG_CPU_DECLARE(name) rung_launch RUNG_CPU_NAMES(name)

typedef struct rung_operation {
  const char *name;
  const char *summary; /* one line */
  rung_row *rows;      /* each family's rungs from the simplest to the fastest: the last
                                canonical one that supports a job, and pays, is what `auto` takes;
                                under RUNG_MATH_FAST the last that is no textbook's */
  int count;
  /* What decides which rung is the fastest for a job, as words: its types and variants, and its
   * extents by their power of two, "sum f32 outer=1 n=2^20 inner=1". NULL: nothing is known. */
  void (*class_of)(const void *problem, char text[RUNG_CLASS]);
  bool fixed; /* takes RUNG_MATH_FIXED, whose jobs have floats as elements and whole numbers as
                 sums: so rungs are told apart by their types */
} rung_operation;

#ifdef __cplusplus
extern "C" {
#endif

/* Every operation of the library, ended by NULL. Defined beside the rooms. */
RUNG_PRIVATE extern const rung_operation *const rung_operations[];

const rung_operation *rung_operation_named(const char *name); /* NULL: none */

/* What running `row` takes besides its arrays, in bytes: its own needs, and behind them, from a
 * multiple of 256 on, those of the rung that follows. Shapes are all it looks at. */
typedef struct rung_needs {
  size_t scratch, zeros, host_scratch;
} rung_needs;
rung_needs rung_row_needs(const rung_row *row, const rung_task *task);

/* The function that runs `row` on `device`; NULL: not in this build, or not of this family. */
rung_launch *rung_row_launch(const rung_row *row, const rung_device *device);

/* Whether `row` runs on `device` at all: family, hardware, build, capability. RUNG_UNSUPPORTED and
 * a sentence in *error where not. */
rung_status rung_row_available(const rung_row *row, const rung_device *device, rung_error *error);

/* Whether the row adds up floats in fixed point, which RUNG_MATH_FIXED alone asks for. */
bool rung_row_fixed(const rung_row *row);

/* Launches `row` on task->device, which has it, and then the rung that follows. */
rung_status rung_row_run(const rung_row *row, const rung_task *task);

/* Whether `row` can do the task on task->device: the same, and types, block, then the rung's own
 * word, and that of the rung that follows. RUNG_UNSUPPORTED and a sentence in *error where not. */
rung_status rung_row_supports(const rung_row *row, const rung_task *task, rung_types types,
                              rung_error *error);

/* Whether a call asks for no rung by its name. */
bool rung_takes_any(const char *rung);

/* The rung a call asks for: by name (refused where it cannot do the task), or the best that can.
 * The task's scratch and stream need not be set. */
rung_status rung_choose(const rung_operation *operation, const rung_task *task, rung_types types,
                        const rung_call *call, const rung_row **row, rung_error *error);

#ifdef __cplusplus
}
#endif
#endif
