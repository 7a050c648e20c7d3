// Trie of byte strings: finds the keys that are prefixes of a text at a given position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

class ByteTrie {
 public:
  ByteTrie() = default;
  // `keys` with non-negative numbers. Ignores empty keys; the last of equal keys wins.
  explicit ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>> keys);

  // Calls found(size, number) for each key that is a prefix of text[at...], shortest first.
  template <class SelectedTap>
  void prefixes(std::string_view text, std::size_t at, SelectedTap&& found) const {
    if (nodes_.empty()) return;
    std::uint32_t node = 0;
    for (std::size_t i = at; i < text.size(); ++i) {
      node = child(node, static_cast<unsigned char>(text[i]));
      if (node == 0) return;
      if (nodes_[node].number >= 0) found(i + 1 - at, nodes_[node].number);
    }
  }
  // Size of the longest such prefix, 0 if none; sets `number` to the number of its key.
  std::size_t longest(std::string_view text, std::size_t at, std::int32_t& number) const;

 private:
  struct Node {
    std::uint32_t first = 0;  // first child; children are contiguous
    std::uint16_t children = 0;
    unsigned char byte = 0;
    std::int32_t number = -1;  // of the key that ends here; -1: none
  };
  std::uint32_t child(std::uint32_t node, unsigned char byte) const;  // 0: none

  std::vector<Node> nodes_;
};

}  // namespace attnscope
