// full: every query sees every key. Vaswani et al., 2017; additive score: Bahdanau et al., 2014.
#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"

namespace attnscope {
namespace {

bool is_additive(const Values& values) {
  return values.choice("score") == "additive";
}

WeightInfo additive_projection(const char* name, const char* help) {
  return {.name = name,
          .help = help,
          .shape = [](const Dimensions& n, const Values&) -> Shape {
            return {n.heads, n.key, n.inner_or(n.key)};
          },
          .initial = initial_projection(),
          .used = is_additive};
}

OperationResult evaluate_full(OperationInput input, Backend& backend, const ResultRequest& wanted) {
  const Values& values = input.variant.values;
  if (values.has("scale")) input.scale = static_cast<float>(values.real("scale"));
  Part part = plain_part(input, plain_pattern(input, input.causal));
  if (is_additive(values)) {
    part.source = Source::Additive;
    part.k = repeat_heads(part.k, input.heads, input.kv_heads);
    part.v = repeat_heads(part.v, input.heads, input.kv_heads);
    part.additive_q = weight(input.weights, "add.wq");  // [h, d_k, a]
    part.additive_k = weight(input.weights, "add.wk");  // [h, d_k, a]
    part.additive_v = weight(input.weights, "add.v");   // [h, a]
  } else {
    apply_encoding(part, input, input.causal);
  }
  return run_part(std::move(part), backend, wanted);
}

}  // namespace

Variant full_variant() {
  Variant v;
  v.id = "full";
  v.label = "Full";
  v.group = "Dense";
  v.equation =
      "aᵢⱼ = softmaxⱼ(qᵢ·kⱼ / √d_k),   outᵢ = Σⱼ aᵢⱼ vⱼ\n"
      "additive: sᵢⱼ = v·tanh(qᵢ W_q + kⱼ W_k)";
  v.summary =
      "Every token compares its query with the key of every token; the softmax turns the scores "
      "into weights that sum to one, and the output is the weighted mean of the values. Every "
      "token is reachable, and the cost grows with the square of the length. The additive score, "
      "older than the product, passes query and key through a small network.";
  v.source =
      "Vaswani et al., 2017, arXiv:1706.03762; additive: Bahdanau, Cho and Bengio, 2014, "
      "arXiv:1409.0473";
  v.complexity = "O(L²·d)";
  v.causality.incremental = always;
  v.scores.caps_and_sinks = true;
  v.inputs.cross = true;
  v.parameters = {{.key = "score",
                   .symbol = "",
                   .label = "Score",
                   .help = "Comparison of query and key: product or small network.",
                   .kind = Parameter::Kind::Choice,
                   .initial = std::string("dot"),
                   .choices = {"dot", "additive"}},
                  {.key = "scale",
                   .symbol = "",
                   .label = "Scale",
                   .help = "Factor of the products before the softmax: larger values sharpen the "
                           "weights, 0 makes them equal; default mostly 1/√d_k.",
                   .kind = Parameter::Kind::Real,
                   .optional = true,
                   .unset_label = "default",
                   .initial = 1.0,
                   .limits = {.min = 0, .max = 1e6},
                   .slider = {.min = 0, .max = 2}}};
  v.weights = {additive_projection("add.wq", "Projects queries for the additive score."),
               additive_projection("add.wk", "Projects keys for the additive score."),
               {.name = "add.v",
                .help = "Projects the hidden units of the additive score to one number.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.heads, n.inner_or(n.key)};
                },
                .initial = initial_projection(),
                .used = is_additive}};
  v.encodings.accepts_pairs =
      v.scores.has_terms = [](const Values& values) { return !is_additive(values); };
  v.encodings.pairs_refusal = "with the additive score has no product of queries and keys";
  v.evaluate = evaluate_full;
  return v;
}

}  // namespace attnscope
