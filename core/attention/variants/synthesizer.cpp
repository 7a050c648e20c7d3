// synthesizer: weights without comparisons of tokens. Tay et al., 2020.
#include <cmath>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/attention/variants/shared/rows.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

// True if the weights are made by this form, alone or in a mixture.
bool has_form(const Values& values, std::string_view form) {
  return values.choice("mode") == form || values.choice("plus") == form;
}
bool is_mixture(const Values& values) {
  return values.choice("plus") != "none";
}
bool reads_tokens(const Values& values) {
  return has_form(values, "dense") || has_form(values, "factorised_dense");
}
std::function<bool(const Values&)> used_by(const char* form) {
  return [form](const Values& values) { return has_form(values, form); };
}

void check_length(const char* name, Index max_length, Index length) {
  if (length <= max_length) return;
  throw InputError(std::string(name) + ": expected at least the length " + std::to_string(length) +
                   found_text(max_length));
}

// ReLU(x w1 + b1).  [B, L_q, a]
Var hidden_layer(const OperationInput& input) {
  return relu(
      add(matmul(input.x, weight(input.weights, "syn.w1")), weight(input.weights, "syn.b1")));
}

// First `count` outputs of a second layer with weight `w` [h, a, n] and bias `b` [h, n].
// [B h, L_q, count]
Var second_layer(const OperationInput& input, const Var& hidden, const char* w, const char* b,
                 Index count) {
  const Var& w2 = weight(input.weights, w);
  const Index heads = input.heads, inner = w2.dim(1);
  const Var columns = reshape(permute(slice(w2, 2, 0, count), {1, 0, 2}), {inner, heads * count});
  const Var offsets = slice(weight(input.weights, b), 1, 0, count);  // [h, count]
  return split_heads(add(matmul(hidden, columns), reshape(offsets, {heads * count})), heads);
}

// ReLU(x w1 + b1) w2 + b2, truncated to L_k columns.  [B h, L_q, L_k]
Var dense_logits(const OperationInput& input) {
  const Index length = key_count(input);
  check_length("syn.w2", weight(input.weights, "syn.w2").dim(2), length);
  return second_layer(input, hidden_layer(input), "syn.w2", "syn.b2", length);
}

// A_(j mod m) * B_floor(j / m) in column j, from the outputs A (m numbers) and B of two second
// layers.  [B h, L_q, L_k]
Var factorised_dense_logits(const OperationInput& input) {
  const Index length = key_count(input);
  const Index period = weight(input.weights, "syn.wa").dim(2);  // m
  const Index repeats = weight(input.weights, "syn.wb").dim(2);
  const Index needed = (length + period - 1) / period;
  if (needed > repeats) check_length("syn.wa and syn.wb", period * repeats, length);
  const Var hidden = hidden_layer(input);
  const Var a = second_layer(input, hidden, "syn.wa", "syn.ba", period);
  const Var b = second_layer(input, hidden, "syn.wb", "syn.bb", needed);
  const Shape rows{a.dim(0), a.dim(1)};
  const Var products = multiply(reshape(b, {rows[0], rows[1], needed, 1}),
                                reshape(a, {rows[0], rows[1], 1, period}));
  return slice(reshape(products, {rows[0], rows[1], needed * period}), 2, 0, length);
}

// R_1 R_2^T, rows of the queries.  [h, L_q, L_k]
Var factorised_random_logits(const OperationInput& input) {
  const Index length = key_count(input), first = first_position(input);
  const Var& r1 = weight(input.weights, "syn.r1");  // [h, L_max, r]
  check_length("syn.r1", r1.dim(1), length);
  check_length("syn.r2", weight(input.weights, "syn.r2").dim(1), length);
  return matmul_transposed(slice(r1, 1, first, length - first),
                           slice(weight(input.weights, "syn.r2"), 1, 0, length));
}

// scale * q·k.  [B h, L_q, L_k]
Var dot_logits(const OperationInput& input) {
  const Var k = repeat_heads(input.k, input.heads, input.kv_heads);
  const auto key_size = static_cast<double>(input.q.dim(2));
  const float factor = input.scale.value_or(static_cast<float>(1 / std::sqrt(key_size)));
  return scale(matmul_transposed(input.q, k), factor);
}

// Random matrices over positions. Matrices of shorter texts are submatrices.  [h, L, L]
Tensor drawn_matrices(const OperationInput& input, Index length) {
  constexpr Index kMaxNumbers = Index{1} << 28;
  if (input.heads * length > kMaxNumbers / length) {
    throw InputError("syn.r: too large to draw, expected fewer positions, found " +
                     std::to_string(length));
  }
  const auto seed = static_cast<std::uint64_t>(input.variant.values.integer("seed"));
  Tensor matrices({input.heads, length, length});
  for (Index head = 0; head < input.heads; ++head) {
    Random random(derived_seed(seed, static_cast<std::uint64_t>(input.first_head + head)));
    for (Index i = 0; i < length; ++i) {
      check_stop();
      for (Index j = 0; j < i; ++j) {
        matrices(head, i, j) = static_cast<float>(random.normal());
        matrices(head, j, i) = static_cast<float>(random.normal());
      }
      matrices(head, i, i) = static_cast<float>(random.normal());
    }
  }
  return matrices;
}

// Logits of the stored or drawn matrices. [h, L_q, L_k]
Var random_logits(const OperationInput& input) {
  const Index length = key_count(input);
  const Var* stored = find_weight(input.weights, "syn.r");
  if (stored) check_length("syn.r", stored->dim(1), length);
  const Var r = stored ? *stored : Var(drawn_matrices(input, length));
  return slice(slice(r, 1, first_position(input), length - first_position(input)), 2, 0, length);
}

// Logits of one form.  [B h or h, L_q, L_k]
Var form_logits(const OperationInput& input, std::string_view form) {
  if (form == "dense") return dense_logits(input);
  if (form == "factorised_dense") return factorised_dense_logits(input);
  if (form == "factorised_random") return factorised_random_logits(input);
  return form == "dot" ? dot_logits(input) : random_logits(input);
}

// The sum of two forms with the weights softmax(alpha) of each head.  [B h, L_q, L_k]
Var mixture_logits(const OperationInput& input) {
  const Values& values = input.variant.values;
  const Var alpha = softmax(weight(input.weights, "syn.alpha"));  // [h, 2]
  Var sum;
  for (const Index n : {0, 1}) {
    const Var logits = form_logits(input, values.choice(n == 0 ? "mode" : "plus"));
    const Index heads = input.heads, batch = logits.dim(0) / heads;
    const Var by_item = reshape(logits, {batch, heads, logits.dim(1), logits.dim(2)});
    const Var weighted = multiply(by_item, reshape(slice(alpha, 1, n, 1), {heads, 1, 1}));
    sum = n == 0 ? weighted : add(sum, weighted);
  }
  return reshape(sum, {sum.dim(0) * sum.dim(1), sum.dim(2), sum.dim(3)});
}

OperationResult evaluate_synthesizer(const OperationInput& input, Backend& backend,
                                     const ResultRequest& wanted) {
  Part part = plain_part(input, plain_pattern(input, input.causal));
  part.source = Source::Logits;
  const Values& values = input.variant.values;
  part.logits =
      is_mixture(values) ? mixture_logits(input) : form_logits(input, values.choice("mode"));
  part.q = part.k = Var();
  part.split.clear();
  OperationResult result = run_part(std::move(part), backend, wanted);
  if (is_mixture(values) && wanted.attention) {
    result.extra["synthesizer.alpha"] = softmax(weight(input.weights, "syn.alpha")).value();
  }
  return result;
}

WeightInfo form_weight(const char* name, const char* help, std::function<bool(const Values&)> used,
                       std::function<Shape(const Dimensions&, const Values&)> shape,
                       Initial initial) {
  return {.name = name,
          .help = help,
          .shape = std::move(shape),
          .initial = std::move(initial),
          .used = std::move(used)};
}

Index inner_size(const Dimensions& n) {
  return n.inner_or(n.key);
}

// Sizes of the outputs A and B of the factorised dense form, whose products cover all positions.
Index first_factor(const Dimensions& n) {
  return n.context < 0 ? kFreeQueries : rounded_root(n.context);
}
Index second_factor(const Dimensions& n) {
  return n.context < 0 ? kFreeKeys : (n.context + first_factor(n) - 1) / first_factor(n);
}

double synthesizer_numbers(const MemoryInput& in) {
  const auto keys = static_cast<double>(in.keys);
  const auto pairs = static_cast<double>(in.batch * in.heads * in.queries) * keys;
  const double square = static_cast<double>(in.heads) * keys * keys;
  double numbers = 0;
  if (has_form(in.values, "dense")) numbers += 3 * pairs;  // product; sum with biases; split
  if (has_form(in.values, "factorised_dense")) numbers += 8 * pairs;  // products, padded; slice
  if (has_form(in.values, "random")) numbers += square + pairs;
  if (has_form(in.values, "factorised_random")) numbers += square;
  if (has_form(in.values, "dot")) numbers += 2 * pairs;
  return is_mixture(in.values) ? numbers + 4 * pairs : numbers;
}

std::vector<WeightInfo> dense_weights() {
  const auto dense = used_by("dense"), factorised = used_by("factorised_dense");
  return {form_weight(
              "syn.w1", "First layer of the network that predicts weights.", reads_tokens,
              [](const Dimensions& n, const Values&) -> Shape {
                return {n.model, inner_size(n)};
              },
              initial_projection()),
          form_weight(
              "syn.b1", "Bias of the first layer.", reads_tokens,
              [](const Dimensions& n, const Values&) -> Shape { return {inner_size(n)}; },
              initial_zeros()),
          form_weight(
              "syn.w2", "Second layer, with one output per position.", dense,
              [](const Dimensions& n, const Values&) -> Shape {
                return {n.heads, inner_size(n), n.context};
              },
              initial_projection()),
          form_weight(
              "syn.b2", "Bias of the second layer.", dense,
              [](const Dimensions& n, const Values&) -> Shape {
                return {n.heads, n.context};
              },
              initial_zeros()),
          form_weight(
              "syn.wa", "Second layer whose outputs repeat.", factorised,
              [](const Dimensions& n, const Values&) -> Shape {
                return {n.heads, inner_size(n), first_factor(n)};
              },
              initial_projection()),
          form_weight(
              "syn.ba", "Bias of the layer whose outputs repeat.", factorised,
              [](const Dimensions& n, const Values&) -> Shape {
                return {n.heads, first_factor(n)};
              },
              initial_zeros()),
          form_weight(
              "syn.wb", "Second layer with one output per repetition.", factorised,
              [](const Dimensions& n, const Values&) -> Shape {
                return {n.heads, inner_size(n), second_factor(n)};
              },
              initial_projection()),
          form_weight(
              "syn.bb", "Bias of the layer with one output per repetition.", factorised,
              [](const Dimensions& n, const Values&) -> Shape {
                return {n.heads, second_factor(n)};
              },
              initial_zeros())};
}

std::vector<WeightInfo> synthesizer_weights() {
  std::vector<WeightInfo> weights = dense_weights();
  weights.push_back({.name = "syn.r",
                     .help = "Matrix that ignores the text.",
                     .shape = [](const Dimensions& n, const Values&) -> Shape {
                       return {n.heads, n.context, n.context};
                     },
                     .initial = initial_normal(1),
                     .file = {.optional = true},
                     .used = used_by("random")});
  const auto factor_shape = [](const Dimensions& n, const Values& values) -> Shape {
    return {n.heads, n.context, values.integer("rank")};
  };
  // Products of these factors have a deviation of 1.
  const Initial initial = [](const Shape& shape, const Dimensions& n, const Values& values,
                             std::uint64_t seed) {
    const double deviation = std::pow(static_cast<double>(shape.back()), -0.25);
    return initial_normal(deviation)(shape, n, values, seed);
  };
  for (const char* name : {"syn.r1", "syn.r2"}) {
    weights.push_back(form_weight(name, "Factor of the matrix that ignores the text.",
                                  used_by("factorised_random"), factor_shape, initial));
  }
  weights.push_back(form_weight(
      "syn.alpha", "Shares of the two forms, before a softmax.", is_mixture,
      [](const Dimensions& n, const Values&) -> Shape {
        return {n.heads, 2};
      },
      initial_zeros()));
  return weights;
}

}  // namespace

Variant synthesizer_variant() {
  Variant v;
  v.id = "synthesizer";
  v.label = "Synthesizer";
  v.group = "Low rank and kernels";
  v.equation =
      "dense: A = softmax(ReLU(x W₁ + b₁) W₂ + b₂);   random: A = softmax(R)\n"
      "factorised: logits A_{j mod m}·B_{⌊j/m⌋} of two layers;   R = R₁ R₂ᵀ\n"
      "mixture: A = softmax(α₁ S₁ + α₂ S₂)";
  v.summary =
      "Tests the need for products of queries and keys: the dense Synthesizer predicts a token's "
      "weights on all positions from the token alone; the random one has a fixed or learned matrix "
      "that ignores the text. Factorised forms need far fewer weights. A mixture adds two forms, "
      "one of which may be the product of queries and keys, with learned shares. All perform "
      "better than expected; mixtures with products perform best.";
  v.source = "Tay et al., 2020, Synthesizer, arXiv:2005.00743";
  v.complexity = "O(L²·d)";
  v.causality.incremental = always;
  v.inputs.needs = [](const Values& values) {
    const bool has_products = has_form(values, "dot");
    return Needs{.queries = has_products, .keys = has_products, .input = reads_tokens(values)};
  };
  v.encodings.accepts_pairs = v.scores.has_terms = never;
  v.encodings.pairs_refusal = "makes its weights without comparing queries and keys";
  v.parameters = {{.key = "mode",
                   .symbol = "",
                   .label = "Mode",
                   .help = "Weights predicted from each token, or a constant matrix.",
                   .kind = Parameter::Kind::Choice,
                   .initial = std::string("dense"),
                   .choices = {"dense",
                               "random",
                               {"factorised_dense", "factorised dense"},
                               {"factorised_random", "factorised random"}}},
                  {.key = "plus",
                   .symbol = "",
                   .label = "Plus",
                   .help = "Second form of a mixture; dot: products of queries and keys.",
                   .kind = Parameter::Kind::Choice,
                   .initial = std::string("none"),
                   .choices = {"none",
                               {"dot", "vanilla (dot products)"},
                               "dense",
                               "random",
                               {"factorised_dense", "factorised dense"},
                               {"factorised_random", "factorised random"}}},
                  {.key = "rank",
                   .symbol = "r",
                   .label = "Rank",
                   .help = "Rank of the factorised random matrix.",
                   .initial = Index{8},
                   .limits = {.min = 1, .max = 1048576},
                   .slider = {.min = 1, .max = 64}},
                  seed_parameter()};
  v.objection = [](const Values& values, const Situation&) -> std::string {
    if (values.choice("plus") != values.choice("mode")) return {};
    return "plus: expected another form than mode, found " + values.choice("plus");
  };
  v.weights = synthesizer_weights();
  v.scores.weights_from = [](const Values& values) {
    if (has_form(values, "dot")) return WeightsFrom::Pairs;
    return reads_tokens(values) ? WeightsFrom::Token : WeightsFrom::Positions;
  };
  v.cost.bytes = [](const MemoryInput& in) { return sizeof(float) * synthesizer_numbers(in); };
  v.evaluate = evaluate_synthesizer;
  return v;
}

}  // namespace attnscope
