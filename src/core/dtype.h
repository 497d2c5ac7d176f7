/* Element types: one row of traits for each, which everything on the host asks. A type is added by
 * its name here, its row in dtype.c, and nothing else that could be forgotten: tables by type are
 * counted or switched over without a default, so that the compiler names what is missing. */
#ifndef RUNG_CORE_DTYPE_H
#define RUNG_CORE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For functions of the host and of kernels. */
#ifdef __CUDACC__
#define RUNG_ANYWHERE static inline __host__ __device__
#else
#define RUNG_ANYWHERE static inline
#endif

typedef enum rung_dtype {
  RUNG_U8,
  RUNG_I8,
  RUNG_U16,
  RUNG_I16,
  RUNG_I32,
  RUNG_U32,
  RUNG_I64,
  RUNG_U64,
  RUNG_F16,
  RUNG_BF16,
  RUNG_F32,
  RUNG_F64,
  RUNG_DTYPES
} rung_dtype;

/* A set of dtypes: RUNG_TYPE(RUNG_F32) | RUNG_TYPE(RUNG_F64). Sets that operations take name their
 * types, so that a new one opens none. */
#define RUNG_TYPE(dtype) (1u << (dtype))
#define RUNG_SINGLE_DOUBLE (RUNG_TYPE(RUNG_F32) | RUNG_TYPE(RUNG_F64))
#define RUNG_HALVES (RUNG_TYPE(RUNG_F16) | RUNG_TYPE(RUNG_BF16))

/* A job's types: of its elements, of what sums are made in, of its results. */
typedef struct rung_types {
  rung_dtype in, accumulate, out;
} rung_types;

/* What a rung takes: any member of each set. */
typedef struct rung_type_sets {
  unsigned in, accumulate, out;
} rung_type_sets;

/* The same type, or set, in all three places. */
#define RUNG_ALIKE(x) \
  { (x), (x), (x) }

typedef enum rung_number_kind { RUNG_UNSIGNED, RUNG_SIGNED, RUNG_FLOAT } rung_number_kind;

typedef struct rung_traits {
  rung_dtype dtype;
  const char *name; /* "f32" */
  size_t bytes;
  rung_number_kind kind;
  uint8_t dlpack; /* DLPack's code; its bits are 8 * bytes */
  rung_dtype sum; /* what sums of it are made in, unless an operation says otherwise */
  char npy;       /* the letter of .npy files: 'u', 'i', 'f'; '\0': they have none for it */
  int digits;     /* decimals that tell any two values apart */
  /* Of floats: the distance from 1 to the next number, and the least number above 0. Of integers
   * 0 and 1. */
  double eps, tiny;
  double least, largest;                   /* finite ones; of 64-bit integers the nearest doubles */
  double (*load)(const void *at);          /* the nearest double */
  int64_t (*load_integer)(const void *at); /* of integers; a u64 modulo 2^64. NULL: a float */
  void (*store)(void *at, double value);   /* rounded once, half to even, past the largest to
                                              infinity. To an integer: the nearest there is, of a
                                              NaN 0 */
  void (*store_integer)(void *at, int64_t value); /* modulo 2^bits; to a float rounded once */
} rung_traits;

#ifdef __cplusplus
extern "C" {
#endif

const rung_traits *rung_traits_of(rung_dtype dtype);

size_t rung_dtype_bytes(rung_dtype dtype);
const char *rung_dtype_name(rung_dtype dtype);
bool rung_dtype_is_float(rung_dtype dtype);
/* False, *dtype untouched, where there is no dtype of that name. */
bool rung_dtype_named(const char *name, rung_dtype *dtype);
/* The same for DLPack's code and bits. */
bool rung_dtype_of_code(uint8_t code, uint8_t bits, rung_dtype *dtype);

/* "f32 or f64". */
void rung_dtypes_text(unsigned dtypes, char *text, size_t room);

/* Element `at` of compact data as it would be written down, to the last digit. */
enum { RUNG_NUMBER_TEXT = 32 };
const char *rung_number_text(rung_dtype dtype, const void *data, int64_t at,
                             char text[RUNG_NUMBER_TEXT]);

/* Of compact data the same exactly: a long double has a place for every value of every type. */
long double rung_number_exact(rung_dtype dtype, const void *data, int64_t at);

/* What a number becomes when it is stored as a dtype. */
double rung_number_rounded(rung_dtype dtype, double value);

/* One element to another type, rounded once. */
void rung_convert(rung_dtype to_type, void *to, rung_dtype from_type, const void *from);

#ifdef __cplusplus
}
#endif

/* Element `at` of compact data as the nearest double. */
static inline double rung_number_at(rung_dtype dtype, const void *data, int64_t at) {
  const rung_traits *traits = rung_traits_of(dtype);
  return traits->load((const char *)data + at * (int64_t)traits->bytes);
}

#endif
