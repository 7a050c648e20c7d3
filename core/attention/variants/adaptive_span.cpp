// adaptive_span: every head learns its attention span. Sukhbaatar et al., 2019.
#include <algorithm>
#include <cmath>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/attention/variants/shared/rows.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/base/error.h"

namespace attnscope {
namespace {

bool is_dynamic(const Values& values) {
  return values.flag("dynamic");
}

// Spans z: [h], or [B h, L] if they depend on the input.
Var spans(const OperationInput& input) {
  if (!is_dynamic(input.variant.values)) return weight(input.weights, "span.z");
  if (!input.x.defined()) throw InputError("x: missing, required by dynamic spans");
  const auto max_span = static_cast<float>(input.variant.values.integer("span"));
  return scale(sigmoid(head_logits(input, "span.v", "span.b")), max_span);
}

// Largest distance x with x <= S and x < R + z; -1 if no distance satisfies both.
Index reach(double z, double ramp, Index max_span) {
  return static_cast<Index>(
      std::ceil(std::clamp(ramp + z, 0.0, static_cast<double>(max_span) + 1)) - 1);
}

Pattern span_pattern(const OperationInput& input, const Tensor& z) {
  const double ramp = input.variant.values.real("ramp");
  const Index max_span = input.variant.values.integer("span"), first = first_position(input);
  const PatternInput in{.values = input.variant.values,
                        .weights = input.weights,
                        .heads = input.heads,
                        .queries = query_count(input),
                        .keys = key_count(input),
                        .first = first,
                        .causal = true};
  return build_rows(in, input.heads, {"span"}, [&](PatternBuilder& rows, Index head, Index i) {
    const double row_z = z.rank() == 1 ? z[head] : z(head, i - first);
    rows.add(0, i - reach(row_z, ramp, max_span), i + 1);
  });
}

OperationResult evaluate_span(const OperationInput& input, Backend& backend,
                              const ResultRequest& wanted) {
  const Var z = spans(input);
  Part part = plain_part(input, span_pattern(input, z.value()));
  part.normaliser = Normaliser::SpanSoftmax;
  part.span = z;
  part.span_ramp = input.variant.values.real("ramp");
  part.max_span = static_cast<double>(input.variant.values.integer("span"));
  apply_encoding(part, input, true);
  OperationResult result = run_part(std::move(part), backend, wanted);
  result.quantities["span.z"] = z;
  return result;
}

}  // namespace

Variant adaptive_span_variant() {
  Variant v;
  v.id = "adaptive_span";
  v.label = "Adaptive span";
  v.group = "Adaptive span and memory";
  v.equation = "aᵢⱼ ∝ m_z(i − j)·exp(sᵢⱼ),   m_z(x) = clamp((R + z − x)/R, 0, 1),   0 ≤ i − j ≤ S";
  v.summary =
      "Every head learns its span z together with all other weights: keys nearer than z count in "
      "full, those on a ramp of length R fade out, and farther ones are not computed. Most heads "
      "turn out to need a few tokens, and a few heads thousands. The dynamic form predicts the "
      "span of each token.";
  v.source = "Sukhbaatar et al., 2019, Adaptive attention span, arXiv:1905.07799";
  v.complexity = "O(L·(z + R)·d)";
  v.cost.growth = {.power = 1, .sizes = [](Values& values, Index length) {
                     values.set("span", std::min<Index>(256, length));
                     values.set("ramp", 32.0);
                   }};
  v.causality.incremental = always;
  v.causality.by_definition = true;
  v.parameters = {{.key = "span",
                   .symbol = "S",
                   .label = "Largest span",
                   .help = "Maximum distance that any head attends to.",
                   .required = true,
                   .initial = Index{32},
                   .illustrative_default = [](Index length) -> Value {
                     return 2 * fraction_of_length(length, 4);
                   },
                   .slider = {.max = 256}},
                  {.key = "ramp",
                   .symbol = "R",
                   .label = "Ramp",
                   .help = "Number of positions over which the weight fades to zero.",
                   .kind = Parameter::Kind::Real,
                   .required = true,
                   .initial = 8.0,
                   .illustrative_default = [](Index length) -> Value {
                     return static_cast<double>(fraction_of_length(length, 8));
                   },
                   .limits = {.min = 0, .max = Parameter::kMaxReal, .min_excluded = true},
                   .slider = {.min = 1, .max = 64}},
                  {.key = "dynamic",
                   .symbol = "",
                   .label = "Dynamic",
                   .help = "Predict the spans of each token from its content.",
                   .kind = Parameter::Kind::Flag,
                   .initial = false},
                  {.key = "span_penalty",
                   .symbol = "λ",
                   .label = "Span penalty",
                   .help = "Training loss per token of span.",
                   .kind = Parameter::Kind::Real,
                   .scope = {.training = true},
                   .initial = 0.0,
                   .limits = {.min = 0, .max = Parameter::kMaxReal},
                   .slider = {.max = 0.1}}};
  v.encodings.uses_distances = true;
  v.weights = {{.name = "span.z",
                .help = "The span of each head.",
                .shape = [](const Dimensions& n, const Values&) -> Shape { return {n.heads}; },
                .initial =
                    [](const Shape& shape, const Dimensions&, const Values& values, std::uint64_t) {
                      return Tensor::full(shape, static_cast<float>(values.integer("span")) / 2);
                    },
                // Spans increase with the head index.
                .illustrative =
                    [](const Shape& shape, const Situation&, const Values& values) {
                      const auto span = static_cast<float>(values.integer("span"));
                      Tensor z(shape);  // [h]
                      for (Index head = 0; head < shape[0]; ++head) {
                        z[head] =
                            span * static_cast<float>(head + 1) / static_cast<float>(shape[0]);
                      }
                      return z;
                    },
                .training = {.max =
                                 [](const Values& values) {
                                   return static_cast<double>(values.integer("span"));
                                 }},
                .used = [](const Values& values) { return !is_dynamic(values); }},
               {.name = "span.v",
                .help = "Dynamic spans: weights that predict the span from the input.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.heads, n.model};
                },
                .initial = initial_normal(0.02),
                .used = is_dynamic},
               {.name = "span.b",
                .help = "Dynamic spans: bias before the sigmoid.",
                .shape = [](const Dimensions& n, const Values&) -> Shape { return {n.heads}; },
                .initial = initial_zeros(),
                .used = is_dynamic}};
  v.inputs.needs = [](const Values& values) { return Needs{.input = is_dynamic(values)}; };
  v.defaults.from_weights = [](Values& values, const std::function<bool(const std::string&)>& has) {
    const bool has_fixed = has("span.z"), has_dynamic = has("span.v");
    if (has_fixed != has_dynamic) values.set("dynamic", has_dynamic);
  };
  v.evaluate = [](const OperationInput& input, Backend& backend, const ResultRequest& wanted) {
    const Evaluate evaluate_items =
        is_dynamic(input.variant.values) ? item_by_item(evaluate_span) : evaluate_span;
    return evaluate_items(input, backend, wanted);
  };
  return v;
}

}  // namespace attnscope
