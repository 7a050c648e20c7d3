#include "core/text/byte_trie.h"

#include <algorithm>

namespace attnscope {

ByteTrie::ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>> keys) {
  std::erase_if(keys, [](const auto& key) { return key.first.empty(); });
  if (keys.empty()) return;
  std::ranges::stable_sort(keys, {}, [](const auto& key) { return key.first; });
  // Breadth first: each node is a range of sorted keys with a common prefix of `depth` bytes.
  struct Range {
    std::size_t begin, end, depth;
  };
  std::vector<Range> ranges{{0, keys.size(), 0}};
  nodes_.emplace_back();
  for (std::size_t n = 0; n < ranges.size(); ++n) {
    Range range = ranges[n];
    while (range.begin < range.end && keys[range.begin].first.size() == range.depth) {
      nodes_[n].number = keys[range.begin++].second;
    }
    nodes_[n].first = static_cast<std::uint32_t>(nodes_.size());
    while (range.begin < range.end) {
      const char byte = keys[range.begin].first[range.depth];
      std::size_t end = range.begin;
      while (end < range.end && keys[end].first[range.depth] == byte) ++end;
      nodes_.push_back({0, 0, static_cast<unsigned char>(byte), -1});
      ++nodes_[n].children;
      ranges.push_back({range.begin, end, range.depth + 1});
      range.begin = end;
    }
  }
}

std::uint32_t ByteTrie::child(std::uint32_t node, unsigned char byte) const {
  const auto first = nodes_.begin() + nodes_[node].first, last = first + nodes_[node].children;
  const auto found = std::lower_bound(first, last, byte,
                                      [](const Node& n, unsigned char b) { return n.byte < b; });
  if (found == last || found->byte != byte) return 0;
  return static_cast<std::uint32_t>(found - nodes_.begin());
}

std::size_t ByteTrie::longest(std::string_view text, std::size_t at, std::int32_t& number) const {
  std::size_t best = 0;
  prefixes(text, at, [&](std::size_t size, std::int32_t n) {
    best = size;
    number = n;
  });
  return best;
}

}  // namespace attnscope
