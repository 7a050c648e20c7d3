// rfa: random Fourier features of unit vectors. Peng et al., 2021.
#include <cmath>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/drawn.h"
#include "core/attention/variants/shared/exact.h"
#include "core/attention/variants/shared/features.h"
#include "core/attention/variants/shared/gated_sums.h"
#include "core/attention/variants/shared/rows.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"

namespace attnscope {
namespace {

Var rfa_matrix(const OperationInput& input) {
  if (const Var* stored = find_weight(input.weights, "rfa.w")) return *stored;
  const Values& values = input.variant.values;
  return drawn_for_heads(input, "rfa.w", {input.heads, values.integer("features"), input.q.dim(2)},
                         0, 1 / values.real("sigma"),
                         static_cast<std::uint64_t>(values.integer("seed")));
}

// Features of rows scaled to unit length: sqrt(1/D) [sin(w x), cos(w x)].  [B h, L, 2 D]
Features fourier_features(const Var& x, const Var& unit, const Var& w, Index heads) {
  const Var angles = feature_products(unit, w, heads);  // [B h, L, D]
  Features features;
  features.factor = 1 / std::sqrt(static_cast<double>(w.dim(1)));
  features.mantissa = concat({sine(angles), cosine(angles)}, 2);
  features.plain = scale(features.mantissa, static_cast<float>(features.factor));
  features.exact_mantissa = [x = x.value(), w = w.value()] {
    const Index rows = x.dim(0) * x.dim(1);
    return exact_waves(exact_unit_rows(x.data(), rows, x.dim(2)), x.shape(), w, 1);
  };
  return features;
}

bool has_gate(const Values& values) {
  return values.flag("gate");
}

// Throws InputError if gates cannot be computed from the operation's input.
void check_gate(const OperationInput& input) {
  if (!input.x.defined()) throw InputError("x: missing, required by the gates of rfa");
  if (input.y.defined()) {
    throw InputError("y: expected no y with the gates of rfa, which belong to the tokens of x");
  }
  if (!input.positions.empty()) {
    throw InputError("gate: expected false where keys are cached, found true");
  }
}

OperationResult evaluate_rfa(const OperationInput& original, Backend& backend,
                             const ResultRequest& wanted) {
  const bool has_gates = has_gate(original.variant.values);
  if (has_gates) check_gate(original);
  const OperationInput input = rotate_input(original);
  const Var q = unit_rows(input.q);
  const Var keys = repeat_heads(input.k, input.heads, input.kv_heads);
  const Var k = unit_rows(keys);
  const Var w = rfa_matrix(input);
  const Features q_features = fourier_features(input.q, q, w, input.heads);
  const Features k_features = fourier_features(keys, k, w, input.heads);
  Features gated_features = k_features;  // k_features weighted by the gates
  Var logits;                            // gate logits [B h, L]
  if (has_gates) {
    logits = head_logits(input, "rfa.gate.w", "rfa.gate.b");
    GateExponents gates = gate_exponents(logits);
    gated_features.exponents = gates.exponents;
    gated_features.exact_exponents = std::move(gates.exact);
  }
  OperationResult result = has_gates ? run_gated(input, q_features, gated_features, backend, wanted)
                                     : run_features(input, q_features, k_features, backend, wanted);
  if (wants_report(wanted)) {
    add_features(result, q_features, k_features, input.heads);
    if (has_gates) result.extra["rfa.gate"] = sigmoid(logits).value().slice(0, input.heads);
  }
  if (wanted.attention) {
    const double sigma = input.variant.values.real("sigma");
    result.extra["exact"] = exact_attention(input, q, k, 1 / (sigma * sigma), backend);
  }
  return result;
}

// Input weights whose gates vary between tokens about as much as trained gates.
Tensor varied_gates(const Shape& shape, const Situation&, const Values& values) {
  constexpr double kDeviation = 1.5;  // deviation of the logits for inputs of deviation 1
  constexpr std::uint64_t kSeed = 1;
  const double deviation = kDeviation / std::sqrt(static_cast<double>(shape.back()));
  return initial_normal(deviation)(shape, Dimensions(), values, kSeed);
}

WeightInfo gate_weight(const char* name, const char* help, bool depends_on_input, Initial initial) {
  return {.name = name,
          .help = help,
          .shape = [depends_on_input](const Dimensions& n, const Values&) -> Shape {
            return depends_on_input ? Shape{n.heads, n.model} : Shape{n.heads};
          },
          .initial = std::move(initial),
          .illustrative = depends_on_input ? varied_gates : nullptr,
          .used = has_gate};
}

// Biases of gates g = 0.88, with which running sums lose about half of their content in 5 tokens.
Tensor slow_gates(const Shape& shape, const Dimensions&, const Values&, std::uint64_t) {
  return Tensor::full(shape, 2);
}

std::string gate_objection(const Values& values, const Situation& in) {
  if (!has_gate(values)) return {};
  if (!in.causal) return "gate: expected false without causal order, found true";
  if (in.queries == in.keys) return {};
  return "k: expected as many keys as queries for the gates of rfa, " + std::to_string(in.queries) +
         found_text(in.keys);
}

double rfa_numbers(const MemoryInput& in) {
  const auto rows = static_cast<double>(in.heads * in.batch * (in.queries + in.keys));
  const auto features = static_cast<double>(in.values.integer("features"));
  const double directions = 2 * static_cast<double>(in.heads * in.key_size) * features;
  // Angles, two arrays of sines and cosines, sines and cosines of the keys in double precision.
  return features * 7 * rows + directions +
         (in.maps ? static_cast<double>(in.heads * in.queries) * static_cast<double>(in.keys) : 0);
}

}  // namespace

Variant rfa_variant() {
  Variant v;
  v.id = "rfa";
  v.label = "Random features (RFA)";
  v.group = "Low rank and kernels";
  v.equation =
      "aᵢⱼ ≈ softmax(q̂ᵢ·k̂ⱼ/σ²),   φ(x) = √(1/D) [sin(w₁·x) … sin(w_D·x), cos(w₁·x) … cos(w_D·x)]\n"
      "with gates: S_t = g_t S_{t−1} + (1 − g_t) φ(k_t) ⊗ v_t,   g_t = σ(w·x_t + b)";
  v.summary =
      "Queries and keys are scaled to unit length, where the exponential of their product is a "
      "Gaussian kernel; random sines and cosines estimate it, so that the softmax turns into "
      "running sums. More features reduce the error; the view Mechanism compares the estimate with "
      "the exact softmax. Gates let each token forget part of the past.";
  v.source = "Peng et al., 2021, Random feature attention, arXiv:2103.02143";
  v.complexity = "O(L·D·d)";
  v.cost.growth = {.power = 1};
  v.inputs.cross = true;
  v.causality.incremental = [](const Values& values) { return !has_gate(values); };
  v.encodings.accepts_rotary = true;
  v.inputs.needs = [](const Values& values) { return Needs{.input = has_gate(values)}; };
  v.objection = gate_objection;
  v.cost.head = [](const CostInput& in) {
    const Index directions = in.values.integer("features");
    return feature_cost(in, 2 * directions, directions * in.key_size);
  };
  v.encodings.accepts_pairs = v.scores.has_terms = v.scores.has_softmax = never;
  v.encodings.pairs_refusal = "estimates its weights without forming scores of pairs";
  v.parameters = {features_parameter("D"),
                  {.key = "sigma",
                   .symbol = "σ",
                   .label = "Sigma",
                   .help = "Width of the kernel; smaller is sharper.",
                   .kind = Parameter::Kind::Real,
                   .initial = 1.0,
                   .limits = {.min = 0, .max = Parameter::kMaxReal, .min_excluded = true},
                   .slider = {.min = 0.2, .max = 4}},
                  {.key = "gate",
                   .symbol = "g",
                   .label = "Gates",
                   .help = "A gate of each token makes running sums forget (causal only).",
                   .kind = Parameter::Kind::Flag,
                   .initial = false},
                  seed_parameter()};
  v.weights = {random_directions("rfa.w"),
               gate_weight("rfa.gate.w", "Predicts the share of the past that is kept.", true,
                           initial_normal(0.02)),
               gate_weight("rfa.gate.b", "Default share that is kept, before the sigmoid.", false,
                           slow_gates)};
  v.cost.bytes = [](const MemoryInput& in) { return sizeof(float) * rfa_numbers(in); };
  v.evaluate = evaluate_rfa;
  return v;
}

}  // namespace attnscope
