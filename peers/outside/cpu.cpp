/* A second opinion on the peers of `rung bench --peers` on a CPU: std::reduce and
 * std::inclusive_scan over TBB, with all processors, timed by a plain loop that shares no line with
 * the laboratory. Prints a row a job, as beside.py reads it. Built with the flags of those peers:
 * without -fopenmp-simd the algorithms are not vectorised.
 *
 *   g++ -std=c++17 -O3 -fopenmp-simd -march=native cpu.cpp -o cpu -ltbb && ./cpu > outside.csv */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <execution>
#include <numeric>
#include <vector>

enum { SAMPLES = 31 };
static volatile float kept; /* what was computed, so that it is */

/* The caches are read full of something else before every sample, as the laboratory does. */
static std::vector<float> other;

template <typename Call>
static void time(const char *operation, size_t n, Call call) {
  std::vector<double> ms(SAMPLES);
  for (int i = -2; i < SAMPLES; i++) {
    kept = std::reduce(std::execution::par_unseq, other.begin(), other.end());
    const auto begin = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (i >= 0) ms[i] = took.count();
  }
  std::sort(ms.begin(), ms.end());
  printf("tbb,%s,n=%zu op=sum type=f32,cold,%.6g\n", operation, n, ms[SAMPLES / 2]);
  fflush(stdout);
}

int main() {
  printf("peer,operation,job,caches,ms\n");
  other.assign((size_t)128 << 20, 1);
  for (int power = 20; power <= 28; power += 4) {
    const size_t n = (size_t)1 << power;
    std::vector<float> in(n), out(n);
    for (size_t i = 0; i < n; i++) in[i] = (float)(i * 2654435761u % 1000) - 499.5f;
    time("reduce", n, [&] { kept = std::reduce(std::execution::par_unseq, in.begin(), in.end()); });
    time("scan", n, [&] {
      std::inclusive_scan(std::execution::par_unseq, in.begin(), in.end(), out.begin());
      kept = out.back();
    });
  }
  return 0;
}
