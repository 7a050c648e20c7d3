// Speed of models: text to trace for each bundled model, generated tokens, a checkpoint of GPT-2's
// size, and training steps at the sizes of the presets.
//
//   model_benchmark --benchmark_filter=TextToTrace
#include <benchmark/benchmark.h>

#include <chrono>
#include <filesystem>
#include <optional>

#include "core/autodiff/operations_reduce.h"
#include "core/base/file.h"
#include "core/base/home.h"
#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/checkpoint.h"
#include "core/experiment/run.h"
#include "core/model/exits.h"
#include "core/model/generate.h"
#include "core/model/residual_connection.h"
#include "core/tensor/safetensors.h"
#include "core/tensor/storage.h"
#include "core/training/optimiser.h"
#include "core/training/train.h"
#include "tests/benchmark/continued_copy.h"
#include "tests/benchmark/resident_memory.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace {

TrainingPlan preset(const std::string& name) {
  const auto path = home_folder() / "assets" / "presets" / (name + ".json");
  return training_plan_from_json(parse_json(read_file(path), name), name);
}

// Latency of a trace of a new text, with a loaded model.
void text_to_trace(benchmark::State& state, const std::string& model) {
  ExperimentRun run(cpu_only());
  Session session;
  session.run.model = model;
  const Checkpoint checkpoint = load_checkpoint(model);
  // A long text, truncated to the exact number of tokens below.
  const std::string words = "the old house stood by the sea and nobody knew why it was empty. ";
  while (session.run.text.size() < 8192) session.run.text += words;
  const auto tokens = checkpoint.tokenizer->encode(session.run.text);
  const auto count = static_cast<std::size_t>(state.range(0));
  if (static_cast<Index>(count) > checkpoint.model.config.context || tokens.size() < count) {
    state.SkipWithError("longer than the model's context");
    return;
  }
  session.run.text.resize(tokens[count - 1].end);
  for (auto _ : state) benchmark::DoNotOptimize(run.run(session.run));
}

// Generates one token after a prompt of `range` tokens, with or without a KV cache.
void next_token(benchmark::State& state, bool uses_cache) {
  const Checkpoint checkpoint = load_checkpoint("default");
  const std::vector<std::int32_t> prompt(static_cast<std::size_t>(state.range(0) - 1), 7);
  IntTensor all_ids = IntTensor::full({1, state.range(0) + 1}, 7);
  Generator generator(checkpoint.model);
  generator.step(prompt);
  ForwardOptions options;
  options.last_logits = true;
  std::optional<Generator> copy;
  for (auto _ : state) {
    if (!uses_cache) {
      benchmark::DoNotOptimize(forward(checkpoint.model, all_ids, options));
      continue;
    }
    state.PauseTiming();
    copy.emplace(continued_copy(generator));
    state.ResumeTiming();
    benchmark::DoNotOptimize(copy->step({7}));
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

// Model of 12 layers with geometric exits, whose biases make all tokens exit after layer `exit_at`
// at a threshold of 1/2.
Model exiting_model(Index exit_at) {
  ModelConfig config;
  config.vocabulary = 2048;
  config.context = 512;
  config.width = 512;
  config.layers = 12;
  config.heads = config.kv_heads = 8;
  config.head_size = 64;
  config.hidden = 1536;
  config.groups = uniform_groups(config, default_variant(),
                                 {"rope", default_values(encoding("rope").parameters)});
  config.exits = Choice{"geometric", default_values(exit_rule("geometric").parameters)};
  Model model = make_model(config, 1);
  Tensor bias = Tensor::full({config.layers - 1}, -30);
  if (exit_at < config.layers) bias[exit_at - 1] = 30;
  model.weights["exit.b"] = Var(bias);
  return model;
}

// Generates one token with an exit after `range` of 12 layers and a KV cache. `of_all`: time
// relative to a run without a threshold, measured alternately.
void next_token_exits(benchmark::State& state) {
  using Clock = std::chrono::steady_clock;
  const Model model = exiting_model(state.range(0));
  GeneratorOptions exit_options;
  exit_options.exit = 0.5;
  Generator exiting(model, exit_options), full(model);
  const std::vector<std::int32_t> prompt(254, 7);
  exiting.step(prompt);
  full.step(prompt);
  std::chrono::duration<double> exiting_seconds{0}, full_seconds{0};
  for (auto _ : state) {
    Generator exiting_copy = continued_copy(exiting), full_copy = continued_copy(full);
    const auto start = Clock::now();
    benchmark::DoNotOptimize(exiting_copy.step({7}));
    const auto middle = Clock::now();
    benchmark::DoNotOptimize(full_copy.step({7}));
    const auto end = Clock::now();
    exiting_seconds += middle - start;
    full_seconds += end - middle;
    state.SetIterationTime(std::chrono::duration<double>(middle - start).count());
    if (exiting_copy.exit_layer() != state.range(0))
      state.SkipWithError("exited after another layer");
  }
  state.counters["of_all"] = exiting_seconds / full_seconds;
}
BENCHMARK(next_token_exits)
    ->Name("NextToken/exits")
    ->Arg(2)
    ->Arg(6)
    ->Arg(12)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();

// Forward and backward pass of `range` layers with a residual connection. `peak_megabytes`: peak
// memory of tensors besides weights and their gradients.
void training_memory(benchmark::State& state, const std::string& join_id, bool recomputes_layers) {
  ModelConfig config;
  config.vocabulary = 256;
  config.context = 256;
  config.width = 128;
  config.layers = state.range(0);
  config.heads = config.kv_heads = 4;
  config.head_size = 32;
  config.hidden = 512;
  config.groups = uniform_groups(config, default_variant(),
                                 {"rope", default_values(encoding("rope").parameters)});
  config.residual_connection = {join_id, default_values(residual_connection(join_id).parameters)};
  Model model = make_model(config, 1);
  for (auto& [name, weight] : model.weights) weight = Var::parameter(weight.value());
  const Batch batch = next_token_batch(IntTensor::full({8, config.context}, 1));
  const auto step = [&] {
    ForwardOptions options;
    options.training = true;
    options.recomputes_layers = recomputes_layers;
    backward(run(model, batch, options).total_loss());
  };
  step();  // allocates the gradients
  const std::size_t live_bytes = storage_statistics().live_bytes;
  reset_peak_storage();
  for (auto _ : state) step();
  state.counters["peak_megabytes"] =
      static_cast<double>(storage_statistics().peak_bytes - live_bytes) / (1 << 20);
}
BENCHMARK_CAPTURE(training_memory, residual, "residual", false)
    ->Name("TrainingMemory/residual")
    ->Arg(2)
    ->Arg(12)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(training_memory, checkpointing, "residual", true)
    ->Name("TrainingMemory/checkpointing")
    ->Arg(2)
    ->Arg(12)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(training_memory, reversible, "reversible", false)
    ->Name("TrainingMemory/reversible")
    ->Arg(2)
    ->Arg(12)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// A checkpoint of GPT-2's size (124 million parameters) in its layout, with constant weights.
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
    const std::string prefix = "h." + std::to_string(layer) + ".";
    norm(prefix + "ln_1");
    linear(prefix + "attn.c_attn", 768, 3 * 768);
    linear(prefix + "attn.c_proj", 768, 768);
    norm(prefix + "ln_2");
    linear(prefix + "mlp.c_fc", 768, 3072);
    linear(prefix + "mlp.c_proj", 3072, 768);
  }
  norm("ln_f");
  write_safetensors(folder / "model.safetensors", file);
  write_file(folder / "config.json",
             R"({"model_type": "gpt2", "vocab_size": 50257, "n_positions": 1024, "n_embd": 768,
                 "n_layer": 12, "n_head": 12})");
}

// Loads GPT-2 and runs it on 64 tokens. `peak_of_file` is the peak memory of loading, as a fraction
// of the file's size.
void gpt2(benchmark::State& state, DType dtype) {
  const testing::TemporaryFolder folder;
  write_gpt2(folder.path(), dtype);
  release_cached_storage();
  const double initial_memory = peak_memory(true);
  const auto start = std::chrono::steady_clock::now();
  const Checkpoint checkpoint = load_checkpoint(folder.path());
  const std::chrono::duration<double> loading = std::chrono::steady_clock::now() - start;
  const IntTensor ids = IntTensor::full({1, 64}, 464);
  for (auto _ : state) benchmark::DoNotOptimize(forward(checkpoint.model, ids));
  const auto size =
      static_cast<double>(std::filesystem::file_size(folder.path() / "model.safetensors"));
  state.counters["loading_seconds"] = loading.count();
  state.counters["peak_of_file"] = (peak_memory(false) - initial_memory) / size;
}
BENCHMARK_CAPTURE(gpt2, f32, DType::F32)
    ->Name("Gpt2/F32/64")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(gpt2, bf16, DType::BF16)
    ->Name("Gpt2/BF16/64")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Forward pass, backward pass and optimiser step, as in `attnscope train`.
void training_step(benchmark::State& state, const std::string& name) {
  const TrainingPlan plan = preset(name);
  Model model = make_model(plan.model, 1);
  for (auto& [weight_name, weight] : model.weights) weight = Var::parameter(weight.value());
  AdamW optimiser({});
  const Index part = plan.micro_batch > 0 ? plan.micro_batch : plan.batch;
  const IntTensor ids = IntTensor::full({part, plan.model.context}, 1);
  for (auto _ : state) {
    for (Index completed = 0; completed < plan.batch; completed += part) {
      backward(cross_entropy(forward(model, ids), ids));
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

// Every bundled model at every length within its context.
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
