// Speed of the compute shaders, relative to the CPU in the same run.
//
// `flops` counts multiplications and additions of the matrix products only (4 d per allowed pair);
// `of_cpu` is this rate divided by the CPU backend's rate for the same part. Heat maps: `cells`
// drawn per second, for the whole map pooled into 512 x 512 pixels. Tiles: `of_cpu` is the CPU's
// time divided by the GPU's. Sparse patterns are compared with dense attention on the GPU.
#include <benchmark/benchmark.h>
#include <epoxy/gl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>

#include "app/gpu/compute_backend.h"
#include "app/gpu/heat_map_painter.h"
#include "core/base/error.h"
#include "tests/benchmark/sparse.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace {

using benchmark::Counter;
using testing::random_tensor;

constexpr Index kHeads = 8, kHeadSize = 64;

ComputeBackend& gpu() {
  static const auto backend = std::make_unique<ComputeBackend>(make_headless_context());
  return *backend;
}

double min_cpu_seconds(const Part& part, const ResultRequest& wanted) {
  double min_seconds = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 3; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(cpu_backend().run(part, wanted));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    min_seconds = std::min(min_seconds, seconds.count());
  }
  return min_seconds;
}

enum class Shaders { Registers, SharedMemory };  // see shaders/attention.glsl

void run(benchmark::State& state, Pattern (*pattern)(Index), ResultRequest wanted,
         Shaders shaders = Shaders::Registers) {
  const Index length = state.range(0);
  gpu().use_shared_memory(shaders == Shaders::SharedMemory);
  const Part part = make_part(1, kHeads, length, kHeadSize, pattern(length));
  const std::string reason = gpu().refusal(part, wanted);
  if (!reason.empty()) {
    state.SkipWithError(reason.c_str());
    return;
  }
  gpu().run(part, wanted);  // compiles the shaders
  for (auto _ : state) benchmark::DoNotOptimize(gpu().run(part, wanted));
  const double flops = 4.0 * static_cast<double>(part.pattern->pair_count(kHeads) * kHeadSize);
  wanted.attention = wanted.device_attention;
  const double cpu_rate = flops / min_cpu_seconds(part, wanted);
  state.counters["flops"] =
      Counter(flops, Counter::kIsIterationInvariantRate, Counter::OneK::kIs1000);
  state.counters["of_cpu"] = Counter(flops / cpu_rate, Counter::kIsIterationInvariantRate);
}

Pattern all(Index length) {
  return Pattern::all(length, length);
}
Pattern causal(Index length) {
  return Pattern::causal(length, length);
}
Pattern window_band(Index length) {
  return band(length, 64);
}

constexpr ResultRequest kOutput{.output = true};
constexpr ResultRequest kLogSumExp{.output = false, .log_sum_exp = true};
constexpr ResultRequest kDeviceAttention{.output = true, .device_attention = true};

BENCHMARK_CAPTURE(run, dense, all, kOutput)
    ->RangeMultiplier(4)
    ->Range(256, 4096)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(run, dense_shared_memory, all, kOutput, Shaders::SharedMemory)
    ->RangeMultiplier(4)
    ->Range(256, 4096)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(run, log_sum_exp, all, kLogSumExp)
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(run, dense_kept_on_gpu, all, kDeviceAttention)
    ->RangeMultiplier(4)
    ->Range(256, 4096)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(run, causal, causal, kOutput)
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(run, band, window_band, kOutput)
    ->Arg(2048)
    ->Arg(16384)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
// Patterns of 8,192 tokens relative to dense attention with the same shaders, see sparse.h.
void sparse(benchmark::State& state, const Sparse& sparse, Shaders shaders) {
  gpu().use_shared_memory(shaders == Shaders::SharedMemory);
  compare_with_dense(state, sparse.make(), 1024, [](const Part& part) {
    return seconds_of([&] { benchmark::DoNotOptimize(gpu().run(part, kOutput)); });
  });
}

void register_sparse() {
  for (const Sparse& pattern_case : sparse_cases()) {
    const auto add = [&](const char* name, Shaders shaders) {
      benchmark::RegisterBenchmark((std::string(name) + "/" + pattern_case.name).c_str(), sparse,
                                   pattern_case, shaders)
          ->Unit(benchmark::kMillisecond)
          ->UseManualTime()
          ->Iterations(3);
    };
    add("sparse", Shaders::Registers);
    add("sparse_shared_memory", Shaders::SharedMemory);
  }
}

// Computes 512 x 512 cells of a map that is not stored; each cell pools `step` x `step` pairs.
void tile(benchmark::State& state) {
  constexpr Index length = 4096, cells = 512;
  const Part part = make_part(1, kHeads, length, kHeadSize, causal(length));
  const TileRequest request{.head = 3,
                            .row = length - cells * state.range(0),
                            .height = cells * state.range(0),
                            .width = cells * state.range(0),
                            .step = state.range(0)};
  const ResultRequest wanted{.output = false, .tiles = true};
  const auto gpu_tiles = gpu().run(part, wanted).tiles;
  const auto cpu_tiles = cpu_backend().run(part, wanted).tiles;
  gpu_tiles->tile(request);  // compiles the shader
  for (auto _ : state) benchmark::DoNotOptimize(gpu_tiles->tile(request));
  double min_seconds = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 3; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(cpu_tiles->tile(request));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    min_seconds = std::min(min_seconds, seconds.count());
  }
  state.counters["of_cpu"] = Counter(min_seconds, Counter::kIsIterationInvariantRate);
}
BENCHMARK(tile)->ArgName("step")->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond)->UseRealTime();

// Draws a map whose visible part changes in every frame, so that only its values are cached.
void heat_map(benchmark::State& state) {
  constexpr int kPixels = 512;
  const auto context = make_headless_context();
  context->make_current();
  GLuint framebuffer = 0, texture = 0;
  glGenFramebuffers(1, &framebuffer);
  glGenTextures(1, &texture);
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, kPixels, kPixels);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
  {
    HeatMapPainter painter(false);
    const Index cells = state.range(0);
    HeatMap map;
    map.values = random_tensor({cells, cells}, 1);
    map.width = static_cast<double>(cells);
    const PixelBox box{0, 0, kPixels, kPixels};
    double shift = 0;
    for (auto _ : state) {
      shift += 1e-3;
      map.height = static_cast<double>(cells) - shift;
      painter.draw(map, box, box, kPixels);
      glFinish();
      painter.end_frame();
    }
    state.counters["cells"] =
        Counter(static_cast<double>(cells * cells), Counter::kIsIterationInvariantRate);
  }
  glDeleteFramebuffers(1, &framebuffer);
  glDeleteTextures(1, &texture);
  context->release();
}
BENCHMARK(heat_map)
    ->RangeMultiplier(4)
    ->Range(64, 4096)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace attnscope

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return EXIT_FAILURE;
  try {
    std::printf("GPU: %s\nCPU: %s\n", attnscope::gpu().name().c_str(),
                attnscope::cpu_backend().name().c_str());
    attnscope::register_sparse();
    benchmark::RunSpecifiedBenchmarks();
  } catch (const attnscope::WorkError& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
