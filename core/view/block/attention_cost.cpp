#include "core/view/block/attention_cost.h"

#include "core/model/config.h"

namespace attnscope {

AttentionSizes attention_sizes(const Trace& trace, const AttentionTap& tap) {
  const ModelConfig& config = *trace.config;
  AttentionSizes sizes{.queries = tap.queries(),
                       .keys = tap.keys(),
                       .width = config.width,
                       .heads = config.heads,
                       .key_heads = config.kv_heads,
                       .head_size = config.head_size};
  const auto remembered = static_cast<Index>(tap.remembered.size());
  const bool is_cross = tap.address.kind == AttentionKind::Cross;
  sizes.projected_keys = is_cross ? tap.keys() : tap.queries() + remembered;
  for (const AttentionTap& group : trace.attention) {
    Address address = group.address;
    address.group = tap.address.group;
    if (address != tap.address) continue;
    sizes.pairs += static_cast<double>(
        group.result.pattern->pair_count(static_cast<Index>(group.heads.size())));
  }
  return sizes;
}

AttentionCost attention_cost(const AttentionSizes& sizes) {
  const auto real = [](Index n) { return static_cast<double>(n); };
  const double size = real(sizes.head_size), width = real(sizes.width);
  const double heads = real(sizes.heads) * size, key_heads = real(sizes.key_heads) * size;
  return {.projections = 2 * real(sizes.queries) * width * heads +
                         2 * real(sizes.projected_keys) * width * key_heads,
          .scores = sizes.pairs * size,
          .sums = sizes.pairs * size};
}

AttentionSizes with_one_head(const AttentionSizes& sizes) {
  AttentionSizes one = sizes;
  one.pairs /= static_cast<double>(sizes.heads);
  one.head_size *= sizes.heads;
  one.heads = one.key_heads = 1;
  return one;
}

AttentionSizes with_all_key_heads(const AttentionSizes& sizes) {
  AttentionSizes all = sizes;
  all.key_heads = sizes.heads;
  return all;
}

}  // namespace attnscope
