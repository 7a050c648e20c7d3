#include "core/training/ngram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.h"

namespace attnscope {
namespace {

// Key of at most 7 bytes. Their number, in the byte above them, distinguishes "" from "\0".
std::uint64_t key(std::string_view bytes) {
  std::uint64_t k = bytes.size();
  for (const char c : bytes) k = k << 8 | static_cast<unsigned char>(c);
  return k;
}

std::string_view context_before(std::string_view text, std::size_t position, int max_length) {
  const std::size_t length = std::min(position, static_cast<std::size_t>(max_length));
  return text.substr(position - length, length);
}

}  // namespace

NgramModel::NgramModel(int order) : order_(order) {
  if (order < 1 || order > kMaxOrder) {
    throw InputError("order: expected 1 to " + std::to_string(kMaxOrder) + ", found " +
                     std::to_string(order));
  }
}

void NgramModel::learn(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string_view context = context_before(text, i, order_ - 1);
    for (;; context.remove_prefix(1)) {
      ContextCounts& counts = contexts_[key(context)];
      const std::string_view context_and_byte(context.data(), context.size() + 1);
      ++counts.count;
      if (++pairs_[key(context_and_byte)] == 1) ++counts.distinct;
      if (context.empty()) break;
    }
  }
}

double NgramModel::bits_per_byte(std::string_view text) const {
  if (text.empty()) return std::numeric_limits<double>::quiet_NaN();
  double bits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    bits -= std::log2(probability(context_before(text, i, order_ - 1), byte));
  }
  return bits / static_cast<double>(text.size());
}

double NgramModel::probability(std::string_view context, unsigned char byte) const {
  double p = 1.0 / 256;
  for (std::size_t length = 0; length <= context.size(); ++length) {
    const std::string_view suffix = context.substr(context.size() - length);
    const auto counts = contexts_.find(key(suffix));
    if (counts == contexts_.end()) break;  // longer contexts do not occur, either
    const auto pair = pairs_.find(key(std::string(suffix) + static_cast<char>(byte)));
    const double count = pair == pairs_.end() ? 0 : pair->second;
    const double distinct = counts->second.distinct;
    p = (count + distinct * p) / (counts->second.count + distinct);
  }
  return p;
}

}  // namespace attnscope
