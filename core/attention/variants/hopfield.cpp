// hopfield: queries converge to stored patterns. Ramsauer et al., 2020.
#include <cmath>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

// For each row, the largest absolute change of its numbers.
std::vector<double> changes(const Tensor& old_rows, const Tensor& new_rows) {
  const Index size = old_rows.dim(2);
  std::vector<double> result(static_cast<std::size_t>(old_rows.dim(0) * old_rows.dim(1)), 0.0);
  for (Index i = 0; i < old_rows.size(); ++i) {
    double& largest = result[static_cast<std::size_t>(i / size)];
    largest = std::max(largest, std::abs(static_cast<double>(new_rows[i]) - old_rows[i]));
  }
  return result;
}

// Selects row n of `new_rows` if is_moving[n], otherwise of `old_rows`.
Var select_rows(const Var& old_rows, const Var& new_rows, const std::vector<bool>& is_moving) {
  Tensor new_mask({old_rows.dim(0), old_rows.dim(1), 1});
  Tensor old_mask({old_rows.dim(0), old_rows.dim(1), 1});
  for (Index i = 0; i < new_mask.size(); ++i) {
    new_mask[i] = is_moving[static_cast<std::size_t>(i)] ? 1.0f : 0.0f;
    old_mask[i] = 1 - new_mask[i];
  }
  return add(multiply(new_rows, new_mask), multiply(old_rows, old_mask));
}

OperationResult evaluate_hopfield(const OperationInput& input, Backend& backend,
                                  const ResultRequest& wanted) {
  const Values& values = input.variant.values;
  const double tolerance = values.real("tolerance");
  Part part = plain_part(input, plain_pattern(input, input.causal));
  if (values.has("beta")) part.scale = static_cast<float>(values.real("beta"));
  part.split.clear();

  // xi: state of the queries before the last step. The last step computes `attention` from xi.
  const Index rows = input.q.dim(0) * input.q.dim(1);
  Var xi = input.q;
  std::vector<bool> is_moving(static_cast<std::size_t>(rows), true);
  IntTensor steps = IntTensor::full({input.q.dim(0), input.q.dim(1)}, 1);
  for (Index step = 2; step <= values.integer("steps"); ++step) {
    check_stop();
    Part retrieval = part;
    retrieval.q = xi;
    retrieval.v = input.k;
    const Var next = run_part(std::move(retrieval), backend, {}).output;  // [B h, L, d_k]
    const std::vector<double> change = changes(xi.value(), next.value());
    bool any_moving = false;
    for (Index row = 0; row < rows; ++row) {
      const auto index = static_cast<std::size_t>(row);
      is_moving[index] = is_moving[index] && !(change[index] < tolerance);
      if (!is_moving[index]) continue;
      any_moving = true;
      steps[row] = static_cast<std::int32_t>(step);
    }
    if (!any_moving) break;
    xi = select_rows(xi, next, is_moving);
  }
  part.q = xi;
  OperationResult result = run_part(std::move(part), backend, wanted);
  result.extra_counts["hopfield.steps"] = steps;
  return result;
}

}  // namespace

Variant hopfield_variant() {
  Variant v;
  v.id = "hopfield";
  v.label = "Hopfield";
  v.group = "Low rank and kernels";
  v.equation = "ξ₀ = qᵢ,   ξ_{t+1} = softmax(β ξ_t Kᵀ) K";
  v.summary =
      "Attention is one step of an associative memory: the keys are stored patterns, and a query "
      "is replaced by their weighted mean. Repeated steps converge to one pattern, or to the mean "
      "of a group; a large β makes memories sharp.";
  v.source = "Ramsauer et al., 2020, Hopfield networks is all you need, arXiv:2008.02217";
  v.complexity = "O(steps·L²·d)";
  v.causality.incremental = always;
  v.inputs.cross = true;
  v.encodings.accepts_pairs = v.scores.has_terms = never;
  v.encodings.pairs_refusal =
      "replaces queries by means of patterns, which have no single position";
  v.parameters = {{.key = "steps",
                   .symbol = "n",
                   .label = "Steps",
                   .help = "Maximum number of steps of a query.",
                   .required = true,
                   .initial = Index{3},
                   .illustrative_default = [](Index) -> Value { return Index{8}; },
                   .limits = {.min = 1, .max = 10000},  // bounds the time without convergence
                   .slider = {.min = 1, .max = 20}},
                  {.key = "beta",
                   .symbol = "β",
                   .label = "Beta",
                   .help = "Sharpness of the retrieval; default the scale.",
                   .kind = Parameter::Kind::Real,
                   .optional = true,
                   .unset_label = "the scale",
                   .initial = 1.0,
                   .illustrative_default = [](Index) -> Value { return 1.0; },
                   .limits = {.min = -std::numeric_limits<float>::max(),
                              .max = std::numeric_limits<float>::max()},
                   .slider = {.min = 0, .max = 8}},
                  {.key = "tolerance",
                   .symbol = "ε",
                   .label = "Tolerance",
                   .help = "A query has converged when a step changes it by less than this.",
                   .kind = Parameter::Kind::Real,
                   .initial = 1e-4,
                   .limits = {.min = 0, .max = Parameter::kMaxReal},
                   .slider = {.min = 1e-6, .max = 0.1, .logarithmic = true}}};
  v.cost.head = [](const CostInput& in) {
    const IntTensor& steps = in.result.extra_counts.at("hopfield.steps");  // [B h, L_q]
    double products = 0;
    for (Index i = 0; i < in.queries; ++i) {
      products += static_cast<double>(steps(in.head, i) * in.result.pattern->row_size(0, i));
    }
    return products;
  };
  v.evaluate = evaluate_hopfield;
  return v;
}

}  // namespace attnscope
