// Patterns of few keys a row at a length where that matters, and their time beside a dense one's.
#pragma once

#include <benchmark/benchmark.h>

#include <ctime>
#include <functional>
#include <vector>

#include "core/part/part.h"

namespace attnscope {

Part make_part(Index batch, Index heads, Index length, Index size, Pattern pattern,
               bool parameters = false);
double pairs_of(const Part& part);

Pattern band(Index length, Index window);      // `window` keys on either side
Pattern strided(Index length, Index step);     // keys `step` apart: rows without neighbours
Pattern scattered(Index length, Index count);  // `count` keys anywhere

// What variants make of 8,192 tokens, 8 heads of 64.
struct Sparse {
  const char* name;
  std::function<Part()> make;
};
const std::vector<Sparse>& sparse_cases();

// Of the clock and of the processors.
struct Seconds {
  double real = 1e9, cpu = 1e9;
  void least(const Seconds& other);
};
Seconds seconds_of(const std::function<void()>& work);
double cpu_seconds(clockid_t clock);

// `seconds` of a part's work, and of that of a dense part of `dense_length` tokens, whose turn it
// is after each: counter `of_dense` is the time per allowed pair over that of a dense one, the best
// of each; `of_dense_cpu` compares processor time, which holds on a machine with other work, too.
void compare_with_dense(benchmark::State& state, const Part& part, Index dense_length,
                        const std::function<Seconds(const Part&)>& seconds);

}  // namespace attnscope
