// adaptive_span: every head learns how far it looks back. Sukhbaatar et al., 2019.
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

// z: [h], or [B h, L] where it follows from the input.
Var spans(const OperationInput& input) {
  if (!is_dynamic(input.variant.values)) return weight(input.weights, "span.z");
  if (!input.x.defined()) throw InputError("x: missing, dynamic spans are computed from it");
  const auto most = static_cast<float>(input.variant.values.integer("span"));
  return scale(sigmoid(head_logits(input, "span.v", "span.b")), most);
}

// The greatest distance x <= S with x < R + z, or -1.
Index reach(double z, double ramp, Index most) {
  return static_cast<Index>(std::ceil(std::clamp(ramp + z, 0.0, static_cast<double>(most) + 1)) -
                            1);
}

Pattern span_pattern(const OperationInput& input, const Tensor& z) {
  const double ramp = input.variant.values.real("ramp");
  const Index most = input.variant.values.integer("span"), first = first_position(input);
  const PatternInput in{.values = input.variant.values,
                        .weights = input.weights,
                        .heads = input.heads,
                        .queries = query_count(input),
                        .keys = key_count(input),
                        .first = first,
                        .causal = true};
  return build_rows(in, input.heads, {"span"}, [&](PatternBuilder& rows, Index head, Index i) {
    const double own = z.rank() == 1 ? z[head] : z(head, i - first);
    rows.add(0, i - reach(own, ramp, most), i + 1);
  });
}

OperationResult evaluate_span(const OperationInput& input, Backend& backend, const Wanted& wanted,
                              const Stop& stop) {
  const Var z = spans(input);
  Part part = plain_part(input, span_pattern(input, z.value()));
  part.normaliser = Normaliser::SpanSoftmax;
  part.span = z;
  part.span_ramp = input.variant.values.real("ramp");
  part.span_most = static_cast<double>(input.variant.values.integer("span"));
  apply_encoding(part, input, true);
  OperationResult result = run_part(std::move(part), backend, wanted, stop);
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
      "Every head has a span z of its own, learned with everything else: keys nearer than z count "
      "in "
      "full, those on a ramp of R behind it fade out, and farther ones are not even computed. Most "
      "heads turn out to need a few tokens, and a few heads thousands. The dynamic form lets each "
      "token choose its span.";
  v.source = "Sukhbaatar et al., 2019, Adaptive attention span, arXiv:1905.07799";
  v.cost = "O(L·(z + R)·d)";
  v.growth = {.power = 1, .sizes = [](Values& values, Index length) {
                values.set("span", std::min<Index>(256, length));
                values.set("ramp", 32.0);
              }};
  v.incremental = true;
  v.causal_by_definition = true;
  v.parameters = {
      {.key = "span",
       .symbol = "S",
       .label = "Largest span",
       .help = "How far back any head may look.",
       .required = true,
       .initial = Index{32},
       .telling = [](Index length) -> Value { return 2 * share_of(length, 4); },
       .slider_most = 256},
      {.key = "ramp",
       .symbol = "R",
       .label = "Ramp",
       .help = "Over how many positions the weight fades to zero.",
       .kind = Parameter::Kind::Real,
       .required = true,
       .initial = 8.0,
       .telling = [](Index length) -> Value { return static_cast<double>(share_of(length, 8)); },
       .least = 0,
       .most = Parameter::kMostReal,
       .least_excluded = true,
       .slider_least = 1,
       .slider_most = 64},
      {.key = "dynamic",
       .symbol = "",
       .label = "Dynamic",
       .help = "Whether each token chooses its spans, by what it says.",
       .kind = Parameter::Kind::Flag,
       .initial = false},
      {.key = "span_penalty",
       .symbol = "λ",
       .label = "Span penalty",
       .help = "What a token of span costs in training, added to the loss.",
       .kind = Parameter::Kind::Real,
       .of_training = true,
       .initial = 0.0,
       .least = 0,
       .most = Parameter::kMostReal,
       .slider_most = 0.1}};
  v.weights = {{.name = "span.z",
                .help = "The span of each head.",
                .shape = [](const Dimensions& n, const Values&) -> Shape { return {n.heads}; },
                .initial =
                    [](const Shape& shape, const Dimensions&, const Values& values, std::uint64_t) {
                      return Tensor::full(shape, static_cast<float>(values.integer("span")) / 2);
                    },
                // From near to far, head by head.
                .shown =
                    [](const Shape& shape, const Situation&, const Values& values) {
                      const auto span = static_cast<float>(values.integer("span"));
                      Tensor z(shape);  // [h]
                      for (Index head = 0; head < shape[0]; ++head) {
                        z[head] =
                            span * static_cast<float>(head + 1) / static_cast<float>(shape[0]);
                      }
                      return z;
                    },
                .most =
                    [](const Values& values) {
                      return static_cast<double>(values.integer("span"));
                    },
                .used = [](const Values& values) { return !is_dynamic(values); }},
               {.name = "span.v",
                .help = "Dynamic spans: what of the input makes a head look far.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.heads, n.model};
                },
                .initial = initial_normal(0.02),
                .used = is_dynamic},
               {.name = "span.b",
                .help = "Dynamic spans: added before the sigmoid.",
                .shape = [](const Dimensions& n, const Values&) -> Shape { return {n.heads}; },
                .initial = initial_zeros(),
                .used = is_dynamic}};
  v.needs = [](const Values& values) { return Needs{.input = is_dynamic(values)}; };
  v.settle = [](Values& values, const std::function<bool(const std::string&)>& holds) {
    const bool fixed = holds("span.z"), dynamic = holds("span.v");
    if (fixed != dynamic) values.set("dynamic", dynamic);
  };
  v.evaluate = [](const OperationInput& input, Backend& backend, const Wanted& wanted,
                  const Stop& stop) {
    const Evaluate one =
        is_dynamic(input.variant.values) ? item_by_item(evaluate_span) : evaluate_span;
    return one(input, backend, wanted, stop);
  };
  return v;
}

}  // namespace attnscope
