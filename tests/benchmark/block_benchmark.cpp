// Products of one row with quantised matrices in the cache, on one thread.
//
//   block_benchmark [--benchmark_filter=Q4_1]
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "core/base/parallel.h"
#include "core/tensor/narrow_matrix.h"
#include "tests/support/compare.h"
#include "tests/support/random_blocks.h"

namespace attnscope {
namespace {

// [1, 1536] x [1536, 64]; the matrix has 32 to 112 KB.
void multiply_row(benchmark::State& state, DType dtype) {
  constexpr Index kInner = 1536, kColumns = 64;
  set_thread_count(1);
  const StoredTensor blocks = testing::random_blocks(dtype, {kColumns, kInner}, 1);
  const NarrowMatrix matrix{dtype, kInner, kColumns, kInner, 0, true, blocks.bytes, blocks.owner};
  const Tensor row = testing::random_tensor({1, kInner}, 2);
  Tensor product({1, kColumns});
  for (auto _ : state) {
    multiply_matrices({row.data(), 1, kInner, kInner}, matrix, product.data(), kColumns, false);
    benchmark::DoNotOptimize(product.data());
  }
  const auto per_item = [&](Index items) {
    return benchmark::Counter(
        static_cast<double>(items) * 1e-9,
        benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  };
  state.counters["ns_per_number"] = per_item(kInner * kColumns);
  state.counters["ns_per_byte"] = per_item(byte_count(dtype, kInner * kColumns));
}

const bool added = [] {
  for (const DType dtype : {DType::Q4_0, DType::Q4_1, DType::Q5_0, DType::Q5_1, DType::Q8_0,
                            DType::Q2_K, DType::Q3_K, DType::Q4_K, DType::Q5_K, DType::Q6_K,
                            DType::Q8_K, DType::IQ4_NL, DType::IQ4_XS, DType::MXFP4}) {
    const std::string name(to_string(dtype));
    benchmark::RegisterBenchmark(name.c_str(),
                                 [dtype](benchmark::State& state) { multiply_row(state, dtype); });
  }
  return true;
}();

}  // namespace
}  // namespace attnscope

BENCHMARK_MAIN();
