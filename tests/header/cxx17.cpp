// The public header as C++17: C linkage, and no construct that C++ lacks.
#include <rung/ranks.h>
#include <rung/rung.h>

#include <rung/lab.h>
#include <rung/nccl.h>  // by the stand-in for NCCL

#include <cstdint>
#include <cstdio>
#include <cstring>

static_assert(RUNG_OK == 0 && RUNG_RANKS_FAILED == 15, "status values are pinned");

// 1 + 2 + 3 + 4, by way of what a library of DLPack 1 hands over.
static bool sums() {
  const double data[] = {1, 2, 3, 4};
  const std::int64_t count = 4;
  double sum = 0;
  rung_context *context = nullptr;
  rung_options options{};
  options.device = "cpu";
  rung_managed managed{};
  managed.version.major = 1;
  managed.dl_tensor = rung_array_f64(data, &count);
  DLTensor *in = nullptr, out = rung_number_f64(&sum);
  rung_status status = rung_open(&context, &options);
  if (!status) status = rung_managed_tensor(context, &managed, 0, &in);
  if (!status) status = rung_reduce(context, RUNG_SUM, in, RUNG_ALL, &out, nullptr);
  if (status) std::printf("%s\n", rung_last_error(context));
  rung_close(context);
  return !status && sum == 10;
}

// A kernel for the laboratory.
static const char *nothing(const rung_lab_job *job) {
  return rung_lab_is(job, "op", "sum") ? nullptr : "it makes sums only";
}
RUNG_LAB_KERNELS = {{sizeof(rung_lab_kernel), "scan", "none", nullptr, nullptr, nullptr,
                     RUNG_LAB_SAME_BITS, nullptr, nothing, nullptr, nullptr},
                    {}};

// One rank of NCCL.
static bool of_nccl() {
  ncclComm_t comm;
  rung_nccl nccl;
  if (ncclCommInitAll(&comm, 1, nullptr) != ncclSuccess) return false;
  const bool opened = rung_nccl_open(&nccl, comm, 0) == ncclSuccess && nccl.ranks.count == 1;
  return opened && rung_nccl_close(&nccl) == ncclSuccess && ncclCommDestroy(comm) == ncclSuccess;
}

int main() {
  rung_options options{};
  rung_call call{};
  if (std::strcmp(rung_version(), RUNG_VERSION) != 0) {
    std::printf("the library says %s, its header %s\n", rung_version(), RUNG_VERSION);
    return 1;
  }
  if (rung_status_text(RUNG_OK) == nullptr || options.threads != 0 || call.used) return 1;
  if (!sums() || !of_nccl() || rung_kernels[0].launch == nullptr) return 1;
  std::printf("%s\n", rung_version());
  return 0;
}
