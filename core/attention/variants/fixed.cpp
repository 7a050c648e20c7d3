// fixed: Sparse Transformer, fixed factorisation. Child et al., 2019.
#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/factorised.h"

namespace attnscope {

Variant fixed_variant() {
  Variant v;
  v.id = "fixed";
  v.label = "Fixed";
  v.group = "Fixed patterns";
  v.equation = "A¹ᵢ = { j ≤ i : ⌊j/l⌋ = ⌊i/l⌋ },   A²ᵢ = { j ≤ i : j mod l ≥ l − c }";
  v.summary =
      "The Sparse Transformer for text: one set is the current block of l positions, the other the "
      "last c positions of every block, which learn to summarise their block for later ones.";
  v.source = "Child et al., 2019, Sparse Transformers, arXiv:1904.10509";
  v.complexity = "O(L·(l + c·L/l)·d)";
  v.cost.growth = {.power = 1.5, .sizes = [](Values& values, Index length) {
                     values.set("stride", rounded_root(length));
                   }};
  v.causality.incremental = always;
  v.causality.by_definition = true;
  v.parameters = {stride_parameter("Number of positions in a block."),
                  {.key = "summary",
                   .symbol = "c",
                   .label = "Summary",
                   .help = "Number of final positions of each block that later blocks see.",
                   .required = true,
                   .initial = Index{1},
                   .slider = {.max = 16}},
                  factorised_mode_parameter()};
  v.objection = [](const Values& values, const Situation&) -> std::string {
    const Index stride = values.integer("stride"), summary = values.integer("summary");
    if (summary <= stride) return {};
    return "summary: expected at most the stride " + std::to_string(stride) + found_text(summary);
  };
  v.pattern = [](const PatternInput& in) {
    const Index stride = in.values.integer("stride"), summary = in.values.integer("summary");
    return factorised_pattern(
        in,
        {"block of " + std::to_string(stride),
         summary == 1 ? "last of a block" : "last " + std::to_string(summary) + " of a block"},
        [=](PatternBuilder& rows, int rule, Index i) {
          rows.add(rule, i / stride * stride, i + 1);
        },
        [=](PatternBuilder& rows, int rule, Index i) {
          if (summary == 0) return;
          for (Index block = 0; block <= i; block += stride) {
            rows.add(rule, block + stride - summary, block + stride);
          }
        });
  };
  return v;
}

}  // namespace attnscope
