#include "files/seen.h"

#include <stdatomic.h>

static _Atomic int64_t read_so_far, all_bytes = -1;

void seen_begin(int64_t bytes) {
  atomic_store(&all_bytes, bytes);
  atomic_store(&read_so_far, 0);
}

void seen_more(int64_t bytes) {
  atomic_fetch_add_explicit(&read_so_far, bytes, memory_order_relaxed);
}

int64_t seen_bytes(int64_t *all) {
  *all = atomic_load(&all_bytes);
  return atomic_load(&read_so_far);
}
