#include "core/base/zip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "core/base/error.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

std::string raw_deflate(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(compressBound(bytes.size()) + 16, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

struct Member {
  std::string name, bytes;
  bool is_deflated = true;
  bool is_zip64 = false;            // sizes are in the zip64 field
  std::uint64_t declared_size = 0;  // replaces the true size if not 0
};

// Writes an archive according to the format specification.
std::string make_zip(const std::vector<Member>& members) {
  std::string file, directory;
  for (const Member& m : members) {
    const std::string packed = m.is_deflated ? raw_deflate(m.bytes) : m.bytes;
    const std::uint64_t size = m.declared_size != 0 ? m.declared_size : m.bytes.size();
    const auto checksum =
        crc32(0, reinterpret_cast<const Bytef*>(m.bytes.data()), static_cast<uInt>(m.bytes.size()));
    const std::uint64_t size_field = m.is_zip64 ? 0xffffffff : size;
    const std::uint64_t packed_size_field = m.is_zip64 ? 0xffffffff : packed.size();
    const std::string extra = m.is_zip64
                                  ? little_endian(1, 2) + little_endian(16, 2) +
                                        little_endian(size, 8) + little_endian(packed.size(), 8)
                                  : "";
    const std::string common_fields =
        little_endian(20, 2) + little_endian(0, 2) + little_endian(m.is_deflated ? 8 : 0, 2) +
        little_endian(0, 4) + little_endian(checksum, 4) + little_endian(packed_size_field, 4) +
        little_endian(size_field, 4) + little_endian(m.name.size(), 2) +
        little_endian(extra.size(), 2);
    directory += "PK\1\2" + little_endian(20, 2) + common_fields + little_endian(0, 2) +
                 little_endian(0, 2) + little_endian(0, 2) + little_endian(0, 4) +
                 little_endian(file.size(), 4) + m.name + extra;
    file += "PK\3\4" + common_fields + m.name + extra + packed;
  }
  const std::size_t directory_offset = file.size();
  return file + directory + "PK\5\6" + little_endian(0, 4) + little_endian(members.size(), 2) +
         little_endian(members.size(), 2) + little_endian(directory.size(), 4) +
         little_endian(directory_offset, 4) + little_endian(0, 2);
}

std::string error_message(const std::string& bytes, std::size_t max_bytes = 1 << 20) {
  try {
    parse_zip(bytes, "a.npz", max_bytes);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Zip, ReadsStoredAndDeflatedMembers) {
  const std::string long_text(100000, 'x');
  const auto members = parse_zip(make_zip({{"a.npy", "hello"},
                                           {"b.npy", "plain", false},
                                           {"empty", ""},
                                           {"folder/", "", false},
                                           {"many", long_text},
                                           {"wide", "zip64", true, true}}),
                                 "a.npz", 1 << 20);
  ASSERT_EQ(members.size(), 5u);
  EXPECT_EQ(members.at("a.npy"), "hello");
  EXPECT_EQ(members.at("b.npy"), "plain");
  EXPECT_EQ(members.at("empty"), "");
  EXPECT_EQ(members.at("many"), long_text);
  EXPECT_EQ(members.at("wide"), "zip64");
}

TEST(Zip, ReportsInvalidArchives) {
  EXPECT_NE(error_message("").find("not a zip archive"), std::string::npos);
  EXPECT_NE(error_message("PK\5\6").find("not a zip archive"), std::string::npos);
  EXPECT_NE(error_message(make_zip({{"a", "1"}, {"a", "2"}})).find("a: duplicate member"),
            std::string::npos);
  EXPECT_NE(error_message(make_zip({{"a", std::string(5000, 'x')}}), 4096).find("more than 4096"),
            std::string::npos);
  EXPECT_NE(error_message(make_zip({{"a", "hello", true, false, 4}})).find("unpacked bytes"),
            std::string::npos);
  EXPECT_NE(error_message(make_zip({{"a", "hello", true, false, 6}})).find("unpacked bytes"),
            std::string::npos);
  // A zip bomb declares more bytes than deflate can produce from its data.
  EXPECT_NE(
      error_message(make_zip({{"a", "hello", true, false, 1 << 19}})).find("expected a stored"),
      std::string::npos);
}

TEST(Zip, SurvivesDamage) {
  const std::string archive =
      make_zip({{"a.npy", "some bytes to pack, some bytes"}, {"b", "x", false}});
  const auto original_members = parse_zip(archive, "a.npz", 1 << 20);
  for (std::size_t offset = 0; offset < archive.size(); ++offset) {
    EXPECT_NE(error_message(archive.substr(0, offset)), "") << offset;
    for (const int flip : {1, 0x80, 0xff}) {
      std::string damaged = archive;
      damaged[offset] = static_cast<char>(damaged[offset] ^ flip);
      try {
        for (const auto& [name, bytes] : parse_zip(damaged, "a.npz", 1 << 20)) {
          const bool is_original =
              bytes == original_members.at("a.npy") || bytes == original_members.at("b");
          EXPECT_TRUE(is_original) << offset;
        }
      } catch (const InputError&) {
      }
    }
  }
}

TEST(Zip, SkipsUnselectedMembers) {
  const std::string large(1 << 20, 'x');
  const std::string bytes = make_zip({{"a", large}, {"b", "short"}});
  std::map<std::string, std::size_t> prefix_sizes;
  const auto filter = [&](const std::string& member, std::string_view prefix, std::size_t size) {
    EXPECT_EQ(size, member == "a" ? large.size() : 5u);
    prefix_sizes[member] = prefix.size();
    return member == "b";
  };
  const auto members = parse_zip(bytes, "x.zip", 1000000 + large.size(), filter);
  ASSERT_EQ(members.size(), 1u);
  EXPECT_EQ(members.at("b"), "short");
  EXPECT_LT(prefix_sizes.at("a"), large.size() / 2);
  EXPECT_EQ(prefix_sizes.at("b"), 5u);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
