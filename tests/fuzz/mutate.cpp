#include "tests/fuzz/mutate.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/zip.h"

namespace attnscope::fuzz {
namespace {

std::size_t below(std::size_t n, Random& random) {
  return n == 0 ? 0 : random() % n;
}

std::string little_endian(std::uint64_t value, std::size_t bytes) {
  return {reinterpret_cast<const char*>(&value), bytes};
}

std::string big_endian(std::uint32_t value) {
  std::string bytes = little_endian(value, 4);
  std::ranges::reverse(bytes);
  return bytes;
}

std::uint32_t checksum(const std::string& bytes) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

// Escapes a key for a JSON pointer (RFC 6901).
std::string escape_pointer_token(const std::string& key) {
  std::string token;
  for (const char c : key) token += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return token;
}

void add_pointers(const Json& value, const std::string& pointer,
                  std::vector<std::string>& pointers) {
  constexpr std::size_t kMaxPointers = 3000;
  if (pointers.size() >= kMaxPointers) return;
  pointers.push_back(pointer);
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      add_pointers(value[i], pointer + "/" + std::to_string(i), pointers);
    }
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      add_pointers(member, pointer + "/" + escape_pointer_token(key), pointers);
    }
  }
}

Json unusual_value(Random& random) {
  constexpr std::array kValues{"null",
                               "true",
                               "false",
                               "0",
                               "-1",
                               "1",
                               "2",
                               "64",
                               "65535",
                               "1e6",
                               "1e300",
                               "-1e-300",
                               "0.5",
                               "\"\"",
                               "\"x\"",
                               "[]",
                               "{}",
                               "[[1]]",
                               "[0,0]",
                               "[-1]",
                               "1048576",
                               "2147483647",
                               "4294967296",
                               "9223372036854775807",
                               "18446744073709551615",
                               "{\"type\":\"full\"}",
                               "[\"a\",\"b\"]",
                               "1e18"};
  return Json::parse(kValues[below(kValues.size(), random)]);
}

std::string mutate_json(const std::string& input, const MutateBytes& mutate_bytes, Random& random) {
  Json root = Json::parse_or_null(input);
  if (root.is_null() || below(6, random) == 0) return mutate_bytes(input);
  std::vector<std::string> pointers;
  add_pointers(root, "", pointers);
  for (std::size_t changes = 1 + below(3, random); changes > 0; --changes) {
    const std::string& pointer = pointers[below(pointers.size(), random)];
    const std::string& source_pointer = pointers[below(pointers.size(), random)];
    try {
      Json& value = root.at_pointer(pointer);
      switch (below(6, random)) {
        case 0:
          if (value.is_string()) {
            value = Json(mutate_bytes(value.text()));
            break;
          }
          [[fallthrough]];
        case 1:
          value = unusual_value(random);
          break;
        case 2: {
          const Json copy = root.at_pointer(source_pointer);
          root.at_pointer(pointer) = copy;
          break;
        }
        case 3:
          if (value.is_number()) {
            const auto number = value.get<double>();
            value = below(2, random) == 0 ? Json(number * 2 + 1) : Json(-number);
            if (value.get<double>() < 1e15 && value.get<double>() > -1e15) {
              value = Json(static_cast<std::int64_t>(value.get<double>()));
            }
          } else if (value.is_array()) {
            value.push_back(unusual_value(random));
          } else if (value.is_object()) {
            const std::size_t slash = source_pointer.rfind('/');
            value[slash == std::string::npos ? "x" : source_pointer.substr(slash + 1)] =
                unusual_value(random);
          }
          break;
        default: {  // removes a member
          const std::size_t slash = pointer.rfind('/');
          if (slash == std::string::npos) break;
          Json& parent = root.at_pointer(pointer.substr(0, slash));
          if (parent.is_object()) parent.erase(pointer.substr(slash + 1));
        }
      }
    } catch (const JsonError&) {  // an earlier mutation removed this value
    }
  }
  return root.dump(-1, Json::BadUtf8::Replace);
}

// A safetensors file consists of the header's length (8 bytes), the JSON header and the tensors.
// Two thirds of the mutants with a JSON header have valid data offsets.
std::string mutate_safetensors(const std::string& input, const MutateBytes& mutate_bytes,
                               Random& random) {
  std::uint64_t length = 0;
  if (input.size() >= 8) std::memcpy(&length, input.data(), 8);
  if (input.size() < 8 || length > input.size() - 8 || below(8, random) == 0)
    return mutate_bytes(input);
  std::string header = input.substr(8, length), data = input.substr(8 + length);
  if (below(4, random) == 0) {
    data = mutate_bytes(data);
  } else {
    header = mutate_json(header, mutate_bytes, random);
  }
  // Repairs offsets, so that tensors are contiguous and have the sizes of their shapes. Readers
  // would otherwise reject most inputs immediately.
  Json root = Json::parse_or_null(header);
  if (root.is_object() && below(3, random) != 0) {
    std::size_t offset = 0;
    for (const auto& [name, member] : Json::Object(root.items())) {
      if (name == "__metadata__" || !member.is_object()) continue;
      const Json* shape = member.find("shape");
      const Json* type = member.find("dtype");
      if (shape == nullptr || !shape->is_array() || type == nullptr || !type->is_string()) continue;
      double count = type->text().ends_with("64")   ? 8
                     : type->text().ends_with("32") ? 4
                     : type->text().ends_with("16") ? 2
                                                    : 1;
      for (const Json& n : *shape) count *= n.is_number() ? n.get<double>() : 1;
      if (!(count >= 0 && count <= 1 << 16)) continue;
      const std::size_t end = offset + static_cast<std::size_t>(count);
      root[name]["data_offsets"] = Json::array({offset, end});
      offset = end;
    }
    data.resize(offset, '\1');
    header = root.dump(-1, Json::BadUtf8::Replace);
  }
  return little_endian(header.size(), 8) + header + data;
}

std::string mutate_npy(const std::string& input, const MutateBytes& mutate_bytes, Random& random) {
  constexpr std::size_t kBegin = 10;
  std::uint16_t length = 0;
  if (input.size() >= kBegin) std::memcpy(&length, input.data() + 8, 2);
  if (input.size() < kBegin || length > input.size() - kBegin || below(6, random) == 0) {
    return mutate_bytes(input);
  }
  std::string header = input.substr(kBegin, length), data = input.substr(kBegin + length);
  if (below(3, random) == 0) {
    data = mutate_bytes(data);
  } else {
    header = mutate_bytes(header).substr(0, 60000);
  }
  return input.substr(0, 8) + little_endian(header.size(), 2) + header + data;
}

std::string stored_zip(const Files& members) {
  std::string file, directory;
  for (const auto& [name, bytes] : members) {
    const std::string common_fields =
        little_endian(20, 2) + little_endian(0, 8) + little_endian(checksum(bytes), 4) +
        little_endian(bytes.size(), 4) + little_endian(bytes.size(), 4) +
        little_endian(name.size(), 2) + little_endian(0, 2);
    directory += "PK\1\2" + little_endian(20, 2) + common_fields + little_endian(0, 8) +
                 little_endian(0, 2) + little_endian(file.size(), 4) + name;
    file += "PK\3\4" + common_fields + name + bytes;
  }
  const std::size_t directory_offset = file.size();
  return file + directory + "PK\5\6" + little_endian(0, 4) + little_endian(members.size(), 2) +
         little_endian(members.size(), 2) + little_endian(directory.size(), 4) +
         little_endian(directory_offset, 4) + little_endian(0, 2);
}

// Mutates one file of a folder or archive according to its extension.
void mutate_one_file(Files& files, const MutateBytes& mutate_bytes, Random& random) {
  if (files.empty()) return;
  auto file = files.begin();
  std::advance(file, static_cast<std::ptrdiff_t>(below(files.size(), random)));
  if (below(24, random) == 0) {
    files.erase(file);
    return;
  }
  const std::string_view name = file->first;
  const Format format = name.ends_with(".json")                            ? Format::Json
                        : name.ends_with(".safetensors")                   ? Format::Safetensors
                        : name.ends_with(".npy")                           ? Format::Npy
                        : name.ends_with(".npz") || name.ends_with(".zip") ? Format::Zip
                        : name.ends_with(".png")                           ? Format::Png
                                                                           : Format::Bytes;
  file->second = mutate(format, file->second, mutate_bytes, random);
}

std::string mutate_zip(const std::string& input, const MutateBytes& mutate_bytes, Random& random) {
  if (below(4, random) == 0) return mutate_bytes(input);
  try {
    Files members = parse_zip(input, "zip", std::size_t{1} << 20);
    mutate_one_file(members, mutate_bytes, random);
    return stored_zip(members);
  } catch (const InputError&) {
    return mutate_bytes(input);
  }
}

std::string mutate_folder(const std::string& input, const MutateBytes& mutate_bytes,
                          Random& random) {
  if (below(12, random) == 0) return mutate_bytes(input);
  Files files = unpack(input);
  mutate_one_file(files, mutate_bytes, random);
  return pack(files);
}

// Mutates chunks; lengths and checksums stay valid.
std::string mutate_png(const std::string& input, const MutateBytes& mutate_bytes, Random& random) {
  constexpr std::size_t kSignature = 8, kChunkOverhead = 12;
  if (input.size() < kSignature + kChunkOverhead || below(8, random) == 0)
    return mutate_bytes(input);
  std::vector<std::string> chunks;  // type and data
  for (std::size_t offset = kSignature; offset + kChunkOverhead <= input.size();) {
    std::string length = input.substr(offset, 4);
    std::ranges::reverse(length);
    std::uint32_t size = 0;
    std::memcpy(&size, length.data(), 4);
    if (size > input.size() - offset - kChunkOverhead) break;
    chunks.push_back(input.substr(offset + 4, 4 + size));
    offset += kChunkOverhead + size;
  }
  if (chunks.empty()) return mutate_bytes(input);
  const std::size_t chunk_index = below(chunks.size(), random);
  switch (below(6, random)) {
    case 0:
      chunks.push_back(chunks[chunk_index]);
      break;
    case 1:
      chunks.erase(chunks.begin() + static_cast<std::ptrdiff_t>(chunk_index));
      break;
    default:
      chunks[chunk_index] =
          chunks[chunk_index].substr(0, 4) + mutate_bytes(chunks[chunk_index].substr(4));
  }
  std::string file = input.substr(0, kSignature);
  for (const std::string& chunk : chunks) {
    file += big_endian(static_cast<std::uint32_t>(chunk.size() - 4)) + chunk +
            big_endian(checksum(chunk));
  }
  return file;
}

}  // namespace

std::string mutate_any_bytes(const std::string& bytes, Random& random) {
  using namespace std::string_view_literals;
  constexpr std::array kWords{"0"sv,
                              "-1"sv,
                              "\xff\xff\xff\xff"sv,
                              "\0\0\0\0"sv,
                              "999999999"sv,
                              "\""sv,
                              "["sv,
                              "{"sv,
                              ","sv,
                              ":"sv,
                              "\n"sv,
                              "\x80"sv,
                              "\xe2\x96\x81"sv,
                              "1e308"sv,
                              "nan"sv,
                              "("sv,
                              "\\"sv,
                              "=["sv,
                              " "sv};
  std::string out = bytes;
  for (std::size_t n = 1 + below(4, random); n > 0; --n) {
    const std::size_t offset = below(out.size() + 1, random), run_length = 1 + below(16, random);
    switch (out.empty() ? 0 : below(6, random)) {
      case 0:
        out.insert(offset, kWords[below(kWords.size(), random)]);
        break;
      case 1:
        out.erase(offset, run_length);
        break;
      case 2:
        out[offset % out.size()] = static_cast<char>(random());
        break;
      case 3:
        out[offset % out.size()] =
            static_cast<char>(out[offset % out.size()] ^ (1 << below(8, random)));
        break;
      case 4:
        out.insert(offset, out.substr(below(out.size(), random), run_length));
        break;
      default:
        out.resize(out.size() - below(out.size() / 8 + 2, random) % (out.size() + 1));
    }
  }
  return out;
}

std::string mutate(Format format, const std::string& input, const MutateBytes& mutate_bytes,
                   Random& random) {
  switch (format) {
    case Format::Json:
      return mutate_json(input, mutate_bytes, random);
    case Format::Safetensors:
      return mutate_safetensors(input, mutate_bytes, random);
    case Format::Npy:
      return mutate_npy(input, mutate_bytes, random);
    case Format::Zip:
      return mutate_zip(input, mutate_bytes, random);
    case Format::Png:
      return mutate_png(input, mutate_bytes, random);
    case Format::Folder:
      return mutate_folder(input, mutate_bytes, random);
    case Format::Bytes:
      break;
  }
  return mutate_bytes(input);
}

}  // namespace attnscope::fuzz
