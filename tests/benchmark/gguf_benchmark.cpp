// Speed and memory of a GGUF model: opening, a text with all attention maps, generated tokens.
//
//   gguf_benchmark MODEL.gguf [--benchmark_filter=Text]
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "core/checkpoint/checkpoint.h"
#include "core/experiment/run.h"
#include "core/model/generate.h"
#include "core/tensor/matrix_product.h"
#include "core/tensor/storage.h"
#include "tests/benchmark/continued_copy.h"
#include "tests/benchmark/resident_memory.h"

namespace attnscope {
namespace {

constexpr double kMegabyte = 1e6;

// Text that the model's tokenizer reads as exactly `count` tokens.
std::string text_of(const Checkpoint& checkpoint, std::size_t count) {
  const std::string words = "the old house stood by the sea and nobody knew why it was empty. ";
  std::string text;
  while (text.size() < 8 * count) text += words;
  text.resize(checkpoint.tokenizer->encode(text).at(count - 1).end);
  return text;
}

// Opens the model; its file is in the cache of the operating system.
void open_model(benchmark::State& state, const std::string& path) {
  for (auto _ : state) benchmark::DoNotOptimize(load_checkpoint(path));
}

// Text to trace with the attention of all heads, after a first run with cold caches. Peak resident
// memory of opening the model and all runs, and its parts: the file, attention maps, other numbers
// of the trace (logits, states, queries, keys, values), and the rest.
void text_to_trace(benchmark::State& state, const std::string& path) {
  release_cached_storage();
  peak_memory(true);
  ExperimentRun run(cpu_only());
  Session session;
  session.run.model = path;
  const auto checkpoint = run.checkpoint(session.run);
  session.run.text = text_of(*checkpoint, static_cast<std::size_t>(state.range(0)));
  const std::size_t live_bytes = storage_statistics().live_bytes;
  benchmark::DoNotOptimize(run.run(session.run));
  double maps = 0, recorded = 0;
  for (auto _ : state) {
    const std::shared_ptr<const Trace> trace = run.run(session.run);
    state.PauseTiming();
    recorded = static_cast<double>(storage_statistics().live_bytes - live_bytes);
    maps = 0;
    for (const AttentionTap& tap : trace->attention) {
      if (!tap.stores_map()) state.SkipWithError("a map is not stored");
      maps += static_cast<double>(tap.heads.size()) * static_cast<double>(tap.queries()) *
              static_cast<double>(tap.keys()) * sizeof(float);
    }
    state.ResumeTiming();
  }
  const double file = static_cast<double>(std::filesystem::file_size(path));
  const double peak = peak_memory(false);
  state.counters["peak_megabytes"] = peak / kMegabyte;
  state.counters["file_megabytes"] = file / kMegabyte;
  state.counters["maps_megabytes"] = maps / kMegabyte;
  state.counters["other_trace_megabytes"] = (recorded - maps) / kMegabyte;
  state.counters["rest_megabytes"] = (peak - file - recorded) / kMegabyte;
}

// Multiply-adds of a run of `tokens` tokens, each counted twice: products with all quantised
// matrices, of which the embedding also computes the logits, and causal attention.
double arithmetic(const Model& model, double tokens) {
  double weights = 0;
  for (const auto& [name, matrix] : model.narrow) {
    weights += static_cast<double>(matrix.rows) * static_cast<double>(matrix.columns);
  }
  const ModelConfig& config = model.config;
  const auto width = static_cast<double>(config.layers * config.heads * config.head_size);
  return 2 * tokens * weights + 2 * tokens * tokens * width;
}

// Seconds of a product of 2,048 rows with a square matrix of float32, per operation.
double seconds_of_product_operation() {
  constexpr Index kRows = 2048, kSize = 768;
  const Tensor a = Tensor::full({kRows, kSize}, 0.5F), b = Tensor::full({kSize, kSize}, 0.25F);
  Tensor c({kRows, kSize});
  double best = std::numeric_limits<double>::infinity();
  for (int n = 0; n < 20; ++n) {
    const auto start = std::chrono::steady_clock::now();
    multiply_matrices({a.data(), kRows, kSize, kSize}, {b.data(), kSize, kSize, kSize, true},
                      c.data(), kSize, false);
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best / (2.0 * kRows * kSize * kSize);
}

// A text whose maps are computed on demand. of_product: the run's rate of arithmetic relative to
// that of a product of matrices.
void long_text(benchmark::State& state, const std::string& path) {
  release_cached_storage();
  peak_memory(true);
  ExperimentRun run(cpu_only());
  Session session;
  session.run.model = path;
  const auto checkpoint = run.checkpoint(session.run);
  session.run.text = text_of(*checkpoint, static_cast<std::size_t>(state.range(0)));
  double seconds = 0, runs = 0;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(run.run(session.run));
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ++runs;
  }
  state.counters["peak_megabytes"] = peak_memory(false) / kMegabyte;
  state.counters["of_product"] =
      arithmetic(checkpoint->model, static_cast<double>(state.range(0))) * runs *
      seconds_of_product_operation() / seconds;
}

// One token after `range` others, with cached keys and values.
void next_token(benchmark::State& state, const std::string& path) {
  const Checkpoint checkpoint = load_checkpoint(path);
  Generator generator(checkpoint.model);
  generator.step(std::vector<std::int32_t>(static_cast<std::size_t>(state.range(0) - 1), 7));
  std::optional<Generator> copy;
  for (auto _ : state) {
    state.PauseTiming();
    copy.emplace(continued_copy(generator));
    state.ResumeTiming();
    benchmark::DoNotOptimize(copy->step({7}));
  }
}

void add_benchmarks(const std::string& path) {
  const auto add = [&](const char* name, void (*function)(benchmark::State&, const std::string&)) {
    return benchmark::RegisterBenchmark(name,
                                        [=](benchmark::State& state) { function(state, path); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  };
  add("Open", open_model);
  add("Text", text_to_trace)->Arg(64)->Arg(512);
  add("LongText", long_text)->Arg(4000)->Arg(8000)->Iterations(1);
  add("NextToken", next_token)->Arg(63)->Arg(255);
}

}  // namespace
}  // namespace attnscope

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc != 2) {
    std::fputs("usage: gguf_benchmark MODEL.gguf [--benchmark_...]\n", stderr);
    return 2;
  }
  attnscope::add_benchmarks(argv[1]);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
