/* Kernels of users' own (rung/lab.h), out of a shared object, as rows of the ladders. */
#ifndef RUNG_LAB_KERNELS_H
#define RUNG_LAB_KERNELS_H

#include "core/ladder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opens the file and puts ladders with its kernels behind their rungs in the place of those of
 * `operations`, a list that NULL ends. One file a process: it stays open, and so do the ladders,
 * until lab_kernels_close(). Refused, with nothing left behind: a file that cannot be loaded or has
 * no table, a table that is not as rung/lab.h says, with the kernel and its member named, and a
 * table without a kernel of any of these operations. */
rung_status lab_kernels_open(const char *path, const rung_operation **operations,
                             rung_error *error);
void lab_kernels_close(void);

#ifdef __cplusplus
}
#endif
#endif
