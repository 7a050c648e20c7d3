// Speed of attention on the CPU, relative to the matrix product of OpenBLAS in the same run.
//
// `Gflops` counts multiplications and additions of the matrix products only (4 d per allowed pair
// forward, 10 d backward). `of_sgemm` is that rate divided by OpenBLAS's rate for the product of
// two 2048 x 2048 matrices, in the fastest of several runs, with the same number of threads.
// `of_sgemm_cpu` compares the rates per second of CPU time with one OpenBLAS thread. This ratio is
// valid on a machine with other load. On CPUs with AVX-512 run with OPENBLAS_CORETYPE=SkylakeX:
// older packages choose slower kernels.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "core/attention/attention_operation.h"
#include "core/autodiff/operations_reduce.h"
#include "core/base/parallel.h"
#include "tests/benchmark/sparse.h"
#include "tests/support/compare.h"

#ifdef ATTNSCOPE_OPENBLAS
#include <cblas.h>
#endif

namespace attnscope {
namespace {

using benchmark::Counter;
using testing::random_tensor;

#ifdef ATTNSCOPE_OPENBLAS
double steady_seconds() {
  const auto elapsed = std::chrono::steady_clock::steady_seconds().time_since_epoch();
  return std::chrono::duration<double>(elapsed).count();
}

struct SgemmRates {  // floating-point operations per second
  double all_threads = 0;
  double cpu_second = 0;  // one thread, per second of CPU time
};

const SgemmRates& sgemm_rates() {
  static const SgemmRates best = [] {
    constexpr int n = 2048;
    const Tensor a = random_tensor({n, n}, 1), b = random_tensor({n, n}, 2);
    Tensor c({n, n});
    const auto multiply = [&] {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, b.data(), n,
                  0, c.data(), n);
    };
    constexpr double flops = 2.0 * n * n * n;
    SgemmRates rates;
    for (int round = 0; round < 8; ++round) {
      openblas_set_num_threads(thread_count());
      const double begin = steady_seconds();
      multiply();
      rates.all_threads = std::max(rates.all_threads, flops / (steady_seconds() - begin));
      openblas_set_num_threads(1);
      const double cpu = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
      multiply();
      rates.cpu_second =
          std::max(rates.cpu_second, flops / (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu));
    }
    return rates;
  }();
  return best;
}
#endif

// Times `work` of `flops` operations for `pairs` pairs, after a warm-up run.
template <class Work>
void measure(benchmark::State& state, double pairs, double flops, const Work& work) {
  work();
  const double cpu_begin = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
  for (auto _ : state) work();
  const double cpu = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin;
  const auto runs = static_cast<double>(state.iterations());
  const auto rate = [&](double amount) {
    return Counter(amount, Counter::kIsIterationInvariantRate);
  };
  state.counters["pair_ns"] =
      Counter(pairs * 1e-9, Counter::kIsIterationInvariantRate | Counter::kInvert);
  state.counters["pair_cpu_ns"] = cpu / runs / pairs * 1e9;
  state.counters["Gflops"] = rate(flops * 1e-9);
#ifdef ATTNSCOPE_OPENBLAS
  state.counters["of_sgemm"] = rate(flops / sgemm_rates().all_threads);
  state.counters["of_sgemm_cpu"] = flops * runs / cpu / sgemm_rates().cpu_second;
#endif
}

void run(benchmark::State& state, const Part& part, const ResultRequest& wanted) {
  measure(state, pairs_of(part), 4 * pairs_of(part) * static_cast<double>(part.q.dim(2)),
          [&] { benchmark::DoNotOptimize(cpu_backend().run(part, wanted)); });
}

void DenseWithProbabilities(benchmark::State& state) {
  const Index length = state.range(0);
  ResultRequest wanted;
  wanted.attention = true;
  run(state, make_part(1, 8, length, 64, Pattern::all(length, length)), wanted);
}
BENCHMARK(DenseWithProbabilities)->RangeMultiplier(2)->Range(1024, 4096)->UseRealTime();

void DenseStreamed(benchmark::State& state) {
  const Index length = state.range(0);
  run(state, make_part(1, 8, length, 64, Pattern::all(length, length)), {});
}
BENCHMARK(DenseStreamed)->RangeMultiplier(2)->Range(1024, 4096)->UseRealTime();

// The time per pair is independent of the length and close to that of dense attention.
void Band(benchmark::State& state) {
  const Index length = state.range(0);
  run(state, make_part(1, 8, length, 64, band(length, 64)), {});
}
BENCHMARK(Band)->Arg(2048)->Arg(4096)->Arg(65536)->UseRealTime();

void Strided(benchmark::State& state) {
  const Index length = state.range(0);
  run(state, make_part(1, 8, length, 64, strided(length, 64)), {});
}
BENCHMARK(Strided)->Arg(2048)->Arg(8192)->UseRealTime();

void Scattered(benchmark::State& state) {
  const Index length = state.range(0);
  run(state, make_part(1, 8, length, 64, scattered(length, 64)), {});
}
BENCHMARK(Scattered)->Arg(2048)->Arg(16384)->UseRealTime();

void SparseForward(benchmark::State& state, const Sparse& sparse) {
  compare_with_dense(state, sparse.make(), 2048, [](const Part& part) {
    return seconds_of([&] { benchmark::DoNotOptimize(cpu_backend().run(part, {})); });
  });
}

void SparseBackward(benchmark::State& state, const Sparse& sparse) {
  Part part = sparse.make();
  for (Var* var : {&part.q, &part.k, &part.v}) *var = Var::parameter(var->value());
  compare_with_dense(state, part, 2048, [](const Part& part) {
    for (Var var : {part.q, part.k, part.v}) var.clear_gradient();
    const Var total = sum(attention(part, cpu_backend(), {}, nullptr));
    return seconds_of([&] { backward(total); });
  });
}

void register_sparse() {
  for (const Sparse& sparse : sparse_cases()) {
    const auto add = [&](const char* direction, auto* function) {
      benchmark::RegisterBenchmark((std::string(direction) + "/" + sparse.name).c_str(), function,
                                   sparse)
          ->Unit(benchmark::kMillisecond)
          ->UseManualTime();
    };
    add("SparseForward", SparseForward);
    add("SparseBackward", SparseBackward);
  }
}

void LogSumExp(benchmark::State& state) {
  const Index length = state.range(0);
  ResultRequest wanted;
  wanted.output = false;
  wanted.log_sum_exp = true;
  const Part part = make_part(1, 1, length, 64, Pattern::all(length, length));
  measure(state, pairs_of(part), 2 * pairs_of(part) * 64,
          [&] { benchmark::DoNotOptimize(cpu_backend().run(part, wanted)); });
}
BENCHMARK(LogSumExp)->Arg(16384)->Unit(benchmark::kMillisecond)->UseRealTime();

// Computes 1024 x 1024 cells of a map that is not stored; each cell pools `step` x `step` pairs.
void Tile(benchmark::State& state) {
  constexpr Index length = 16384, cells = 1024;
  const Index step = state.range(0);
  ResultRequest wanted;
  wanted.output = false;
  wanted.tiles = true;
  const Part part = make_part(1, 1, length, 64, Pattern::all(length, length));
  const auto tiles = cpu_backend().run(part, wanted).tiles;
  TileRequest request{.row = 5000, .column = 4000, .step = step};
  request.height = request.width = cells * step;
  request.pooling = state.range(1) == 0 ? Pooling::Max : Pooling::Mean;
  const auto pairs = static_cast<double>(request.height * request.width);
  measure(state, pairs, 2 * pairs * 64, [&] { benchmark::DoNotOptimize(tiles->tile(request)); });
}
BENCHMARK(Tile)
    ->ArgNames({"step", "mean"})
    ->Args({1, 0})
    ->Args({4, 0})
    ->Args({4, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// One training step of a small decoder's attention: batch of 16, 8 heads, causal.
void Training(benchmark::State& state) {
  const Index length = state.range(0), size = state.range(1);
  Part part = make_part(16, 8, length, size, Pattern::causal(length, length), true);
  measure(state, pairs_of(part), 14 * pairs_of(part) * static_cast<double>(size), [&] {
    for (Var* var : {&part.q, &part.k, &part.v}) var->clear_gradient();
    backward(sum(attention(part, cpu_backend(), {}, nullptr)));
  });
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
  benchmark::AddCustomContext("sgemm", std::to_string(attnscope::sgemm_rates().all_threads / 1e9) +
                                           " Gflop/s, " + openblas_get_corename() + " kernels");
#endif
  attnscope::register_sparse();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
