// synthesizer: weights without comparisons of tokens. Tay et al., 2020.
#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/attention/variants/shared/rows.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

bool is_dense(const Values& values) {
  return values.choice("mode") == "dense";
}
bool is_random(const Values& values) {
  return !is_dense(values);
}

void check_length(const char* name, Index max_length, Index length) {
  if (length <= max_length) return;
  throw InputError(std::string(name) + ": expected at least the length " + std::to_string(length) +
                   found_text(max_length));
}

// ReLU(x w1 + b1) w2 + b2, truncated to L_k columns.  [B h, L_q, L_k]
Var dense_logits(const OperationInput& input) {
  const Index heads = input.heads, length = key_count(input);
  const Var& w2 = weight(input.weights, "syn.w2");  // [h, a, L_max]
  const Index inner = w2.dim(1);
  check_length("syn.w2", w2.dim(2), length);
  const Var hidden = relu(add(matmul(input.x, weight(input.weights, "syn.w1")),
                              weight(input.weights, "syn.b1")));  // [B, L, a]
  const Var columns =
      reshape(permute(slice(w2, 2, 0, length), {1, 0, 2}), {inner, heads * length});  // [a, h L]
  const Var offsets = slice(weight(input.weights, "syn.b2"), 1, 0, length);           // [h, L]
  const Var logits = add(matmul(hidden, columns), reshape(offsets, {heads * length}));
  return split_heads(logits, heads);
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

OperationResult evaluate_synthesizer(const OperationInput& input, Backend& backend,
                                     const ResultRequest& wanted) {
  Part part = plain_part(input, plain_pattern(input, input.causal));
  part.source = Source::Logits;
  part.logits = is_dense(input.variant.values) ? dense_logits(input) : random_logits(input);
  part.q = part.k = Var();
  part.split.clear();
  return run_part(std::move(part), backend, wanted);
}

WeightInfo dense_weight(const char* name, const char* help,
                        std::function<Shape(const Dimensions&, const Values&)> shape,
                        Initial initial) {
  return {.name = name,
          .help = help,
          .shape = std::move(shape),
          .initial = std::move(initial),
          .used = is_dense};
}

double synthesizer_numbers(const MemoryInput& in) {
  const auto keys = static_cast<double>(in.keys);
  const auto pairs = static_cast<double>(in.batch * in.heads * in.queries) * keys;
  if (is_dense(in.values)) return 3 * pairs;  // product; sum with biases; split by head
  return static_cast<double>(in.heads) * keys * keys + pairs;
}

}  // namespace

Variant synthesizer_variant() {
  Variant v;
  v.id = "synthesizer";
  v.label = "Synthesizer";
  v.group = "Low rank and kernels";
  v.equation = "dense: A = softmax(ReLU(x W₁ + b₁) W₂ + b₂);   random: A = softmax(R)";
  v.summary =
      "Tests the need for products of queries and keys: the dense Synthesizer predicts a token's "
      "weights on all positions from the token alone; the random one has a fixed or learned matrix "
      "that ignores the text. Both perform better than expected.";
  v.source = "Tay et al., 2020, Synthesizer, arXiv:2005.00743";
  v.complexity = "O(L²·d)";
  v.causality.incremental = always;
  v.inputs.needs = [](const Values& values) {
    return Needs{.queries = false, .keys = false, .input = is_dense(values)};
  };
  v.encodings.accepts_pairs = v.scores.has_terms = never;
  v.encodings.pairs_refusal = "makes its weights without comparing queries and keys";
  v.parameters = {{.key = "mode",
                   .symbol = "",
                   .label = "Mode",
                   .help = "Weights predicted from each token, or a constant matrix.",
                   .kind = Parameter::Kind::Choice,
                   .initial = std::string("dense"),
                   .choices = {"dense", "random"}},
                  seed_parameter()};
  v.weights = {dense_weight(
                   "syn.w1", "First layer of the network that predicts weights.",
                   [](const Dimensions& n, const Values&) -> Shape {
                     return {n.model, n.inner_or(n.key)};
                   },
                   initial_projection()),
               dense_weight(
                   "syn.b1", "Bias of the first layer.",
                   [](const Dimensions& n, const Values&) -> Shape { return {n.inner_or(n.key)}; },
                   initial_zeros()),
               dense_weight(
                   "syn.w2", "Second layer, with one output per position.",
                   [](const Dimensions& n, const Values&) -> Shape {
                     return {n.heads, n.inner_or(n.key), n.context};
                   },
                   initial_projection()),
               dense_weight(
                   "syn.b2", "Bias of the second layer.",
                   [](const Dimensions& n, const Values&) -> Shape {
                     return {n.heads, n.context};
                   },
                   initial_zeros()),
               {.name = "syn.r",
                .help = "Matrix that ignores the text.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.heads, n.context, n.context};
                },
                .initial = initial_normal(1),
                .file = {.optional = true},
                .used = is_random}};
  v.scores.weights_from = [](const Values& values) {
    return is_dense(values) ? WeightsFrom::Token : WeightsFrom::Positions;
  };
  v.cost.bytes = [](const MemoryInput& in) { return sizeof(float) * synthesizer_numbers(in); };
  v.evaluate = evaluate_synthesizer;
  return v;
}

}  // namespace attnscope
