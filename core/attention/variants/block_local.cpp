// block_local: the sequence cut into blocks that see only themselves. Qiu et al., 2019.
#include <algorithm>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/rows.h"

namespace attnscope {

Variant block_local_variant() {
  Variant v;
  v.id = "block_local";
  v.label = "Block local";
  v.group = "Fixed patterns";
  v.equation = "Sᵢ = { j : ⌊i/b⌋ = ⌊j/b⌋ }";
  v.summary =
      "The sequence is cut into blocks of b tokens, and every token attends to the whole of its "
      "own "
      "block and to nothing else. It is the cheapest pattern for a machine, since the blocks are "
      "small dense matrices, but nothing crosses a border between blocks.";
  v.source = "Qiu et al., 2019, Blockwise self-attention, arXiv:1911.02972";
  v.cost = "O(L·b·d)";
  v.growth = {.power = 1, .sizes = [](Values& values, Index length) {
                values.set("block", std::min<Index>(128, length));
              }};
  v.incremental = true;
  v.parameters = {{.key = "block",
                   .symbol = "b",
                   .label = "Block",
                   .help = "How many tokens one block has.",
                   .required = true,
                   .initial = Index{8},
                   .telling = [](Index length) -> Value { return share_of(length, 4); },
                   .least = 1,
                   .slider_least = 1,
                   .slider_most = 64}};
  v.pattern = [](const PatternInput& in) {
    const Index block = in.values.integer("block");
    return build_rows(in, 1, {"block of " + std::to_string(block)},
                      [=](PatternBuilder& rows, Index, Index i) {
                        rows.add(0, i / block * block, (i / block + 1) * block);
                      });
  };
  return v;
}

}  // namespace attnscope
