// 64-bit fingerprints, unique for practical purposes; comparable within one process only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace attnscope::window {

class Hash {
 public:
  Hash() = default;
  explicit Hash(std::uint64_t value) : value_(value) {}
  std::uint64_t value() const { return value_; }

  // Adds a value, whose type must have no padding. The order of calls matters.
  template <typename T>
  Hash& add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
    for (std::size_t offset = 0; offset < sizeof(T); offset += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + offset, std::min(sizeof word, sizeof(T) - offset));
      value_ = (value_ ^ word) * 0x9E3779B97F4A7C15U;
      value_ ^= value_ >> 29;
    }
    return *this;
  }

 private:
  std::uint64_t value_ = 1;
};

}  // namespace attnscope::window
