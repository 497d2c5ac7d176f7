/* Rung over ranks: one array whose parts several processes hold, or several threads with a context
 * each. Results have the bits that one call on the whole array has, for any number of ranks and any
 * cut, CPU and GPU ranks mixed. It compiles as C11 and as C++17. rung/mpi.h makes a rung_ranks of
 * an MPI communicator, rung/nccl.h of an NCCL one; docs/RANKS.md has examples.
 *
 * The ranks' parts, in the order of the ranks, are the array: any part may be empty, and a cut may
 * go anywhere. Every rank calls the same function with the same arguments but for its context, in,
 * out and call, and like calls of MPI they are made in the same order everywhere. Only bytes are
 * moved, as they are: all ranks have the same order of bytes and the same version of Rung.
 *
 * Every rank returns the same status, that of the first rank that failed, and rung_last_error() is
 * the same sentence everywhere, which begins with that rank: "rank 2: in holds i64; expected: ...".
 * (A context that never opened keeps its own; a rank that refuses its rung_ranks tells nobody.)
 * Nothing has been written then, if not in ranks that had come to their very end, whole, or by a
 * device that fails. What differs between ranks that must not (operation, type, bins, version) is
 * refused with BAD_ARGUMENT. RANKS_FAILED: a rank is not heard of, or what it sends is not what was
 * expected; the sentence names it, and may be another one in every rank. The rung_ranks is not to
 * be used any more after that.
 *
 * Calls wait for all ranks, and are refused on a stream under capture (BAD_PLACE); arrays in a
 * GPU's memory have been written when they return. */
#ifndef RUNG_RANKS_H
#define RUNG_RANKS_H

#include <rung/rung.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes on their way to another rank or from it. */
typedef struct rung_parcel {
  int rank;     /* the other one, never the caller's own */
  void *data;   /* in host memory, but for exchange_anywhere(); sent ones are only read */
  size_t bytes; /* at least 1 */
  size_t moved; /* written by exchange(): how many have gone or come */
} rung_parcel;

/* One rank's way to the others. */
typedef struct rung_ranks {
  size_t size;
  int rank, count; /* 0 <= rank < count */
  void *state;     /* handed to exchange() */
  /* Sends and receives all these parcels at once. In one call at most one parcel goes from a rank
   * to another, and what it sends it, call by call, comes in this order; nothing else is promised
   * of the calls of different ranks. Returns when all received ones are there, whole or cut short
   * (`moved` says so), and the memory of the sent ones may be used again: 0. Not 0: that has not
   * come about, and will not any more; `why` is "" at first, or a few words: "nothing has moved for
   * 60 s". How long it waits is for it to decide; a rank that computes sends nothing. */
  int (*exchange)(void *state, rung_parcel *sent, int sent_count, rung_parcel *received,
                  int received_count, char why[RUNG_TEXT]);
  /* NULL, or the same of parcels each of which lies in host memory or in that of the device of its
   * rank's context, whose queued work on it is done: so that arrays need not go by way of the host.
   * A rank may call either one, whichever the others call. */
  int (*exchange_anywhere)(void *state, rung_parcel *sent, int sent_count, rung_parcel *received,
                           int received_count, char why[RUNG_TEXT]);
} rung_ranks;

/* As rung_reduce() of the whole array to one number, which every rank gets.
 *
 * in:   0 to 8 dimensions: its elements in row-major order are this rank's. At most 2^40 elements
 *       in all ranks.
 * out:  0 dimensions or shape (1), as in rung_reduce().
 * call: NULL, or as always; `used` is what ran here, NULL where the part is empty.
 *
 * Ranks send each other some 2 KB, 8 bytes for every 2^30 elements and for every 32768 before and
 * behind those, and the elements of a tile of 32768 that a cut goes through to the ranks behind it
 * that have some of it. */
RUNG_API rung_status rung_reduce_ranks(rung_context *context, const rung_ranks *ranks,
                                       rung_reduction what, const DLTensor *in, DLTensor *out,
                                       rung_call *call);

/* As rung_scan() of the whole array, of one dimension.
 *
 * in:   1 dimension, any stride. Sums of f16 and bf16 are refused (BAD_DTYPE).
 * out:  in's shape and dtype: this rank's part of the result. The very view of `in`, or no
 *       memory shared with it.
 *
 * Ranks send each other some 2 KB and at most 4 KB more, or, where arrays have gaps or lie where
 * the rank's device cannot reach them, 104 bytes for every 2^23 elements and at most 13 KB more;
 * and the elements of a tile of 8192 that a cut goes through to the ranks behind it that have some
 * of it. */
RUNG_API rung_status rung_scan_ranks(rung_context *context, const rung_ranks *ranks,
                                     rung_reduction what, const DLTensor *in, int exclusive,
                                     DLTensor *out, rung_call *call);

/* As rung_histogram() of the whole array: every rank gets all counts.
 *
 * in:      0 to 8 dimensions.
 * counts:  (count).
 * outside: NULL, or (3); the same in all ranks is not asked for.
 *
 * Ranks send each other some 2 KB and 8 bytes a bin. */
RUNG_API rung_status rung_histogram_ranks(rung_context *context, const rung_ranks *ranks,
                                          const rung_bins *bins, const DLTensor *in,
                                          DLTensor *counts, DLTensor *outside, rung_call *call);

/* As rung_pairs() of all ranks' points: every rank gets all counts, outside and sums.
 *
 * a:     this rank's part of the set, (n, 3) with n >= 0; weights and molecules, where there are
 *        any, are given by every rank, those of its points.
 * b:     NULL in all ranks: pairs within a; or this rank's part of the other set, whose parts need
 *        not be as long as a's. At most 2^31 - 1 points of a set in all ranks.
 * box, bins: the same in all ranks; so are weights and molecules, and whether sums are asked for.
 * counts, outside, sums: as in rung_pairs(). `outside` NULL the same in all ranks is not asked for.
 * call:  NULL, or as always; `used` is what ran here last, NULL where there was nothing to count.
 *
 * Every rank gets all points, and counts as many pairs as any other: it takes 12 (f32) or 24 bytes
 * of memory for every point of all ranks, 8 more with sums and 8 with molecules, and 8 bytes a bin
 * and rank, 24 with sums. That is what ranks send each other, too, beside some 3 KB. The memory is
 * the host's; but of a GPU, points and molecules lie in its own, which the context keeps, where the
 * ranks have exchange_anywhere() and it has as much.
 *
 * Where the last edge is less than half of how far the points reach along an axis, or than half of
 * the box, every rank gets those of a slab of space and a halo around it alone, by way of the
 * host's memory: of 2048 or more finite points, if no rank would have three quarters of all or half
 * as much again to do as the others, no rung is named, and not all ranks are GPUs that have
 * memory and a way for all points. A rank takes host memory for its own points, what it sends and
 * what it gets.
 *
 * Where a rank has not the memory, or its RUNG_MEMORY_LIMIT is less, all keep their own points and
 * those of one other in the host's, which come by in turn; a rank with more points than others
 * counts more pairs then. */
RUNG_API rung_status rung_pairs_ranks(rung_context *context, const rung_ranks *ranks,
                                      const rung_points *a, const rung_points *b,
                                      const rung_box *box, const rung_distances *bins,
                                      DLTensor *counts, DLTensor *outside, DLTensor *sums,
                                      rung_call *call);

/* As rung_stencil() of the grid of all ranks' elements, in rows of `columns`.
 *
 * columns: of the whole grid, the same in all ranks.
 * in:      this rank's part: (rows, columns); or (count), elements in row-major order, which may
 *          begin and end within a row. A part of two dimensions whose rows have gaps between them
 *          begins with a row. The ranks' parts are whole rows together, at least one.
 * out:     as many elements as `in`. The very view of `in`, or no memory shared with it.
 * means:   NULL in all ranks, or (n): the means of the n rows whose last element is this rank's.
 *
 * Rows that a rank has whole need no messages but some 3 KB of words, and no memory but what
 * rung_stencil() takes. Of a row that is cut, a rank takes host memory for two copies: of the row,
 * where columns <= 65536, whose elements all of its ranks send each other once; else of its own
 * elements of the row and up to 256 at either end of them, which its neighbours there (wrap: of
 * the row's ends, too) send it for every 256 / radius steps. RUNG_MATH_FAST leaves such rows as
 * they are without it. */
RUNG_API rung_status rung_stencil_ranks(rung_context *context, const rung_ranks *ranks,
                                        const rung_stencil_model *model, int64_t columns,
                                        const DLTensor *in, DLTensor *out, DLTensor *means,
                                        rung_call *call);

/* As rung_radiator() of the grid of all ranks' elements, in rows of `columns` >= 4.
 *
 * grid:  this rank's part of it, as `in` above: written; read never.
 * means: as above. Messages and memory, too. */
RUNG_API rung_status rung_radiator_ranks(rung_context *context, const rung_ranks *ranks,
                                         const rung_radiator_model *model, int64_t steps,
                                         int64_t columns, DLTensor *grid, DLTensor *means,
                                         rung_call *call);

/* As rung_matmul() of all ranks' rows, of two dimensions.
 *
 * a:    (rows, k): this rank's rows of A. rows may be 0.
 * b:    (some, n): this rank's rows of B, of which the ranks have k together, cut as you like.
 * c:    (rows, n): the rows of C that belong to those of A.
 * alpha, beta, and the dtypes: the same in all ranks.
 *
 * Every rank gets all rows of B, in blocks of columns that it makes those columns of its C of: it
 * takes memory for a block, one part of B in as many as there are ranks but at least 16 MB and 64
 * columns, and, where there are several, for its rows of C: of a GPU its own, which the context
 * keeps, where the ranks have exchange_anywhere() and it has as much, else the host's. Ranks send
 * each other B once, beside some 3 KB.
 *
 * Where it takes less time, as of few rows and many columns, of rows that one rank has most of, or
 * over eight ranks or more, they share out both rows and columns of C instead: each gets the rows
 * of A and the columns of B that its block of C needs, the latter in blocks as above, and C's
 * elements where beta is not 0, and sends the block back to those whose rows it is. It takes memory
 * for that, and for its own rows of C once more, in the same place. Where a rank has not as much,
 * or its RUNG_MEMORY_LIMIT is less, it is as above. */
RUNG_API rung_status rung_matmul_ranks(rung_context *context, const rung_ranks *ranks, double alpha,
                                       const DLTensor *a, const DLTensor *b, double beta,
                                       DLTensor *c, rung_call *call);

/* As rung_correlate() and rung_convolve() of the image of all ranks' rows.
 *
 * model:  as there; origin and edge are the whole image's, region is (0, 0).
 * in:     (rows, width) or (rows, width, channels): this rank's rows. rows may be 0.
 * kernel: the same in all ranks, which each have it.
 * out:    the same rows of the result: in's shape; of several kernels with `count` in front.
 *
 * A rank gets the rows beyond its own that its kernel reaches, at most 62, from whoever has them:
 * it takes host memory for up to four times as many rows, and for those that it sends. Ranks send
 * each other these rows and some 3 KB. */
RUNG_API rung_status rung_correlate_ranks(rung_context *context, const rung_ranks *ranks,
                                          const rung_filter_model *model, const DLTensor *in,
                                          const DLTensor *kernel, DLTensor *out, rung_call *call);
RUNG_API rung_status rung_convolve_ranks(rung_context *context, const rung_ranks *ranks,
                                         const rung_filter_model *model, const DLTensor *in,
                                         const DLTensor *kernel, DLTensor *out, rung_call *call);

/* ---- ranks within one process -------------------------------------------------------------- */

/* Opens a context on each of several devices.
 *
 * contexts: room for RUNG_DEVICES; the first *count are written. Where one cannot be opened, the
 *           others are closed, and contexts[0] is the one that tells why: *count is 1 then (0 and
 *           NULL: host memory is out). To be closed in every case.
 * devices:  their names as rung_open() takes them, with commas between them: "cuda:0,cuda:1"; one
 *           may be there more than once, and is a rank each time. "all": every GPU that can be
 *           used, or, where there is none, the CPU.
 * options:  NULL, or of all of them; device is NULL. threads 0: CPUs of the list have as many as
 *           the process may use between them, at least one each.
 *
 * Status: as rung_open(); BAD_ARGUMENT too: no name, or more than RUNG_DEVICES. */
enum { RUNG_DEVICES = 64 };
RUNG_API rung_status rung_open_devices(rung_context **contexts, int *count, const char *devices,
                                       const rung_options *options);

/* What a rank does: calls over ranks, all ranks the same. Returns what they came to. */
typedef rung_status rung_rank_work(rung_context *context, const rung_ranks *ranks, void *user);

/* Runs work() once for each context, at the same time, as ranks 0 ... count - 1 that move bytes
 * through the memory of the process: rank 0 in the calling thread, every other one in a thread of
 * its own. The thread's current CUDA device is the context's when work() begins.
 *
 * contexts: (count), each another one. They are handed to work(); one of a GPU copies what its rank
 *           sends or receives by exchange_anywhere(), from GPU to GPU directly where the driver
 *           lets them.
 * count:    1 ... 1024.
 * deadline: seconds after which ranks that wait for each other end with RANKS_FAILED if nothing has
 *           moved, longer than the slowest computes; 0: 60. They do so at once where a rank's
 *           work() has returned that another one waits for.
 * user:     handed to work(), of all ranks at once.
 *
 * Returns when work() has returned in all ranks: the status of the first rank that has not
 * returned OK. OUT_OF_MEMORY and BAD_ARGUMENT, as its own: nothing has run. */
RUNG_API rung_status rung_run_ranks(rung_context *const *contexts, int count, double deadline,
                                    rung_rank_work *work, void *user);

#ifdef __cplusplus
}
#endif
#endif
