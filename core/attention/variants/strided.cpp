// strided: Sparse Transformer, strided factorisation. Child et al., 2019.
#include <algorithm>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/factorised.h"

namespace attnscope {
Variant strided_variant() {
  Variant v;
  v.id = "strided";
  v.label = "Strided";
  v.group = "Fixed patterns";
  v.equation = "A¹ᵢ = { max(0, i − l), …, i },   A²ᵢ = { j ≤ i : (i − j) mod l = 0 }";
  v.summary =
      "The Sparse Transformer splits full causal attention into two sparse steps: the last l "
      "positions, and every l-th position before. With l near √L any position reaches any earlier "
      "one in two steps. The pattern fits periodic data, such as music or images with rows of l "
      "pixels.";
  v.source = "Child et al., 2019, Sparse Transformers, arXiv:1904.10509";
  v.complexity = "O(L·(l + L/l)·d), O(L√L·d) for l = √L";
  v.cost.growth = {.power = 1.5, .sizes = [](Values& values, Index length) {
                     values.set("stride", rounded_root(length));
                   }};
  v.causality.incremental = always;
  v.causality.by_definition = true;
  v.parameters = {stride_parameter("Reach of the first set and step of the second."),
                  factorised_mode_parameter()};
  v.pattern = [](const PatternInput& in) {
    const Index stride = in.values.integer("stride");
    return factorised_pattern(
        in, {std::to_string(stride) + " back", "every " + ordinal(stride)},
        [=](PatternBuilder& rows, int rule, Index i) {
          rows.add(rule, std::max<Index>(0, i - stride), i + 1);
        },
        [=](PatternBuilder& rows, int rule, Index i) {
          rows.add(rule, i % stride, i + 1, stride);
        });
  };
  return v;
}

}  // namespace attnscope
