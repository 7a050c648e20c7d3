// How fast attention is on the CPU, beside the matrix product of OpenBLAS in the same run.
//
// `flops` counts multiplications and additions of the matrix products alone (4 d per allowed pair
// forward, 10 d backward); `of_sgemm` is that rate over the one that OpenBLAS reaches in the
// product of two 2048 x 2048 matrices, the best of several, with as many threads. On processors
// with AVX-512 run with OPENBLAS_CORETYPE=SkylakeX: older packages choose less.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "core/attention/attention_operation.h"
#include "core/attention/tile.h"
#include "core/autodiff/operations_reduce.h"
#include "core/base/parallel.h"
#include "tests/support/compare.h"

#ifdef ATTNSCOPE_OPENBLAS
#include <cblas.h>
#endif

namespace attnscope {
namespace {

using benchmark::Counter;
using testing::random_tensor;

#ifdef ATTNSCOPE_OPENBLAS
// Floating-point operations per second.
double sgemm_rate() {
  static const double best = [] {
    constexpr int n = 2048;
    openblas_set_num_threads(thread_count());
    const Tensor a = random_tensor({n, n}, 1), b = random_tensor({n, n}, 2);
    Tensor c({n, n});
    double rate = 0;
    for (int round = 0; round < 8; ++round) {
      const auto begin = std::chrono::steady_clock::now();
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, b.data(), n,
                  0, c.data(), n);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      rate = std::max(rate, 2.0 * n * n * n / seconds.count());
    }
    return rate;
  }();
  return best;
}
#endif

void report_flops(benchmark::State& state, double flops) {
  state.counters["flops"] =
      Counter(flops, Counter::kIsIterationInvariantRate, Counter::OneK::kIs1000);
#ifdef ATTNSCOPE_OPENBLAS
  state.counters["of_sgemm"] = Counter(flops / sgemm_rate(), Counter::kIsIterationInvariantRate);
#endif
}

Part make_part(Index batch, Index heads, Index length, Index size, Pattern pattern,
               bool parameters = false) {
  Part part;
  part.batch = batch;
  part.heads = heads;
  const auto var = [&](std::uint64_t seed) {
    const Tensor numbers = random_tensor({batch * heads, length, size}, seed);
    return parameters ? Var::parameter(numbers) : Var(numbers);
  };
  part.q = var(1);
  part.k = var(2);
  part.v = var(3);
  part.scale = 0.125F;
  part.pattern = std::make_shared<const Pattern>(std::move(pattern));
  return part;
}

Pattern band(Index length, Index window) {
  PatternBuilder builder(1, length, length, {"window"});
  for (Index i = 0; i < length; ++i) {
    builder.add(0, i - window, i + window + 1);
    builder.next_row();
  }
  return builder.finish();
}

double pairs_of(const Part& part) {
  return static_cast<double>(part.batch * part.pattern->pair_count(part.heads));
}

void run(benchmark::State& state, const Part& part, const Wanted& wanted) {
  benchmark::DoNotOptimize(cpu_backend().run(part, wanted, {}));  // fills the cache of blocks
  for (auto _ : state) benchmark::DoNotOptimize(cpu_backend().run(part, wanted, {}));
  report_flops(state, 4 * pairs_of(part) * static_cast<double>(part.q.dim(2)));
  state.counters["pairs"] =
      Counter(pairs_of(part), Counter::kIsIterationInvariantRate, Counter::OneK::kIs1000);
}

void DenseWithProbabilities(benchmark::State& state) {
  const Index length = state.range(0);
  Wanted wanted;
  wanted.attention = true;
  run(state, make_part(1, 8, length, 64, Pattern::all(length, length)), wanted);
}
BENCHMARK(DenseWithProbabilities)->RangeMultiplier(2)->Range(1024, 4096)->UseRealTime();

void DenseStreamed(benchmark::State& state) {
  const Index length = state.range(0);
  run(state, make_part(1, 8, length, 64, Pattern::all(length, length)), {});
}
BENCHMARK(DenseStreamed)->RangeMultiplier(2)->Range(1024, 4096)->UseRealTime();

// Time per pair must not grow with the length, nor be much more than the dense one's.
void Band(benchmark::State& state) {
  const Index length = state.range(0);
  run(state, make_part(1, 8, length, 64, band(length, 64)), {});
}
BENCHMARK(Band)->Arg(2048)->Arg(65536)->UseRealTime();

void LogSumExp(benchmark::State& state) {
  const Index length = state.range(0);
  Wanted wanted;
  wanted.output = false;
  wanted.log_sum_exp = true;
  const Part part = make_part(1, 1, length, 64, Pattern::all(length, length));
  for (auto _ : state) benchmark::DoNotOptimize(cpu_backend().run(part, wanted, {}));
  report_flops(state, 2 * pairs_of(part) * 64);
}
BENCHMARK(LogSumExp)->Arg(16384)->UseRealTime();

void Tile(benchmark::State& state) {
  constexpr Index length = 16384;
  const Index side = state.range(0);
  Wanted wanted;
  wanted.output = false;
  wanted.log_sum_exp = true;
  const Part part = make_part(1, 1, length, 64, band(length, 16));
  const Tensor sums = cpu_backend().run(part, wanted, {}).log_sum_exp;
  for (auto _ : state) {
    benchmark::DoNotOptimize(attention_tile(part, sums, 0, 5000, 5000, side, side));
  }
  report_flops(state, 2.0 * static_cast<double>(side * side) * 64);
}
BENCHMARK(Tile)->Arg(1024)->UseRealTime();

// One step of a small decoder's attention: batch 16, 8 heads, causal.
void Training(benchmark::State& state) {
  const Index length = state.range(0), size = state.range(1);
  Part part = make_part(16, 8, length, size, Pattern::causal(length, length), true);
  for (auto _ : state) {
    for (Var* var : {&part.q, &part.k, &part.v}) var->clear_gradient();
    backward(sum(attention(part, cpu_backend(), {}, nullptr, {})));
  }
  report_flops(state, 14 * pairs_of(part) * static_cast<double>(size));
}
BENCHMARK(Training)->Args({64, 32})->Args({256, 32})->Args({256, 64})->UseRealTime();

void TrainingForward(benchmark::State& state) {
  const Index length = state.range(0), size = state.range(1);
  run(state, make_part(16, 8, length, size, Pattern::causal(length, length)), {});
}
BENCHMARK(TrainingForward)->Args({64, 32})->Args({256, 32})->Args({256, 64})->UseRealTime();

}  // namespace
}  // namespace attnscope

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::AddCustomContext("backend", attnscope::cpu_backend().name());
#ifdef ATTNSCOPE_OPENBLAS
  benchmark::AddCustomContext("sgemm", std::to_string(attnscope::sgemm_rate() / 1e9) +
                                           " Gflop/s, " + openblas_get_corename() + " kernels");
#endif
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
