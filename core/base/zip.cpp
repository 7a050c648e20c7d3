#include "core/base/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/base/error.h"
#include "core/base/file.h"

namespace attnscope {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kEndMark = "PK\5\6"sv, kDirectoryMark = "PK\1\2"sv, kMark = "PK\3\4"sv;
constexpr std::size_t kEndSize = 22, kDirectorySize = 46, kHeaderSize = 30;  // fixed parts, bytes
constexpr std::size_t kMostComment = 65535;
constexpr std::uint64_t kIn64 = 0xffffffff;  // the number is in the extra field
constexpr std::uint64_t kEncrypted = 1;      // flag
constexpr std::uint64_t kStored = 0, kDeflated = 8;
constexpr std::uint64_t kZip64Field = 1;
constexpr std::size_t kMostExpansion = 1040;  // deflate's best, rounded up

// Little-endian numbers of a part of the file; reading beyond it is an InputError.
class Bytes {
 public:
  Bytes(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  std::string_view part(std::uint64_t at, std::uint64_t count) const {
    if (at > bytes_.size() || count > bytes_.size() - at) {
      throw InputError(name_ + ": cut short or damaged: expected " + std::to_string(count) +
                       " bytes at byte " + std::to_string(at) + ", found " +
                       std::to_string(bytes_.size() - std::min<std::uint64_t>(at, bytes_.size())));
    }
    return bytes_.substr(at, count);
  }
  std::uint64_t number(std::uint64_t at, std::size_t count) const {
    std::uint64_t value = 0;
    const std::string_view digits = part(at, count);
    for (std::size_t i = count; i-- > 0;)
      value = value << 8 | static_cast<unsigned char>(digits[i]);
    return value;
  }

 private:
  std::string_view bytes_;
  const std::string& name_;
};

struct Member {
  std::string name;
  std::uint64_t flags = 0, method = 0, checksum = 0, packed = 0, size = 0, header = 0;
  std::uint64_t entry_size = 0;  // in the directory
};

// Sizes and offset that do not fit 32 bits stand in an extra field, in this order.
void read_zip64(Member& member, std::string_view extra, const std::string& name) {
  const Bytes bytes(extra, name);
  std::uint64_t at = 0;
  while (at + 4 <= extra.size()) {
    const std::uint64_t id = bytes.number(at, 2), count = bytes.number(at + 2, 2);
    const Bytes field(bytes.part(at + 4, count), name);
    at += 4 + count;
    if (id != kZip64Field) continue;
    std::uint64_t in_field = 0;
    for (std::uint64_t* value : {&member.size, &member.packed, &member.header}) {
      if (*value != kIn64) continue;
      *value = field.number(in_field, 8);
      in_field += 8;
    }
    return;
  }
}

Member read_entry(const Bytes& file, std::uint64_t at, const std::string& name) {
  if (file.part(at, kDirectorySize).substr(0, 4) != kDirectoryMark) {
    throw InputError(name + ": damaged: expected an entry of the directory at byte " +
                     std::to_string(at));
  }
  Member member;
  member.flags = file.number(at + 8, 2);
  member.method = file.number(at + 10, 2);
  member.checksum = file.number(at + 16, 4);
  member.packed = file.number(at + 20, 4);
  member.size = file.number(at + 24, 4);
  const std::uint64_t name_size = file.number(at + 28, 2), extra_size = file.number(at + 30, 2);
  const std::uint64_t comment_size = file.number(at + 32, 2);
  member.header = file.number(at + 42, 4);
  member.name = file.part(at + kDirectorySize, name_size);
  read_zip64(member, file.part(at + kDirectorySize + name_size, extra_size), name);
  member.entry_size = kDirectorySize + name_size + extra_size + comment_size;
  return member;
}

// The end record lies last, before a comment of any length.
std::uint64_t find_end(std::string_view bytes, const std::string& name) {
  if (bytes.size() >= kEndSize) {
    const std::size_t least =
        bytes.size() - kEndSize - std::min(bytes.size() - kEndSize, kMostComment);
    const std::size_t at = bytes.rfind(kEndMark, bytes.size() - kEndSize);
    if (at != std::string_view::npos && at >= least) return at;
  }
  throw InputError(name + ": no zip archive, or one that was cut short: its end is missing");
}

std::string inflated(std::string_view packed, std::uint64_t size, const std::string& name) {
  std::string text(size + 1, '\0');  // one more, to see where there is more than it says
  z_stream stream{};
  constexpr int kRaw = -MAX_WBITS;  // without zlib's own header
  if (inflateInit2(&stream, kRaw) != Z_OK) throw WorkError(name + ": zlib has no memory");
  std::size_t taken = 0, made = 0;
  int status = Z_OK;
  while (status == Z_OK) {  // in steps: zlib counts in 32 bits
    constexpr std::size_t kStep = std::size_t{1} << 30;
    const std::size_t in = std::min(kStep, packed.size() - taken);
    const std::size_t out = std::min(kStep, text.size() - made);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + made);
    stream.avail_out = static_cast<uInt>(out);
    status = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += out - stream.avail_out;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || made != size) {
    throw InputError(name + ": damaged: does not unpack to the " + std::to_string(size) +
                     " bytes that it says");
  }
  text.resize(size);
  return text;
}

std::string unpacked(const Bytes& file, const Member& member, const std::string& name) {
  if ((member.flags & kEncrypted) != 0) throw InputError(name + ": encrypted");
  if (file.part(member.header, kHeaderSize).substr(0, 4) != kMark) {
    throw InputError(name + ": damaged: expected its header at byte " +
                     std::to_string(member.header));
  }
  const std::uint64_t begin = member.header + kHeaderSize + file.number(member.header + 26, 2) +
                              file.number(member.header + 28, 2);
  const std::string_view packed = file.part(begin, member.packed);
  std::string bytes;
  if (member.method == kStored && member.packed == member.size) {
    bytes = packed;
  } else if (member.method == kDeflated && member.size / kMostExpansion <= packed.size()) {
    bytes = inflated(packed, member.size, name);
  } else {
    throw InputError(name + ": expected a stored or deflated member, found method " +
                     std::to_string(member.method) + " of " + std::to_string(member.packed) +
                     " bytes for " + std::to_string(member.size));
  }
  const auto* first = reinterpret_cast<const Bytef*>(bytes.data());
  if (crc32_z(0, bytes.empty() ? nullptr : first, bytes.size()) != member.checksum) {
    throw InputError(name + ": damaged: its checksum is wrong");
  }
  return bytes;
}

}  // namespace

std::map<std::string, std::string> parse_zip(const std::string& bytes, const std::string& name,
                                             std::size_t most_bytes) {
  const Bytes file(bytes, name);
  const std::uint64_t end = find_end(bytes, name);
  const std::uint64_t count = file.number(end + 10, 2);
  std::uint64_t at = file.number(end + 16, 4);
  std::uint64_t all = 0;
  std::map<std::string, std::string> members;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Member member = read_entry(file, at, name);
    at += member.entry_size;
    if (member.name.ends_with('/')) continue;  // a folder
    const std::string label = name + ": " + member.name;
    if (member.size > most_bytes - all) {
      throw InputError(label + ": the archive unpacks to more than " + std::to_string(most_bytes) +
                       " bytes");
    }
    all += member.size;
    if (!members.emplace(member.name, unpacked(file, member, label)).second) {
      throw InputError(label + ": there twice");
    }
  }
  return members;
}

std::map<std::string, std::string> read_zip(const std::filesystem::path& path,
                                            std::size_t most_bytes) {
  return parse_zip(read_file(path), path.string(), most_bytes);
}

}  // namespace attnscope
