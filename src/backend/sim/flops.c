/* Floating-point operations of a basic block, from its machine code (Capstone): one lane's, for
 * kernels are compiled without vector code. A fused multiply-add calls out and is counted there. */
#include <errno.h>

#include "backend/sim/sim.h"

#if defined(RUNG_WITH_CAPSTONE) && defined(__x86_64__)
#include <capstone/capstone.h>
#include <stdlib.h>

enum { KNOWN = 1 << 12, LONGEST_BLOCK = 1 << 14 };

/* A GPU has no instruction that divides or takes a root and rounds rightly: nvcc makes it of an
 * approximation, which counts nothing, and multiply-adds that mend it. How many was counted on an
 * H200, of normal numbers. */
static int flops_of(unsigned instruction) {
  switch (instruction) {
    case X86_INS_ADDSS:
    case X86_INS_ADDSD:
    case X86_INS_SUBSS:
    case X86_INS_SUBSD:
    case X86_INS_MULSS:
    case X86_INS_MULSD:
      return 1;
    case X86_INS_DIVSS:
      return 10;
    case X86_INS_DIVSD:
      return 17;
    case X86_INS_SQRTSS:
      return 6;
    case X86_INS_SQRTSD:
      return 13;
    default:
      return 0;
  }
}

void rung_sim_step(void);

/* Where a block ends: at the next call to rung_sim_step(), or where control surely goes away. The
 * call may go by way of a table of the linker's, so what the block's own call aims at is what
 * counts. */
static int count_from(csh handle, sim_pc pc) {
  const uint8_t *code = (const uint8_t *)pc;
  size_t room = LONGEST_BLOCK;
  uint64_t address = pc;
  int32_t offset;
  __builtin_memcpy(&offset, code - 4, sizeof offset); /* call rel32 */
  const uint64_t step = pc + (uint64_t)(int64_t)offset;
  cs_insn *instruction = cs_malloc(handle);
  int flops = 0;
  if (instruction == NULL) return -1;
  while (cs_disasm_iter(handle, &code, &room, &address, instruction)) {
    if (instruction->id == X86_INS_RET || instruction->id == X86_INS_JMP) break;
    if (instruction->id == X86_INS_CALL &&
        instruction->detail->x86.operands[0].type == X86_OP_IMM &&
        (uint64_t)instruction->detail->x86.operands[0].imm == step)
      break;
    flops += flops_of(instruction->id);
  }
  cs_free(instruction, 1);
  return flops;
}

/* What was counted before, of any kernel: code does not change. Kernels are counted by one thread
 * of a state, but two states may count at a time. */
int sim_flops_of(sim_pc pc) {
  static struct {
    sim_pc pc;
    int flops;
  } known[KNOWN];
  static csh handle;
  static bool opened, tried;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  const size_t at = (pc * 0x9e3779b97f4a7c15u >> 40) % KNOWN;
  pthread_mutex_lock(&lock);
  errno = 0;
  if (!tried) {
    opened = cs_open(CS_ARCH_X86, CS_MODE_64, &handle) == CS_ERR_OK &&
             cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK;
    tried = opened || errno != ENOMEM;
  }
  int flops = -1;
  if (opened && known[at].pc == pc) {
    flops = known[at].flops;
  } else if (opened) {
    flops = count_from(handle, pc);
    known[at].pc = flops < 0 && errno == ENOMEM ? 0 : pc;
    known[at].flops = flops;
  }
  pthread_mutex_unlock(&lock);
  return flops;
}
#else
int sim_flops_of(sim_pc pc) {
  (void)pc;
  errno = 0;
  return -1;
}
#endif
