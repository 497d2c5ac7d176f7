/* The simulated GPU as a kernel's code sees it: what backend/sim/surface.h builds CUDA's names
 * from. Everything here is called by a thread of a kernel that runs, unless it says otherwise, and
 * takes the place in the kernel's source from the address it returns to. */
#ifndef RUNG_BACKEND_SIM_MACHINE_H
#define RUNG_BACKEND_SIM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/texture.h"
#include "core/ladder.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rung_sim_index {
  unsigned x, y, z;
} rung_sim_index;

/* ---- from the host -------------------------------------------------------------------------- */

typedef struct rung_sim_launch {
  const char *kernel;   /* its name as it stands in the source */
  const void *function; /* tells kernels apart */
  rung_sim_index grid, block;
  size_t shared_bytes;           /* dynamic */
  bool next;                     /* on a GPU it may begin before the launch before it has ended */
  void (*call)(void *arguments); /* the kernel, for one thread */
  void *arguments;
} rung_sim_launch;

/* Runs a whole launch; returns when it is done. What CUDA refuses is refused; what examination
 * finds (backend.h) is a failure that names kernel, threads and lines. */
rung_status rung_sim_run(const rung_task *task, const rung_sim_launch *launch);

/* Lets a kernel ask for more than 48 KiB of dynamic shared memory. */
rung_status rung_sim_allow_shared(const rung_task *task, const char *kernel, const void *function,
                                  size_t bytes);
/* How many blocks a multiprocessor holds at once; 0 where not even one fits. */
rung_status rung_sim_resident_blocks(const rung_task *task, int threads, size_t shared_bytes,
                                     int *blocks);
rung_status rung_sim_copy_on_device(const rung_task *task, void *to, const void *from,
                                    size_t bytes);

/* The texture object that shows so much: made when it is first asked for. */
rung_status rung_sim_texture(const rung_task *task, const rung_texture *shown,
                             unsigned long long *object);
/* Bytes into constant memory that has room for so many. */
rung_status rung_sim_copy_to_constant(const rung_task *task, void *symbol, size_t room,
                                      const void *from, size_t bytes);

/* ---- where a thread is: never changes while its kernel runs ---------------------------------- */

#define RUNG_SIM_FIXED __attribute__((const, leaf, nothrow))
RUNG_SIM_FIXED rung_sim_index rung_sim_thread_index(void);
RUNG_SIM_FIXED rung_sim_index rung_sim_block_index(void);
RUNG_SIM_FIXED rung_sim_index rung_sim_block_shape(void);
RUNG_SIM_FIXED rung_sim_index rung_sim_grid_shape(void);
RUNG_SIM_FIXED void *rung_sim_dynamic_shared(void);
/* The multiprocessor; one per worker. */
unsigned rung_sim_processor(void);
/* Steps the worker has simulated so far: the clock. */
uint64_t rung_sim_clock(void);

/* Comes before the declarations of static shared memory: one block at a time has it. */
void rung_sim_static_shared(void);

/* ---- waiting for others --------------------------------------------------------------------- */

typedef enum rung_sim_vote {
  RUNG_SIM_NO_VOTE,
  RUNG_SIM_COUNT,
  RUNG_SIM_ALL,
  RUNG_SIM_ANY,
  RUNG_SIM_SIDES /* no vote, and a place a side: rung_sides_meet() */
} rung_sim_vote;
/* __syncthreads() and its kin: the vote's outcome. */
int rung_sim_barrier(rung_sim_vote vote, int predicate);

typedef enum rung_sim_exchange {
  RUNG_SIM_SYNC,
  RUNG_SIM_TRADE,   /* what every lane gave stays, for others to read */
  RUNG_SIM_SHUFFLE, /* the value of lane `from`, out of those in the mask; -1: the own one */
  RUNG_SIM_BALLOT,
  RUNG_SIM_MATCH_ANY,
  RUNG_SIM_MATCH_ALL, /* the mask where all are equal, else 0 */
  RUNG_SIM_ADD,       /* of 32-bit values, all lanes' */
  RUNG_SIM_MIN_UNSIGNED,
  RUNG_SIM_MAX_UNSIGNED,
  RUNG_SIM_MIN_SIGNED,
  RUNG_SIM_MAX_SIGNED,
  RUNG_SIM_AND,
  RUNG_SIM_OR,
  RUNG_SIM_XOR
} rung_sim_exchange;
/* What the lanes of a warp named in `mask` do together. */
uint64_t rung_sim_exchange_values(rung_sim_exchange kind, unsigned mask, uint64_t value, int from);
/* Operands of tensor cores, in one step: all 32 lanes give `bytes` at `mine`, and each takes those
 * of `count` lanes, one after another. */
void rung_sim_trade(const void *mine, size_t bytes, const uint8_t *lanes, int count, void *taken);
/* A lane's operands of rung_mma_s8(), and its four results from those of its row and its columns.
 */
typedef struct rung_sim_bytes {
  uint32_t a[4], b[2];
} rung_sim_bytes;
void rung_sim_products(const rung_sim_bytes row[4], const rung_sim_bytes columns[8], bool b_signed,
                       int *t);

/* The thread looks again and again at something another thread will change: others get a turn. */
void rung_sim_poll(void);
/* The thread waits until the launch before has ended. Here it has; whether a kernel of which that
 * is not so on a GPU waits before it has to is examined. */
void rung_sim_await(void);
/* What this thread wrote before is there for whoever sees what it writes after. */
void rung_sim_fence(void);

/* ---- memory --------------------------------------------------------------------------------- */

typedef enum rung_sim_atomic {
  RUNG_SIM_FETCH_ADD,
  RUNG_SIM_FETCH_MIN,
  RUNG_SIM_FETCH_MAX,
  RUNG_SIM_FETCH_AND,
  RUNG_SIM_FETCH_OR,
  RUNG_SIM_FETCH_XOR,
  RUNG_SIM_SWAP,
  RUNG_SIM_COMPARE_SWAP,
  RUNG_SIM_INCREMENT, /* atomicInc */
  RUNG_SIM_DECREMENT, /* atomicDec */
  RUNG_SIM_LOAD,      /* acquire */
  RUNG_SIM_STORE      /* release */
} rung_sim_atomic;

typedef enum rung_sim_number {
  RUNG_SIM_I32,
  RUNG_SIM_U32,
  RUNG_SIM_I64,
  RUNG_SIM_U64,
  RUNG_SIM_F32,
  RUNG_SIM_F64
} rung_sim_number;

/* The value before. `value` and the result carry a number's bytes, low ones first. */
uint64_t rung_sim_atomic_op(rung_sim_atomic op, rung_sim_number number, void *address,
                            uint64_t value, uint64_t compare);
/* One element from global into shared memory. `cached`: by way of the level 1 cache, as those of
 * less than 16 bytes always go. */
void rung_sim_copy_in(void *shared, const void *global, size_t bytes, bool cached);

/* An element through a texture of rows or of a line, in the low bytes. */
uint64_t rung_sim_tex2d(unsigned long long object, float x, float y, rung_texel kind);
uint64_t rung_sim_tex1d(unsigned long long object, int x, rung_texel kind);

/* A fused multiply-add, counted. */
float rung_sim_fma32(float a, float b, float c);
double rung_sim_fma64(double a, double b, double c);
/* What the special units do, which is not counted. */
float rung_sim_root(float x);
float rung_sim_inverse_root(float x);

#ifdef __cplusplus
}
#endif
#endif
