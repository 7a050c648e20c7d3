// Models: from a text to a trace, and steps of training. Sizes are those of the presets.
//
//   model_benchmark --benchmark_filter=TextToTrace
#include <benchmark/benchmark.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/autodiff/operations_reduce.h"
#include "core/base/file.h"
#include "core/base/home.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/checkpoint.h"
#include "core/experiment/runner.h"
#include "core/text/bpe.h"
#include "core/training/optimiser.h"
#include "core/training/train.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace {

TrainingPlan preset(const std::string& name) {
  const auto path = home_folder() / "assets" / "presets" / (name + ".json");
  return training_plan_from_json(parse_json(read_file(path), name), name);
}

// A fresh model of the default's size with bytes as tokens.
void text_to_trace(benchmark::State& state) {
  const testing::TemporaryFolder folder;
  Checkpoint checkpoint;
  checkpoint.model = make_model(preset("default").model, 1);
  checkpoint.tokenizer = train_bpe("bytes", 256);
  save_checkpoint(folder.path(), checkpoint, true);
  ExperimentRun run(cpu_only());
  Experiment experiment;
  experiment.model = folder.path().string();
  experiment.text = std::string(static_cast<std::size_t>(state.range(0)), 'a');
  for (auto _ : state) benchmark::DoNotOptimize(run.run(experiment, {}));
}
BENCHMARK(text_to_trace)
    ->Name("TextToTrace")
    ->Arg(32)
    ->Arg(128)
    ->Arg(256)
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
}  // namespace attnscope

BENCHMARK_MAIN();
