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
  // `keys`: pairs of key and number (>= 0). Ignores empty keys; the last of equal keys wins.
  explicit ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>> keys);

  // Calls visit(size, number) for each key that is a prefix of text[at...], shortest first.
  template <class Visit>
  void prefixes(std::string_view text, std::size_t at, Visit&& visit) const {
    if (nodes_.empty()) return;
    std::uint32_t node = 0;
    for (std::size_t i = at; i < text.size(); ++i) {
      node = child(node, static_cast<unsigned char>(text[i]));
      if (node == 0) return;
      if (nodes_[node].number >= 0) visit(i + 1 - at, nodes_[node].number);
    }
  }
  // Returns the size of the longest key at text[at...] and sets `number` to its number; 0: no key.
  std::size_t longest(std::string_view text, std::size_t at, std::int32_t& number) const;

 private:
  struct Node {
    std::uint32_t first = 0;  // first child; children are contiguous
    std::uint16_t children = 0;
    unsigned char byte = 0;
    std::int32_t number = -1;  // number of the key that ends here; -1: no key
  };
  std::uint32_t child(std::uint32_t node, unsigned char byte) const;  // 0: no such child

  std::vector<Node> nodes_;
};

}  // namespace attnscope
