// Sweep over architectures, residual connections, variants and encodings: finite results, and
// gradients that match finite differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/model/weights.h"
#include "tests/support/compare.h"
#include "tests/support/model_sweep.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::SweptModel;
using testing::SweptPair;
using Direction = std::map<std::string, Tensor>;

// Relative to the gradient's norm. Losses of 2 to 4 are rounded to 2e-7, so slopes over steps of
// kStep are accurate to about 2e-4; the truncation error of central differences is similar for
// smooth losses.
constexpr double kTolerance = 2e-3;
constexpr double kStep = 2e-4;
constexpr double kLean =
    2;  // weight of the gradient in directions; their random part along it is about 1
// If hash buckets, clusters, top-k choices or many kinks lie within a step, narrower steps at
// other points decide. Their slopes have larger rounding errors.
constexpr double kToleranceElsewhere = 5e-3;
constexpr double kStepsElsewhere[] = {1e-4, 3e-5};
constexpr std::uint64_t kMaxElsewhere = 12, kSufficientElsewhere = 2;  // points

bool finite(const Tensor& numbers) {
  return std::ranges::all_of(numbers, [](float x) { return std::isfinite(x); });
}

double squares(const Tensor& numbers) {
  double sum = 0;
  for (const float x : numbers) sum += static_cast<double>(x) * static_cast<double>(x);
  return sum;
}

// Moves weights along a direction.
Model moved(const Model& model, const Direction& direction, double by) {
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

// Slope predicted by the gradient along a direction of all trained weights: random, but with a
// component along the gradient, so that a wrong norm is detected, too.
struct PredictedSlope {
  Direction direction;
  double loss = 0, slope = 0, length = 0;  // norm of the whole gradient
};

// Factor of a weight's gradient, by name: 1, or an error that the check should detect.
using Distortion = std::function<double(const std::string&)>;

PredictedSlope claim_of(const SweptModel& swept, std::uint64_t seed, const Distortion& factor) {
  Model model = swept.model;
  const std::set<std::string> constant = constant_weight_names(model.config);
  for (auto& [name, weight] : model.weights) {
    if (!constant.contains(name)) weight = Var::parameter(weight.value());
  }
  const Var loss = run(model, swept.batch, {}).total_loss();
  backward(loss);
  PredictedSlope claim;
  claim.loss = static_cast<double>(loss.value()[0]);
  for (const auto& [name, weight] : model.weights) {
    if (!weight.requires_gradient()) continue;
    claim.direction.emplace(name, testing::random_tensor(weight.shape(), ++seed));
    if (!weight.gradient().defined()) continue;
    EXPECT_TRUE(finite(weight.gradient())) << swept.name << ": " << name;
    claim.length += squares(weight.gradient());
  }
  claim.length = std::sqrt(claim.length);
  for (auto& [name, along] : claim.direction) {
    const Tensor gradient = model.weights.at(name).gradient();
    if (!gradient.defined()) continue;
    for (Index i = 0; i < along.size(); ++i) {
      const auto g = static_cast<double>(gradient[i]);
      along[i] += static_cast<float>(kLean * g / claim.length);
      claim.slope += factor(name) * g * static_cast<double>(along[i]);
    }
  }
  return claim;
}

struct Slopes {
  double forward, backward;
  double central() const { return (forward + backward) / 2; }
  double bend() const { return forward - backward; }
};

Slopes slopes(const SweptModel& swept, const PredictedSlope& claim, double step) {
  const double above = loss_of(moved(swept.model, claim.direction, step), swept.batch);
  const double below = loss_of(moved(swept.model, claim.direction, -step), swept.batch);
  return {(above - claim.loss) / step, (claim.loss - below) / step};
}

double error_of(const PredictedSlope& claim, double slope) {
  return std::abs(slope - claim.slope) / claim.length;
}

// True if finite differences do not converge at this step: a smooth loss has the same slope over
// twice and half the step, and half the curvature over half the step.
bool is_rough(const SweptModel& swept, const PredictedSlope& claim, const Slopes& at_step) {
  const Slopes wide = slopes(swept, claim, 2 * kStep), narrow = slopes(swept, claim, kStep / 2);
  const double most = std::max({std::abs(wide.central() - at_step.central()),
                                std::abs(at_step.central() - narrow.central()),
                                std::abs(wide.bend() - 2 * at_step.bend())});
  return most > kTolerance / 2 * claim.length;
}

// Repeats the check at points nearby, each with its own gradient and direction.
bool fits_elsewhere(const SweptModel& swept, const Distortion& factor) {
  constexpr double kAway = 0.01;
  std::uint64_t fitting = 0;
  for (std::uint64_t n = 1; n <= kMaxElsewhere && fitting < kSufficientElsewhere; ++n) {
    SweptModel there = swept;
    there.model = moved(swept.model, claim_of(swept, 10000 * n, factor).direction, kAway);
    const PredictedSlope claim = claim_of(there, 20000 * n, factor);
    for (const double step : kStepsElsewhere) {
      if (!(error_of(claim, slopes(there, claim, step).central()) <= kToleranceElsewhere)) continue;
      ++fitting;
      break;
    }
  }
  return fitting == kSufficientElsewhere;
}

struct Verdict {
  bool right = false;
  bool rough = false, elsewhere = false;  // differences do not converge; other points decided
  std::string words{};
};

// Finite differences include the effect on segment memory, which gradients treat as constant, so
// models with segments are not checked.
Verdict judge_gradient(const SweptModel& swept, const Distortion& factor) {
  const PredictedSlope claim = claim_of(swept, 1000, factor);
  if (!(claim.length > 0)) return {.words = "no gradient"};
  const Slopes found = slopes(swept, claim, kStep);
  Verdict verdict{.right = error_of(claim, found.central()) <= kTolerance,
                  .rough = is_rough(swept, claim, found)};
  verdict.words = "a slope of " + std::to_string(found.central()) + ", the gradient says " +
                  std::to_string(claim.slope) + ", of a length of " + std::to_string(claim.length);
  if (!verdict.right && verdict.rough) {
    verdict.elsewhere = true;
    verdict.right = fits_elsewhere(swept, factor);
  }
  return verdict;
}

double undistorted(const std::string&) {
  return 1;
}

struct Count {
  int models = 0, rough = 0, elsewhere = 0;
  void operator+=(const Count& more) {
    models += more.models;
    rough += more.rough;
    elsewhere += more.elsewhere;
  }
};

class ModelSweep : public ::testing::TestWithParam<SweptPair> {};

TEST_P(ModelSweep, IsFiniteAndMatchesFiniteDifferences) {
  std::map<std::string, Count> counts;  // by variant
  const int swept = testing::sweep_models(GetParam(), [&](const SweptModel& one) {
    try {
      const Output output = run(one.model, one.batch, {});
      EXPECT_TRUE(finite(output.logits.value())) << one.name;
      EXPECT_TRUE(std::isfinite(output.total_loss().value()[0])) << one.name;
      if (one.model.config.segment != 0) return;
      const Verdict verdict = judge_gradient(one, undistorted);
      EXPECT_TRUE(verdict.right) << one.name << ", " << one.batch.length() << " tokens"
                                 << (verdict.elsewhere ? ", at no other points either: " : ": ")
                                 << verdict.words;
      counts[one.model.config.groups[0][0].variant.id] += {1, verdict.rough, verdict.elsewhere};
    } catch (const std::exception& e) {
      ADD_FAILURE() << one.name << ": " << e.what();
    }
  });
  Count all, smooth;
  for (const auto& [id, count] : counts) {
    all += count;
    if (4 * count.rough < count.models) smooth += count;
  }
  RecordProperty("models", swept);
  RecordProperty("elsewhere", all.elsewhere);
  RecordProperty("smooth", smooth.models);
  RecordProperty("smooth_elsewhere", smooth.elsewhere);
  EXPECT_GT(swept, 0);
  // Few models of variants with converging differences may need another point.
  EXPECT_LE(smooth.elsewhere, smooth.models / 20) << "of " << smooth.models << " smooth models";
}

INSTANTIATE_TEST_SUITE_P(All, ModelSweep, ::testing::ValuesIn(testing::swept_pairs()),
                         [](const auto& info) { return info.param.name(); });

// Checks the method: an error in one weight's gradient is detected if the direction covers it; not
// in every model, but in most.
TEST(ModelSweepCheck, DetectsSlightlyWrongGradients) {
  int checked = 0;
  std::map<std::string, int> seen{
      {"embed.weight", 0}, {"layers.0.attn.wv", 0}, {"layers.1.ffn.w_in", 0}};
  testing::sweep_models({"decoder", "residual"}, [&](const SweptModel& one) {
    if (one.model.config.groups[0][0].variant.id != default_variant().id) return;
    const Verdict verdict = judge_gradient(one, undistorted);
    if (verdict.rough) return;
    ++checked;
    EXPECT_TRUE(verdict.right) << one.name << ": " << verdict.words;
    const auto longer = [](const std::string&) { return 1.01; };
    EXPECT_FALSE(judge_gradient(one, longer).right) << one.name;
    for (auto& [name, count] : seen) {
      const auto one_longer = [&](const std::string& of) { return of == name ? 1.1 : 1.0; };
      count += judge_gradient(one, one_longer).right ? 0 : 1;
    }
  });
  EXPECT_GT(checked, 5);
  for (const auto& [name, count] : seen) EXPECT_GT(2 * count, checked) << name;
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
