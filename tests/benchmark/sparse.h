// Sparse patterns with few keys per row at long lengths, and their time relative to dense
// attention.
#pragma once

#include <benchmark/benchmark.h>

#include <ctime>
#include <functional>
#include <vector>

#include "core/part/part.h"

namespace attnscope {

Part make_part(Index batch, Index heads, Index length, Index size, Pattern pattern,
               bool needs_gradients = false);
double pairs_of(const Part& part);

Pattern band(Index length, Index window);      // `window` keys on each side
Pattern strided(Index length, Index step);     // keys `step` apart: no contiguous keys
Pattern scattered(Index length, Index count);  // `count` random keys per row

// Parts of variants for 8,192 tokens and 8 heads of size 64.
struct Sparse {
  const char* name;
  std::function<Part()> make;
};
const std::vector<Sparse>& sparse_cases();

// Wall-clock and CPU time.
struct Seconds {
  double real = 1e9, cpu = 1e9;
  void keep_minimum(const Seconds& other);
};
Seconds seconds_of(const std::function<void()>& work);
double cpu_seconds(clockid_t clock);

// Alternately measures `seconds` of `part` and of a dense part of `dense_length` tokens.
// Counter `of_dense`: time per allowed pair divided by the dense part's, each in its fastest run;
// `of_dense_cpu` compares CPU time, which is valid on a machine with other load.
void compare_with_dense(benchmark::State& state, const Part& part, Index dense_length,
                        const std::function<Seconds(const Part&)>& seconds);

}  // namespace attnscope
