// Byte n-gram model, a baseline for the scores of trained transformers.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace attnscope {

// An n-gram of `order` bytes is a context and the predicted byte. Probabilities are interpolated
// with Witten-Bell weights (Witten and Bell, 1991): with N(c) the number of bytes that follow a
// context c and T(c) the number of different bytes among them,
//   p(b | c) = (N(c, b) + T(c) p(b | c without its first byte)) / (N(c) + T(c)),
// where the empty context uses 1/256 instead of p(b | c without its first byte).
class NgramModel {
 public:
  static constexpr int kMaxOrder = 7;  // a context and its byte fit in one 64-bit key

  explicit NgramModel(int order);     // in 1..kMaxOrder, else InputError
  void learn(std::string_view text);  // adds a text; contexts do not cross texts
  // Mean -log2 p of the bytes of `text`, each given the preceding bytes. NaN for an empty text.
  double bits_per_byte(std::string_view text) const;

 private:
  struct ContextCounts {
    std::uint32_t count = 0, distinct = 0;  // N(c), T(c)
  };
  double probability(std::string_view context, unsigned char byte) const;

  int order_;
  std::unordered_map<std::uint64_t, ContextCounts> contexts_;
  std::unordered_map<std::uint64_t, std::uint32_t> pairs_;  // context and byte: N(c, b)
};

}  // namespace attnscope
