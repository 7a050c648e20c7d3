// dynamic_convolution: each token predicts a convolution kernel. Wu et al., 2019.
#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/attention/variants/shared/rows.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"
#include "core/position/offsets.h"

namespace attnscope {
namespace {

// Distance from the query back to the first key of the kernel.
Index reach_back(Index width, bool causal) {
  return causal ? width - 1 : width / 2;
}

OperationResult evaluate_convolution(const OperationInput& input, Backend& backend,
                                     const ResultRequest& wanted) {
  const Index width = input.variant.values.integer("width");
  const Index reach = reach_back(width, input.causal);
  Part part = plain_part(input, ruled_pattern(input, variant(input.variant.id)));
  part.source = Source::Logits;
  part.logits = split_heads(matmul(input.x, weight(input.weights, "dyn.w")), input.heads);
  part.logits_index =
      index_offsets({reach - width + 1, reach}, [reach](Index offset) { return reach - offset; });
  part.q = part.k = Var();
  part.split.clear();
  return run_part(std::move(part), backend, wanted);
}

}  // namespace

Variant dynamic_convolution_variant() {
  Variant v;
  v.id = "dynamic_convolution";
  v.label = "Dynamic convolution";
  v.group = "Low rank and kernels";
  v.equation = "aᵢ = softmax(xᵢ W) over the w keys i − w + 1 … i (causal), or around i";
  v.summary =
      "Each token predicts, from its own content, the weights of a short convolution over its "
      "neighbours, normalised by a softmax. Tokens are never compared and distant ones are out of "
      "reach, yet it rivals self-attention in translation at linear cost.";
  v.source = "Wu et al., 2019, Pay less attention, arXiv:1901.10430";
  v.complexity = "O(L·w·d)";
  v.cost.growth = {.power = 1,
                   .sizes = [](Values& values, Index) { values.set("width", Index{31}); }};
  v.causality.incremental = always;
  v.inputs.needs = [](const Values&) {
    return Needs{.queries = false, .keys = false, .input = true};
  };
  v.encodings.accepts_pairs = v.scores.has_terms = never;
  v.encodings.pairs_refusal = "predicts weights from the query's token alone and scores no pairs";
  v.parameters = {{.key = "width",
                   .symbol = "w",
                   .label = "Width",
                   .help = "Number of keys that the kernel covers.",
                   .required = true,
                   .initial = Index{5},
                   .limits = {.min = 1},
                   .slider = {.min = 1, .max = 31}}};
  v.weights = {{.name = "dyn.w",
                .help = "Predicts the kernels of all heads from the input.",
                .shape = [](const Dimensions& n, const Values& values) -> Shape {
                  return {n.model, n.heads * values.integer("width")};
                },
                .initial = initial_projection()}};
  v.pattern = [](const PatternInput& in) {
    const Index width = in.values.integer("width"), reach = reach_back(width, in.causal);
    return build_rows(
        in, 1, {"kernel of " + std::to_string(width)},
        [=](PatternBuilder& rows, Index, Index i) { rows.add(0, i - reach, i - reach + width); });
  };
  v.scores.weights_from = [](const Values&) { return WeightsFrom::Token; };
  v.evaluate = evaluate_convolution;
  return v;
}

}  // namespace attnscope
