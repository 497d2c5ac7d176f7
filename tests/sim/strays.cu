/* One element too many, of every kind of memory: for AddressSanitizer, never run on a GPU. */
#include "backend/gpu.h"
#include "sim/strays.h"

#define OUT ((int *)task->arrays[1].data)
#define LINE_AFTER(name, lines) const int RUNG_ENTRY(name##_line) = __LINE__ + (lines)
#define ENTRY(name, kernel, shared, size)                          \
  extern "C" rung_status RUNG_ENTRY(name)(const rung_task *task) { \
    RUNG_LAUNCH(task, kernel, 2, 32, shared, OUT, size);           \
    return RUNG_OK;                                                \
  }

LINE_AFTER(stray_global, 2);
static __global__ void global(int *out, int size) {
  out[size + (int)(blockIdx.x * 32 + threadIdx.x) - 63] = 1;
}
ENTRY(stray_global, global, 0, (int)(task->arrays[1].count / 4))

LINE_AFTER(stray_dynamic, 3);
static __global__ void dynamic(int *out, int size) {
  RUNG_DYNAMIC_SHARED(int, row);
  row[(int)threadIdx.x + size - 31] = 1;
  out[threadIdx.x] = row[0];
}
ENTRY(stray_dynamic, dynamic, 32 * sizeof(int), 32)

LINE_AFTER(stray_static, 4);
static __global__ void fixed(int *out, int size) {
  __shared__ int row[32];
  __shared__ int next[32];
  row[(int)threadIdx.x + size - 31] = 1;
  next[threadIdx.x] = 1;
  out[threadIdx.x] = row[0] + next[0];
}
ENTRY(stray_static, fixed, 0, 32)

LINE_AFTER(stray_local, 4);
static __global__ void local_array(int *out, int size) {
  int row[32];
  for (int k = 0; k < size; k++) row[k] = k;
  row[(int)threadIdx.x + size - 31] = 1;
  out[threadIdx.x] = row[threadIdx.x / 2];
}
ENTRY(stray_local, local_array, 0, 32)
