// Writer of GGUF files for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/tensor/stored_tensor.h"

namespace attnscope::testing {

class GgufWriter {
 public:
  explicit GgufWriter(std::uint32_t version = 3) : version_(version) {}

  void add_integer(const std::string& key, std::uint32_t value);
  void add_real(const std::string& key, float value);
  void add_flag(const std::string& key, bool value);
  void add_text(const std::string& key, const std::string& value);
  void add_texts(const std::string& key, const std::vector<std::string>& values);
  void add_reals(const std::string& key, const std::vector<float>& values);
  void add_integers(const std::string& key, const std::vector<std::int32_t>& values);
  void add_tensor(const std::string& name, const StoredTensor& tensor);
  // Adds a value with this GGUF type number and these raw bytes, for malformed files.
  void add_raw(const std::string& key, std::uint32_t type, const std::string& bytes);

  std::string bytes() const;

 private:
  std::uint32_t version_;
  std::uint64_t values_ = 0, tensors_ = 0;
  std::string metadata_, entries_, data_;
};

// Bytes of a little-endian number or of a length-prefixed string, as in GGUF files.
std::string gguf_bytes(std::uint32_t value);
std::string gguf_bytes(std::uint64_t value);
std::string gguf_bytes(const std::string& text);

}  // namespace attnscope::testing
