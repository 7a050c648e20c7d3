// bigbird: window, global and random blocks. Zaheer et al., 2020.
#include <algorithm>
#include <set>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/rows.h"
#include "core/base/random.h"

namespace attnscope {
namespace {

using Lists = std::vector<std::vector<Index>>;

Index block_count(Index keys, Index block) {
  return (keys + block - 1) / block;
}

// Draws `count` blocks without repetition from the blocks that are neither in the window
// [window_begin, window_end) nor among the first `global` blocks (Floyd, 1987).
std::vector<Index> draw_blocks(Index blocks, Index window_begin, Index window_end, Index global,
                               Index count, std::uint64_t seed) {
  window_begin = std::max(window_begin, global);
  const Index left = std::max<Index>(0, window_begin - global);  // candidates before the window
  const Index right = std::max<Index>(0, blocks - std::max(window_end, global));
  const Index candidates = left + right;
  Random random(seed);
  std::set<Index> drawn;
  for (Index last = candidates - std::min(count, candidates); last < candidates; ++last) {
    const auto pick = static_cast<Index>(random.below(static_cast<std::uint64_t>(last + 1)));
    if (!drawn.insert(pick).second) drawn.insert(last);
  }
  std::vector<Index> result;
  for (const Index n : drawn) {
    result.push_back(n < left ? global + n : std::max(window_end, global) + n - left);
  }
  return result;
}

Parameter blocks_parameter(const char* key, const char* symbol, const char* label, const char* help,
                           Index initial) {
  return {.key = key,
          .symbol = symbol,
          .label = label,
          .help = help,
          .required = true,
          .initial = initial,
          .slider = {.max = 8}};
}

std::string random_objection(const Lists& lists, Index blocks) {
  if (static_cast<Index>(lists.size()) != blocks) {
    return "random: expected one list for each of the " + std::to_string(blocks) +
           " block rows, found " + std::to_string(lists.size());
  }
  for (const auto& list : lists) {
    for (const Index block : list) {
      if (block < blocks) continue;
      return "random: expected blocks from 0 to " + std::to_string(blocks - 1) + found_text(block);
    }
  }
  return {};
}

Pattern bigbird_pattern(const PatternInput& in) {
  const Index block = in.values.integer("block");
  const Index blocks = block_count(in.keys, block);
  const Index reach = (in.values.integer("window_blocks") - 1) / 2;
  const Index global = std::min(blocks, in.values.integer("global_blocks"));
  const Index last = std::max(global, blocks - in.values.integer("last_blocks"));
  const bool by_head = in.values.flag("by_head");
  const Index random_blocks = in.values.integer("random_blocks");
  const auto seed = static_cast<std::uint64_t>(in.values.integer("seed"));
  const Lists* block_lists = in.values.has("random") ? &in.values.get<Lists>("random") : nullptr;
  Index drawn_block = -1, drawn_head = -1;
  std::vector<Index> picks;
  return build_rows(
      in, by_head ? in.heads : 1,
      {std::to_string(2 * reach + 1) + (reach == 0 ? " block of " : " blocks of ") +
           std::to_string(block),
       "random block", "global key", "global query"},
      [&](PatternBuilder& rows, Index head, Index i) {
        const Index query_block = i / block;
        const Index begin = std::max<Index>(0, query_block - reach),
                    end = std::min(blocks, query_block + reach + 1);
        rows.add(0, begin * block, end * block);
        rows.add(2, 0, global * block);
        if (last < blocks) rows.add(2, last * block, blocks * block);
        const bool sees_all = query_block < global || query_block >= last;
        if (sees_all) rows.add(3, 0, blocks * block);
        if (drawn_block != query_block || drawn_head != head) {
          drawn_block = query_block;
          drawn_head = head;
          const auto row = static_cast<std::uint64_t>(query_block);
          const std::uint64_t head_seed =
              by_head ? derived_seed(seed, 1 + static_cast<std::uint64_t>(in.first_head + head))
                      : seed;
          picks = block_lists ? (*block_lists)[static_cast<std::size_t>(query_block)]
                              : draw_blocks(last, begin, end, sees_all ? last : global,
                                            random_blocks, derived_seed(head_seed, row));
        }
        for (const Index b : picks) rows.add(1, b * block, (b + 1) * block);
      });
}

}  // namespace

Variant bigbird_variant() {
  Variant v;
  v.id = "bigbird";
  v.label = "BigBird";
  v.group = "Fixed patterns";
  v.equation =
      "block row I sees block J  ⇔  |I − J| ≤ (w − 1)/2  or  J < g  or  I < g  or  J ∈ random(I)";
  v.summary =
      "Blocks of b tokens attend to their neighbours, to a few global blocks and to a few random "
      "ones. The random links turn the attention graph into a small world: any two tokens are a "
      "few steps apart, at linear cost.";
  v.source = "Zaheer et al., 2020, Big Bird, arXiv:2007.14062";
  v.complexity = "O(L·b·(w + g + r)·d)";
  v.cost.growth = {.power = 1, .sizes = [](Values& values, Index length) {
                     values.set("block", std::min<Index>(64, length));
                   }};
  v.defaults.bidirectional = true;
  v.parameters = {
      block_parameter(4, 12, 32),
      {.key = "window_blocks",
       .symbol = "w",
       .label = "Window blocks",
       .help = "Number of blocks in the window around each block; odd.",
       .required = true,
       .initial = Index{3},
       .limits = {.min = 1},
       .slider = {.min = 1, .max = 9}},
      blocks_parameter("global_blocks", "g", "Global blocks",
                       "Number of initial blocks that see and are seen by all blocks.", 1),
      blocks_parameter("random_blocks", "r", "Random blocks",
                       "Number of further blocks that each block sees, drawn at random.", 1),
      seed_parameter(),
      {.key = "last_blocks",
       .symbol = "",
       .label = "Last blocks",
       .help = "Number of final blocks that see and are seen by all blocks.",
       .initial = Index{0},
       .slider = {.max = 8}},
      {.key = "by_head",
       .symbol = "",
       .label = "By head",
       .help = "Draw different random blocks for each head.",
       .kind = Parameter::Kind::Flag,
       .initial = false},
      {.key = "random",
       .symbol = "",
       .label = "Given blocks",
       .help = "Random blocks of each block row; drawn from the seed if missing.",
       .kind = Parameter::Kind::IntegerLists,
       .optional = true,
       .unset_label = "drawn",
       .initial = Lists{}}};
  v.parameters.front().illustrative_default = [](Index length) -> Value {
    return std::max<Index>(2, fraction_of_length(length, 12));
  };
  v.objection = [](const Values& values, const Situation& in) -> std::string {
    if (values.integer("window_blocks") % 2 == 0) {
      return "window_blocks: expected an odd number" + found_text(values.integer("window_blocks"));
    }
    if (in.keys == 0 || !values.has("random")) return {};
    return random_objection(values.get<Lists>("random"),
                            block_count(in.keys, values.integer("block")));
  };
  v.cost.bytes = [](const MemoryInput& in) {
    const auto rows =
        static_cast<double>(in.values.flag("by_head") ? in.heads * in.queries : in.queries);
    const Index blocks = block_count(in.keys, std::max<Index>(1, in.values.integer("block")));
    // Adjacent random blocks form one run.
    const Index random_runs = std::min(in.values.integer("random_blocks"), (blocks + 1) / 2);
    return rows * static_cast<double>(random_runs) * kBytesOfRun;
  };
  v.pattern = bigbird_pattern;
  return v;
}

}  // namespace attnscope
