/* Descriptions of arrays for the tensor memory accelerator. */
#include <pthread.h>

#include "backend/cuda/hopper.h"
#include "backend/cuda/state.h"

typedef CUresult encode_tiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                              void *address, const cuuint64_t *extents, const cuuint64_t *strides,
                              const cuuint32_t *box, const cuuint32_t *steps,
                              CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                              CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);

static encode_tiled *encode;

static void find(void) {
  *(void **)&encode = rung_cuda_driver_function("cuTensorMapEncodeTiled", 12000);
}

rung_status rung_cuda_tile_map(const rung_task *task, const rung_tile_map *of, CUtensorMap *map) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find);
  if (encode == NULL)
    return rung_fail(task->error, RUNG_DEVICE_FAILED,
                     "the driver has no cuTensorMapEncodeTiled; expected: one of CUDA 12");
  const cuuint64_t extents[] = {(cuuint64_t)of->extent[0], (cuuint64_t)of->extent[1],
                                (cuuint64_t)of->extent[2]};
  const cuuint64_t strides[] = {(cuuint64_t)of->apart[0], (cuuint64_t)of->apart[1]};
  const cuuint32_t box[] = {of->box, of->rows, 1}, steps[] = {1, 1, 1};
  const CUresult code =
      encode(map, of->type, 3, const_cast<void *>(of->base), extents, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE,
             of->swizzle == 0    ? CU_TENSOR_MAP_SWIZZLE_NONE
             : of->swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                 : CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (code == CUDA_SUCCESS) return RUNG_OK;
  return rung_fail(task->error, RUNG_DEVICE_FAILED,
                   "cuTensorMapEncodeTiled of %lld by %lld by %lld elements, %lld and %lld bytes "
                   "apart: error %d of the driver",
                   (long long)of->extent[0], (long long)of->extent[1], (long long)of->extent[2],
                   (long long)of->apart[0], (long long)of->apart[1], (int)code);
}
