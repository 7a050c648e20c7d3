// block_local: attention within blocks of the sequence. Liu et al., 2018; Qiu et al., 2019.
#include <algorithm>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/rows.h"

namespace attnscope {
namespace {

Pattern block_pattern(const PatternInput& in) {
  const Values& values = in.values;
  const Index block = values.integer("block"), blocks_before = values.integer("before"),
              blocks_after = values.integer("after"), fill = values.integer("fill");
  const Index length = fill > 0 ? (in.keys + fill - 1) / fill * fill : in.keys;
  const Index blocks = (length + block - 1) / block;
  const bool is_circular = values.flag("circular");
  return build_rows(in, 1, {"block of " + std::to_string(block), "neighbouring block"},
                    [=](PatternBuilder& rows, Index, Index i) {
                      const Index row = i / block;
                      rows.add(0, row * block, (row + 1) * block);
                      for (Index b = row - blocks_before; b <= row + blocks_after; ++b) {
                        const Index key = is_circular ? ((b % blocks) + blocks) % blocks : b;
                        if (key >= 0 && key != row) rows.add(1, key * block, (key + 1) * block);
                      }
                    });
}

Parameter neighbours_parameter(const char* key, const char* label, const char* help) {
  return {.key = key,
          .symbol = "",
          .label = label,
          .help = help,
          .initial = Index{0},
          .limits = {.max = 1 << 20},
          .slider = {.max = 4}};
}

}  // namespace

Variant block_local_variant() {
  Variant v;
  v.id = "block_local";
  v.label = "Block local";
  v.group = "Fixed patterns";
  v.equation = "Sᵢ = { j : ⌊i/b⌋ = ⌊j/b⌋ }";
  v.summary =
      "The sequence is cut into blocks of b tokens, and every token attends to its own block only. "
      "It is the cheapest pattern for hardware, since the blocks are small dense matrices, but "
      "no information crosses a block border; the Reformer also lets blocks see their neighbours.";
  v.source =
      "Liu et al., 2018, Generating Wikipedia, arXiv:1801.10198; as one permutation of several: "
      "Qiu et al., 2019, arXiv:1911.02972; with neighbours: Kitaev et al., 2020, arXiv:2001.04451";
  v.complexity = "O(L·b·d)";
  v.cost.growth = {.power = 1, .sizes = [](Values& values, Index length) {
                     values.set("block", std::min<Index>(128, length));
                   }};
  v.causality.incremental = always;
  v.parameters = {
      block_parameter(8, 4, 64),
      neighbours_parameter("before", "Blocks before",
                           "Number of preceding blocks that a token sees as well."),
      neighbours_parameter("after", "Blocks after",
                           "Number of following blocks that a token sees as well."),
      {.key = "circular",
       .symbol = "",
       .label = "Circular",
       .help = "The last block precedes the first, as in the Reformer's code.",
       .kind = Parameter::Kind::Flag,
       .initial = false},
      {.key = "fill",
       .symbol = "",
       .label = "Padding multiple",
       .help = "Count blocks as if the text were padded to a multiple of this number of tokens; "
               "0: no padding.",
       .initial = Index{0},
       .slider = {.max = 64}}};
  v.pattern = block_pattern;
  return v;
}

}  // namespace attnscope
