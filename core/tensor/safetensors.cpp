#include "core/tensor/safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <tuple>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/limits.h"
#include "core/base/stop.h"
#include "core/base/strict_json.h"
#include "core/tensor/half.h"

static_assert(std::endian::native == std::endian::little, "files are read without swapping bytes");

namespace attnscope {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  Index bytes;
};
constexpr std::array<DTypeRow, 15> kDTypes{{{DType::F32, "F32", 4},
                                            {DType::F16, "F16", 2},
                                            {DType::BF16, "BF16", 2},
                                            {DType::F64, "F64", 8},
                                            {DType::U8, "U8", 1},
                                            {DType::I32, "I32", 4},
                                            {DType::I64, "I64", 8},
                                            {DType::Bool, "BOOL", 1},
                                            {DType::I8, "I8", 1},
                                            {DType::I16, "I16", 2},
                                            {DType::U16, "U16", 2},
                                            {DType::U32, "U32", 4},
                                            {DType::U64, "U64", 8},
                                            {DType::F8E4M3, "F8_E4M3", 1},
                                            {DType::F8E5M2, "F8_E5M2", 1}}};

constexpr std::size_t kPrefix = 8;  // bytes of the header's length
constexpr std::string_view kMetadataKey = "__metadata__";

const DTypeRow& dtype_row(DType dtype) {
  return kDTypes[static_cast<std::size_t>(dtype)];
}

std::string tensor_label(std::string_view name) {
  return "tensor \"" + std::string(name) + "\"";
}

class Mapping {
 public:
  explicit Mapping(const std::filesystem::path& path) {
    const std::string name = path.string();
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
      if (errno == ENOENT) throw InputError(name + ": no such file");
      throw InputError(name + ": cannot be read: " + std::strerror(errno));
    }
    struct stat status {};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
      ::close(fd);
      throw InputError(name +
                       (S_ISDIR(status.st_mode) ? ": is a folder" : ": is not a regular file"));
    }
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ > 0) bytes_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    const int error = errno;
    ::close(fd);
    if (bytes_ == MAP_FAILED) throw InputError(name + ": cannot be read: " + std::strerror(error));
  }
  ~Mapping() {
    if (size_ > 0) ::munmap(bytes_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::size_t size() const { return size_; }
  const std::uint8_t* bytes() const { return static_cast<const std::uint8_t*>(bytes_); }

 private:
  void* bytes_ = nullptr;
  std::size_t size_ = 0;
};

// Byte range of a tensor, relative to the end of the header.
struct Extent {
  std::uint64_t begin = 0, end = 0;
  std::string name;
};

const Json& required_member(const Json& entry, const char* key, const std::string& where) {
  const Json* member = entry.find(key);
  if (member == nullptr) throw InputError(where + ": \"" + key + "\" is missing");
  return *member;
}

DType read_dtype(const Json& entry, const std::string& where) {
  const Json& value = required_member(entry, "dtype", where);
  for (const DTypeRow& r : kDTypes) {
    if (value.is_string() && value.text() == r.name) return r.dtype;
  }
  std::string known;
  for (const DTypeRow& r : kDTypes) known += (known.empty() ? "" : ", ") + std::string(r.name);
  throw InputError(where + ": dtype " + shortened(value) + ": expected one of " + known);
}

Shape read_shape(const Json& entry, const std::string& where) {
  const Json& value = required_member(entry, "shape", where);
  const auto shape_error = [&] {
    return InputError(where + ": shape " + value.dump() + ": expected a list of sizes");
  };
  if (!value.is_array()) throw shape_error();
  Shape shape;
  for (const Json& n : value) {
    if (!n.is_number_unsigned() ||
        n.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<Index>::max()}) {
      throw shape_error();
    }
    shape.push_back(static_cast<Index>(n.get<std::uint64_t>()));
  }
  return shape;
}

Extent read_extent(const Json& entry, const std::string& name, const std::string& where) {
  const Json& value = required_member(entry, "data_offsets", where);
  if (!value.is_array() || value.size() != 2 || !value[0].is_number_unsigned() ||
      !value[1].is_number_unsigned() ||
      value[0].get<std::uint64_t>() > value[1].get<std::uint64_t>()) {
    throw InputError(where + ": data_offsets " + value.dump() + ": expected [begin, end]");
  }
  return {value[0].get<std::uint64_t>(), value[1].get<std::uint64_t>(), name};
}

// Size of a tensor in bytes; InputError on overflow.
std::uint64_t byte_count(const Shape& shape, DType dtype, const std::string& where) {
  Index bytes = 0;
  try {
    bytes = element_count(shape);
  } catch (const InputError&) {
    bytes = std::numeric_limits<Index>::max();
  }
  if (__builtin_mul_overflow(bytes, byte_size(dtype), &bytes)) {
    throw InputError(where + ": shape " + to_string(shape) + ": too large");
  }
  return static_cast<std::uint64_t>(bytes);
}

void check_extents(std::vector<Extent> extents, std::uint64_t data_bytes, const std::string& file) {
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  std::uint64_t next = 0;
  for (const Extent& e : extents) {
    const std::string message = file + ": " + tensor_label(e.name) + ": begins at byte " +
                                std::to_string(e.begin) + ", expected " + std::to_string(next);
    if (e.begin < next) throw InputError(message + " (tensors overlap)");
    if (e.begin > next) throw InputError(message + " (a gap between tensors)");
    next = e.end;
    if (next > data_bytes) {
      throw InputError(file + ": " + tensor_label(e.name) + ": ends at byte " +
                       std::to_string(next) + ", expected at most " + std::to_string(data_bytes) +
                       " (the file ends before the tensors do)");
    }
  }
  if (next < data_bytes) {
    throw InputError(file + ": expected " + std::to_string(next) + " bytes of tensors, found " +
                     std::to_string(data_bytes));
  }
}

void read_metadata(const Json& value, SafetensorsFile& file, const std::string& name) {
  if (!value.is_object()) throw InputError(name + ": __metadata__: expected an object");
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) {
      throw InputError(name + ": __metadata__: \"" + key + "\": expected a string");
    }
    file.metadata[key] = text.get<std::string>();
  }
}

Json read_header(const Mapping& mapping, const std::string& name, std::uint64_t& header_bytes) {
  const auto format_error = [&](const std::string& reason) {
    return InputError(name + ": not a safetensors file: " + reason);
  };
  if (mapping.size() < kPrefix) {
    throw format_error("expected at least 8 bytes, found " + std::to_string(mapping.size()));
  }
  std::memcpy(&header_bytes, mapping.bytes(), kPrefix);
  if (header_bytes > mapping.size() - kPrefix || header_bytes > limits::kMaxTensorHeader) {
    throw format_error("header of " + std::to_string(header_bytes) + " bytes in a file of " +
                       std::to_string(mapping.size()));
  }
  const std::string_view text(reinterpret_cast<const char*>(mapping.bytes()) + kPrefix,
                              header_bytes);
  if (!text.starts_with('{')) throw format_error("the header is not a JSON object");
  return parse_json(text, name);
}

std::int32_t to_int32(std::int64_t value) {
  if (value < std::numeric_limits<std::int32_t>::min() ||
      value > std::numeric_limits<std::int32_t>::max()) {
    throw InputError("integer " + std::to_string(value) + ": expected 32 bits");
  }
  return static_cast<std::int32_t>(value);
}

template <class T>
T load(const std::uint8_t* bytes, Index i) {
  T value;
  std::memcpy(&value, bytes + i * static_cast<Index>(sizeof(T)), sizeof(T));
  return value;
}

// Releases the mapped pages that are entirely within the tensor.
void release_pages(const StoredTensor& tensor, Index count) {
  if (!tensor.mapped) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(tensor.bytes);
  const std::uintptr_t end = begin + static_cast<std::uintptr_t>(count * byte_size(tensor.dtype));
  const std::uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

// Elements between two cancellation checks: some milliseconds if the pages are not yet in memory.
constexpr Index kChunk = Index{1} << 19;

// Calls body(first, count) for consecutive chunks.
template <class Body>
void for_each_chunk(Index count, const Body& body) {
  for (Index first = 0; first < count; first += kChunk) {
    check_stop();
    body(first, std::min(kChunk, count - first));
  }
}

[[noreturn]] void fail_dtype(const char* expected, DType found) {
  throw InputError(std::string("expected ") + expected + ", found " +
                   std::string(to_string(found)));
}

}  // namespace

std::string_view to_string(DType dtype) {
  return dtype_row(dtype).name;
}

Index byte_size(DType dtype) {
  return dtype_row(dtype).bytes;
}

Tensor StoredTensor::floats() const {
  Tensor result(shape);
  const Index n = result.size();
  for_each_chunk(n, [&](Index first, Index count) {
    const std::uint8_t* from = bytes + first * byte_size(dtype);
    float* to = result.data() + first;
    switch (dtype) {
      case DType::F32:
        std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
        break;
      case DType::F16:
        from_half(from, to, count);
        break;
      case DType::BF16:
        from_bfloat(from, to, count);
        break;
      case DType::F64:
        for (Index i = 0; i < count; ++i) to[i] = static_cast<float>(load<double>(from, i));
        break;
      default:
        fail_dtype("F32, F16, BF16 or F64", dtype);
    }
  });
  release_pages(*this, n);
  return result;
}

StoredTensor StoredTensor::copy() const {
  const Index count = element_count(shape), size = byte_size(dtype);
  const auto numbers = std::make_shared<ByteTensor>(Shape{count * size});
  for_each_chunk(count, [&](Index first, Index chunk) {
    std::memcpy(numbers->data() + first * size, bytes + first * size,
                static_cast<std::size_t>(chunk * size));
  });
  release_pages(*this, count);
  return {dtype, shape, numbers->data(), numbers};
}

ByteTensor StoredTensor::byte_values() const {
  if (dtype != DType::U8 && dtype != DType::Bool) fail_dtype("U8 or BOOL", dtype);
  ByteTensor result(shape);
  if (!result.empty()) std::memcpy(result.data(), bytes, static_cast<std::size_t>(result.size()));
  return result;
}

IntTensor StoredTensor::integers() const {
  if (dtype != DType::I32 && dtype != DType::I64) fail_dtype("I32 or I64", dtype);
  IntTensor result(shape);
  for (Index i = 0; i < result.size(); ++i) {
    result[i] =
        dtype == DType::I32 ? load<std::int32_t>(bytes, i) : to_int32(load<std::int64_t>(bytes, i));
  }
  return result;
}

StoredTensor stored(const Tensor& t, DType as) {
  if (as == DType::F32) {
    const auto owner = std::make_shared<Tensor>(t);
    return {as, t.shape(), reinterpret_cast<const std::uint8_t*>(t.data()), owner};
  }
  if (as != DType::F16 && as != DType::BF16) fail_dtype("F32, F16 or BF16", as);
  const auto bytes = std::make_shared<ByteTensor>(Shape{2 * t.size()});
  if (as == DType::F16) {
    to_half(t.data(), bytes->data(), t.size());
  } else {
    to_bfloat(t.data(), bytes->data(), t.size());
  }
  return {as, t.shape(), bytes->data(), bytes};
}

StoredTensor stored(const ByteTensor& t) {
  return {DType::U8, t.shape(), t.data(), std::make_shared<ByteTensor>(t)};
}

StoredTensor stored(const IntTensor& t) {
  return {DType::I32, t.shape(), reinterpret_cast<const std::uint8_t*>(t.data()),
          std::make_shared<IntTensor>(t)};
}

SafetensorsFile read_safetensors(const std::filesystem::path& path) {
  const std::string name = path.string();
  const auto mapping = std::make_shared<const Mapping>(path);
  std::uint64_t header_bytes = 0;
  const Json header = read_header(*mapping, name, header_bytes);
  const std::uint8_t* data = mapping->bytes() + kPrefix + header_bytes;

  SafetensorsFile file;
  std::vector<Extent> extents;
  for (const auto& [key, entry] : header.items()) {
    if (key == kMetadataKey) {
      read_metadata(entry, file, name);
      continue;
    }
    const std::string where = name + ": " + tensor_label(key);
    if (!entry.is_object()) throw InputError(where + ": expected an object");
    if (entry.size() != 3) {
      throw InputError(where + ": expected the keys dtype, shape, data_offsets");
    }
    StoredTensor tensor{read_dtype(entry, where), read_shape(entry, where), nullptr, mapping, true};
    const Extent extent = read_extent(entry, key, where);
    const std::uint64_t expected = byte_count(tensor.shape, tensor.dtype, where);
    if (extent.end - extent.begin != expected) {
      throw InputError(where + ": shape " + to_string(tensor.shape) + " of " +
                       std::string(to_string(tensor.dtype)) + " needs " + std::to_string(expected) +
                       " bytes, found " + std::to_string(extent.end - extent.begin));
    }
    extents.push_back(extent);
    tensor.bytes = data + extent.begin;  // bounds are checked below, before any access
    file.tensors.emplace(key, std::move(tensor));
  }
  check_extents(std::move(extents), mapping->size() - kPrefix - header_bytes, name);
  return file;
}

void write_safetensors(const std::filesystem::path& path, const SafetensorsFile& file) {
  // Wide types first, so that every tensor is aligned to its own size.
  std::vector<const std::pair<const std::string, StoredTensor>*> order;
  for (const auto& entry : file.tensors) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return byte_size(a->second.dtype) > byte_size(b->second.dtype);
  });

  Json header = Json::object();
  if (!file.metadata.empty()) header[kMetadataKey] = file.metadata;
  std::vector<std::string_view> pieces(2);
  std::uint64_t offset = 0;
  for (const auto* entry : order) {
    const auto& [name, tensor] = *entry;
    const std::uint64_t bytes = byte_count(tensor.shape, tensor.dtype, tensor_label(name));
    header[name] = {{"dtype", to_string(tensor.dtype)},
                    {"shape", tensor.shape},
                    {"data_offsets", {offset, offset + bytes}}};
    if (bytes > 0) pieces.emplace_back(reinterpret_cast<const char*>(tensor.bytes), bytes);
    offset += bytes;
  }

  std::string text;
  try {
    text = header.dump();
  } catch (const JsonError&) {
    throw InputError(path.string() + ": a name or metadata string is not valid UTF-8");
  }
  text.resize((text.size() + kPrefix - 1) / kPrefix * kPrefix,
              ' ');  // aligns the tensors
  const std::uint64_t header_bytes = text.size();
  pieces[0] = {reinterpret_cast<const char*>(&header_bytes), kPrefix};
  pieces[1] = text;
  write_file(path, pieces);
}

}  // namespace attnscope
