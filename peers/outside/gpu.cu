/* A second opinion on the peers of `rung bench --peers` on a GPU: CUB and cuBLAS called as their
 * documentation says, timed by a plain loop that shares no line with the laboratory. Prints a row a
 * job, as beside.py reads it.
 *
 *   nvcc -O3 -std=c++17 -arch=native gpu.cu -o gpu -lcublas && ./gpu > outside.csv
 *
 * After it `lines`, `histograms`, `products`: no more than these. */
#include <cublas_v2.h>
#include <cub/cub.cuh>

#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#define CHECK(call)                                                         \
  do {                                                                      \
    const int status = (int)(call);                                         \
    if (status != 0) {                                                      \
      fprintf(stderr, "gpu: %s: %d at line %d\n", #call, status, __LINE__); \
      exit(1);                                                              \
    }                                                                       \
  } while (0)

enum { SAMPLES = 31, IN_A_ROW = 200 };

/* Lines that are written but not yet in memory are left behind by nobody who reads. */
static __global__ void read_all(const uint4 *from, size_t n, unsigned *to) {
  const size_t step = (size_t)gridDim.x * blockDim.x;
  unsigned all = 0;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
    all |= from[i].x ^ from[i].y ^ from[i].z ^ from[i].w;
  if (all == 1) *to = all; /* never: the compiler does not know */
}

/* The same magnitudes as the laboratory's: products of zeros take less power. */
template <typename T>
static __global__ void draw(T *to, size_t n) {
  const size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    unsigned long long z = (i + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z ^= z >> 27;
    to[i] = std::is_floating_point<T>::value ? (T)((double)(long long)z * 0x1p-63) : (T)z;
  }
}

template <typename T>
static T *drawn(size_t n) {
  T *to;
  CHECK(cudaMalloc(&to, n * sizeof(T)));
  draw<<<1024, 256>>>(to, n);
  CHECK(cudaGetLastError());
  return to;
}

/* A kernel of one thread, which takes so many nanoseconds, and tells its clock in MHz. */
static __global__ void pause(unsigned long long ns, float *mhz) {
  unsigned long long begun, now;
  const long long cycle = clock64();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begun));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begun < ns);
  if (mhz) *mhz = (float)(clock64() - cycle) * 1000.0f / (float)(now - begun);
}

static void wait_before(unsigned long long ns, float *mhz = nullptr) {
  pause<<<1, 1>>>(ns, mhz);
  CHECK(cudaGetLastError());
}

/* Milliseconds of `count` calls between two events, which are made beforehand: behind a wait the
 * host must be done before it ends. */
template <typename Call>
static float between(int count, Call call) {
  static cudaEvent_t begin = nullptr, end;
  float ms;
  if (!begin) {
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
  }
  CHECK(cudaEventRecord(begin));
  for (int i = 0; i < count; i++) call();
  CHECK(cudaEventRecord(end));
  CHECK(cudaEventSynchronize(end));
  CHECK(cudaEventElapsedTime(&ms, begin, end));
  return ms;
}

/* Milliseconds a call of many in a row; what the two events take is taken off. */
template <typename Call>
static float in_a_row(int many, Call call) {
  return (between(2 * many, call) - between(many, call)) / (float)many;
}

/* One candidate for a third of a second: by then the clock is what the power limit leaves. */
template <typename Call>
static void warm(Call call) {
  float ms = 0;
  while (ms < 333) ms += between(20, call);
}

static float median(std::vector<float> of) {
  std::sort(of.begin(), of.end());
  return of[of.size() / 2];
}

/* Three rows. `cold`: after twice as much has been read as the cache holds, and a wait in which the
 * host gets ahead of the device; between two events; behind what takes longer than 0.1 ms there is
 * a rest of four times as long, as where five candidates take turns. `hot`: calls with a wait
 * between each and the next, less the waits: no two calls overlap, and no clock is read between
 * them. `row`: without the waits. The clock is that of the wait behind the last call. */
template <typename Call>
static void time(const char *peer, const char *operation, const char *job, Call call) {
  static uint4 *other = nullptr;
  static float *mhz;
  static size_t flushed;
  if (!other) {
    int cache;
    CHECK(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, 0));
    flushed = 2 * (size_t)cache;
    CHECK(cudaMalloc(&other, flushed));
    CHECK(cudaMemset(other, 0, flushed));
    CHECK(cudaMallocManaged(&mhz, sizeof *mhz));
  }
  const auto wait = [] { wait_before(10000); };
  const auto call_and_wait = [&] {
    call();
    wait();
  };
  const auto row = [&](const char *caches, std::vector<float> ms) {
    wait_before(20000, mhz);
    CHECK(cudaDeviceSynchronize());
    printf("%s,%s,%s,%s,%.6g,%.0f\n", peer, operation, job, caches, median(std::move(ms)), *mhz);
  };
  std::vector<float> cold, apart, close;
  warm(call);
  for (int i = -2; i < SAMPLES; i++) {
    read_all<<<1024, 256>>>(other, flushed / sizeof *other, (unsigned *)other);
    CHECK(cudaGetLastError());
    wait_before(100000);
    const float ms = between(1, call);
    if (i >= 0) cold.push_back(ms);
    if (ms > 0.1f) wait_before((unsigned long long)(ms * 4e6f));
  }
  row("cold", cold);
  const int many = cold[0] > 1 ? IN_A_ROW / 10 : IN_A_ROW;
  for (int i = -1; i < 7; i++) {
    const float between_waits = in_a_row(many, call_and_wait) - in_a_row(many, wait);
    const float without = in_a_row(many, call);
    if (i < 0) continue;
    apart.push_back(between_waits);
    close.push_back(without);
  }
  row("hot", apart);
  row("row", close);
  fflush(stdout);
}

/* A function of CUB: asked for its scratch, then called with it. */
template <typename Call>
static void time_cub(const char *operation, const char *job, Call call) {
  void *scratch = nullptr;
  size_t bytes = 0;
  CHECK(call(scratch, bytes));
  CHECK(cudaMalloc(&scratch, bytes));
  time("cub", operation, job, [&] { CHECK(call(scratch, bytes)); });
  CHECK(cudaFree(scratch));
}

static void lines(int power) {
  const size_t n = (size_t)1 << power;
  char job[96];
  float *in = drawn<float>(n), *out;
  CHECK(cudaMalloc(&out, n * sizeof *out));
  snprintf(job, sizeof job, "n=%zu op=sum type=f32", n);
  time_cub("reduce", job, [&](void *scratch, size_t &bytes) {
    return cub::DeviceReduce::Sum(scratch, bytes, in, out, (unsigned)n);
  });
  time_cub("scan", job, [&](void *scratch, size_t &bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, in, out, (unsigned)n);
  });
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
}

struct modulo_8 {
  __host__ __device__ unsigned operator()(unsigned x) const {
    return x & 7;
  }
};

static void histograms(int power) {
  const size_t n = (size_t)1 << power;
  char job[96];
  unsigned *in = drawn<unsigned>(n), *counts;
  CHECK(cudaMalloc(&counts, 65536 * sizeof *counts));
  snprintf(job, sizeof job, "n=%zu bins=8 kind=modulo type=u32", n);
  time_cub("histogram", job, [&](void *scratch, size_t &bytes) {
    return cub::DeviceHistogram::HistogramEven(
        scratch, bytes, thrust::make_transform_iterator(in, modulo_8{}), counts, 9, 0u, 8u, (int)n);
  });
  snprintf(job, sizeof job, "n=%zu bins=256 kind=bytes type=u8", n);
  time_cub("histogram", job, [&](void *scratch, size_t &bytes) {
    return cub::DeviceHistogram::HistogramEven(scratch, bytes, (const unsigned char *)in, counts,
                                               257, 0, 256, (int)n);
  });
  CHECK(cudaFree(in));
  CHECK(cudaFree(counts));
}

static void products(cublasHandle_t blas, int n) {
  const size_t count = (size_t)n * n;
  char job[96];
  const float one = 1, zero = 0;
  const double wide_one = 1, wide_zero = 0;
  float *a = drawn<float>(count), *b = drawn<float>(count), *c = drawn<float>(count);
  snprintf(job, sizeof job, "n=%d type=f32", n);
  time("cublas", "matmul", job, [&] {
    CHECK(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b, CUDA_R_32F, n, a,
                       CUDA_R_32F, n, &zero, c, CUDA_R_32F, n, CUBLAS_COMPUTE_32F_PEDANTIC,
                       CUBLAS_GEMM_DEFAULT));
  });
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  CHECK(cudaFree(c));
  double *x = drawn<double>(count), *y = drawn<double>(count), *z = drawn<double>(count);
  snprintf(job, sizeof job, "n=%d type=f64", n);
  time("cublas-tensor", "matmul", job, [&] {
    CHECK(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &wide_one, y, CUDA_R_64F, n, x,
                       CUDA_R_64F, n, &wide_zero, z, CUDA_R_64F, n, CUBLAS_COMPUTE_64F,
                       CUBLAS_GEMM_DEFAULT));
  });
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
  CHECK(cudaFree(z));
}

int main(int count, char **names) {
  const auto wanted = [&](const char *name) {
    for (int i = 1; i < count; i++)
      if (strcmp(names[i], name) == 0) return true;
    return count == 1;
  };
  printf("peer,operation,job,caches,ms,mhz\n");
  if (wanted("lines"))
    for (int power = 16; power <= 28; power += 2) lines(power);
  if (wanted("histograms"))
    for (int power = 20; power <= 28; power += 4) histograms(power);
  if (!wanted("products")) return 0;
  cublasHandle_t blas;
  void *workspace;
  CHECK(cublasCreate(&blas));
  CHECK(cudaMalloc(&workspace, 32 << 20)); /* what its documentation asks for on this chip */
  CHECK(cublasSetWorkspace(blas, workspace, 32 << 20));
  for (int n = 512; n <= 4096; n *= 2) products(blas, n);
  CHECK(cublasDestroy(blas));
  return 0;
}
