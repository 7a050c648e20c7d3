// image_1d: query blocks with memory blocks in a flattened image. Parmar et al., 2018.
#include <algorithm>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/rows.h"

namespace attnscope {

Variant image_1d_variant() {
  Variant v;
  v.id = "image_1d";
  v.label = "Image, 1-D blocks";
  v.group = "Fixed patterns";
  v.equation = "s = b·⌊i/b⌋,   Sᵢ = { j : s − m ≤ j < s + b }";
  v.summary =
      "An image is flattened to one row of pixels and cut into query blocks. All queries of a "
      "block share one memory block: the block itself and the m positions before it. In causal "
      "order, the Image Transformer generates images pixel by pixel with it.";
  v.source = "Parmar et al., 2018, Image Transformer, arXiv:1802.05751";
  v.complexity = "O(L·(b + m)·d)";
  v.cost.growth = {.power = 1, .sizes = [](Values& values, Index length) {
                     values.set("block", std::min<Index>(128, length));
                     values.set("memory", std::min<Index>(128, length));
                   }};
  v.causality.incremental = always;
  v.parameters = {
      {.key = "block",
       .symbol = "b",
       .label = "Block",
       .help = "Number of positions in a query block.",
       .required = true,
       .scope = {.image = "width"},
       .initial = Index{8},
       .illustrative_default = [](Index length) -> Value { return fraction_of_length(length, 4); },
       .limits = {.min = 1},
       .slider = {.min = 1, .max = 64}},
      {.key = "memory",
       .symbol = "m",
       .label = "Memory",
       .help = "Number of positions before the block that its queries see as well.",
       .required = true,
       .initial = Index{4},
       .illustrative_default = [](Index length) -> Value { return fraction_of_length(length, 8); },
       .slider = {.max = 64}}};
  v.pattern = [](const PatternInput& in) {
    const Index block = in.values.integer("block"), memory = in.values.integer("memory");
    return build_rows(in, 1,
                      {"block of " + std::to_string(block), std::to_string(memory) + " before it"},
                      [=](PatternBuilder& rows, Index, Index i) {
                        const Index start = i / block * block;
                        rows.add(1, start - memory, start);
                        rows.add(0, start, start + block);
                      });
  };
  return v;
}

}  // namespace attnscope
