// Sweep over architectures, residual connections, variants and encodings. Results must be finite
// and gradients must match finite differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/model/residual_connection.h"
#include "core/model/weights.h"
#include "tests/support/compare.h"
#include "tests/support/model_sweep.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::SweepModel;
using testing::SweepPair;
using Direction = std::map<std::string, Tensor>;

// Tolerance of slopes, relative to the norm of the gradient. Losses of 2 to 4 are rounded to 2e-7,
// so slopes over steps of kStep are accurate to about 2e-4. The truncation error of central
// differences is similar for smooth losses.
constexpr double kTolerance = 2e-3;
constexpr double kStep = 2e-4;
// Steps are narrower for steeper losses, so that the loss changes by about kStep * kMaxLength at
// most.
constexpr double kMaxLength = 50;
// Finite differences in float32 cannot judge larger losses or longer gradients, which occur without
// norms.
constexpr double kSteepLoss = 20, kSteepLength = 300;
// Weight of the normalised gradient in a direction. The random part of the direction has a
// component of about 1 along the gradient.
constexpr double kGradientWeight = 2;
// If hash buckets, clusters, top-k choices or kinks change within a step, the check is repeated at
// other points with narrower steps, which increase the rounding error of slopes.
constexpr double kToleranceElsewhere = 5e-3;
constexpr double kStepsElsewhere[] = {1e-4, 3e-5};
constexpr std::uint64_t kMaxElsewhere = 30, kSufficientElsewhere = 2;  // points

bool is_finite(const Tensor& numbers) {
  return std::ranges::all_of(numbers, [](float x) { return std::isfinite(x); });
}

double sum_of_squares(const Tensor& numbers) {
  double sum = 0;
  for (const float x : numbers) sum += static_cast<double>(x) * static_cast<double>(x);
  return sum;
}

// Returns the model with its weights moved along a direction.
Model move_weights(const Model& model, const Direction& direction, double distance) {
  Model result = model;
  for (const auto& [name, component] : direction) {
    Tensor sum(component.shape());
    for (Index i = 0; i < sum.size(); ++i) {
      sum[i] = static_cast<float>(static_cast<double>(model.weights.at(name).value()[i]) +
                                  distance * static_cast<double>(component[i]));
    }
    result.weights[name] = Var(sum);
  }
  return result;
}

double loss_of(const Model& model, const Batch& batch) {
  return static_cast<double>(run(model, batch, {}).total_loss().value()[0]);
}

// Slope that the gradient predicts along a random direction in the space of all trained weights.
// The direction has a component along the gradient, so the check also detects a wrong norm.
struct PredictedSlope {
  Direction direction;
  double loss = 0, slope = 0, length = 0;  // length: norm of the whole gradient
};

// Factor applied to the gradient of the named weight: 1, or another factor that the check should
// detect as an error.
using Distortion = std::function<double(const std::string&)>;

PredictedSlope predict_slope(const SweepModel& swept, std::uint64_t seed,
                             const Distortion& factor) {
  Model model = swept.model;
  const std::set<std::string> constant = constant_weight_names(model.config);
  for (auto& [name, weight] : model.weights) {
    if (!constant.contains(name)) weight = Var::parameter(weight.value());
  }
  const Var loss = run(model, swept.batch, {}).total_loss();
  backward(loss);
  PredictedSlope prediction;
  prediction.loss = static_cast<double>(loss.value()[0]);
  for (const auto& [name, weight] : model.weights) {
    if (!weight.requires_gradient()) continue;
    prediction.direction.emplace(name, testing::random_tensor(weight.shape(), ++seed));
    if (!weight.gradient().defined()) continue;
    EXPECT_TRUE(is_finite(weight.gradient())) << swept.name << ": " << name;
    prediction.length += sum_of_squares(weight.gradient());
  }
  prediction.length = std::sqrt(prediction.length);
  for (auto& [name, component] : prediction.direction) {
    const Tensor gradient = model.weights.at(name).gradient();
    if (!gradient.defined()) continue;
    for (Index i = 0; i < component.size(); ++i) {
      const auto g = static_cast<double>(gradient[i]);
      component[i] += static_cast<float>(kGradientWeight * g / prediction.length);
      prediction.slope += factor(name) * g * static_cast<double>(component[i]);
    }
  }
  return prediction;
}

struct Slopes {
  double forward, backward;
  double central() const { return (forward + backward) / 2; }
  double curvature() const { return forward - backward; }
};

Slopes slopes(const SweepModel& swept, const PredictedSlope& prediction, double full_step) {
  const double step = full_step * std::min(1.0, kMaxLength / prediction.length);
  const double above = loss_of(move_weights(swept.model, prediction.direction, step), swept.batch);
  const double below = loss_of(move_weights(swept.model, prediction.direction, -step), swept.batch);
  return {(above - prediction.loss) / step, (prediction.loss - below) / step};
}

double error_of(const PredictedSlope& prediction, double slope) {
  return std::abs(slope - prediction.slope) / prediction.length;
}

// Finite differences at one point over twice, once and half the step.
struct Convergence {
  Slopes wide, normal, narrow;

  // Error of the best of the two narrower differences: truncation dominates that of the normal one
  // where the loss curves strongly, rounding that of the narrow one elsewhere.
  double error(const PredictedSlope& prediction) const {
    return std::min(error_of(prediction, normal.central()), error_of(prediction, narrow.central()));
  }
  // A smooth loss has the same slope over all steps, and its curvature() is proportional to the
  // step.
  bool is_rough(const PredictedSlope& prediction) const {
    const double max_difference = std::max({std::abs(wide.central() - normal.central()),
                                            std::abs(normal.central() - narrow.central()),
                                            std::abs(wide.curvature() - 2 * normal.curvature())});
    return max_difference > kTolerance / 2 * prediction.length;
  }
};

Convergence convergence(const SweepModel& swept, const PredictedSlope& prediction) {
  return {slopes(swept, prediction, 2 * kStep), slopes(swept, prediction, kStep),
          slopes(swept, prediction, kStep / 2)};
}

// Repeats the check at nearby points. Each point has its own gradient and direction.
bool matches_elsewhere(const SweepModel& swept, const Distortion& factor) {
  constexpr double kDistance = 0.01;
  std::uint64_t match_count = 0;
  for (std::uint64_t n = 1; n <= kMaxElsewhere && match_count < kSufficientElsewhere; ++n) {
    SweepModel shifted = swept;
    shifted.model =
        move_weights(swept.model, predict_slope(swept, 10000 * n, factor).direction, kDistance);
    const PredictedSlope prediction = predict_slope(shifted, 20000 * n, factor);
    for (const double step : kStepsElsewhere) {
      if (!(error_of(prediction, slopes(shifted, prediction, step).central()) <=
            kToleranceElsewhere))
        continue;
      ++match_count;
      break;
    }
  }
  return match_count == kSufficientElsewhere;
}

struct Verdict {
  bool is_correct = false;
  bool is_steep = false;  // not judged
  bool rough = false,
       elsewhere = false;  // rough: differences do not converge; elsewhere: judged at other points
  std::string message{};
};

// Finite differences include the effect on segment memory, which gradients treat as constant, so
// models with segments are not checked.
Verdict judge_gradient(const SweepModel& swept, const Distortion& factor) {
  const PredictedSlope prediction = predict_slope(swept, 1000, factor);
  if (!(prediction.length > 0)) return {.message = "no gradient"};
  if (swept.model.config.norm == Norm::None && prediction.length > kSteepLength) {
    return {.is_correct = true, .is_steep = true};
  }
  const Convergence measured = convergence(swept, prediction);
  const double error = measured.error(prediction);
  Verdict verdict{.is_correct = error <= kTolerance, .rough = measured.is_rough(prediction)};
  verdict.message = "measured slope " + std::to_string(measured.normal.central()) +
                    ", predicted slope " + std::to_string(prediction.slope) + ", gradient norm " +
                    std::to_string(prediction.length);
  const bool is_close = error <= 1.6 * kTolerance;
  if (!verdict.is_correct && (verdict.rough || is_close)) {
    verdict.elsewhere = true;
    verdict.is_correct = matches_elsewhere(swept, factor);
  }
  return verdict;
}

double undistorted(const std::string&) {
  return 1;
}

// Without a residual connection, a token that belongs to no cluster has a zero output. If all
// outputs become zero in a later layer, the model has no gradient.
bool has_vanished(const ModelConfig& config, const Tensor& logits) {
  return !residual_connection(config.residual_connection.id).has_bypass &&
         std::ranges::all_of(logits, [](float x) { return x == 0; });
}

struct Count {
  int models = 0, rough = 0, elsewhere = 0;
  void operator+=(const Count& other) {
    models += other.models;
    rough += other.rough;
    elsewhere += other.elsewhere;
  }
};

class ModelSweep : public ::testing::TestWithParam<SweepPair> {};

TEST_P(ModelSweep, IsFiniteAndMatchesFiniteDifferences) {
  std::map<std::string, Count> counts;  // by variant
  int selected = 0, vanished = 0, steep = 0;
  const int swept = testing::sweep_models(GetParam(), [&](const SweepModel& swept_model) {
    try {
      const Output output = run(swept_model.model, swept_model.batch, {});
      EXPECT_TRUE(is_finite(output.logits.value())) << swept_model.name;
      EXPECT_TRUE(std::isfinite(output.total_loss().value()[0])) << swept_model.name;
      if (swept_model.model.config.segment != 0 || !swept_model.is_selected) return;
      ++selected;
      if (has_vanished(swept_model.model.config, output.logits.value())) {
        ++vanished;
        return;
      }
      if (swept_model.model.config.norm == Norm::None &&
          output.total_loss().value()[0] > kSteepLoss) {
        ++steep;
        return;
      }
      const Verdict verdict = judge_gradient(swept_model, undistorted);
      steep += verdict.is_steep;
      EXPECT_TRUE(verdict.is_correct)
          << swept_model.name << ", " << swept_model.batch.length() << " tokens"
          << (verdict.elsewhere ? ", nor at other points: " : ": ") << verdict.message;
      counts[swept_model.model.config.groups[0][0].variant.id] +=
          {1, verdict.rough, verdict.elsewhere};
    } catch (const std::exception& e) {
      ADD_FAILURE() << swept_model.name << ": " << e.what();
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
  EXPECT_LE(vanished, selected / 20);
  EXPECT_LE(steep, selected / 8);
  // If the finite differences of a variant usually converge, few of its models may need other
  // points.
  // Without residual connection norms enlarge small states, and losses are rougher.
  const bool has_bypass = residual_connection(GetParam().residual_connection).has_bypass;
  EXPECT_LE(smooth.elsewhere, smooth.models / (has_bypass ? 20 : 10))
      << "of " << smooth.models << " smooth models";
}

INSTANTIATE_TEST_SUITE_P(All, ModelSweep, ::testing::ValuesIn(testing::sweep_pairs()),
                         [](const auto& info) { return info.param.name(); });

// Checks the method itself: it detects an error in the gradient of one weight in most models.
TEST(ModelSweepCheck, DetectsSlightlyWrongGradients) {
  int checked = 0;
  std::map<std::string, int> detected{
      {"embed.weight", 0}, {"layers.0.attn.wv", 0}, {"layers.1.ffn.w_in", 0}};
  testing::sweep_models({"decoder", "residual"}, [&](const SweepModel& swept_model) {
    if (swept_model.model.config.groups[0][0].variant.id != default_variant().id) return;
    const Verdict verdict = judge_gradient(swept_model, undistorted);
    if (verdict.rough) return;
    ++checked;
    EXPECT_TRUE(verdict.is_correct) << swept_model.name << ": " << verdict.message;
    const auto scaled = [](const std::string&) { return 1.01; };
    EXPECT_FALSE(judge_gradient(swept_model, scaled).is_correct) << swept_model.name;
    for (auto& [name, count] : detected) {
      const auto one_scaled = [&](const std::string& weight) { return weight == name ? 1.1 : 1.0; };
      count += judge_gradient(swept_model, one_scaled).is_correct ? 0 : 1;
    }
  });
  EXPECT_GT(checked, 5);
  for (const auto& [name, count] : detected) EXPECT_GT(2 * count, checked) << name;
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
