// blockwise: query blocks attend to permuted key blocks. Qiu et al., 2019.
#include <algorithm>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/rows.h"

namespace attnscope {
namespace {

using Lists = std::vector<std::vector<Index>>;

// At most four blocks, none of which is empty: ⌈L/n⌉ (n − 1) < L.
Index illustrative_blocks(Index length) {
  Index blocks = std::min<Index>(4, length);
  while (blocks > 1 && (length + blocks - 1) / blocks * (blocks - 1) >= length) --blocks;
  return blocks;
}

std::string permutation_objection(const Lists& permutations, Index blocks, const Dimensions& n) {
  if (n.heads > 0 && n.offset_in_list(static_cast<Index>(permutations.size())) < 0) {
    return "permutations: expected one list for each of the " + std::to_string(n.heads) +
           " heads, found " + std::to_string(permutations.size());
  }
  for (const auto& permutation : permutations) {
    if (static_cast<Index>(permutation.size()) != blocks) {
      return "permutations: expected lists of " + std::to_string(blocks) +
             " blocks, found a list of " + std::to_string(permutation.size());
    }
    std::vector<Index> sorted = permutation;
    std::sort(sorted.begin(), sorted.end());
    for (Index block = 0; block < blocks; ++block) {
      if (sorted[static_cast<std::size_t>(block)] == block) continue;
      return "permutations: expected each of the blocks 0 to " + std::to_string(blocks - 1) +
             " once in a list, found " + to_text(Value(permutation));
    }
  }
  return {};
}

}  // namespace

Variant blockwise_variant() {
  Variant v;
  v.id = "blockwise";
  v.label = "Blockwise";
  v.group = "Fixed patterns";
  v.equation = "Sᵢ = { j : block(j) = π_a(block(i)) },   block(i) = ⌊i / ⌈L/n⌉⌋";
  v.summary =
      "The sequence is cut into n blocks, and each head has a permutation π of them: the queries "
      "of block B attend only to the keys of block π(B). One head keeps the identity, others "
      "shift, so that together they cover short and long distances at 1/n of the cost.";
  v.source = "Qiu et al., 2019, Blockwise self-attention, arXiv:1911.02972";
  v.complexity = "O(L²/n·d)";
  v.defaults.bidirectional = true;
  v.parameters = {
      {.key = "blocks",
       .symbol = "n",
       .label = "Blocks",
       .help = "Number of blocks of the sequence.",
       .required = true,
       .initial = Index{4},
       .illustrative_default = [](Index length) -> Value { return illustrative_blocks(length); },
       .limits = {.min = 1},
       .slider = {.min = 1, .max = 16}},
      {.key = "permutations",
       .symbol = "π",
       .label = "Permutations",
       .help = "For each head, the key block of each query block. By default, head a "
               "shifts blocks by a.",
       .kind = Parameter::Kind::IntegerLists,
       .optional = true,
       .unset_label = "shifts",
       .initial = Lists{}}};
  v.objection = [](const Values& values, const Situation& in) -> std::string {
    if (!values.has("permutations")) return {};
    return permutation_objection(values.get<Lists>("permutations"), values.integer("blocks"),
                                 in.dimensions);
  };
  v.pattern = [](const PatternInput& in) {
    const Index blocks = in.values.integer("blocks");
    const Index size = (in.keys + blocks - 1) / blocks;
    const Lists* lists =
        in.values.has("permutations") ? &in.values.get<Lists>("permutations") : nullptr;
    const bool lists_group_only = lists && static_cast<Index>(lists->size()) == in.heads;
    const Index first = lists_group_only ? 0 : in.first_head;
    return build_rows(in, in.heads, {"block of " + std::to_string(size)},
                      [=](PatternBuilder& rows, Index head, Index i) {
                        const Index block = i / size;
                        const Index key_block =
                            lists ? (*lists)[static_cast<std::size_t>(first + head)]
                                            [static_cast<std::size_t>(block)]
                                  : (block + first + head) % blocks;
                        rows.add(0, key_block * size, (key_block + 1) * size);
                      });
  };
  return v;
}

}  // namespace attnscope
