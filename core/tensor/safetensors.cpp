#include "core/tensor/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <tuple>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/limits.h"
#include "core/base/mapped_file.h"
#include "core/base/strict_json.h"

static_assert(std::endian::native == std::endian::little, "files are read without swapping bytes");

namespace attnscope {
namespace {

constexpr std::size_t kPrefix = 8;  // bytes of the field with the header's length
constexpr std::string_view kMetadataKey = "__metadata__";

std::string tensor_label(std::string_view name) {
  return "tensor \"" + std::string(name) + "\"";
}

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
  std::string known;
  for (int n = 0; n <= static_cast<int>(DType::F8E5M2); ++n) {  // formats of single numbers
    const auto dtype = static_cast<DType>(n);
    if (value.is_string() && value.text() == to_string(dtype)) return dtype;
    known += (known.empty() ? "" : ", ") + std::string(to_string(dtype));
  }
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
std::uint64_t checked_byte_count(const Shape& shape, DType dtype, const std::string& where) {
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

Json read_header(std::string_view bytes, const std::string& name, std::uint64_t& header_bytes) {
  const auto format_error = [&](const std::string& reason) {
    return InputError(name + ": not a safetensors file: " + reason);
  };
  if (bytes.size() < kPrefix) {
    throw format_error("expected at least 8 bytes, found " + std::to_string(bytes.size()));
  }
  std::memcpy(&header_bytes, bytes.data(), kPrefix);
  if (header_bytes > bytes.size() - kPrefix || header_bytes > limits::kMaxTensorHeader) {
    throw format_error("header of " + std::to_string(header_bytes) + " bytes in a file of " +
                       std::to_string(bytes.size()));
  }
  const std::string_view text = bytes.substr(kPrefix, header_bytes);
  if (!text.starts_with('{')) throw format_error("the header is not a JSON object");
  return parse_json(text, name);
}

// `owner` keeps the bytes alive; `is_mapped`: the bytes are a mapped file.
SafetensorsFile parse(std::string_view bytes, const std::shared_ptr<const void>& owner,
                      bool is_mapped, const std::string& name) {
  std::uint64_t header_bytes = 0;
  const Json header = read_header(bytes, name, header_bytes);
  const std::uint8_t* data =
      reinterpret_cast<const std::uint8_t*>(bytes.data()) + kPrefix + header_bytes;

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
    StoredTensor tensor{read_dtype(entry, where), read_shape(entry, where), nullptr, owner,
                        is_mapped};
    const Extent extent = read_extent(entry, key, where);
    const std::uint64_t expected = checked_byte_count(tensor.shape, tensor.dtype, where);
    if (extent.end - extent.begin != expected) {
      throw InputError(where + ": shape " + to_string(tensor.shape) + " of " +
                       std::string(to_string(tensor.dtype)) + " needs " + std::to_string(expected) +
                       " bytes, found " + std::to_string(extent.end - extent.begin));
    }
    extents.push_back(extent);
    tensor.bytes = data + extent.begin;  // bounds are checked below, before any access
    file.tensors.emplace(key, std::move(tensor));
  }
  check_extents(std::move(extents), bytes.size() - kPrefix - header_bytes, name);
  return file;
}

}  // namespace

SafetensorsFile read_safetensors(const std::filesystem::path& path) {
  const auto mapping = std::make_shared<const MappedFile>(path);
  const std::string_view bytes(reinterpret_cast<const char*>(mapping->bytes()), mapping->size());
  return parse(bytes, mapping, true, path.string());
}

SafetensorsFile parse_safetensors(std::string bytes, const std::string& name) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return parse(*owner, owner, false, name);
}

void SafetensorsOutput::add(std::string name, const StoredTensor& tensor) {
  tensors.push_back({std::move(name), tensor.dtype, tensor.shape, {[tensor] { return tensor; }}});
}

void write_safetensors(const std::filesystem::path& path, const SafetensorsFile& file) {
  SafetensorsOutput output;
  output.metadata = file.metadata;
  for (const auto& [name, tensor] : file.tensors) output.add(name, tensor);
  write_safetensors(path, output);
}

void write_safetensors(const std::filesystem::path& path, const SafetensorsOutput& file) {
  // Wide types first, so that every tensor is aligned to its element size.
  std::vector<const SafetensorsOutput::Entry*> order;
  for (const SafetensorsOutput::Entry& entry : file.tensors) order.push_back(&entry);
  std::ranges::stable_sort(order, std::greater(),
                           [](const auto* entry) { return byte_size(entry->dtype); });

  Json header = Json::object();
  if (!file.metadata.empty()) header[kMetadataKey] = file.metadata;
  std::uint64_t offset = 0;
  std::vector<std::pair<const std::function<StoredTensor()>*, std::uint64_t>> parts;  // and ends
  for (const SafetensorsOutput::Entry* entry : order) {
    const std::uint64_t bytes =
        checked_byte_count(entry->shape, entry->dtype, tensor_label(entry->name));
    header[entry->name] = {{"dtype", to_string(entry->dtype)},
                           {"shape", entry->shape},
                           {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
    for (const auto& part : entry->parts) parts.emplace_back(&part, offset);
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
  text.insert(0, reinterpret_cast<const char*>(&header_bytes), kPrefix);
  std::size_t next = 0;
  std::uint64_t written = 0;
  StoredTensor tensor;  // the part that is written
  write_file(path, [&]() -> std::optional<std::string_view> {
    if (next == 0) {
      ++next;
      return text;
    }
    if (next > parts.size()) return std::nullopt;
    const auto& [part, end] = parts[next - 1];
    tensor = {};
    tensor = (*part)();
    const auto bytes =
        static_cast<std::uint64_t>(byte_count(tensor.dtype, element_count(tensor.shape)));
    written += bytes;
    const bool is_last = next == parts.size() || parts[next].second != end;
    if (written > end || (is_last && written != end)) {
      throw std::logic_error(path.string() + ": parts do not form their tensor");
    }
    ++next;
    return std::string_view(reinterpret_cast<const char*>(tensor.bytes), bytes);
  });
}

}  // namespace attnscope
