// A CUDA kernel of one's own in the laboratory: sums of lines, a block a line.
//
//   nvcc -O3 -Xcompiler -fPIC -shared kernels.cu -o kernels.so
//   rung bench reduce --device cuda --kernels kernels.so --sizes "n=2^12 outer=2^12"
#include <rung/lab.h>

enum { MOST = 1024 };

// Threads go along the line, then halves of them are added to the others.
static __global__ void sum_line(const float *in, int64_t n, float *out) {
  __shared__ float sums[MOST];
  const int mine = threadIdx.x;
  float sum = 0;
  for (int64_t i = mine; i < n; i += blockDim.x) sum += in[blockIdx.x * n + i];
  sums[mine] = sum;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (mine < half) sums[mine] += sums[mine + half];
  }
  if (mine == 0) out[blockIdx.x] = sums[0];
}

static const char *block_a_line(const rung_lab_job *job) {
  const DLTensor *in = &job->arrays[0], *out = &job->arrays[1];
  if (in->shape[0] == 0) return NULL;
  const unsigned lines = (unsigned)in->shape[0], threads = job->block > 0 ? job->block : 256;
  // clang-format off
  sum_line<<<lines, threads, 0, (cudaStream_t)job->stream>>>((const float *)in->data, in->shape[1],
                                                            (float *)out->data);
  // clang-format on
  const cudaError_t found = cudaGetLastError();
  return found != cudaSuccess ? cudaGetErrorString(found) : NULL;
}

static const char *not_its(const rung_lab_job *job) {
  if (!rung_lab_is(job, "op", "sum")) return "it makes sums only";
  if (job->arrays[0].ndim != 2) return "it goes along the last axis only";
  if (job->arrays[0].shape[0] > INT32_MAX) return "there are more lines than a grid has blocks";
  return (job->block & (job->block - 1)) != 0 ? "block is no power of two" : NULL;
}

static const int blocks[] = {256, 64, 128, 512, 1024, 0};

RUNG_LAB_KERNELS = {{.size = sizeof(rung_lab_kernel),
                     .operation = "reduce",
                     .name = "block-a-line",
                     .idea = "a block a line, halves added to halves in shared memory",
                     .device = "cuda",
                     .types = "f32",
                     .order = RUNG_LAB_OTHER_ORDER,
                     .blocks = blocks,
                     .launch = block_a_line,
                     .refuses = not_its},
                    {}};
