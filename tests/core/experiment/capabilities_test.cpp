// Commands that need a capability of the model, for every checkpoint layout: they work, or refuse
// the model as the table of capabilities states.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "core/base/error.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/continuation.h"
#include "core/experiment/inputs.h"
#include "core/model/beam.h"
#include "core/model/capability.h"
#include "core/model/generate.h"
#include "core/model/input_kind.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;

struct Case {
  const Checkpoint& checkpoint;
  RunSpec spec;
  const Model& model() const { return checkpoint.model; }
};

struct Action {
  const char* name;
  std::vector<Capability> needs;
  std::function<void(const Case&)> run;
};

void generate(const Case& c, Index beams) {
  const Continuation start = continuation(c.checkpoint, c.model().config, c.spec, -1);
  if (beams == 0) {
    GeneratorOptions options;
    options.source = start.source;
    static_cast<void>(Generator(c.model(), options).step(start.prompt));
    return;
  }
  BeamOptions options;
  options.width = beams;
  options.source = start.source;
  static_cast<void>(beam_search(c.model(), start.prompt, options));
}

void run_with(const Case& c, const ForwardOptions& options, bool has_targets) {
  Batch batch;
  batch.ids = batch.source = IntTensor::from({1, 2}, {5, 6});
  if (has_targets) batch.targets = batch.ids;
  static_cast<void>(run(c.model(), batch, options));
}

const std::vector<Action>& actions() {
  static const std::vector<Action> list{
      {"generate",
       {Capability::Logits, Capability::NextToken},
       [](const Case& c) { generate(c, 0); }},
      {"generate --num-beams",
       {Capability::Logits, Capability::NextToken},
       [](const Case& c) { generate(c, 2); }},
      {"losses", {Capability::Logits}, [](const Case& c) { run_with(c, {}, true); }},
      {"--exit", {Capability::Exits}, [](const Case& c) {
         ForwardOptions options;
         options.exit = 0.5;
         run_with(c, options, false);
       }}};
  return list;
}

TEST(Capabilities, EveryLayoutWorksOrIsRefused) {
  for (const auto& entry : fs::directory_iterator(testing::source_folder() / "tests" / "layouts")) {
    if (!fs::exists(entry.path() / "config.json")) continue;
    const auto checkpoint = model_store()->checkpoint(entry.path().string());
    const ModelConfig& config = checkpoint->model.config;
    if (!reads_tokens(config) || !input_kind(config.input.id).is_text) continue;
    Case c{*checkpoint, {}};
    c.spec.ids = {5, 6, 7};
    for (const Action& action : actions()) {
      const std::string context = entry.path().filename().string() + ", " + action.name;
      const bool is_able = std::ranges::all_of(action.needs, [&](Capability capability) {
        return capability_refusal(capability, config, "it").empty();
      });
      std::string error;
      try {
        action.run(c);
      } catch (const InputError& e) {
        error = e.what();
      }
      EXPECT_EQ(error.empty(), is_able) << context << ": " << error;
    }
  }
}

TEST(Capabilities, RefusalsNameModelAndReason) {
  ModelConfig config;
  config.groups = uniform_groups(config, default_variant(), default_encoding());
  EXPECT_EQ(capability_refusal(Capability::Logits, config, "tiny"), "");
  config.model_options.output_head = false;
  EXPECT_EQ(capability_refusal(Capability::Logits, config, "tiny"),
            "expected a model with an output head, found tiny, which gives only attention and "
            "states");
  EXPECT_EQ(capability_refusal(Capability::Image, config, "tiny"),
            "expected an image model, found tiny, which reads text");
  EXPECT_THROW(require(Capability::Exits, config, "tiny", "--exit"), InputError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
