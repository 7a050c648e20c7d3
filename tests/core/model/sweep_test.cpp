// Every architecture with every join, variant and encoding: finite numbers, and gradients as
// differences say.
#include <gtest/gtest.h>

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

// Of the gradient's length. Losses of 2 to 4 are rounded to 2e-7, so that slopes over steps of
// kStep are good to some 2e-4; what central differences leave out is as little where a loss is
// smooth.
constexpr double kTolerance = 2e-3;
constexpr double kStep = 2e-4;
constexpr double kLean =
    2;  // of directions towards the gradient; their own part along it is about 1
// Where hash buckets, clusters or choices of the largest change within that, or many kinks lie
// there, narrower steps at other points decide. Their slopes are rounded more.
constexpr double kToleranceElsewhere = 5e-3;
constexpr double kStepsElsewhere[] = {1e-4, 3e-5};
constexpr std::uint64_t kMostElsewhere = 12, kEnoughElsewhere = 2;  // points

bool finite(const Tensor& numbers) {
  return std::ranges::all_of(numbers, [](float x) { return std::isfinite(x); });
}

double squares(const Tensor& numbers) {
  double sum = 0;
  for (const float x : numbers) sum += static_cast<double>(x) * static_cast<double>(x);
  return sum;
}

// Weights moved along a direction.
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

// What the gradients of a model say of a direction of all weights that are trained: a random one
// that leans towards the gradient, so that one that is too long is seen, too.
struct Claim {
  Direction direction;
  double loss = 0, slope = 0, length = 0;  // of the whole gradient
};

// What the gradient of a weight, by its name, is multiplied by: 1, or a mistake to be found.
using Distortion = std::function<double(const std::string&)>;

Claim claim_of(const SweptModel& swept, std::uint64_t seed, const Distortion& factor) {
  Model model = swept.model;
  const std::set<std::string> constant = untrained_names(model.config);
  for (auto& [name, weight] : model.weights) {
    if (!constant.contains(name)) weight = Var::parameter(weight.value());
  }
  const Var loss = run(model, swept.batch, {}).total_loss();
  backward(loss);
  Claim claim;
  claim.loss = static_cast<double>(loss.value()[0]);
  for (const auto& [name, weight] : model.weights) {
    if (!weight.wants_gradient()) continue;
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

Slopes slopes(const SweptModel& swept, const Claim& claim, double step) {
  const double above = loss_of(moved(swept.model, claim.direction, step), swept.batch);
  const double below = loss_of(moved(swept.model, claim.direction, -step), swept.batch);
  return {(above - claim.loss) / step, (claim.loss - below) / step};
}

double error_of(const Claim& claim, double slope) {
  return std::abs(slope - claim.slope) / claim.length;
}

// Whether differences themselves do not converge at the step, whatever the gradient says: a smooth
// loss has the same slope over twice and half the step, and bends by half over half the step.
bool is_rough(const SweptModel& swept, const Claim& claim, const Slopes& at_step) {
  const Slopes wide = slopes(swept, claim, 2 * kStep), narrow = slopes(swept, claim, kStep / 2);
  const double most = std::max({std::abs(wide.central() - at_step.central()),
                                std::abs(at_step.central() - narrow.central()),
                                std::abs(wide.bend() - 2 * at_step.bend())});
  return most > kTolerance / 2 * claim.length;
}

// At points nearby, each with its own gradient and direction.
bool fits_elsewhere(const SweptModel& swept, const Distortion& factor) {
  constexpr double kAway = 0.01;
  std::uint64_t fitting = 0;
  for (std::uint64_t n = 1; n <= kMostElsewhere && fitting < kEnoughElsewhere; ++n) {
    SweptModel there = swept;
    there.model = moved(swept.model, claim_of(swept, 10000 * n, factor).direction, kAway);
    const Claim claim = claim_of(there, 20000 * n, factor);
    for (const double step : kStepsElsewhere) {
      if (!(error_of(claim, slopes(there, claim, step).central()) <= kToleranceElsewhere)) continue;
      ++fitting;
      break;
    }
  }
  return fitting == kEnoughElsewhere;
}

struct Verdict {
  bool right = false;
  bool rough = false, elsewhere = false;  // differences do not converge; other points decided
  std::string words{};
};

// What a segment remembers counts as given there, which differences do not know: read in segments
// it is not asked.
Verdict judge_gradient(const SweptModel& swept, const Distortion& factor) {
  const Claim claim = claim_of(swept, 1000, factor);
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

TEST_P(ModelSweep, IsFiniteAndHasItsGradients) {
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
  // Of variants whose differences converge, few models may need another point.
  EXPECT_LE(smooth.elsewhere, smooth.models / 20) << "of " << smooth.models << " smooth models";
}

INSTANTIATE_TEST_SUITE_P(All, ModelSweep, ::testing::ValuesIn(testing::swept_pairs()),
                         [](const auto& info) { return info.param.name(); });

// The check itself. A gradient of one weight that is too long is seen where the direction meets it:
// not in every model, but in most.
TEST(ModelSweepCheck, SeesGradientsThatAreALittleWrong) {
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
