// Reader of messages in Protocol Buffers wire format
// (https://protobuf.dev/programming-guides/encoding).
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace attnscope {

class ProtobufMessage {
 public:
  // `where` begins the messages of InputErrors.
  ProtobufMessage(std::string_view bytes, std::string_view where) : bytes_(bytes), where_(where) {}

  struct Field {
    std::uint32_t number = 0;
    std::uint64_t value = 0;  // an integer, or the bits of a float
    std::string_view bytes;   // a string, bytes or a message
    int kind = 0;             // wire type; 0: varint, 1: 8 bytes, 2: length and bytes, 5: 4 bytes

    float real() const {
      const auto bits = static_cast<std::uint32_t>(value);
      float result = 0;
      std::memcpy(&result, &bits, 4);
      return result;
    }
  };
  // Reads the next field. Returns false at the end.
  bool next(Field& field) {
    if (at_ == bytes_.size()) return false;
    const std::uint64_t key = read_varint();
    field = {};
    field.number = static_cast<std::uint32_t>(key >> 3);
    field.kind = static_cast<int>(key & 7);
    if (field.number == 0 || key >> 32 != 0) fail();
    switch (field.kind) {
      case 0:
        field.value = read_varint();
        return true;
      case 1:
      case 5: {
        const std::string_view raw = read_bytes(field.kind == 1 ? 8 : 4);
        std::memcpy(&field.value, raw.data(), raw.size());
        return true;
      }
      case 2:
        field.bytes = read_bytes(read_varint());
        return true;
      default:
        fail();
    }
  }
  // Throws InputError if the field has another wire type.
  void expect(const Field& field, int kind) const {
    if (field.kind != kind) fail();
  }
  [[noreturn]] void fail() const {
    throw InputError(std::string(where_) + ": not a valid SentencePiece model: error at byte " +
                     std::to_string(at_));
  }

 private:
  std::uint64_t read_varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.size()) fail();
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    fail();
  }
  std::string_view read_bytes(std::uint64_t size) {
    if (size > bytes_.size() - at_) fail();
    const std::string_view part = bytes_.substr(at_, size);
    at_ += size;
    return part;
  }

  std::string_view bytes_, where_;
  std::size_t at_ = 0;
};

}  // namespace attnscope
