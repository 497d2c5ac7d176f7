/* Which CUDA devices are here. Nothing in this file makes a context on a device. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/state.h"

rung_cuda_size rung_cuda_size_of(double bytes) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) {
    bytes /= 1024;
    unit++;
  }
  rung_cuda_size size;
  bool whole = bytes == (double)(int64_t)bytes;
  snprintf(size.text, sizeof size.text, whole ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return size;
}

rung_status rung_cuda_failed(rung_error *error, cudaError_t code, const char *format, ...) {
  char doing[200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(doing, sizeof doing, format, arguments);
  va_end(arguments);
  (void)cudaGetLastError();
  rung_status status = code == cudaErrorMemoryAllocation ? RUNG_OUT_OF_MEMORY : RUNG_DEVICE_FAILED;
  return rung_fail(error, status, "%s failed: %s (%s)", doing, cudaGetErrorString(code),
                   cudaGetErrorName(code));
}

/* Why there is no device, in words that say what to do about it. */
static rung_status no_device(cudaError_t code, rung_error *error) {
  (void)cudaGetLastError();
  int driver = 0, runtime = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  if (cudaRuntimeGetVersion(&runtime) != cudaSuccess) runtime = CUDART_VERSION;
  int need_major = runtime / 1000, need_minor = runtime % 1000 / 10;
  (void)cudaGetLastError();
  if (driver == 0)
    return rung_fail(
        error, RUNG_NO_DEVICE,
        "device \"cuda\": there is no CUDA driver; expected: an NVIDIA GPU and a driver "
        "for CUDA %d.0 or newer, or device \"cpu\"",
        need_major);
  if (code == cudaErrorInsufficientDriver)
    return rung_fail(error, RUNG_NO_DEVICE,
                     "device \"cuda\": the CUDA driver is for CUDA %d.%d, and this build's runtime "
                     "for %d.%d; expected: a driver for CUDA %d.0 or newer",
                     driver / 1000, driver % 1000 / 10, need_major, need_minor, need_major);
  if (code == cudaErrorNoDevice || code == cudaSuccess) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible)
      return rung_fail(error, RUNG_NO_DEVICE,
                       "device \"cuda\": none is visible, CUDA_VISIBLE_DEVICES is \"%.80s\"; "
                       "expected: the index of a GPU among its values",
                       visible);
    return rung_fail(error, RUNG_NO_DEVICE,
                     "device \"cuda\": the CUDA driver finds no GPU; expected: one, or device "
                     "\"cpu\"");
  }
  return rung_fail(error, RUNG_NO_DEVICE,
                   "device \"cuda\": the CUDA driver cannot be used: %s (%s)",
                   cudaGetErrorString(code), cudaGetErrorName(code));
}

rung_status rung_cuda_count(int *devices, rung_error *error) {
  *devices = 0;
  int found = 0;
  cudaError_t code = cudaGetDeviceCount(&found);
  if (code != cudaSuccess || found < 1) return no_device(code, error);
  *devices = found;
  return RUNG_OK;
}

rung_status rung_cuda_properties(int index, cudaDeviceProp *properties, rung_error *error) {
  int devices;
  RUNG_CHECK(rung_cuda_count(&devices, error));
  if (index < 0 || index >= devices)
    return rung_fail(error, RUNG_NO_DEVICE,
                     "there is no CUDA device %d: 0 ... %d would be accepted", index, devices - 1);
  RUNG_CUDA_CHECK(error, cudaGetDeviceProperties(properties, index),
                  "asking for the properties of CUDA device %d", index);
  return RUNG_OK;
}

void rung_cuda_uuid(const cudaDeviceProp *properties, char text[48]) {
  char *at = text + sprintf(text, "GPU");
  for (int i = 0; i < 16; i++) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) *at++ = '-';
    at += sprintf(at, "%02x", (unsigned)(unsigned char)properties->uuid.bytes[i]);
  }
}

rung_status rung_cuda_describe(int index, rung_device *device, rung_error *error) {
  cudaDeviceProp properties;
  RUNG_CHECK(rung_cuda_properties(index, &properties, error));
  int driver = 0;
  RUNG_CUDA_CHECK(error, cudaDriverGetVersion(&driver), "asking for the driver's version");
  char uuid[48];
  rung_cuda_uuid(&properties, uuid);

  memset(device, 0, sizeof *device);
  device->kind = RUNG_CUDA;
  device->index = index;
  snprintf(device->name, sizeof device->name, "%.*s", (int)sizeof device->name - 1,
           properties.name);
  snprintf(device->identity, sizeof device->identity, "%.90s %.40s driver %d.%d", properties.name,
           uuid, driver / 1000, driver % 1000 / 10);
  device->capability = properties.major * 10 + properties.minor;
  device->processors = properties.multiProcessorCount;
  device->threads = properties.maxThreadsPerMultiProcessor;
  device->memory_bytes = (int64_t)properties.totalGlobalMem;
  device->cache_bytes = device->flush_bytes = properties.l2CacheSize;
  device->caches[0].level = 2; /* those of level 1 do not outlast a launch */
  device->caches[0].bytes = device->cache_bytes;
  size_t shared = properties.sharedMemPerBlock;
  if (properties.sharedMemPerBlockOptin > shared) shared = properties.sharedMemPerBlockOptin;
  device->shared_bytes = (int64_t)shared;
  device->shared_processor_bytes = (int64_t)properties.sharedMemPerMultiprocessor;
  device->registers = properties.regsPerMultiprocessor;
  return RUNG_OK;
}
