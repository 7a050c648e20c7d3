#include "core/analysis/error_study.h"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/analysis/matrices.h"
#include "core/analysis/softmax_weights.h"

namespace attnscope {
namespace {

constexpr Index kMostStudied = 1024;  // tokens: singular values take L³
constexpr Index kLeastSize = 4, kMostFeatures = 512;
constexpr Index kSeeds = 9;

// What a curve changes in the head's parameters.
struct Making {
  std::string label;
  std::vector<std::pair<std::string, Value>> values;
  bool drawn = true;
};

// A family of estimates: which parameter says how many numbers they are made of.
struct Family {
  std::string size, parameter;
  std::vector<Making> makings;
};

Family family_of(const std::string& variant) {
  const auto performer = [](const char* label, const char* kind, bool orthogonal) {
    return Making{label, {{"kind", std::string(kind)}, {"orthogonal", orthogonal}}};
  };
  if (variant == "performer") {
    return {"random directions m",
            "features",
            {performer("positive, orthogonal", "positive", true),
             performer("positive, independent", "positive", false),
             performer("sine and cosine, orthogonal", "trig", true),
             performer("sine and cosine, independent", "trig", false)}};
  }
  if (variant == "rfa") {
    return {"random directions D", "features", {{"sine and cosine", {{"gate", false}}}}};
  }
  if (variant == "linformer") {
    return {"rows k", "k", {{"means of windows", {{"mode", std::string("mean")}}, false}}};
  }
  return {};
}

// The head's operation with other values, by itself.
class Estimates {
 public:
  Estimates(const AttentionTap& tap, Index head) {
    const Index kv = head * tap.k_plain.dim(0) / tap.q_plain.dim(0);
    input_.first_head = head < static_cast<Index>(tap.heads.size())
                            ? tap.heads[static_cast<std::size_t>(head)]
                            : head;
    input_.layer_heads = input_.first_head + 1;
    input_.q = tap.q_plain.slice(head, 1);              // [1, L_q, d_k]
    input_.k = tap.k_plain.slice(kv, 1);                // [1, L, d_k]
    input_.v = Tensor::zeros({1, input_.k.dim(1), 1});  // nothing is asked of it
    input_.weights = tap.encoding_weights;
    input_.variant = tap.variant;
    // One of the input is in the queries and keys already.
    if (!encoding(tap.encoding.id).embed) input_.encoding = tap.encoding;
    input_.causal = tap.causal;
  }

  // The weights on tokens.  [L_q, L]
  Tensor with(const std::string& key, Index size, const Making& making, Index seed,
              const Stop& stop) {
    Values& values = input_.variant.values;
    values.set(key, size);
    if (making.drawn) values.set("seed", seed);
    for (const auto& [name, value] : making.values) values.set(name, value);
    const OperationResult result =
        evaluate(input_, cpu_backend(), {.output = true, .attention = true}, stop);
    const auto implied = result.extra.find("implied");
    const Tensor& weights = implied != result.extra.end() ? implied->second : result.attention;
    return weights.reshaped({weights.dim(1), weights.dim(2)});
  }

 private:
  OperationInput input_;
};

// NaN where a weight is none.
double relative_error(const Tensor& exact, const Tensor& estimate) {
  double apart = 0, all = 0;
  for (Index i = 0; i < exact.size(); ++i) {
    const auto of = static_cast<double>(exact[i]);
    apart += std::pow(of - static_cast<double>(estimate[i]), 2);
    all += of * of;
  }
  return std::sqrt(apart / all);
}

ErrorSpread spread_of(std::vector<double> errors) {
  std::erase_if(errors, [](double error) { return std::isnan(error); });
  if (errors.empty()) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    return {none, none, none};
  }
  std::ranges::sort(errors);
  return {errors.front(), errors[errors.size() / 2], errors.back()};
}

std::vector<double> singular_values(const Tensor& matrix) {
  const Eigen::BDCSVD<Eigen::MatrixXd> svd(matrix_of(matrix));
  return {svd.singularValues().begin(), svd.singularValues().end()};
}

// What the nearest matrix of each rank leaves (Eckart and Young, 1936).
ErrorCurve best_curve(const ErrorStudy& study) {
  ErrorCurve curve{"the best of rank k", false, false, {}};
  for (const Index size : study.sizes) {
    const double error = std::sqrt(std::max(0.0, 1 - study.kept(size)));
    curve.errors.push_back({error, error, error});
  }
  return curve;
}

bool is_own(const Making& making, const Values& values) {
  return std::ranges::all_of(making.values, [&](const auto& set) {
    const auto found = values.all().find(set.first);
    return found != values.all().end() && found->second == set.second;
  });
}

}  // namespace

std::string no_error_study(const AttentionTap& tap) {
  if (family_of(tap.variant.id).makings.empty()) {
    return "This method estimates no softmax with a number of features or rows.";
  }
  if (!tap.q_plain.defined() || !tap.k_plain.defined() || tap.q_plain.dim(1) != tap.queries()) {
    return "Queries and keys were not kept.";
  }
  if (tap.queries() > kMostStudied || tap.k_plain.dim(1) > kMostStudied) {
    return "It takes the singular values of the whole map: at most " +
           std::to_string(kMostStudied) + " tokens.";
  }
  return {};
}

double ErrorStudy::kept(Index rank) const {
  double first = 0, all = 0;
  for (std::size_t i = 0; i < singular.size(); ++i) {
    const double square = singular[i] * singular[i];
    all += square;
    if (static_cast<Index>(i) < rank) first += square;
  }
  return all > 0 ? first / all : 1;
}

ErrorStudy error_study(const AttentionTap& tap, Index head, Index model,
                       const std::function<void(std::size_t done, std::size_t all)>& progress,
                       const Stop& stop) {
  if (!no_error_study(tap).empty()) throw std::logic_error("this head estimates nothing");
  const Family family = family_of(tap.variant.id);
  const bool rows = family.parameter == "k";
  const Tensor exact = softmax_weights(tap, head, model);
  ErrorStudy study;
  study.size = family.size;
  study.own_size = tap.variant.values.integer(family.parameter);
  study.seeds = kSeeds;
  const Index most = rows ? exact.dim(1) : kMostFeatures;
  for (Index size = rows ? 1 : kLeastSize; size <= most; size *= 2) study.sizes.push_back(size);
  stop.check();
  study.singular = singular_values(exact);
  Estimates estimates(tap, head);
  const std::size_t all = family.makings.size() * study.sizes.size();
  std::size_t done = 0;
  for (const Making& making : family.makings) {
    ErrorCurve curve{making.label, is_own(making, tap.variant.values), making.drawn, {}};
    for (const Index size : study.sizes) {
      std::vector<double> errors;
      for (Index seed = 0; seed < (making.drawn ? kSeeds : 1); ++seed) {
        stop.check();
        errors.push_back(
            relative_error(exact, estimates.with(family.parameter, size, making, seed, stop)));
      }
      curve.errors.push_back(spread_of(std::move(errors)));
      progress(++done, all);
    }
    study.curves.push_back(std::move(curve));
  }
  if (rows) study.curves.push_back(best_curve(study));
  return study;
}

}  // namespace attnscope
