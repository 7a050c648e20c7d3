#include "core/tensor/gguf.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/file_beginning.h"
#include "core/base/limits.h"
#include "core/base/mapped_file.h"
#include "core/base/stop.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kGgufMagic = "GGUF";
constexpr std::uint64_t kDefaultAlignment = 32, kMaxDimensions = 4, kMaxFiles = 1000;

// Types of metadata values. Enumerators equal the type numbers in files.
enum class ValueType : std::uint32_t {
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  F32,
  Bool,
  String,
  Array,
  U64,
  I64,
  F64
};
// Minimum size of a value in bytes. For strings and arrays, the size of their header.
constexpr std::array<std::size_t, 13> kValueBytes{1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};

struct FormatName {
  std::uint32_t number;
  const char* name;
  std::optional<DType> dtype{};  // empty if not supported
};
// Data types of tensors by their `ggml_type` value (ggml.h).
constexpr FormatName kFormats[] = {{0, "F32", DType::F32},
                                   {1, "F16", DType::F16},
                                   {2, "Q4_0", DType::Q4_0},
                                   {3, "Q4_1", DType::Q4_1},
                                   {6, "Q5_0", DType::Q5_0},
                                   {7, "Q5_1", DType::Q5_1},
                                   {8, "Q8_0", DType::Q8_0},
                                   {9, "Q8_1"},
                                   {10, "Q2_K", DType::Q2_K},
                                   {11, "Q3_K", DType::Q3_K},
                                   {12, "Q4_K", DType::Q4_K},
                                   {13, "Q5_K", DType::Q5_K},
                                   {14, "Q6_K", DType::Q6_K},
                                   {15, "Q8_K", DType::Q8_K},
                                   {16, "IQ2_XXS"},
                                   {17, "IQ2_XS"},
                                   {18, "IQ3_XXS"},
                                   {19, "IQ1_S"},
                                   {20, "IQ4_NL", DType::IQ4_NL},
                                   {21, "IQ3_S"},
                                   {22, "IQ2_S"},
                                   {23, "IQ4_XS", DType::IQ4_XS},
                                   {24, "I8", DType::I8},
                                   {25, "I16", DType::I16},
                                   {26, "I32", DType::I32},
                                   {27, "I64", DType::I64},
                                   {28, "F64", DType::F64},
                                   {29, "IQ1_M"},
                                   {30, "BF16", DType::BF16},
                                   {34, "TQ1_0"},
                                   {35, "TQ2_0"},
                                   {39, "MXFP4", DType::MXFP4},
                                   {40, "NVFP4"}};

// Reads consecutive values of a file.
class Cursor {
 public:
  Cursor(const MappedFile& file, std::string name) : file_(file), name_(std::move(name)) {}

  std::size_t position() const { return at_; }
  std::size_t remaining() const { return file_.size() - at_; }
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(name_ + ": " + message);
  }

  template <class T>
  T take(const char* subject) {
    T value;
    std::memcpy(&value, take_bytes(sizeof value, subject), sizeof value);
    return value;
  }
  std::string take_string(const char* subject) {
    const auto length = take<std::uint64_t>(subject);
    if (length > limits::kMaxVocabulary) {
      fail(std::string(subject) + ": expected at most " + std::to_string(limits::kMaxVocabulary) +
           " bytes, found " + std::to_string(length));
    }
    const std::uint8_t* bytes = take_bytes(length, subject);
    return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length)};
  }

 private:
  const std::uint8_t* take_bytes(std::uint64_t count, const char* subject) {
    if (count > remaining()) {
      fail(std::string(subject) + " at byte " + std::to_string(at_) + ": expected " +
           std::to_string(count) + " bytes, found " + std::to_string(remaining()) +
           " before the file's end");
    }
    const std::uint8_t* bytes = file_.bytes() + at_;
    at_ += static_cast<std::size_t>(count);
    return bytes;
  }

  const MappedFile& file_;
  std::string name_;
  std::size_t at_ = 0;
};

ValueType take_type(Cursor& cursor, const std::string& key) {
  const auto number = cursor.take<std::uint32_t>("type of a value");
  if (number >= kValueBytes.size()) {
    cursor.fail(key + ": expected a value type below " + std::to_string(kValueBytes.size()) +
                ", found " + std::to_string(number));
  }
  return static_cast<ValueType>(number);
}

class MetadataReader {
 public:
  explicit MetadataReader(Cursor& cursor) : cursor_(cursor) {}

  Json take_value(ValueType type, const std::string& key, int depth) {
    const char* subject = "metadata";
    switch (type) {
      case ValueType::U8:
        return cursor_.take<std::uint8_t>(subject);
      case ValueType::I8:
        return cursor_.take<std::int8_t>(subject);
      case ValueType::U16:
        return cursor_.take<std::uint16_t>(subject);
      case ValueType::I16:
        return cursor_.take<std::int16_t>(subject);
      case ValueType::U32:
        return cursor_.take<std::uint32_t>(subject);
      case ValueType::I32:
        return cursor_.take<std::int32_t>(subject);
      case ValueType::F32:
        return cursor_.take<float>(subject);
      case ValueType::Bool:
        return cursor_.take<std::uint8_t>(subject) != 0;
      case ValueType::String:
        return cursor_.take_string(subject);
      case ValueType::Array:
        return take_array(key, depth);
      case ValueType::U64:
        return cursor_.take<std::uint64_t>(subject);
      case ValueType::I64:
        return cursor_.take<std::int64_t>(subject);
      case ValueType::F64:
        return cursor_.take<double>(subject);
    }
    return {};
  }

 private:
  Json take_array(const std::string& key, int depth) {
    constexpr int kMaxDepth = 2;
    if (depth >= kMaxDepth) cursor_.fail(key + ": arrays are nested too deeply");
    const ValueType type = take_type(cursor_, key);
    const auto count = cursor_.take<std::uint64_t>("length of an array");
    elements_ += std::min<std::uint64_t>(count, limits::kMaxGgufElements + 1);
    if (count > cursor_.remaining() / kValueBytes[static_cast<std::size_t>(type)] ||
        elements_ > limits::kMaxGgufElements) {
      cursor_.fail(key + ": an array of " + std::to_string(count) + " values is too long");
    }
    Json::Array values;
    values.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t n = 0; n < count; ++n) values.push_back(take_value(type, key, depth + 1));
    check_stop();
    return values;
  }

  Cursor& cursor_;
  std::uint64_t elements_ = 0;  // elements of all arrays read so far
};

Json read_metadata(Cursor& cursor, std::uint64_t count) {
  MetadataReader reader(cursor);
  Json::Object metadata;
  for (std::uint64_t n = 0; n < count; ++n) {
    const std::string key = cursor.take_string("metadata key");
    const ValueType type = take_type(cursor, key);
    if (!metadata.emplace(key, reader.take_value(type, key, 0)).second) {
      cursor.fail("metadata key " + shortened(Json(key)) + " is repeated");
    }
  }
  return metadata;
}

DType take_format(Cursor& cursor, const std::string& tensor) {
  const auto number = cursor.take<std::uint32_t>("number format");
  const auto* found = std::ranges::find(kFormats, number, &FormatName::number);
  if (found != std::end(kFormats) && found->dtype) return *found->dtype;
  const std::string name = found == std::end(kFormats) ? "number format " + std::to_string(number)
                                                       : std::string(found->name);
  cursor.fail("tensor " + tensor + ": " + name + " is not supported");
}

Shape take_shape(Cursor& cursor, const std::string& tensor) {
  const auto rank = cursor.take<std::uint32_t>("rank of a tensor");
  if (rank > kMaxDimensions) {
    cursor.fail("tensor " + tensor + ": expected at most 4 dimensions, found " +
                std::to_string(rank));
  }
  Shape shape;
  for (std::uint32_t axis = 0; axis < rank; ++axis) {
    const auto size = cursor.take<std::uint64_t>("size of a tensor");
    if (size > std::uint64_t{1} << 40) {
      cursor.fail("tensor " + tensor + ": a dimension of " + std::to_string(size) +
                  " is too large");
    }
    shape.insert(shape.begin(), static_cast<Index>(size));
  }
  return shape;
}

struct TensorEntry {
  std::string name;
  StoredTensor tensor;
  std::uint64_t offset = 0;  // bytes from the beginning of the tensor data
};

TensorEntry take_entry(Cursor& cursor) {
  TensorEntry entry;
  entry.name = cursor.take_string("tensor name");
  entry.tensor.shape = take_shape(cursor, entry.name);
  entry.tensor.dtype = take_format(cursor, entry.name);
  entry.offset = cursor.take<std::uint64_t>("offset of a tensor");
  const Index block = block_size(entry.tensor.dtype);
  if (block > 1 && (entry.tensor.shape.empty() || entry.tensor.shape.back() % block != 0)) {
    cursor.fail("tensor " + entry.name + ": expected rows of a multiple of " +
                std::to_string(block) + " numbers for " +
                std::string(to_string(entry.tensor.dtype)) + ", found shape " +
                to_string(entry.tensor.shape));
  }
  return entry;
}

// Size of a tensor in bytes; InputError on overflow.
std::uint64_t tensor_bytes(const Cursor& cursor, const TensorEntry& entry) {
  Index count = 0;
  try {
    count = element_count(entry.tensor.shape);
  } catch (const InputError&) {
    count = -1;
  }
  Index bytes = 0;
  if (count < 0 || __builtin_mul_overflow(count / block_size(entry.tensor.dtype),
                                          byte_size(entry.tensor.dtype), &bytes)) {
    cursor.fail("tensor " + entry.name + ": shape " + to_string(entry.tensor.shape) +
                " is too large");
  }
  return static_cast<std::uint64_t>(bytes);
}

std::uint64_t data_alignment(const Cursor& cursor, const Json& metadata) {
  const Json* value = metadata.find("general.alignment");
  if (value == nullptr) return kDefaultAlignment;
  constexpr std::uint64_t kMost = 1 << 20;
  const bool valid = value->is_number_unsigned() && value->get<std::uint64_t>() <= kMost &&
                     std::has_single_bit(value->get<std::uint64_t>());
  if (!valid) {
    cursor.fail("general.alignment: expected a power of two up to " + std::to_string(kMost) +
                ", found " + shortened(*value));
  }
  return value->get<std::uint64_t>();
}

void check_header(Cursor& cursor) {
  char magic[4];
  for (char& c : magic) c = cursor.take<char>("header");
  if (std::string_view(magic, sizeof magic) != kGgufMagic) cursor.fail("not a GGUF file");
  const auto version = cursor.take<std::uint32_t>("version");
  if (version == 2 || version == 3) return;
  const bool swapped = version == 2u << 24 || version == 3u << 24;
  cursor.fail(swapped ? "big-endian GGUF files are not supported"
                      : "expected GGUF version 2 or 3, found " + std::to_string(version));
}

GgufFile read_one(const fs::path& path) {
  const auto mapping = std::make_shared<const MappedFile>(path);
  Cursor cursor(*mapping, path.string());
  check_header(cursor);
  const auto tensors = cursor.take<std::uint64_t>("number of tensors");
  const auto values = cursor.take<std::uint64_t>("number of metadata entries");
  GgufFile file;
  file.metadata = read_metadata(cursor, values);
  std::vector<TensorEntry> entries;
  for (std::uint64_t n = 0; n < tensors; ++n) entries.push_back(take_entry(cursor));
  const std::uint64_t alignment = data_alignment(cursor, file.metadata);
  const std::uint64_t begin = (cursor.position() + alignment - 1) / alignment * alignment;
  for (TensorEntry& entry : entries) {
    const std::uint64_t bytes = tensor_bytes(cursor, entry);
    const std::uint64_t available = mapping->size() > begin ? mapping->size() - begin : 0;
    if (entry.offset > available || bytes > available - entry.offset) {
      cursor.fail("tensor " + entry.name + ": expected " + std::to_string(bytes) +
                  " bytes at offset " + std::to_string(entry.offset) +
                  " of the data, found the end of the data at offset " + std::to_string(available));
    }
    if (entry.offset % alignment != 0) {
      cursor.fail("tensor " + entry.name + ": expected an offset that is a multiple of " +
                  std::to_string(alignment) + ", found " + std::to_string(entry.offset));
    }
    entry.tensor.bytes = mapping->bytes() + begin + entry.offset;
    entry.tensor.owner = mapping;
    entry.tensor.mapped = true;
    if (!file.tensors.emplace(entry.name, entry.tensor).second) {
      cursor.fail("tensor " + entry.name + " is repeated");
    }
  }
  return file;
}

constexpr std::size_t kPartDigits = 5;

// Position of "-00001-of-00003" in a file name without extension; npos if absent.
std::size_t part_position(const std::string& stem) {
  constexpr std::size_t kLength = 2 * kPartDigits + 5;
  if (stem.size() <= kLength) return std::string::npos;
  const std::size_t begin = stem.size() - kLength;
  const std::string part = stem.substr(begin);
  for (std::size_t i = 0; i < kLength; ++i) {
    const char expected = "-00000-of-00000"[i];
    const bool digit = part[i] >= '0' && part[i] <= '9';
    if (expected == '0' ? !digit : part[i] != expected) return std::string::npos;
  }
  return begin;
}

std::string five_digits(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(kPartDigits - std::min(kPartDigits, digits.size()), '0') + digits;
}

}  // namespace

std::vector<fs::path> gguf_files(const fs::path& path) {
  const std::string stem = path.stem().string();
  const std::size_t part = part_position(stem);
  if (part == std::string::npos) return {path};
  const auto count = std::stoull(stem.substr(stem.size() - kPartDigits));
  if (count < 1 || count > kMaxFiles) return {path};
  std::vector<fs::path> files;
  for (std::uint64_t n = 1; n <= count; ++n) {
    files.push_back(path.parent_path() / (stem.substr(0, part) + "-" + five_digits(n) + "-of-" +
                                          five_digits(count) + path.extension().string()));
  }
  return files;
}

GgufFile read_gguf(const fs::path& path) {
  const std::vector<fs::path> files = gguf_files(path);
  GgufFile all = read_one(files.front());
  for (std::size_t n = 1; n < files.size(); ++n) {
    for (auto& [name, tensor] : read_one(files[n]).tensors) {
      if (all.tensors.emplace(name, tensor).second) continue;
      throw InputError(files[n].string() + ": tensor " + name + " is also in an earlier file");
    }
  }
  return all;
}

bool is_gguf(const fs::path& path) {
  return read_beginning(path, kGgufMagic.size()) == kGgufMagic;
}

}  // namespace attnscope
