#include "core/analysis/error_study.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/analysis/softmax_weights.h"
#include "core/analysis/symmetric_eigen.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

constexpr Index kMaxTokens = 1024;  // singular values cost O(L³)
constexpr Index kMinFeatures = 4, kMaxFeatures = 512;
constexpr Index kSeeds = 9;

// Parameter values of a curve that replace the head's values.
struct EstimateSettings {
  std::string label;
  std::vector<std::pair<std::string, Value>> values;
  bool is_random = true;
};

// A family of estimates and the parameter that sets its size.
struct Family {
  std::string size, parameter;
  std::vector<EstimateSettings> settings;
};

Family estimate_family(const std::string& variant) {
  const auto performer = [](const char* label, const char* kind, bool orthogonal) {
    return EstimateSettings{label, {{"kind", std::string(kind)}, {"orthogonal", orthogonal}}};
  };
  if (variant == "performer") {
    return {"random features m",
            "features",
            {performer("positive, orthogonal", "positive", true),
             performer("positive, independent", "positive", false),
             performer("sine and cosine, orthogonal", "trig", true),
             performer("sine and cosine, independent", "trig", false)}};
  }
  if (variant == "rfa") {
    return {"random features D", "features", {{"sine and cosine", {{"gate", false}}}}};
  }
  if (variant == "linformer") {
    return {"rows k", "k", {{"window means", {{"mode", std::string("mean")}}, false}}};
  }
  return {};
}

// Runs the operation of one head with other parameters.
class EstimatedWeights {
 public:
  EstimatedWeights(const AttentionTap& tap, Index head) {
    const HeadTensors<Tensor> all = tap.input();
    const Index kv = head * all.k.dim(0) / all.q.dim(0);
    input_.first_head = head < static_cast<Index>(tap.heads.size())
                            ? tap.heads[static_cast<std::size_t>(head)]
                            : head;
    input_.layer_heads = input_.first_head + 1;
    input_.q = all.q.slice(head, 1);                    // [1, L_q, d_k]
    input_.k = all.k.slice(kv, 1);                      // [1, L, d_k]
    input_.v = Tensor::zeros({1, input_.k.dim(1), 1});  // unused
    input_.weights = tap.encoding_weights;
    input_.variant = tap.variant;
    // The queries and keys already contain an encoding of the input.
    if (!encoding(tap.encoding.id).embed) input_.encoding = tap.encoding;
    input_.causal = tap.causal;
  }

  // Estimated weights on tokens.  [L_q, L]
  Tensor run_with(const std::string& key, Index size, const EstimateSettings& setting, Index seed) {
    Values& values = input_.variant.values;
    values.set(key, size);
    if (setting.is_random) values.set("seed", seed);
    for (const auto& [name, value] : setting.values) values.set(name, value);
    const OperationResult result =
        evaluate(input_, cpu_backend(), {.output = true, .attention = true});
    const auto implied = result.extra.find("implied");
    const Tensor& weights = implied != result.extra.end() ? implied->second : result.attention;
    return weights.reshaped({weights.dim(1), weights.dim(2)});
  }

 private:
  OperationInput input_;
};

// NaN if any weight is NaN.
double relative_error(const Tensor& exact, const Tensor& estimate) {
  double error = 0, norm = 0;  // squared norms
  for (Index i = 0; i < exact.size(); ++i) {
    const auto weight = static_cast<double>(exact[i]);
    error += std::pow(weight - static_cast<double>(estimate[i]), 2);
    norm += weight * weight;
  }
  return std::sqrt(error / norm);
}

ErrorSpread error_spread(std::vector<double> errors) {
  std::erase_if(errors, [](double error) { return std::isnan(error); });
  if (errors.empty()) {
    constexpr double missing = std::numeric_limits<double>::quiet_NaN();
    return {missing, missing, missing};
  }
  std::ranges::sort(errors);
  return {errors.front(), errors[errors.size() / 2], errors.back()};
}

// Error of the best approximation of each rank (Eckart and Young, 1936).
ErrorCurve best_curve(const ErrorStudy& study) {
  ErrorCurve curve{"best of rank k", false, false, {}};
  for (const Index size : study.sizes) {
    const double error = std::sqrt(std::max(0.0, 1 - study.explained_by(size)));
    curve.errors.push_back({error, error, error});
  }
  return curve;
}

bool matches(const EstimateSettings& setting, const Values& values) {
  return std::ranges::all_of(setting.values, [&](const auto& entry) {
    const auto it = values.all().find(entry.first);
    return it != values.all().end() && it->second == entry.second;
  });
}

}  // namespace

std::string error_study_refusal(const AttentionTap& tap) {
  if (estimate_family(tap.variant.id).settings.empty()) {
    return "This method does not approximate a softmax by features or rows.";
  }
  const Shape &q = tap.shapes().input.q, &k = tap.shapes().input.k;
  if (q.empty() || k.empty() || q[1] != tap.queries()) {
    return "Queries and keys were not stored.";
  }
  if (tap.queries() > kMaxTokens || k[1] > kMaxTokens) {
    return "Needs the singular values of the whole map: at most " + std::to_string(kMaxTokens) +
           " tokens.";
  }
  return {};
}

double ErrorStudy::explained_by(Index rank) const {
  double leading = 0, total = 0;
  for (std::size_t i = 0; i < singular_values.size(); ++i) {
    const double square = singular_values[i] * singular_values[i];
    total += square;
    if (static_cast<Index>(i) < rank) leading += square;
  }
  return total > 0 ? leading / total : 1;
}

ErrorStudy error_study(const AttentionTap& tap, Index head, Index model,
                       const std::function<void(std::size_t done, std::size_t total)>& progress) {
  if (!error_study_refusal(tap).empty()) throw std::logic_error("this head has no error study");
  const Family family = estimate_family(tap.variant.id);
  const bool by_rows = family.parameter == "k";
  const Tensor exact = softmax_weights(tap, head, model);
  ErrorStudy study;
  study.size = family.size;
  study.used_size = tap.variant.values.integer(family.parameter);
  study.seeds = kSeeds;
  const Index max = by_rows ? exact.dim(1) : kMaxFeatures;
  for (Index size = by_rows ? 1 : kMinFeatures; size <= max; size *= 2) study.sizes.push_back(size);
  check_stop();
  study.singular_values = singular_values(matrix_of(exact));
  EstimatedWeights estimates(tap, head);
  const std::size_t total_runs = family.settings.size() * study.sizes.size();
  std::size_t done = 0;
  for (const EstimateSettings& setting : family.settings) {
    ErrorCurve curve{setting.label, matches(setting, tap.variant.values), setting.is_random, {}};
    for (const Index size : study.sizes) {
      std::vector<double> errors;
      for (Index seed = 0; seed < (setting.is_random ? kSeeds : 1); ++seed) {
        check_stop();
        errors.push_back(
            relative_error(exact, estimates.run_with(family.parameter, size, setting, seed)));
      }
      curve.errors.push_back(error_spread(std::move(errors)));
      progress(++done, total_runs);
    }
    study.curves.push_back(std::move(curve));
  }
  if (by_rows) study.curves.push_back(best_curve(study));
  return study;
}

}  // namespace attnscope
