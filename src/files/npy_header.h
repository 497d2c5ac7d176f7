/* The dictionary in an .npy file's header. */
#ifndef RUNG_FILES_NPY_HEADER_H
#define RUNG_FILES_NPY_HEADER_H

#include "core/error.h"
#include "core/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct npy_header {
  rung_dtype dtype;
  bool big_endian; /* never true of one-byte types */
  bool fortran;
  int ndim;
  int64_t shape[RUNG_MAX_DIMS];
  int64_t count; /* product of shape; its bytes fit in int64_t */
} npy_header;

/* Parses `length` bytes of text: a Python dictionary of exactly 'descr', 'fortran_order' and
 * 'shape', in any order and with any white space between its parts, as numpy writes and reads it
 * (trailing commas and Python 2's 3L included). `name` is the file's, for the sentence. Anything
 * else is RUNG_BAD_FILE. */
rung_status npy_header_parse(const char *name, const char *text, size_t length, npy_header *header,
                             rung_error *error);

/* The set of dtypes that .npy files have a code for. */
unsigned npy_dtypes(void);

#ifdef __cplusplus
}
#endif
#endif
