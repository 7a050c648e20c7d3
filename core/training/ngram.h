// A byte n-gram model: the yardstick beside which a trained transformer's score means something.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace attnscope {

// Interpolated with Witten-Bell weights (Witten and Bell, 1991): with N(c) the bytes seen after a
// context c and T(c) how many different ones,
//   p(b | c) = (N(c, b) + T(c) p(b | c without its first byte)) / (N(c) + T(c)),
// ending in the uniform 1/256 below the empty context.
class NgramModel {
 public:
  static constexpr int kMostOrder = 7;  // a context and its byte fit one 64-bit key

  explicit NgramModel(int order);     // 1..kMostOrder bytes, the predicted one included; InputError
  void learn(std::string_view text);  // adds a text; contexts do not reach across texts
  // Mean of -log2 p over the bytes of `text`, each given those before it.  NaN for an empty text.
  double bits_per_byte(std::string_view text) const;

 private:
  struct Seen {
    std::uint32_t count = 0, kinds = 0;  // N(c), T(c)
  };
  double probability(std::string_view context, unsigned char byte) const;

  int order_;
  std::unordered_map<std::uint64_t, Seen> contexts_;
  std::unordered_map<std::uint64_t, std::uint32_t> pairs_;  // context and byte: N(c, b)
};

}  // namespace attnscope
