#include "backend/sim/fibre.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Enough for a thread's local arrays, also with AddressSanitizer's red zones between them. Pages
 * are the machine's only once they are touched. */
enum { STACK_BYTES = 256 << 10 };

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define STARTS(save, bottom, bytes) __sanitizer_start_switch_fiber(save, bottom, bytes)
#define FINISHES(save, bottom, bytes) __sanitizer_finish_switch_fiber(save, bottom, bytes)
#define FORGET(from, bytes) __asan_unpoison_memory_region(from, bytes)
#else
#define STARTS(save, bottom, bytes) ((void)(save), (void)(bottom), (void)(bytes))
#define FINISHES(save, bottom, bytes) ((void)(save), (void)(bottom), (void)(bytes))
#define FORGET(from, bytes) ((void)(from), (void)(bytes))
#endif

/* Keeps the registers a called function has to keep on the stack it leaves, notes where, and takes
 * up those of the other stack. A fibre that has not begun has a stack made to look like one that
 * was left: see prepare(). */
void sim_switch_stack(void **leave, void *take);

#if defined(__x86_64__)
enum { KEPT = 6 };
__asm__(
    ".text\n.p2align 4\n.globl sim_switch_stack\n.hidden sim_switch_stack\n"
    ".type sim_switch_stack,@function\nsim_switch_stack:\n"
    "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
    "  mov %rsp, (%rdi)\n  mov %rsi, %rsp\n"
    "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n  ret\n"
    ".size sim_switch_stack, .-sim_switch_stack\n");

static void *prepare(char *top, void (*begin)(void)) {
  uintptr_t *at = (uintptr_t *)top;
  *--at = 0; /* begin() sees the alignment it would have had from a call */
  *--at = (uintptr_t)begin;
  for (int i = 0; i < KEPT; i++) *--at = 0;
  return at;
}
#elif defined(__aarch64__)
enum { KEPT = 20 };
__asm__(
    ".text\n.p2align 2\n.globl sim_switch_stack\n.hidden sim_switch_stack\n"
    ".type sim_switch_stack,%function\nsim_switch_stack:\n"
    "  sub sp, sp, #160\n"
    "  stp x29, x30, [sp]\n  stp x19, x20, [sp, #16]\n  stp x21, x22, [sp, #32]\n"
    "  stp x23, x24, [sp, #48]\n  stp x25, x26, [sp, #64]\n  stp x27, x28, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n"
    "  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
    "  ldp x29, x30, [sp]\n  ldp x19, x20, [sp, #16]\n  ldp x21, x22, [sp, #32]\n"
    "  ldp x23, x24, [sp, #48]\n  ldp x25, x26, [sp, #64]\n  ldp x27, x28, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n"
    "  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n  ret\n"
    ".size sim_switch_stack, .-sim_switch_stack\n");

static void *prepare(char *top, void (*begin)(void)) {
  uintptr_t *at = (uintptr_t *)top - KEPT;
  for (int i = 0; i < KEPT; i++) at[i] = 0;
  at[1] = (uintptr_t)begin; /* the link register */
  return at;
}
#else
#error "the simulator's fibres know x86-64 and aarch64: configure with RUNG_SIM=OFF"
#endif

/* What a fibre that begins finds at the top of its stack, for it has no arguments. */
typedef struct beginning {
  sim_fibre_body *body;
  sim_fibre *fibre;
  sim_shore *shore;
} beginning;

static _Thread_local beginning *begins;

/* Another host thread may have taken the worker over since this fibre ran last: nothing found by
 * way of the thread may be kept across a switch. */
static void live(void) {
  const beginning *mine = begins;
  FINISHES(NULL, &mine->shore->bottom, &mine->shore->bytes);
  for (;;) {
    mine->body();
    sim_fibre_leave(mine->fibre, mine->shore);
  }
}

static beginning *beginning_of(const sim_fibre *fibre) {
  return (beginning *)(fibre->stack + fibre->bytes - 64);
}

void sim_fibre_reset(sim_fibre *fibre, sim_fibre_body *body, sim_shore *shore) {
  FORGET(fibre->stack, fibre->bytes);
  *beginning_of(fibre) = (beginning){body, fibre, shore};
  fibre->stack_pointer = prepare((char *)beginning_of(fibre), live);
  fibre->fake_stack = NULL;
}

sim_fibre *sim_fibre_make(sim_fibre_body *body, sim_shore *shore) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  sim_fibre *fibre = calloc(1, sizeof *fibre);
  if (fibre == NULL) return NULL;
  char *memory = mmap(NULL, STACK_BYTES + page, PROT_READ | PROT_WRITE,
                      /* cppcheck-suppress invalidFunctionArg ; an anonymous mapping has no file */
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) {
    if (memory != MAP_FAILED) munmap(memory, STACK_BYTES + page);
    free(fibre);
    return NULL;
  }
  fibre->stack = memory + page;
  fibre->bytes = STACK_BYTES;
  sim_fibre_reset(fibre, body, shore);
  return fibre;
}

void sim_fibre_free(sim_fibre *fibre) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  FORGET(fibre->stack, fibre->bytes);
  munmap(fibre->stack - page, fibre->bytes + page);
  free(fibre);
}

void sim_fibre_enter(sim_fibre *fibre, sim_shore *shore) {
  void *fake = NULL;
  begins = beginning_of(fibre);
  STARTS(&fake, fibre->stack, fibre->bytes);
  sim_switch_stack(&shore->stack_pointer, fibre->stack_pointer);
  FINISHES(fake, NULL, NULL);
}

void sim_fibre_leave(sim_fibre *fibre, sim_shore *shore) {
  STARTS(&fibre->fake_stack, shore->bottom, shore->bytes);
  sim_switch_stack(&fibre->stack_pointer, shore->stack_pointer);
  FINISHES(fibre->fake_stack, &shore->bottom, &shore->bytes);
}
