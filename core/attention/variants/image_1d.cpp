// image_1d: query blocks with memory blocks over a flattened image. Parmar et al., 2018.
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
      "block "
      "share one memory block: the block itself and the m positions before it. With causal on, "
      "this "
      "is how the Image Transformer draws pixel after pixel.";
  v.source = "Parmar et al., 2018, Image Transformer, arXiv:1802.05751";
  v.cost = "O(L·(b + m)·d)";
  v.growth = {.power = 1, .sizes = [](Values& values, Index length) {
                values.set("block", std::min<Index>(128, length));
                values.set("memory", std::min<Index>(128, length));
              }};
  v.incremental = true;
  v.parameters = {{.key = "block",
                   .symbol = "b",
                   .label = "Block",
                   .help = "How many positions one query block has.",
                   .required = true,
                   .of_image = "width",
                   .initial = Index{8},
                   .telling = [](Index length) -> Value { return share_of(length, 4); },
                   .least = 1,
                   .slider_least = 1,
                   .slider_most = 64},
                  {.key = "memory",
                   .symbol = "m",
                   .label = "Memory",
                   .help = "How many positions before the block its queries see as well.",
                   .required = true,
                   .initial = Index{4},
                   .telling = [](Index length) -> Value { return share_of(length, 8); },
                   .slider_most = 64}};
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
