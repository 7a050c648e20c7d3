// linear: softmax replaced by a product of features. Katharopoulos et al., 2020.
#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/features.h"
#include "core/autodiff/operations_elementwise.h"

namespace attnscope {
namespace {

// elu(x) + 1, which is x + 1 for x > 0 and exp(x) otherwise.
Features elu_plus_one(const Var& x) {
  const Var above = relu(x), below = scale(relu(scale(x, -1)), -1);
  Features features;
  features.plain = add(above, exp(below));
  features.mantissa = add(above, Var(Tensor::full({1}, 1.0f)));
  features.exponents = below;
  return features;
}

OperationResult evaluate_linear(const OperationInput& original, Backend& backend,
                                const ResultRequest& wanted) {
  const bool rotates_features =
      has_rotation(original) && original.variant.values.choice("rotation") == "after";
  const OperationInput input = rotates_features ? original : rotate_input(original);
  const Var k = repeat_heads(input.k, input.heads, input.kv_heads);
  const Features q_features = elu_plus_one(input.q), k_features = elu_plus_one(k);
  OperationResult result = rotates_features
                               ? run_rotated(input, q_features, k_features, backend, wanted)
                               : run_features(input, q_features, k_features, backend, wanted);
  if (wants_report(wanted)) add_features(result, q_features, k_features, input.heads);
  return result;
}

}  // namespace

Variant linear_variant() {
  Variant v;
  v.id = "linear";
  v.label = "Linear";
  v.group = "Low rank and kernels";
  v.equation = "aᵢⱼ = φ(qᵢ)·φ(kⱼ) / Σᵣ φ(qᵢ)·φ(kᵣ),   φ(x) = elu(x) + 1";
  v.summary =
      "If the weight of a pair is a product of features of the query and of the key, the sum over "
      "keys is computed once for all queries, or carried along as a running sum: attention becomes "
      "a recurrent network with a matrix as its state. The map shows the weights that the sums "
      "imply; they are flatter than those of a softmax. With RoPE, features are rotated after φ, "
      "as in RoFormer: weights then depend on distances alone, may be negative, and need not sum "
      "to 1.";
  v.source = "Katharopoulos et al., 2020, Transformers are RNNs, arXiv:2006.16236";
  v.complexity = "O(L·d²)";
  v.cost.growth = {.power = 1};
  v.causality.incremental = always;
  v.inputs.cross = true;
  v.encodings.accepts_rotary = true;
  v.cost.head = [](const CostInput& in) { return feature_cost(in, in.key_size, 0); };
  v.encodings.accepts_pairs = v.scores.has_terms = v.scores.has_softmax = never;
  v.encodings.pairs_refusal = "never forms scores of pairs";
  v.parameters = {
      {.key = "feature",
       .symbol = "φ",
       .label = "Features",
       .help = "Feature map of queries and keys.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("elu"),
       .choices = {"elu"}},
      {.key = "rotation",
       .symbol = "",
       .label = "Rotation (RoPE)",
       .help = "Order of RoPE and the feature map φ. Rotation after φ (RoFormer, equation 19) "
               "applies to the numerator; weights depend on distances alone. With rotation before "
               "it, weights are positive and sum to 1, but change when all positions shift.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("before"),
       .illustrative_default = [](Index) -> Value { return std::string("after"); },
       .choices = {{"before", "before φ"}, {"after", "after φ"}}}};
  v.evaluate = evaluate_linear;
  return v;
}

}  // namespace attnscope
