// hopfield: queries settle on stored patterns, step by step. Ramsauer et al., 2020.
#include <cmath>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/autodiff/operations_elementwise.h"

namespace attnscope {

namespace {

// The largest change of each row.
std::vector<double> changes(const Tensor& before, const Tensor& after) {
  const Index size = before.dim(2);
  std::vector<double> result(static_cast<std::size_t>(before.dim(0) * before.dim(1)), 0.0);
  for (Index i = 0; i < before.size(); ++i) {
    double& largest = result[static_cast<std::size_t>(i / size)];
    largest = std::max(largest, std::abs(static_cast<double>(after[i]) - before[i]));
  }
  return result;
}

// `moving` rows from `after`, the others from `before`.
Var stepped(const Var& before, const Var& after, const std::vector<bool>& moving) {
  Tensor moves({before.dim(0), before.dim(1), 1});
  Tensor stays({before.dim(0), before.dim(1), 1});
  for (Index i = 0; i < moves.size(); ++i) {
    moves[i] = moving[static_cast<std::size_t>(i)] ? 1.0f : 0.0f;
    stays[i] = 1 - moves[i];
  }
  return add(multiply(after, moves), multiply(before, stays));
}

OperationResult evaluate_hopfield(const OperationInput& input, Backend& backend,
                                  const Wanted& wanted, const Stop& stop) {
  const Values& values = input.variant.values;
  const double tolerance = values.real("tolerance");
  Part part = plain_part(input, plain_pattern(input, input.causal));
  if (values.has("beta")) part.scale = static_cast<float>(values.real("beta"));
  part.split.clear();

  // xi: the state before the last step made, which `attention` is taken from.
  const Index rows = input.q.dim(0) * input.q.dim(1);
  Var xi = input.q;
  std::vector<bool> moving(static_cast<std::size_t>(rows), true);
  IntTensor steps = IntTensor::full({input.q.dim(0), input.q.dim(1)}, 1);
  for (Index step = 2; step <= values.integer("steps"); ++step) {
    stop.check();
    Part retrieval = part;
    retrieval.q = xi;
    retrieval.v = input.k;
    const Var next = run_part(std::move(retrieval), backend, {}, stop).output;  // [B h, L, d_k]
    const std::vector<double> change = changes(xi.value(), next.value());
    bool any = false;
    for (Index row = 0; row < rows; ++row) {
      const auto at = static_cast<std::size_t>(row);
      moving[at] = moving[at] && !(change[at] < tolerance);
      if (!moving[at]) continue;
      any = true;
      steps[row] = static_cast<std::int32_t>(step);
    }
    if (!any) break;
    xi = stepped(xi, next, moving);
  }
  part.q = xi;
  OperationResult result = run_part(std::move(part), backend, wanted, stop);
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
      "is "
      "replaced by their weighted mean. Repeating the step lets it settle on one pattern, or on "
      "the "
      "mean of a group; a large β makes memories sharp.";
  v.source = "Ramsauer et al., 2020, Hopfield networks is all you need, arXiv:2008.02217";
  v.cost = "O(steps·L²·d)";
  v.incremental = true;
  v.cross = true;
  v.takes_pairs = v.has_terms = never;
  v.without_pairs = "replaces queries by means of patterns, which stand at no one position";
  v.parameters = {{.key = "steps",
                   .symbol = "n",
                   .label = "Steps",
                   .help = "How many steps a query may take at most.",
                   .required = true,
                   .initial = Index{3},
                   .telling = [](Index) -> Value { return Index{8}; },
                   .least = 1,
                   .most = 10000,  // steps that change nothing must come to an end
                   .slider_least = 1,
                   .slider_most = 20},
                  {.key = "beta",
                   .symbol = "β",
                   .label = "Beta",
                   .help = "How sharply patterns are told apart; by default the scale.",
                   .kind = Parameter::Kind::Real,
                   .optional = true,
                   .left_out = "the scale",
                   .initial = 1.0,
                   .telling = [](Index) -> Value { return 1.0; },
                   .least = -std::numeric_limits<float>::max(),
                   .most = std::numeric_limits<float>::max(),
                   .slider_least = 0,
                   .slider_most = 8},
                  {.key = "tolerance",
                   .symbol = "ε",
                   .label = "Tolerance",
                   .help = "A query whose step changes nothing by this much has settled.",
                   .kind = Parameter::Kind::Real,
                   .initial = 1e-4,
                   .least = 0,
                   .most = Parameter::kMostReal,
                   .slider_least = 1e-6,
                   .slider_most = 0.1,
                   .slider_logarithmic = true}};
  v.head_cost = [](const CostInput& in) {
    const IntTensor& steps = in.result.extra_counts.at("hopfield.steps");  // [B h, L_q]
    double all = 0;
    for (Index i = 0; i < in.queries; ++i) {
      all += static_cast<double>(steps(in.head, i) * in.result.pattern->row_count(0, i));
    }
    return all;
  };
  v.evaluate = evaluate_hopfield;
  return v;
}

}  // namespace attnscope
