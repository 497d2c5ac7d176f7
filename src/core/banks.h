/* Shared memory's banks: which words an access of a warp asks of each, and so how many passes it
 * takes. The simulator counts by it, and pictures are drawn by it. */
#ifndef RUNG_CORE_BANKS_H
#define RUNG_CORE_BANKS_H

#include <stdint.h>

/* What a lane asks shared memory for. */
typedef struct rung_bank_access {
  uint64_t address;
  int bytes, lane;
} rung_bank_access;

/* Shared memory serves a word of each bank at a time; accesses of more than 4 bytes go by half
 * warps, of more than 8 by quarter warps. Two of those that are neighbours go together where every
 * lane of them wants the same as the lane whose number differs in the last bit, or every one the
 * same as that whose number differs in the bit before. */
enum { RUNG_BANKS = 32, RUNG_BANK_BYTES = 4 };

#ifdef __cplusplus
extern "C" {
#endif

/* How many lanes are served together, from lane `from` on, with which such a group begins. */
int rung_bank_group(const rung_bank_access *accesses, int count, int from);
/* words[b]: how many different words of bank b those of the accesses ask for whose lane is in
 * [from, to). Returns the most: as many passes it takes. */
int rung_bank_words(const rung_bank_access *accesses, int count, int from, int to,
                    int words[RUNG_BANKS]);

#ifdef __cplusplus
}
#endif
#endif
