// Every architecture with every join, variant and encoding: finite numbers, and gradients as
// differences say.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/model/weights.h"
#include "tests/support/compare.h"
#include "tests/support/model_sweep.h"

namespace attnscope {
namespace {

using testing::SweptModel;
using testing::SweptPair;

bool finite(const Tensor& numbers) {
  return std::ranges::all_of(numbers, [](float x) { return std::isfinite(x); });
}

// Weights moved along a direction.
Model moved(const Model& model, const std::map<std::string, Tensor>& direction, double by) {
  Model result = model;
  for (const auto& [name, along] : direction) {
    Tensor sum(along.shape());
    for (Index i = 0; i < sum.size(); ++i) {
      sum[i] = static_cast<float>(static_cast<double>(model.weights.at(name).value()[i]) +
                                  by * static_cast<double>(along[i]));
    }
    result.weights[name] = Var(sum);
  }
  return result;
}

double loss_of(const Model& model, const Batch& batch) {
  return static_cast<double>(run(model, batch, {}).total_loss().value()[0]);
}

// The derivative along a random direction of all weights that are trained. What a segment
// remembers counts as given there, which differences do not know: read in segments it is not asked.
void expect_gradient(const SweptModel& swept) {
  constexpr double kSteps[] = {1e-3, 1e-4, 4e-3, 3e-5, 2e-2};  // kinks and rounding want others
  constexpr double kTolerance = 0.02;
  Model model = swept.model;
  const std::set<std::string> constant = untrained_names(model.config);
  for (auto& [name, weight] : model.weights) {
    if (!constant.contains(name)) weight = Var::parameter(weight.value());
  }
  const Var loss = run(model, swept.batch, {}).total_loss();
  const auto here = static_cast<double>(loss.value()[0]);
  backward(loss);
  double best = std::numeric_limits<double>::infinity(), best_slope = 0, best_expected = 0;
  for (std::uint64_t direction_seed = 1; direction_seed <= 3 && !(best <= kTolerance);
       ++direction_seed) {
    std::map<std::string, Tensor> direction;
    double expected = 0, length = 0;
    std::uint64_t seed = 1000 * direction_seed;
    for (const auto& [name, weight] : model.weights) {
      if (!weight.wants_gradient()) continue;
      const Tensor along = testing::random_tensor(weight.shape(), ++seed);
      const Tensor gradient = weight.gradient();
      if (gradient.defined()) {
        ASSERT_TRUE(finite(gradient)) << swept.name << ": " << name;
        for (Index i = 0; i < along.size(); ++i) {
          const double g = static_cast<double>(gradient[i]);
          expected += g * static_cast<double>(along[i]);
          length += g * g;
        }
      }
      direction.emplace(name, along);
    }
    ASSERT_GT(length, 0) << swept.name << ": no gradient";
    for (const double step : kSteps) {
      const double above = loss_of(moved(swept.model, direction, step), swept.batch);
      const double below = loss_of(moved(swept.model, direction, -step), swept.batch);
      // Buckets and clusters jump: then one side alone is smooth.
      for (const double slope :
           {(above - below) / (2 * step), (above - here) / step, (here - below) / step}) {
        // Of a gradient's length, not of its part along this direction, which may be small.
        const double error = std::abs(slope - expected) / std::sqrt(length);
        if (!(error < best)) continue;
        best = error;
        best_slope = slope;
        best_expected = expected;
      }
      if (best <= kTolerance) break;
    }
  }
  EXPECT_TRUE(best <= kTolerance) << swept.name << ", " << swept.batch.length()
                                  << " tokens: a slope of " << best_slope << ", the gradient says "
                                  << best_expected;
}

class ModelSweep : public ::testing::TestWithParam<SweptPair> {};

TEST_P(ModelSweep, IsFiniteAndHasItsGradients) {
  const int swept = testing::sweep_models(GetParam(), [](const SweptModel& one) {
    try {
      const Output output = run(one.model, one.batch, {});
      EXPECT_TRUE(finite(output.logits.value())) << one.name;
      EXPECT_TRUE(std::isfinite(output.total_loss().value()[0])) << one.name;
      if (one.model.config.segment == 0) expect_gradient(one);
    } catch (const std::exception& e) {
      ADD_FAILURE() << one.name << ": " << e.what();
    }
  });
  RecordProperty("models", swept);
  EXPECT_GT(swept, 0);
}

INSTANTIATE_TEST_SUITE_P(All, ModelSweep, ::testing::ValuesIn(testing::swept_pairs()),
                         [](const auto& info) { return info.param.name(); });

}  // namespace
}  // namespace attnscope
