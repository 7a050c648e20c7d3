// Tests the contrastive loss of global tokens.
#include "core/model/contrastive_loss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/model/model.h"
#include "core/trace/trace.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr std::int32_t kMask = 9, kGlobal = 10;  // ids
constexpr Index kLength = 8;                     // 2 global tokens and 2 segments of 3 tokens

ModelConfig config_of(const std::string& members) {
  Json config = parse_json(R"({"vocabulary": 12, "context": 12, "width": 8, "layers": 2, "heads": 2,
      "hidden": 6, "causal": false, "architecture": {"type": "decoder", "masked": 0.2, "mask": 9},
      "variant": {"type": "etc", "global": 2, "radius": 2},
      "input": {"type": "global_text", "global": 2, "contrastive": 0.5}})",
                           "sizes");
  const Json changes = parse_json("{" + members + "}", "members");
  for (const auto& [key, value] : changes.items()) config[key] = value;
  return model_config_from_json(config, "config");
}

// Four texts; of two of them, one token is masked for the masked-token loss.
Batch four_texts() {
  Batch batch;
  batch.ids = IntTensor::from({4, kLength}, {kGlobal, kGlobal + 1, 1, kMask, 3, 4, 5,     6,  //
                                             kGlobal, kGlobal + 1, 7, 8,     0, 2, kMask, 1,  //
                                             kGlobal, kGlobal + 1, 5, 5,     0, 1, 2,     3,  //
                                             kGlobal, kGlobal + 1, 8, 1,     6, 3, 3,     7});
  batch.targets = IntTensor::full({4, kLength}, -1);
  batch.targets[3] = 2;
  batch.targets[kLength + 6] = 4;
  return batch;
}

// Final state of one token of a text.
std::vector<double> final_state(const Model& model, const std::vector<std::int32_t>& ids,
                                Index token) {
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  forward(model, IntTensor::from({1, static_cast<Index>(ids.size())}, ids), options);
  const Tensor& states = trace.taps.at("final");
  std::vector<double> state;
  for (Index n = 0; n < states.dim(1); ++n) state.push_back(static_cast<double>(states(token, n)));
  return state;
}

Loss contrastive_loss(const Model& model, const Batch& batch) {
  const Output output = run(model, batch, {});
  const auto loss =
      std::ranges::find_if(output.losses, [](const Loss& l) { return l.name == "contrastive"; });
  return loss == output.losses.end() ? Loss{} : *loss;
}

// Even texts mask their first segment, odd ones the second; only segments of the same global token
// are compared.
TEST(ContrastiveLoss, ComparesMaskedSegmentsWithSegmentsAlone) {
  const Model model = make_model(config_of(""), 5);
  const Loss loss = contrastive_loss(model, four_texts());
  constexpr std::int32_t g0 = kGlobal, g1 = kGlobal + 1, m = kMask;
  const std::vector<double> z[2][2] = {{final_state(model, {g0, g1, m, m, m, 4, 5, 6}, 0),
                                        final_state(model, {g0, g1, m, m, m, 1, 2, 3}, 0)},
                                       {final_state(model, {g0, g1, 7, 8, 0, m, m, m}, 1),
                                        final_state(model, {g0, g1, 8, 1, 6, m, m, m}, 1)}};
  const std::vector<double> t[2][2] = {
      {final_state(model, {g0, g1, 1, 2, 3}, 0),  //
       final_state(model, {g0, g1, 5, 5, 0}, 0)},
      {final_state(model, {g0, g1, 2, 4, 1}, 1), final_state(model, {g0, g1, 3, 3, 7}, 1)}};
  double expected = 0;
  for (std::size_t g = 0; g < 2; ++g) {
    for (std::size_t k = 0; k < 2; ++k) {
      double score[2] = {};
      for (std::size_t j = 0; j < 2; ++j) {
        for (std::size_t n = 0; n < 8; ++n) score[j] += z[g][k][n] * t[g][j][n] / std::sqrt(8.0);
      }
      expected += (std::log(std::exp(score[0]) + std::exp(score[1])) - score[k]) / 4;
    }
  }
  EXPECT_NEAR(static_cast<double>(loss.value.value()[0]), expected, 1e-5);
  EXPECT_NEAR(static_cast<double>(loss.weighted.value()[0]), expected / 2, 1e-5);
}

TEST(ContrastiveLoss, GradientMatchesFiniteDifferences) {
  Model model = make_model(config_of(""), 6);
  std::uint64_t seed = 20;
  for (auto& [name, weight] : model.weights) {
    weight = Var::parameter(testing::random_tensor(weight.shape(), ++seed, 0.5));
  }
  const Batch batch = four_texts();
  const auto value = [&] {
    return static_cast<double>(contrastive_loss(model, batch).value.value()[0]);
  };
  backward(contrastive_loss(model, batch).value);
  for (const char* name : {"embed.weight", "layers.0.attn.wk", "layers.1.ffn.w_in"}) {
    ASSERT_TRUE(model.weights.contains(name)) << name;
    const Var& weight = model.weights.at(name);
    EXPECT_TRUE(testing::is_gradient(weight.gradient(), weight.value(), value,
                                     {{1e-2f, 3e-3f, 1e-3f}, 2e-2, 6}))
        << name;
  }
}

TEST(ContrastiveLoss, RequiresMasksAndSegmentsOfEqualLength) {
  const auto error_for = [](const std::string& members) -> std::string {
    try {
      run(make_model(config_of(members), 1), four_texts(), {});
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  const auto expect_error = [&](const std::string& members, const char* expected) {
    const std::string found = error_for(members);
    EXPECT_NE(found.find(expected), std::string::npos) << found;
  };
  EXPECT_EQ(error_for(""), "");
  expect_error(R"("architecture": {"type": "decoder"})", "expected architecture.masked above 0");
  expect_error(R"("architecture": {"type": "decoder", "masked": 0.2})", "architecture.mask");
  expect_error(R"("variant": {"type": "etc", "global": 2, "radius": 2, "segments": [0, 0, 1]})",
               "expected no list of segments");
  // A single text, and one shorter than the number of segments, has no other to compare with.
  Batch batch;
  batch.ids = IntTensor::from({1, 3}, {kGlobal, kGlobal + 1, 3});
  batch.targets = IntTensor::full({1, 3}, -1);
  EXPECT_EQ(contrastive_loss(make_model(config_of(""), 1), batch).value.value()[0], 0);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
