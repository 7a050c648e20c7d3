#include "tests/support/gguf_writer.h"

#include <cstring>
#include <map>

namespace attnscope::testing {
namespace {

constexpr std::size_t kAlignment = 32;

template <class T>
std::string raw(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

void align(std::string& bytes) {
  bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment, '\0');
}

template <class T>
std::string array(std::uint32_t type, const std::vector<T>& values) {
  std::string bytes = raw(type) + raw<std::uint64_t>(values.size());
  for (const T& value : values) {
    if constexpr (std::is_same_v<T, std::string>) {
      bytes += gguf_bytes(value);
    } else {
      bytes += raw(value);
    }
  }
  return bytes;
}

// Type numbers as in ggml.h.
const std::map<DType, std::uint32_t> kFormats{
    {DType::F32, 0},   {DType::F16, 1},     {DType::Q4_0, 2},    {DType::Q4_1, 3},
    {DType::Q5_0, 6},  {DType::Q5_1, 7},    {DType::Q8_0, 8},    {DType::Q2_K, 10},
    {DType::Q3_K, 11}, {DType::Q4_K, 12},   {DType::Q5_K, 13},   {DType::Q6_K, 14},
    {DType::Q8_K, 15}, {DType::IQ4_NL, 20}, {DType::IQ4_XS, 23}, {DType::I8, 24},
    {DType::I32, 26},  {DType::BF16, 30},   {DType::MXFP4, 39}};

}  // namespace

std::string gguf_bytes(std::uint32_t value) {
  return raw(value);
}
std::string gguf_bytes(std::uint64_t value) {
  return raw(value);
}
std::string gguf_bytes(const std::string& text) {
  return raw<std::uint64_t>(text.size()) + text;
}

void GgufWriter::add_raw(const std::string& key, std::uint32_t type, const std::string& bytes) {
  metadata_ += gguf_bytes(key) + raw(type) + bytes;
  ++values_;
}
void GgufWriter::add_integer(const std::string& key, std::uint32_t value) {
  add_raw(key, 4, raw(value));
}
void GgufWriter::add_real(const std::string& key, float value) {
  add_raw(key, 6, raw(value));
}
void GgufWriter::add_flag(const std::string& key, bool value) {
  add_raw(key, 7, raw(value));
}
void GgufWriter::add_text(const std::string& key, const std::string& value) {
  add_raw(key, 8, gguf_bytes(value));
}
void GgufWriter::add_texts(const std::string& key, const std::vector<std::string>& values) {
  add_raw(key, 9, array(8, values));
}
void GgufWriter::add_reals(const std::string& key, const std::vector<float>& values) {
  add_raw(key, 9, array(6, values));
}
void GgufWriter::add_integers(const std::string& key, const std::vector<std::int32_t>& values) {
  add_raw(key, 9, array(5, values));
}

void GgufWriter::add_tensor(const std::string& name, const StoredTensor& tensor) {
  entries_ += gguf_bytes(name) + raw(static_cast<std::uint32_t>(tensor.shape.size()));
  for (auto size = tensor.shape.rbegin(); size != tensor.shape.rend(); ++size) {
    entries_ += raw(static_cast<std::uint64_t>(*size));
  }
  entries_ += raw(kFormats.at(tensor.dtype)) + raw<std::uint64_t>(data_.size());
  const Index count = byte_count(tensor.dtype, element_count(tensor.shape));
  data_.append(reinterpret_cast<const char*>(tensor.bytes), static_cast<std::size_t>(count));
  align(data_);
  ++tensors_;
}

std::string GgufWriter::bytes() const {
  std::string bytes = "GGUF" + raw(version_) + raw(tensors_) + raw(values_) + metadata_ + entries_;
  align(bytes);
  return bytes + data_;
}

}  // namespace attnscope::testing
