/* Facts: everything worth a line in `rung devices`. CUDA 13 moved clocks, the compute mode and
 * the run time limit out of cudaDeviceProp: those are asked for as attributes. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backend/cuda/state.h"

struct sheet {
  int index;
  const cudaDeviceProp *p;
  void (*emit)(void *to, const char *key, const char *value);
  void *to;
};

static void __attribute__((format(printf, 3, 4)))
line(const sheet *s, const char *key, const char *format, ...) {
  char value[200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(value, sizeof value, format, arguments);
  va_end(arguments);
  s->emit(s->to, key, value);
}

static void line_bytes(const sheet *s, const char *key, double bytes) {
  line(s, key, "%s", rung_cuda_size_of(bytes).text);
}

/* -1: this driver does not know the attribute. */
static int attribute(const sheet *s, cudaDeviceAttr which) {
  int value = -1;
  if (cudaDeviceGetAttribute(&value, which, s->index) == cudaSuccess) return value;
  (void)cudaGetLastError();
  return -1;
}

/* FP32 lanes of a multiprocessor, which no call tells; 0: a chip newer than this table. */
static int cores_per_processor(int capability) {
  static const int table[][2] = {{50, 128},  {52, 128},  {53, 128},  {60, 64},   {61, 128},
                                 {62, 128},  {70, 64},   {72, 64},   {75, 64},   {80, 64},
                                 {86, 128},  {87, 128},  {88, 128},  {89, 128},  {90, 128},
                                 {100, 128}, {103, 128}, {110, 128}, {120, 128}, {121, 128}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    if (table[i][0] == capability) return table[i][1];
  return 0;
}

/* The kernel module's own version ("580.95.05"), which the CUDA API does not tell. */
static void kernel_module(const sheet *s) {
  FILE *file = fopen("/proc/driver/nvidia/version", "r");
  if (!file) return;
  char text[256], *at;
  if (fgets(text, sizeof text, file) && (at = strstr(text, "Kernel Module"))) {
    at += strlen("Kernel Module");
    at += strspn(at, " ");
    if (strncmp(at, "for ", 4) == 0) { /* "for x86_64  580.95.05" */
      at += 4;
      at += strcspn(at, " ");
      at += strspn(at, " ");
    }
    int length = (int)strcspn(at, " \n");
    if (length > 0) line(s, "kernel module", "%.*s", length, at);
  }
  fclose(file);
}

static void identity(const sheet *s) {
  const cudaDeviceProp *p = s->p;
  int driver = 0, runtime = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  if (cudaRuntimeGetVersion(&runtime) != cudaSuccess) runtime = 0;
  char uuid[48];
  rung_cuda_uuid(p, uuid);
  bool slice = strstr(p->name, " MIG ") != NULL;

  line(s, "name", "%.180s", p->name);
  line(s, "compute capability", "%d.%d", p->major, p->minor);
  line(s, "driver", "CUDA %d.%d", driver / 1000, driver % 1000 / 10);
  line(s, "runtime", "CUDA %d.%d", runtime / 1000, runtime % 1000 / 10);
  kernel_module(s);
  line(s, "UUID", "%s", uuid);
  line(s, "PCI address", "%04x:%02x:%02x.0", (unsigned)p->pciDomainID, (unsigned)p->pciBusID,
       (unsigned)p->pciDeviceID);
  line(s, "slice of a GPU (MIG)", slice ? "yes" : "no");

  static const char *const modes[] = {
      "default: many processes at a time", "exclusive: one thread at a time",
      "prohibited: no process may use it", "exclusive: one process at a time"};
  int mode = attribute(s, cudaDevAttrComputeMode);
  line(s, "compute mode", "%s", mode >= 0 && mode < 4 ? modes[mode] : "unknown");
}

static void processors(const sheet *s) {
  const cudaDeviceProp *p = s->p;
  int cores = cores_per_processor(p->major * 10 + p->minor);
  line(s, "multiprocessors", "%d", p->multiProcessorCount);
  if (cores > 0)
    line(s, "cores", "%d (%d per multiprocessor)", cores * p->multiProcessorCount, cores);
  int khz = attribute(s, cudaDevAttrClockRate);
  if (khz > 0) line(s, "clock, at most", "%.0f MHz", khz / 1e3);
  int ratio = attribute(s, cudaDevAttrSingleToDoublePrecisionPerfRatio);
  if (ratio > 0) line(s, "float to double throughput", "%d to 1", ratio);
  line(s, "warp size", "%d threads", p->warpSize);
  line(s, "threads per multiprocessor", "%d", p->maxThreadsPerMultiProcessor);
  line(s, "blocks per multiprocessor", "%d", p->maxBlocksPerMultiProcessor);
  line(s, "threads per block", "%d", p->maxThreadsPerBlock);
  line(s, "block dimensions", "%d x %d x %d", p->maxThreadsDim[0], p->maxThreadsDim[1],
       p->maxThreadsDim[2]);
  line(s, "grid dimensions", "%d x %d x %d", p->maxGridSize[0], p->maxGridSize[1],
       p->maxGridSize[2]);
  line(s, "registers per multiprocessor", "%d x 32 bits", p->regsPerMultiprocessor);
  line(s, "registers per block", "%d x 32 bits", p->regsPerBlock);
  line_bytes(s, "shared memory per multiprocessor", (double)p->sharedMemPerMultiprocessor);
  line_bytes(s, "shared memory per block", (double)p->sharedMemPerBlock);
  line_bytes(s, "shared memory per block, if asked for", (double)p->sharedMemPerBlockOptin);
  line_bytes(s, "shared memory per block, reserved", (double)p->reservedSharedMemPerBlock);
}

static void memory(const sheet *s) {
  const cudaDeviceProp *p = s->p;
  line_bytes(s, "memory", (double)p->totalGlobalMem);
  int khz = attribute(s, cudaDevAttrMemoryClockRate);
  if (khz > 0) line(s, "memory clock", "%.0f MHz", khz / 1e3);
  if (p->memoryBusWidth > 0) line(s, "memory bus", "%d bits", p->memoryBusWidth);
  if (khz > 0 && p->memoryBusWidth > 0) /* two transfers a clock */
    line(s, "memory bandwidth, in theory", "%.0f GB/s", 2.0 * khz * p->memoryBusWidth / 8 / 1e6);
  line_bytes(s, "L2 cache", p->l2CacheSize);
  line_bytes(s, "L2 cache that can be set aside", p->persistingL2CacheMaxSize);
  line_bytes(s, "constant memory", (double)p->totalConstMem);
  line(s, "pitch, at most", "%zu bytes", p->memPitch);
  line(s, "copy engines", "%d", p->asyncEngineCount);
}

static void textures(const sheet *s) {
  const cudaDeviceProp *p = s->p;
  line(s, "texture, 1D", "%d", p->maxTexture1D);
  line(s, "texture, 2D", "%d x %d", p->maxTexture2D[0], p->maxTexture2D[1]);
  line(s, "texture, 3D", "%d x %d x %d", p->maxTexture3D[0], p->maxTexture3D[1],
       p->maxTexture3D[2]);
  int linear = attribute(s, cudaDevAttrMaxTexture1DLinearWidth);
  if (linear > 0) line(s, "texture, 1D in linear memory", "%d", linear);
  line(s, "texture, 2D in linear memory", "%d x %d, pitch %d bytes", p->maxTexture2DLinear[0],
       p->maxTexture2DLinear[1], p->maxTexture2DLinear[2]);
  line(s, "texture, 1D in layers", "%d x %d layers", p->maxTexture1DLayered[0],
       p->maxTexture1DLayered[1]);
  line(s, "texture, 2D in layers", "%d x %d x %d layers", p->maxTexture2DLayered[0],
       p->maxTexture2DLayered[1], p->maxTexture2DLayered[2]);
  line(s, "texture alignment", "%zu bytes", p->textureAlignment);
  line(s, "texture pitch alignment", "%zu bytes", p->texturePitchAlignment);
  line(s, "surface alignment", "%zu bytes", p->surfaceAlignment);
}

static void abilities(const sheet *s) {
  static const struct {
    cudaDeviceAttr which;
    const char *key;
  } table[] = {
      {cudaDevAttrGpuOverlap, "copies while computing"},
      {cudaDevAttrConcurrentKernels, "concurrent kernels"},
      {cudaDevAttrStreamPrioritiesSupported, "stream priorities"},
      {cudaDevAttrKernelExecTimeout, "run time limit on kernels"},
      {cudaDevAttrComputePreemptionSupported, "compute preemption"},
      {cudaDevAttrCooperativeLaunch, "cooperative launch"},
      {cudaDevAttrClusterLaunch, "cluster launch"},
      {cudaDevAttrEccEnabled, "error correction (ECC)"},
      {cudaDevAttrIntegrated, "shares the host's memory"},
      {cudaDevAttrCanMapHostMemory, "maps host memory"},
      {cudaDevAttrUnifiedAddressing, "unified addressing"},
      {cudaDevAttrManagedMemory, "managed memory"},
      {cudaDevAttrConcurrentManagedAccess, "managed memory while computing"},
      {cudaDevAttrPageableMemoryAccess, "pageable host memory"},
      {cudaDevAttrHostNativeAtomicSupported, "atomics on host memory"},
      {cudaDevAttrMemoryPoolsSupported, "memory pools"},
      {cudaDevAttrGPUDirectRDMASupported, "GPUDirect RDMA"},
      {cudaDevAttrMpsEnabled, "multi-process service (MPS)"},
      {cudaDevAttrIsMultiGpuBoard, "on a board of several GPUs"},
      {cudaDevAttrTccDriver, "TCC driver"},
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    int value = attribute(s, table[i].which);
    line(s, table[i].key, "%s", value < 0 ? "unknown" : value > 0 ? "yes" : "no");
  }
}

rung_status rung_cuda_facts(int index, void (*emit)(void *to, const char *key, const char *value),
                            void *to, rung_error *error) {
  cudaDeviceProp properties;
  RUNG_CHECK(rung_cuda_properties(index, &properties, error));
  sheet s = {index, &properties, emit, to};
  identity(&s);
  processors(&s);
  memory(&s);
  textures(&s);
  abilities(&s);
  return RUNG_OK;
}
