/* Rung: fast data-parallel kernels with the same bits on every device.
 *
 * This header is the whole public interface but for calls over several ranks (rung/ranks.h,
 * rung/mpi.h, rung/nccl.h). It compiles as C11 and as C++17.
 *
 * Conventions, stated once:
 *  - Arrays are DLPack DLTensors, borrowed for the length of a call and never owned. Any strides
 *    are accepted (negative and zero ones too on inputs); NULL strides mean compact row-major.
 *  - Arrays may lie in host memory (kDLCPU, kDLCUDAHost) or, for a CUDA context, in the memory of
 *    its device (kDLCUDA). All arrays of one call lie on the same side.
 *  - Structs that will grow begin with `size`: sizeof the struct, or 0 for its layout of version
 *    0.2. One of an older header is read up to its end. Of one of a newer header, the members that
 *    this library does not know must be zero; else the call is refused. Members that a call writes
 *    are written only where they lie within the caller's size. Structs without `size` are complete:
 *    they never change.
 *  - Every call that can fail returns a rung_status; 0 is success. After a failure
 *    rung_last_error() holds one sentence that names the argument, its value and what would be
 *    accepted. A call refused for its arguments has written nothing.
 *  - Calls on host arrays return when the result is there. Calls on device arrays are
 *    asynchronous on a stream: the call's, else the context's (see rung_options.stream).
 *  - A context serves one thread at a time; different contexts share nothing but threads that wait
 *    for work. A thread that calls needs RUNG_STACK bytes of stack. After fork() the child opens
 *    contexts of its own: those of its parent refuse every call there (BAD_ARGUMENT), and closing
 *    one frees little. (A driver of GPUs that the parent has used may refuse to work in a child.)
 *  - A call leaves the calling thread's current CUDA device, or that there is none, as it was.
 *  - What the calling thread has chosen of floating-point arithmetic (rounding, subnormal numbers
 *    flushed to zero, traps) changes no result: calls compute in a mode of their own, and give the
 *    thread's own back, with the exceptions it has seen.
 *  - A call leaves the process as it was: its signals and their handlers, its locale, folder,
 *    environment, open files and limits; the library's threads block its signals. A handler that
 *    interrupts a call on the simulated GPU, and has no stack of its own (SA_ONSTACK), runs on a
 *    simulated thread's, of RUNG_STACK bytes.
 *  - The library never prints, exits or aborts. */
#ifndef RUNG_RUNG_H
#define RUNG_RUNG_H

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#define RUNG_VERSION_MAJOR 0
#define RUNG_VERSION_MINOR 2
#define RUNG_VERSION_PATCH 0
#define RUNG_VERSION "0.2.0"

#if defined(__GNUC__)
#define RUNG_API __attribute__((visibility("default")))
#else
#define RUNG_API
#endif

/* The stack that a thread needs to call this library. */
#define RUNG_STACK 262144

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status ------------------------------------------------------------------------------- */

/* What a call came to. Values are pinned: they never change meaning and are never reused. */
typedef enum rung_status {
  RUNG_OK = 0,
  RUNG_BAD_ARGUMENT = 1,   /* a value outside what the argument allows */
  RUNG_BAD_SHAPE = 2,      /* a shape, stride or number of dimensions that does not fit */
  RUNG_BAD_DTYPE = 3,      /* an element type the operation does not take */
  RUNG_BAD_PLACE = 4,      /* an array in memory the context cannot reach */
  RUNG_OVERLAP = 5,        /* an output that shares memory with another array */
  RUNG_UNKNOWN_NAME = 6,   /* no rung, preset, device or instruction set of that name */
  RUNG_UNSUPPORTED = 7,    /* this rung cannot do this job here; the sentence says why */
  RUNG_NO_DEVICE = 8,      /* the device asked for is not there, or the build lacks its backend */
  RUNG_OUT_OF_MEMORY = 9,  /* host or device memory ran out */
  RUNG_TOO_LARGE = 10,     /* a size whose bytes or indices do not fit in 64 bits */
  RUNG_DEVICE_FAILED = 11, /* the device reported an error; the context must be closed */
  RUNG_BAD_FILE = 12,      /* (the command only) a file that is not what it says it is */
  RUNG_FILE_FAILED = 13,   /* a store, or a file of the command, that cannot be read or written */
  RUNG_CHECK_FAILED = 14,  /* (the lab only) a result that is not the one required */
  RUNG_RANKS_FAILED = 15   /* (rung/ranks.h) another rank is not heard of, or what it sends is not
                              what was expected; the rung_ranks must not be used any more */
} rung_status;

/* The status's own short text, "out of memory" for one: never NULL, static, for any value. */
RUNG_API const char *rung_status_text(rung_status status);

/* "0.2.0": the version of the library that is linked, against RUNG_VERSION of this header. */
RUNG_API const char *rung_version(void);

/* ---- context ------------------------------------------------------------------------------ */

typedef struct rung_context rung_context;

/* All members may be zero; each zero asks for the default. */
typedef struct rung_options {
  size_t size;
  const char *device; /* "cpu", "cuda", "cuda:<index>", "sim" (the simulated GPU, which runs the
                         CUDA rungs on the CPU; small, so that this is quick), "sim:h200",
                         "sim:h100", "sim:a100", "sim:t4" (the same with as many multiprocessors,
                         as much shared memory and of the capability that such a GPU has, so that
                         rungs launch what they launch there), "auto" (default: the first CUDA
                         device that works, else the CPU). Borrowed for the call. */
  int threads;        /* CPU threads; 0: as many as the process may use. 1 ... 4096. Where the
                         system gives fewer, a call goes on with those. */
  const char *isa;    /* CPU instruction set: "baseline", "avx2", "avx512", NULL: the best this
                         CPU has, or what the environment's RUNG_ISA says. */
  void *stream;       /* the caller's cudaStream_t of the device, borrowed until rung_close().
                         NULL: the legacy default stream, so that a call comes after what the
                         caller has queued on its default stream, legacy or per-thread, and before
                         what it queues there later; cudaStreamLegacy says the same,
                         cudaStreamPerThread may be given too. RUNG_OWN_STREAM: a stream of the
                         context's own, which waits for no other and none for it. Ignored but by
                         CUDA.
                         Calls on a stream under capture go into the graph, also a context's first:
                         of arrays in the device's memory, but for rung_pairs() and histograms of
                         RUNG_BINS_EDGES, whose bins come from host memory (BAD_PLACE). The graph
                         has scratch of its own: it may run beside others and beside calls of the
                         context, and after rung_close() too, but with the rungs `texture` of
                         rung_correlate() and `finish-host` of rung_reduce(). */
} rung_options;

#define RUNG_OWN_STREAM ((void *)-1)

/* Opens a context. *context receives a context even on failure (unless host memory itself is out:
 * then NULL), so that rung_last_error(*context) can say why; close it in every case.
 * options may be NULL: all defaults.
 *
 * The environment's RUNG_MEMORY_LIMIT, bytes as "3000000" or "64M" (K, M, G: 2^10, 2^20, 2^30), is
 * the most of the device's memory that the context takes for scratch, staged arrays and packed
 * ones: jobs that need more are cut into pieces, with the same bits, or refused (OUT_OF_MEMORY).
 *
 * Status: OK, NO_DEVICE, UNKNOWN_NAME, BAD_ARGUMENT,
 * UNSUPPORTED (an instruction set this CPU lacks, a GPU below 7.5), OUT_OF_MEMORY,
 * DEVICE_FAILED. */
RUNG_API rung_status rung_open(rung_context **context, const rung_options *options);

/* Waits for the work the context has under way, frees what it owns. NULL is allowed. */
RUNG_API void rung_close(rung_context *context);

/* Waits until all work of this context is done and reports what went wrong in it. */
RUNG_API rung_status rung_synchronize(rung_context *context);

/* One sentence about the last failed call on this context; "" if none failed. Never NULL; valid
 * until the next call on the context. NULL context: "out of memory". */
RUNG_API const char *rung_last_error(const rung_context *context);

/* How a single call is to be run. NULL or all zero: the best canonical rung. */
typedef enum rung_math {
  RUNG_MATH_STRICT = 0, /* the same bits everywhere */
  RUNG_MATH_FAST = 1,   /* faster arithmetic within the error bound the operation states */
  RUNG_MATH_FIXED = 2   /* of rung_matmul(): fixed point, whose sums are not rounded; the same bits
                           everywhere, others than those of RUNG_MATH_STRICT */
} rung_math;

typedef struct rung_call {
  size_t size;
  const char *rung; /* a rung's name as `rung ladder` lists it; NULL or "auto": the best one */
  int block;        /* threads per block, 1 ... 1024; 0: the rung's own. Rungs that choose their
                       block themselves, and those of the CPU, take no notice of it. */
  rung_math math;
  int bits;         /* of RUNG_MATH_FIXED, 8 ... 31; 0: 31. Else 0 */
  void *stream;     /* NULL: the context's. Else the caller's cudaStream_t of the context's device,
                       as in rung_options, which need not outlive its work: the call runs on it,
                       after all that the context did before, and before all that it does later,
                       whatever their streams, for they use the same scratch. Under capture the
                       call goes into the graph, as in rung_options, and comes after none of these.
                     */
  const char *used; /* written: the name of the rung that ran (static storage) */
} rung_call;

/* From now on "auto", which is no rung too, tries `rung` with `block` first for jobs of an
 * operation's class, because it was found to be the fastest there: `rung tune` measures that, and
 * `rung tune --show` lists `job`, `rung` and `block`. Results keep their bits: a rung that is not
 * canonical is refused, and for a job that it cannot do, by its nature or for want of memory,
 * "auto" takes what it takes else. Calls with a block or RUNG_MATH_FAST are left alone. Texts are
 * copied. A class that was given before has its rung replaced; rung NULL: it has none any more.
 *
 * Status: OK; UNKNOWN_NAME: no such operation or rung on this device; UNSUPPORTED: one that is not
 * canonical, or does not run here; BAD_ARGUMENT: a block that rung_ladder_at() does not list, a job
 * that is NULL, "" or of 96 bytes or more (one that no call is of is taken, and means nothing);
 * TOO_LARGE: 256 classes have one. On failure nothing is changed. */
RUNG_API rung_status rung_prefer(rung_context *context, const char *operation, const char *job,
                                 const char *rung, int block);

/* ---- what is here ---------------------------------------------------------------------------
 *
 * Lists are walked by index, from 0 on. Each function fills the caller's struct, whose `size` is
 * set, or 0, before; it is written as far as that goes. Status: OK; UNKNOWN_NAME: there is nothing
 * at that index, or no such operation; BAD_ARGUMENT: info is NULL or its size below that of version
 * 0.2. Text is static or within the struct. */

#define RUNG_TEXT 480

typedef struct rung_device_info {
  size_t size;
  const char *kind;        /* "cpu", "cuda" or "sim" */
  int index;               /* among the devices of its kind */
  char device[16];         /* what rung_options.device takes: "cpu", "cuda:0", "sim", "sim:t4" */
  char name[96];           /* "NVIDIA H200"; "" where there is no such device */
  int capability;          /* compute capability, 90 for 9.0; 0 on a CPU */
  int processors;          /* multiprocessors, or CPU cores that the process may use */
  int threads;             /* CPU: to use; GPU: that a multiprocessor holds */
  const char *isa;         /* the CPU's instruction set; NULL on a GPU */
  int64_t memory_bytes;    /* all of it */
  int64_t cache_bytes;     /* the last-level cache */
  int64_t available_bytes; /* rung_opened(): what could be allocated now; else -1: not known */
  int usable;              /* 1: nothing is known that keeps rung_open() from opening it */
  char why_not[RUNG_TEXT]; /* "", or the sentence that rung_open() would say */
} rung_device_info;

/* The devices of this machine: the CPU, CUDA devices, the simulated GPU. A kind that has no device
 * here, or that this installation lacks, has one entry that is not usable and says why. */
RUNG_API rung_status rung_device_at(int index, rung_device_info *info);

/* What a context opened, with the threads and the instruction set that it uses. BAD_ARGUMENT too
 * where the context never opened. */
RUNG_API rung_status rung_opened(rung_context *context, rung_device_info *info);

/* Gives emit() every fact known of a device (a name as in rung_options.device), as text with its
 * unit, in an order made for reading; key and value last for the call of emit(). On failure *why
 * (which may be NULL) has the sentence. */
RUNG_API rung_status rung_device_facts(const char *device,
                                       void (*emit)(void *to, const char *key, const char *value),
                                       void *to, char why[RUNG_TEXT]);

typedef struct rung_operation_info {
  size_t size;
  const char *name;    /* "reduce" */
  const char *summary; /* one line */
  int rungs;           /* how many rungs its ladder has */
} rung_operation_info;

RUNG_API rung_status rung_operation_at(int index, rung_operation_info *info);

typedef struct rung_ladder_info {
  size_t size;
  const char *name;  /* what rung_call.rung takes; a rung of the CPU and one of GPUs may share it */
  const char *idea;  /* the one change against the rung below */
  const char *on;    /* "cpu" or "gpu" */
  const char *order; /* of arithmetic: "canonical": the contract's bits; "textbook": another, for
                        the lesson; "fast": allowed by RUNG_MATH_FAST alone; "fixed": the bits of
                        RUNG_MATH_FIXED, which alone asks for it */
  const char *hardware;    /* NULL, or what it needs that the simulator lacks */
  char types[96];          /* element types: "f32 f64" */
  int capability;          /* the least compute capability; 0 on the CPU */
  int blocks[16];          /* block sizes worth trying, ended by 0; none: it takes no block size */
  int available;           /* 1: it runs on the device that was given, on jobs that suit it */
  int first;               /* 1: of those, the one that "auto" tries first */
  char why_not[RUNG_TEXT]; /* "", or why it is not available */
} rung_ladder_info;

/* The rungs of an operation: of each kind of device from the simplest to the fastest. `device`:
 * what is available is said of it, as rung_device_at() or rung_opened() filled it; NULL: of any
 * device that this installation has code for. */
RUNG_API rung_status rung_ladder_at(const char *operation, int index,
                                    const rung_device_info *device, rung_ladder_info *info);

/* ---- arrays -----------------------------------------------------------------------------------
 *
 * Makers of compact DLTensors in host memory. What data and shape point to is borrowed: it must
 * live as long as the tensor is used. Whether data is written is said by the call that the tensor
 * is given to. */

static inline DLDataType rung_type(int code, int bits) {
  DLDataType type;
  type.code = (uint8_t)code;
  type.bits = (uint8_t)bits;
  type.lanes = 1;
  return type;
}

/* `ndim` extents from `shape` on, row-major; ndim 0: one number, shape is not looked at. */
static inline DLTensor rung_array(const void *data, DLDataType type, int ndim,
                                  const int64_t *shape) {
  DLTensor made;
  made.data = (void *)(uintptr_t)data;
  made.device.device_type = kDLCPU;
  made.device.device_id = 0;
  made.ndim = ndim;
  made.dtype = type;
  made.shape = (int64_t *)(uintptr_t)shape;
  made.strides = NULL;
  made.byte_offset = 0;
  return made;
}

/* The same array in the memory of a CUDA device. */
static inline DLTensor rung_on_cuda(DLTensor array, int device) {
  array.device.device_type = kDLCUDA;
  array.device.device_id = device;
  return array;
}

/* An array in no memory but wherever two functions find it, such as a file larger than memory.
 * rung_reduce(), rung_scan(), rung_histogram() and rung_stencil(), also over ranks, take it as any
 * array (in; out of a scan and a stencil, too), and read and write it piece by piece, in as much
 * memory as RUNG_MEMORY_LIMIT allows; some of it twice, where results of pieces belong together.
 * The results have the same bits. Arrays that a call does not take so are refused (BAD_PLACE). */
typedef struct rung_store {
  size_t size;
  void *state; /* handed to the functions, which threads of the library's may call at once */
  /* `bytes` bytes from `offset` on, of the array's: 0; not 0: `why` has a few words, as "No space
   * left on device", and the call ends with FILE_FAILED. Where an array is not in row-major order
   * it is called for every run of neighbours. */
  int (*read)(void *state, int64_t offset, size_t bytes, void *to, char why[RUNG_TEXT]);
  /* NULL: the array is only read. After a failure what was written stays. */
  int (*write)(void *state, int64_t offset, size_t bytes, const void *from, char why[RUNG_TEXT]);
} rung_store;

/* The device_id of arrays in stores: other libraries' extension devices (kDLExtDev) are none. */
#define RUNG_STORE_DEVICE 0x676e7572

/* The array that a store has, row-major; `store` is borrowed as data is. */
static inline DLTensor rung_stored(const rung_store *store, DLDataType type, int ndim,
                                   const int64_t *shape) {
  DLTensor made = rung_array(store, type, ndim, shape);
  made.device.device_type = kDLExtDev;
  made.device.device_id = RUNG_STORE_DEVICE;
  return made;
}

/* rung_array_f32(data, &count): one dimension of *count elements. rung_number_f32(&value): one
 * number. The same of f64, u8, i8, u16, i16, i32, u32, i64 and u64, and of f16 and bf16, whose
 * elements C has no type for: their bits. */
#define RUNG_MAKERS(name, element, code, bits)                                          \
  static inline DLTensor rung_array_##name(const element *data, const int64_t *count) { \
    return rung_array(data, rung_type(code, bits), 1, count);                           \
  }                                                                                     \
  static inline DLTensor rung_number_##name(const element *value) {                     \
    return rung_array(value, rung_type(code, bits), 0, NULL);                           \
  }
RUNG_MAKERS(f32, float, kDLFloat, 32)
RUNG_MAKERS(f64, double, kDLFloat, 64)
RUNG_MAKERS(f16, uint16_t, kDLFloat, 16)
RUNG_MAKERS(bf16, uint16_t, kDLBfloat, 16)
RUNG_MAKERS(u8, uint8_t, kDLUInt, 8)
RUNG_MAKERS(i8, int8_t, kDLInt, 8)
RUNG_MAKERS(u16, uint16_t, kDLUInt, 16)
RUNG_MAKERS(i16, int16_t, kDLInt, 16)
RUNG_MAKERS(i32, int32_t, kDLInt, 32)
RUNG_MAKERS(u32, uint32_t, kDLUInt, 32)
RUNG_MAKERS(i64, int64_t, kDLInt, 64)
RUNG_MAKERS(u64, uint64_t, kDLUInt, 64)
#undef RUNG_MAKERS

/* What libraries of DLPack 1 hand over (a PyCapsule "dltensor_versioned"): DLManagedTensorVersioned
 * of the DLPack specification, version 1.0, for which older dlpack/dlpack.h have no name. */
#ifdef DLPACK_MAJOR_VERSION
typedef DLManagedTensorVersioned rung_managed;
#else
typedef struct rung_managed {
  struct {
    uint32_t major, minor;
  } version;
  void *manager_ctx;
  void (*deleter)(struct rung_managed *self);
  uint64_t flags; /* bit 0: the array may not be written; bit 1: it is a copy */
  DLTensor dl_tensor;
} rung_managed;
#endif

/* The DLTensor of what was handed over, borrowed: it is the caller's to delete, after the last call
 * that uses it. written: 1 where the tensor is to be an output, 0 for an input. BAD_ARGUMENT,
 * *tensor untouched: managed or tensor NULL; a major version other than 1; to be written, and
 * read-only. The context, which may be NULL, has the sentence. */
RUNG_API rung_status rung_managed_tensor(rung_context *context, rung_managed *managed, int written,
                                         DLTensor **tensor);

/* ---- stencil: a weighted row stencil applied p times ----------------------------------------
 *
 * Rows are independent. One step, for every column j that is not fixed:
 *     new[j] = sum over k = -radius ... radius of (weights[k + radius] / divide) * old[j + k]
 * Order of arithmetic: one chain of fused multiply-adds from the rightmost tap to the leftmost,
 * with the weights put on a grid first so that their sum is kept: docs/NUMERICS.md states it. */

#define RUNG_STENCIL_MAX_RADIUS 8

/* What stands beyond a row's ends; names and meaning as in scipy.ndimage. */
typedef enum rung_edge {
  RUNG_EDGE_WRAP = 0,     /* a b c d | a b c d | a b c d */
  RUNG_EDGE_CONSTANT = 1, /* k k k k | a b c d | k k k k */
  RUNG_EDGE_NEAREST = 2,  /* a a a a | a b c d | d d d d */
  RUNG_EDGE_REFLECT = 3,  /* d c b a | a b c d | d c b a */
  RUNG_EDGE_MIRROR = 4    /*   d c b | a b c d | c b a   */
} rung_edge;

typedef struct rung_stencil_model {
  size_t size;
  int radius;            /* 1 ... RUNG_STENCIL_MAX_RADIUS */
  const double *weights; /* 2 * radius + 1 finite values, from the leftmost tap to the rightmost */
  double divide;         /* finite, not 0: every weight is divided by it */
  int64_t steps;         /* p >= 0; 0 copies the input */
  int64_t fixed;         /* the first so many columns keep their values; 0 ... columns */
  rung_edge edge;
  double edge_value; /* for RUNG_EDGE_CONSTANT; rounded to the arrays' type */
} rung_stencil_model;

/* in:    (rows, columns), f32 or f64, rows >= 1, columns >= 1.
 * out:   the same shape and dtype; zero strides refused. It is the very same view as `in` (done in
 *        place) or shares no memory with it.
 * means: NULL, or (rows), the dtype of `in`: the mean of every row of `out`, in the canonical
 *        order of sums (docs/NUMERICS.md), divided in double. */
RUNG_API rung_status rung_stencil(rung_context *context, const rung_stencil_model *model,
                                  const DLTensor *in, DLTensor *out, DLTensor *means,
                                  rung_call *call);

/* ---- radiator: heat in a cylindrical radiator ------------------------------------------------
 *
 * The stencil of radius 2 on a grid whose left columns are hot. Row i (from 0) of n:
 *   column 0: hot[0] * ((i + 1) / n)^power,   column 1, if fixed: hot[1] * the same;
 *   the others start at `start`, or, where falling != 0, at column0 * (m - j)^2 / m^2.
 * Columns `fixed` and up take steps; both ends wrap. Every start value is computed in double in
 * the order written here and rounded once to the grid's type. The struct is complete: what differs
 * from this is a job for rung_stencil(). */
typedef struct rung_radiator_model {
  double weights[5];
  double divide;
  double hot[2];
  int power;   /* 1 or 2 */
  int fixed;   /* 1 or 2 */
  int falling; /* 0 or 1 */
  double start;
} rung_radiator_model;

/* Fills *model from a preset: "2016", "2019", "2021", "2023", "2025"; NULL: "2019". Returns
 * RUNG_UNKNOWN_NAME and leaves *model alone for any other name. */
RUNG_API rung_status rung_radiator_preset(const char *name, rung_radiator_model *model);

/* The presets' names, oldest first, ended by NULL. Static. */
RUNG_API const char *const *rung_radiator_presets(void);

/* Computes the model's start and takes `steps` >= 0 steps.
 * grid:  (n, m), f32 or f64, n >= 1, m >= 4: written; read never. Zero strides refused.
 * means: NULL, or (n), the grid's dtype: the mean of every row, as in rung_stencil(). */
RUNG_API rung_status rung_radiator(rung_context *context, const rung_radiator_model *model,
                                   int64_t steps, DLTensor *grid, DLTensor *means, rung_call *call);

/* ---- reduce: sum, minimum, maximum, mean ------------------------------------------------------
 *
 * Sum of floats: the canonical order (docs/NUMERICS.md) over the elements in row-major order of
 *   their indices, whatever the strides; along an axis, over each line's elements in the order of
 *   their indices. Of f16 and bf16 it is f32's, rounded to the type once, half to even. Of
 *   integers: in 64 bits, modulo 2^64. The sum of nothing is +0.
 * Minimum, maximum: IEEE 754-2019 minimum and maximum: a NaN wins, -0 is below +0. Those of nothing
 *   are refused (RUNG_BAD_SHAPE) wherever there is a result to write.
 * Mean of n: the sum (of f16 and bf16 in f32), to double, over n in double, rounded to out's type
 *   once. Of nothing: a NaN. */
typedef enum rung_reduction {
  RUNG_SUM = 0,
  RUNG_MIN = 1,
  RUNG_MAX = 2,
  RUNG_MEAN = 3
} rung_reduction;

/* For `axis`: everything to one number. */
#define RUNG_ALL (-2147483647 - 1)

/* in:   u8, i8, u16, i16, i32, u32, i64, u64, f16, bf16, f32 or f64; 0 to 8 dimensions, at most
 *       2^40 elements to a result.
 * axis: 0 ... ndim - 1, or -1 ... -ndim counted from the last, or RUNG_ALL.
 * out:  the shape of `in` without the axis; where that leaves no dimension, 0 dimensions or shape
 *       (1). Its dtype is that of `in` for minimum and maximum, and for sum and mean of floats; i64
 *       or u64 for the sum of signed or unsigned integers, f64 for their mean. Zero strides
 *       refused. Shares no memory with `in`. */
RUNG_API rung_status rung_reduce(rung_context *context, rung_reduction what, const DLTensor *in,
                                 int axis, DLTensor *out, rung_call *call);

/* ---- scan: sums, minima or maxima of all beginnings --------------------------------------------
 *
 * Along an axis, inclusive: out[i] is the sum, minimum or maximum of in[0 ... i]. Exclusive:
 * of in[0 ... i - 1], and out[0] that of nothing: 0 (+0), the largest number of the type for a
 * minimum (+inf of floats), the least for a maximum (-inf).
 *
 * Sum of floats: one fixed association, the same everywhere (docs/NUMERICS.md); exclusive[i + 1]
 *   need not have the bits of inclusive[i]. Of f16 and bf16 it is f32's, made in f32 from beginning
 *   to end: every result is rounded to the type once, half to even. Of integers: modulo 2^bits.
 * Minimum, maximum: IEEE 754-2019 minimum and maximum: a NaN wins and stays, -0 is below +0.
 *
 * what:      RUNG_SUM, RUNG_MIN or RUNG_MAX.
 * in:        u8, i8, u16, i16, i32, u32, i64, u64, f16, bf16, f32 or f64; 1 to 8 dimensions, at
 *            most 2^40 elements in a line.
 * axis:      0 ... ndim - 1, or -1 ... -ndim counted from the last.
 * exclusive: 0 or 1.
 * out:       in's shape and dtype. Zero strides refused. The very view of `in`, or no memory
 *            shared with it. */
RUNG_API rung_status rung_scan(rung_context *context, rung_reduction what, const DLTensor *in,
                               int axis, int exclusive, DLTensor *out, rung_call *call);

/* ---- matmul: products of matrices ---------------------------------------------------------------
 *
 *     C = alpha A B + beta C
 *
 * Every element of C is one chain of fused multiply-adds over rising l, then the factors:
 *     t = +0;  for l = 0 ... k - 1: t = fma(A[i, l], B[l, j], t)
 *     r = alpha * t;  C[i, j] = beta == 0 ? r : fma(beta, C[i, j], r)
 * in f32 of f32, f16 and bf16 elements, in f64 of f64; an f16 or bf16 result is rounded once, half
 * to even. Of i8 in i32, modulo 2^32. Nothing is left out or added: 0 * inf is a NaN. Where beta is
 * 0 C is not read; where k is 0 t is +0.
 *
 * RUNG_MATH_FAST, on a GPU of compute capability 9.0: tensor cores make the products of f32, f16
 * and bf16, in no promised order. f16 and bf16 factors are taken as they are; f32 ones are rounded
 * first, by "tf32", which "auto" takes where the job is large, "f16" and "bf16" to the digits of
 * these types, by "tf32x3" to nearly their own. With e = 2^-23 an element is off by at most (2 (k +
 * 2) e + 2 u + u^2) (|alpha| sum over l of (|A| + d) (|B| + d) + |beta C|) and the rounding of its
 * result: u = 2^-11, 2^-11, 2^-8, 3 * 2^-23 and d = 2^-126, 2^-14, 2^-126, 2^-103 for tf32, f16,
 * bf16, tf32x3, and 0 where nothing is rounded; sums that overflow, and what is no number, are in
 * docs/NUMERICS.md. Elsewhere, and of f64 and i8, it changes nothing.
 *
 * RUNG_MATH_FIXED, of f32, f16 and bf16: sums in fixed point, without any rounding, so that every
 * device, rung and cut of k gives the same bits. With 2^e the least power of two above the largest
 * magnitude of a row of A, 2^f that of a column of B, and b = call->bits, elements are rounded to
 * multiples of 2^(e - b + 1) and 2^(f - b + 1), ties to even; their products, but for the least
 * digits of them, are added up in 64 bits, and the sum is t, rounded once. docs/NUMERICS.md states
 * the digits. Against the exact sum, with L = 2^-28.4 for b >= 24, 2^-20.9 for 16 ... 23 and 2^-14
 * below, t is off by at most
 *     sum over l of (|A| 2^(f - b) + |B| 2^(e - b) + 2^(e + f - 2b)) + k L 2^(e + f)
 * and its rounding: what is small beside the largest of its row or column is lost, which a chain of
 * floats keeps (docs/FIXED.md says for whom this is). A row or column with a NaN or an infinity
 * makes NaNs of its results. k is at most 2^26.
 *
 * a:     (..., m, k): f32, f64, f16, bf16 or i8; 2 to 8 dimensions.
 * b:     (..., k, n), a's dtype. A transposed matrix is a matter of strides.
 * c:     (..., m, n), as many dimensions as the one of a and b with more. Its dtype is f32, f64 and
 *        i32 of f32, f64 and i8; of f16 and bf16 either theirs or f32. What stands for "..." is the
 *        batch: in a and b the extents of c, or 1, or missing, which is the same matrix for all.
 *        Zero strides refused. Shares no memory with a and b, which may share theirs.
 * alpha, beta: rounded to the type of the sum first, and finite there; of i8 whole numbers from
 *        -2^31 to 2^32 - 1.
 *
 * Status besides those of every call: BAD_SHAPE (extents that do not fit, which the sentence
 * names), BAD_DTYPE, BAD_ARGUMENT (alpha, beta, bits), OVERLAP, TOO_LARGE (k, in fixed point). */
RUNG_API rung_status rung_matmul(rung_context *context, double alpha, const DLTensor *a,
                                 const DLTensor *b, double beta, DLTensor *c, rung_call *call);

/* What RUNG_MATH_FIXED loses of an operand when it rounds its elements: zeros, which lose nothing,
 * are not counted. An element loses a part of itself: |x - x'| / |x|, where x' is what it becomes.
 * Products and their least digits are not looked at. */
typedef struct rung_loss {
  int64_t elements; /* not 0, of rows of A or columns of B without a NaN or an infinity */
  int64_t zeroed;   /* how many of these become 0: they are lost */
  int64_t rounded;  /* how many change, those that become 0 among them */
  double worst;     /* the largest part that one loses which does not become 0; 0: all are kept */
  int64_t unscaled; /* rows or columns with a NaN or an infinity, whose results are NaNs */
} rung_loss;

/* operand: what rung_matmul() is given as a or, where `right` is not 0, as b: f32, f16 or bf16, 2
 * to 8 dimensions, any strides, in host memory; borrowed, and read on the calling thread.
 * bits: 8 ... 31; 0: 31. loss: written where the call succeeds.
 *
 * Status: BAD_ARGUMENT (bits, a NULL), BAD_SHAPE (dimensions), BAD_DTYPE, BAD_PLACE (memory of a
 * GPU), TOO_LARGE. */
RUNG_API rung_status rung_matmul_loss(rung_context *context, const DLTensor *operand, int right,
                                      int bits, rung_loss *loss);

/* ---- correlate and convolve: filters of images --------------------------------------------------
 *
 *     out[y, x] = sum over (i, j) of kernel[i, j] * in[y + i - cy, x + j - cx]
 *
 * of a kernel of (rows, columns), where (cy, cx) = (rows / 2 + origin[0], columns / 2 + origin[1]),
 * halves rounded down: as scipy.ndimage.correlate() and convolve() have it. rung_convolve() is
 * rung_correlate() with the kernel's rows and columns reversed, and the origin with them. The
 * channels of an image are filtered each for itself.
 *
 * Every element is one chain of fused multiply-adds over the kernel in row-major order,
 *     t = +0;  for i, for j: t = fma(kernel[i, j], in[...], t)
 * in which no tap is left out, zeros neither (0 * inf is a NaN). The sum is made
 *   of integers, exactly, where in is u8 or u16 and the kernel is of integers, else
 *   in f64 where in or out is f64, else
 *   in f32.
 * A kernel is rounded to the type of a sum of floats first. The sum is rounded to out's type once,
 * half to even; to u8 and u16 it saturates, of a NaN to 0.
 *
 * RUNG_MATH_FAST takes a kernel that is the product of a column and a row, each tap rounded to the
 * kernel's type or the sum's, in two passes: along the rows, then down the columns. An element is
 * then within
 *     ((rows + columns + 4) eps + stored) sum |kernel[i, j] in[...]|
 * of the exact sum, where eps is the sum's type's (2^-23, 2^-52) and stored that of out's where
 * that is another (0 else; to integers within a half of that); subnormals aside, and exact where
 * sums of integers are. docs/NUMERICS.md has the order and which kernels are taken. Any other
 * kernel is filtered as without it, and so are small ones, below 7 by 7 on a CPU, where that is
 * faster; call->used tells. */

/* What stands beyond the image; rung_edge says which. */
typedef struct rung_filter_model {
  size_t size;
  rung_edge edge;
  double edge_value; /* for RUNG_EDGE_CONSTANT; rounded to in's type, saturating */
  int64_t origin[2]; /* rows, columns: -(extent / 2) ... (extent - 1) / 2 of the kernel; positive
                        ones reach further up and to the left */
  int64_t region[2]; /* the element of `in` that out[0, 0] stands for: out may be a part of the
                        image, whose surroundings it then sees */
} rung_filter_model;

#define RUNG_KERNEL_MOST 63 /* rows and columns of a kernel, at most */

/* model:  NULL: zeros beyond the image, origin and region (0, 0).
 * in:     (height, width) or (height, width, channels): u8, u16, f16, f32 or f64; 1 ... 4 channels.
 * kernel: (rows, columns), or (count, rows, columns), so many kernels for the same image; 1 ... 63
 *         rows and columns: i8, u8, i16, u16, i32, f32 or f64. In host memory, wherever the images
 *         are; it has been read when the call returns. Its elements are finite.
 * out:    in's shape, its first two extents perhaps smaller (see region); of several kernels with
 *         `count` in front. u8, u16, f16, f32 or f64. Zero strides refused. Shares no memory with
 *         `in`.
 *
 * Status besides those of every call: BAD_SHAPE (extents that do not fit, an empty kernel),
 * BAD_DTYPE, BAD_PLACE (a kernel on a device), BAD_ARGUMENT (the model; a kernel's element that is
 * not finite in the sum's type), OVERLAP, TOO_LARGE. */
RUNG_API rung_status rung_correlate(rung_context *context, const rung_filter_model *model,
                                    const DLTensor *in, const DLTensor *kernel, DLTensor *out,
                                    rung_call *call);
RUNG_API rung_status rung_convolve(rung_context *context, const rung_filter_model *model,
                                   const DLTensor *in, const DLTensor *kernel, DLTensor *out,
                                   rung_call *call);

/* The edge of a name: "wrap", "constant", "edge" (the nearest element), "mirror-edge" (with the
 * edge twice: d c b a | a b c d), "mirror" (d c b | a b c d); or a library's own, for the same word
 * means different things: "scipy:reflect", "numpy:reflect", "opencv:reflect101", "torch:circular".
 * UNKNOWN_NAME, *edge untouched: no such name. BAD_ARGUMENT: edge is NULL. */
RUNG_API rung_status rung_edge_named(const char *name, rung_edge *edge);

/* All these names, ended by NULL. Static. */
RUNG_API const char *const *rung_edge_names(void);

/* ---- histogram: how many elements fall into each bin -------------------------------------------
 *
 * Bins, numbered from 0:
 *   RUNG_BINS_MODULO  of integers: element x falls into bin x mod count, never negative
 *   RUNG_BINS_EVEN    bin k holds e_k <= x < e_(k+1), the last one its upper edge too: the bins of
 *                     numpy.histogram(x, count, (low, high))
 *   RUNG_BINS_EDGES   the same with e_k = edges[k]
 *   RUNG_BINS_BYTES   of u8: 256 bins, one a value
 *
 * Even edges, in double: e_k = k * ((high - low) / count) + low, e_count = high. (Where that
 * quotient underflows to 0: e_k = (k / count) * (high - low) + low.) Of f32, f16 and bf16
 * elements every edge is rounded to the elements' type, half to even, as numpy's are. In full: the
 * largest k < count with e_k <= x, for e_0 <= x <= e_count.
 *
 * Elements are compared with edges as doubles; an i64 is rounded to the nearest double first. What
 * is below e_0, above e_count or NaN is counted apart, never dropped silently or moved into a bin.
 * Counts are exact, and so the same everywhere. */
typedef enum rung_bins_kind {
  RUNG_BINS_MODULO = 0,
  RUNG_BINS_EVEN = 1,
  RUNG_BINS_EDGES = 2,
  RUNG_BINS_BYTES = 3
} rung_bins_kind;

#define RUNG_MAX_BINS 1048576

typedef struct rung_bins {
  size_t size;
  rung_bins_kind kind;
  int64_t count;       /* 1 ... RUNG_MAX_BINS; for bytes 0 or 256 */
  double low, high;    /* even: finite, low < high, and so is their distance; of f32, f16 and bf16
                          elements within the type's range */
  const double *edges; /* edges: count + 1 finite values, each above the one before; host memory */
} rung_bins;

/* in:      u8, i8, u16, i16, i32, u32, i64, f16, bf16, f32 or f64 (modulo: integers only); 0 to 8
 *          dimensions.
 * counts:  (count): of the whole of `in`; or (rows, count), where `in` is (rows, columns): a
 *          histogram of every row. i64 or u64. Written whole, not added to.
 * outside: NULL, or the same without the bins and with 3 in their place: how many elements are
 *          below e_0, above e_count, NaN. i64 or u64. (modulo, bytes: zeros.)
 * Zero strides refused in counts and outside; no two arrays share memory. */
RUNG_API rung_status rung_histogram(rung_context *context, const rung_bins *bins,
                                    const DLTensor *in, DLTensor *counts, DLTensor *outside,
                                    rung_call *call);

/* The edges of bins: edges[k] = e_k, 0 <= k <= count; of modulo and bytes e_k = k. To show counts
 * over, where they are: a GPU writes even edges itself.
 *
 * edges: (count + 1), f64, f32, f16 or bf16, any stride but 0: each is rounded once to that type,
 *        half to even. (Of even bins of f32, f16 or bf16 elements, those of that type are what
 *        elements are compared with.)
 * call:  call->used becomes NULL, as no rung runs; `rung` is not looked at.
 *
 * Status: OK; BAD_ARGUMENT, BAD_DTYPE, BAD_SHAPE (edges), BAD_PLACE (a device that the context
 * cannot reach; a stream under capture, where edges must come from host memory: given ones, and
 * f16 and bf16), OUT_OF_MEMORY, DEVICE_FAILED. */
RUNG_API rung_status rung_bin_edges(rung_context *context, const rung_bins *bins, DLTensor *edges,
                                    rung_call *call);

/* ---- pairs: histograms of the distances of points ----------------------------------------------
 *
 * Counts pairs by distance: all pairs i < j of one set, or every point of a with every point of b.
 *
 * Distance, in double, without contraction, of points p and q (f32 coordinates are converted):
 *     d2 = (dx * dx + dy * dy) + dz * dz,  dx = p.x - q.x ...,  d = sqrt(d2)
 * In a box it is the least over the images of q, of points that were first brought into the cell
 * (src/ops/pairs/pairs.h states both to the last rounding); a point that has no place there, for it
 * is not finite or some 2^45 cells away, is at the distance NaN from all others.
 *
 * Bins, numbered from 0: bin k holds the pairs with (int)(d / width) == k; or, of given edges, with
 * edges[k] <= d < edges[k + 1], the last one open too. A pair below the first edge, at or above the
 * last one, or whose distance is NaN, is counted apart, never dropped. Counts are exact, and so the
 * same everywhere. */

/* The cell of a periodic system, three vectors from the origin. Any shape and orientation, either
 * handedness; orthorhombic: a = (x, 0, 0), b = (0, y, 0), c = (0, 0, z). GROMACS and LAMMPS write
 * triclinic ones as a = (lx, 0, 0), b = (xy, ly, 0), c = (xz, yz, lz). The struct is complete:
 * three vectors are all there is to say of a cell. */
typedef struct rung_box {
  double a[3], b[3], c[3]; /* finite, of lengths 1e-70 ... 1e70; in no plane */
} rung_box;

/* How far from each other two points of a box may be with no doubt which images are meant: half the
 * length of the shortest vector between images of one point. BAD_ARGUMENT, *reach untouched: no
 * cell; the context (which may be NULL) has the sentence. */
RUNG_API rung_status rung_box_reach(rung_context *context, const rung_box *box, double *reach);

/* A set of points. The tensors are borrowed for the call. */
typedef struct rung_points {
  size_t size;
  const DLTensor *at;        /* (n, 3), f32 or f64; 0 <= n < 2^31 */
  const DLTensor *weights;   /* NULL, or (n), f64 */
  const DLTensor *molecules; /* NULL, or (n), i64: pairs of the same number are not counted
                                anywhere; a negative number is that of no molecule */
} rung_points;

typedef struct rung_distances {
  size_t size;
  int64_t count;       /* 1 ... RUNG_MAX_BINS */
  double width;        /* above 0, finite, and so is count * width; not looked at where there are
                          edges */
  const double *edges; /* NULL, or count + 1 finite values from 0 up, each above the one before;
                          host memory */
} rung_distances;

/* a:       a set.
 * b:       NULL: pairs within a; or the other set, of a's dtype. Both have molecules or neither.
 * box:     NULL: open space. In a box the last edge may not be beyond rung_box_reach().
 * bins:    the last edge is count * width, or edges[count].
 * counts:  (count), i64 or u64: written whole.
 * outside: NULL, or (3), i64 or u64: pairs below the first edge, at or above the last, NaN.
 * sums:    NULL, or (count), f64: the sum over a bin's pairs of the product of their weights, which
 *          the sets must have. Each product, in double, is rounded to a multiple of 2^(e - 62),
 *          where 2^e is the least power of two above the product of the two sets' largest
 *          magnitudes (within one set: of the largest with itself); the sum of these is exact and
 *          rounded once, so that order means nothing. Where that largest product is not finite,
 *          as with any weight that is not, every sum is NaN.
 * Zero strides refused in outputs, which share memory with nothing; inputs may share theirs. */
RUNG_API rung_status rung_pairs(rung_context *context, const rung_points *a, const rung_points *b,
                                const rung_box *box, const rung_distances *bins, DLTensor *counts,
                                DLTensor *outside, DLTensor *sums, rung_call *call);

/* The radial distribution function of counted pairs, over any number of frames:
 *     g[k] = counts[k] / (density * shell_k),  shell_k = 4/3 pi (e_(k+1)^3 - e_k^3)
 * density: the sum over frames of (pairs / volume), where pairs is n (n - 1) / 2 within a set (less
 * the pairs that molecules exclude, if that is what is wanted) and n_a n_b between two.
 *     neighbours[k] = per * (counts[0] + ... + counts[k])
 * is the running coordination number: per = 2 / (n frames) within a set, 1 / (n_a frames) between.
 * counts: bins->count values. g, neighbours: NULL, or as many, written. BAD_ARGUMENT, nothing
 * written: bins that rung_pairs() would refuse, counts NULL, a density not above 0 or not finite
 * (where g is asked for), a `per` not finite (where neighbours are). */
RUNG_API rung_status rung_pairs_rdf(const rung_distances *bins, const int64_t *counts,
                                    double density, double per, double *g, double *neighbours);

#ifdef __cplusplus
}
#endif
#endif
