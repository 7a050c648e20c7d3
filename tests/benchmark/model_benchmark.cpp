// Models: from a text to a trace for every bundled one, tokens of a continuation, a checkpoint of
// GPT-2's size, and steps of training at the sizes of the presets.
//
//   model_benchmark --benchmark_filter=TextToTrace
#include <benchmark/benchmark.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "core/autodiff/operations_reduce.h"
#include "core/base/file.h"
#include "core/base/home.h"
#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/checkpoint.h"
#include "core/experiment/runner.h"
#include "core/model/generate.h"
#include "core/tensor/safetensors.h"
#include "core/tensor/storage.h"
#include "core/training/optimiser.h"
#include "core/training/train.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace {

TrainingPlan preset(const std::string& name) {
  const auto path = home_folder() / "assets" / "presets" / (name + ".json");
  return training_plan_from_json(parse_json(read_file(path), name), name);
}

// Latency of a picture: the model is in memory, the text is new.
void text_to_trace(benchmark::State& state, const std::string& model) {
  ExperimentRun run(cpu_only());
  Experiment experiment;
  experiment.model = model;
  const Checkpoint checkpoint = load_checkpoint(model);
  // Text of about that many tokens, cut to as many.
  const std::string words = "the old house stood by the sea and nobody knew why it was empty. ";
  while (experiment.text.size() < 8192) experiment.text += words;
  const auto tokens = checkpoint.tokenizer->encode(experiment.text);
  const auto count = static_cast<std::size_t>(state.range(0));
  if (static_cast<Index>(count) > checkpoint.model.config.context || tokens.size() < count) {
    state.SkipWithError("longer than the model's context");
    return;
  }
  experiment.text.resize(tokens[count - 1].end);
  for (auto _ : state) benchmark::DoNotOptimize(run.run(experiment, {}));
}

// A token of a continuation after `range` others, with and without cached keys and values.
void next_token(benchmark::State& state, bool cached) {
  const Checkpoint checkpoint = load_checkpoint("default");
  const std::vector<std::int32_t> before(static_cast<std::size_t>(state.range(0)), 7);
  IntTensor all = IntTensor::full({1, state.range(0) + 1}, 7);
  Generator generator(checkpoint.model);
  generator.step(before, {});
  ForwardOptions options;
  options.last_logits = true;
  for (auto _ : state) {
    if (cached) {
      Generator copy = generator;
      benchmark::DoNotOptimize(copy.step({7}, {}));
    } else {
      benchmark::DoNotOptimize(forward(checkpoint.model, all, options));
    }
  }
}
BENCHMARK_CAPTURE(next_token, cached, true)
    ->Name("NextToken/cached")
    ->Arg(31)
    ->Arg(255)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(next_token, whole, false)
    ->Name("NextToken/whole")
    ->Arg(31)
    ->Arg(255)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// A checkpoint of the sizes of GPT-2 (124 million parameters), all weights alike, in that layout.
void write_gpt2(const std::filesystem::path& folder, DType dtype) {
  SafetensorsFile file;
  const auto add = [&](const std::string& name, const Shape& shape, float value) {
    file.tensors.emplace(name, stored(Tensor::full(shape, value), dtype));
  };
  const auto linear = [&](const std::string& name, Index in, Index out) {
    add(name + ".weight", {in, out}, 0.01f);
    add(name + ".bias", {out}, 0);
  };
  const auto norm = [&](const std::string& name) {
    add(name + ".weight", {768}, 1);
    add(name + ".bias", {768}, 0);
  };
  add("wte.weight", {50257, 768}, 0.01f);
  add("wpe.weight", {1024, 768}, 0.01f);
  for (int layer = 0; layer < 12; ++layer) {
    const std::string at = "h." + std::to_string(layer) + ".";
    norm(at + "ln_1");
    linear(at + "attn.c_attn", 768, 3 * 768);
    linear(at + "attn.c_proj", 768, 768);
    norm(at + "ln_2");
    linear(at + "mlp.c_fc", 768, 3072);
    linear(at + "mlp.c_proj", 3072, 768);
  }
  norm("ln_f");
  write_safetensors(folder / "model.safetensors", file);
  write_file(folder / "config.json",
             R"({"model_type": "gpt2", "vocab_size": 50257, "n_positions": 1024, "n_embd": 768,
                 "n_layer": 12, "n_head": 12})");
}

// Highest resident memory of this process since it was last reset, in bytes.
double peak_memory(bool reset) {
  if (reset) std::ofstream("/proc/self/clear_refs") << 5;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024;
  }
  return 0;
}

// Reads GPT-2 and runs it on 64 tokens. `peak_of_file` is the memory that this takes at most, as a
// share of the file.
void gpt2(benchmark::State& state, DType dtype) {
  const testing::TemporaryFolder folder;
  write_gpt2(folder.path(), dtype);
  release_cached_storage();
  const double before = peak_memory(true);
  const auto start = std::chrono::steady_clock::now();
  const Checkpoint checkpoint = load_checkpoint(folder.path());
  const std::chrono::duration<double> loading = std::chrono::steady_clock::now() - start;
  const IntTensor ids = IntTensor::full({1, 64}, 464);
  for (auto _ : state) benchmark::DoNotOptimize(forward(checkpoint.model, ids, {}));
  const auto size =
      static_cast<double>(std::filesystem::file_size(folder.path() / "model.safetensors"));
  state.counters["loading_seconds"] = loading.count();
  state.counters["peak_of_file"] = (peak_memory(false) - before) / size;
}
BENCHMARK_CAPTURE(gpt2, f32, DType::F32)
    ->Name("Gpt2/F32/64")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(gpt2, bf16, DType::BF16)
    ->Name("Gpt2/BF16/64")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Forward, backward and the optimiser's move, as `attnscope train` does them.
void training_step(benchmark::State& state, const std::string& name) {
  const TrainingPlan plan = preset(name);
  Model model = make_model(plan.model, 1);
  for (auto& [weight_name, weight] : model.weights) weight = Var::parameter(weight.value());
  AdamW optimiser({});
  const Index part = plan.micro_batch > 0 ? plan.micro_batch : plan.batch;
  const IntTensor ids = IntTensor::full({part, plan.model.context}, 1);
  for (auto _ : state) {
    for (Index done = 0; done < plan.batch; done += part) {
      backward(cross_entropy(forward(model, ids, {}), ids));
    }
    optimiser.step(model.weights, 1e-3);
  }
  state.counters["tokens"] =
      benchmark::Counter(static_cast<double>(plan.batch * plan.model.context * state.iterations()),
                         benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(training_step, default_model, "default")
    ->Name("TrainingStep/default")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(training_step, shakespeare, "shakespeare-char")
    ->Name("TrainingStep/shakespeare-char")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace

// Every bundled model at every length that its context holds.
void register_text_to_trace() {
  for (const std::string& model : bundled_models()) {
    const Index context = load_checkpoint(model).model.config.context;
    for (const Index length : {32, 128, 256}) {
      if (length > context) continue;
      benchmark::RegisterBenchmark(
          ("TextToTrace/" + model).c_str(),
          [model](benchmark::State& state) { text_to_trace(state, model); })
          ->Arg(length)
          ->Unit(benchmark::kMillisecond)
          ->UseRealTime();
    }
  }
}

}  // namespace attnscope

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  attnscope::register_text_to_trace();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
