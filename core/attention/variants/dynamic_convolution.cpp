// dynamic_convolution: a convolution whose kernel each token predicts. Wu et al., 2019.
#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/attention/variants/shared/rows.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"
#include "core/position/offsets.h"

namespace attnscope {

namespace {

// How far before the query the kernel begins.
Index reach_back(Index width, bool causal) {
  return causal ? width - 1 : width / 2;
}

OperationResult evaluate_convolution(const OperationInput& input, Backend& backend,
                                     const Wanted& wanted, const Stop& stop) {
  const Index width = input.variant.values.integer("width");
  const Index back = reach_back(width, input.causal);
  Part part = plain_part(input, ruled_pattern(input, variant(input.variant.id)));
  part.source = Source::Logits;
  part.logits = split_heads(matmul(input.x, weight(input.weights, "dyn.w")), input.heads);
  part.logits_index =
      index_offsets({back - width + 1, back}, [back](Index offset) { return back - offset; });
  part.q = part.k = Var();
  part.split.clear();
  return run_part(std::move(part), backend, wanted, stop);
}

}  // namespace

Variant dynamic_convolution_variant() {
  Variant v;
  v.id = "dynamic_convolution";
  v.label = "Dynamic convolution";
  v.group = "Low rank and kernels";
  v.equation = "aᵢ = softmax(xᵢ W) over the w keys i − w + 1 … i (causal), or around i";
  v.summary =
      "Each token predicts, from itself alone, the weights of a short convolution over its "
      "neighbours, normalised by a softmax. There is no comparison of tokens and nothing far is "
      "seen, yet it rivals self-attention in translation at linear cost.";
  v.source = "Wu et al., 2019, Pay less attention, arXiv:1901.10430";
  v.cost = "O(L·w·d)";
  v.growth = {.power = 1, .sizes = [](Values& values, Index) { values.set("width", Index{31}); }};
  v.incremental = true;
  v.needs = [](const Values&) { return Needs{.queries = false, .keys = false, .input = true}; };
  v.takes_pairs = v.has_terms = never;
  v.without_pairs = "predicts weights from the query's token alone and scores no pairs";
  v.parameters = {{.key = "width",
                   .symbol = "w",
                   .label = "Width",
                   .help = "How many keys the kernel covers.",
                   .required = true,
                   .initial = Index{5},
                   .least = 1,
                   .slider_least = 1,
                   .slider_most = 31}};
  v.weights = {{.name = "dyn.w",
                .help = "Predicts the kernels of all heads from the input.",
                .shape = [](const Dimensions& n, const Values& values) -> Shape {
                  return {n.model, n.heads * values.integer("width")};
                },
                .initial = initial_projection()}};
  v.pattern = [](const PatternInput& in) {
    const Index width = in.values.integer("width"), back = reach_back(width, in.causal);
    return build_rows(
        in, 1, {"kernel of " + std::to_string(width)},
        [=](PatternBuilder& rows, Index, Index i) { rows.add(0, i - back, i - back + width); });
  };
  v.weights_from = [](const Values&) { return WeightsFrom::Token; };
  v.evaluate = evaluate_convolution;
  return v;
}

}  // namespace attnscope
