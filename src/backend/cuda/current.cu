/* Which device a thread works on: the driver's current context. It is asked for and set by the
 * driver's own functions. cudaSetDevice() would not do: for a thread that has worked on no device
 * yet it makes a context on one, and of two runtimes in a process each remembers a device of its
 * own. */
#include <pthread.h>

#include "backend/cuda/state.h"

static struct {
  CUresult (*get)(CUcontext *context);
  CUresult (*set)(CUcontext context);
  CUresult (*device)(CUdevice *device, int ordinal);
  CUresult (*retain)(CUcontext *context, CUdevice device);
} driver;

void *rung_cuda_driver_function(const char *name, unsigned version) {
  void *found = NULL;
  (void)version;
#if CUDART_VERSION >= 12050
  const cudaError_t code =
      cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, NULL);
#elif CUDART_VERSION >= 12000
  const cudaError_t code = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, NULL);
#else
  const cudaError_t code = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault);
#endif
  if (code == cudaSuccess) return found;
  (void)cudaGetLastError();
  return NULL;
}

/* All of them as they were in CUDA 11. */
static void *find(const char *name) {
  return rung_cuda_driver_function(name, 11030);
}

static void find_all(void) {
  *(void **)&driver.get = find("cuCtxGetCurrent");
  *(void **)&driver.set = find("cuCtxSetCurrent");
  *(void **)&driver.device = find("cuDeviceGet");
  *(void **)&driver.retain = find("cuDevicePrimaryCtxRetain");
}

static bool has_driver(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_all);
  return driver.get && driver.set && driver.device && driver.retain;
}

void *rung_cuda_arrive(void) {
  CUcontext callers = NULL;
  if (has_driver()) (void)driver.get(&callers);
  return callers;
}

void rung_cuda_depart(void *callers) {
  CUcontext now = NULL;
  if (!has_driver() || (driver.get(&now) == CUDA_SUCCESS && now == callers)) return;
  (void)driver.set((CUcontext)callers);
}

/* A code of the driver is the runtime's too. */
static rung_status check(rung_error *error, CUresult code, const char *what, int device) {
  if (code == CUDA_SUCCESS) return RUNG_OK;
  return rung_cuda_failed(error, (cudaError_t)code, "%s CUDA device %d", what, device);
}

/* Retained for good, as the runtime does: what it has loaded into a context is lost with it. */
rung_status rung_cuda_find_context(rung_state *state, rung_error *error) {
  CUdevice device = 0;
  if (!has_driver())
    return rung_fail(error, RUNG_NO_DEVICE, "the CUDA driver lacks cuDevicePrimaryCtxRetain");
  RUNG_CHECK(check(error, driver.device(&device, state->device), "looking for", state->device));
  return check(error, driver.retain(&state->context, device), "opening", state->device);
}

rung_status rung_cuda_make_current(const rung_state *state, rung_error *error) {
  CUcontext now = NULL;
  if (driver.get(&now) == CUDA_SUCCESS && now == state->context) return RUNG_OK;
  return check(error, driver.set(state->context), "making current", state->device);
}

rung_status rung_cuda_enter(rung_state *state, rung_error *error) {
  RUNG_CHECK(rung_cuda_make_current(state, error));
  return state->visited == RUNG_CUDA_HOME || state->away ? RUNG_OK
                                                         : rung_cuda_come_home(state, error);
}
