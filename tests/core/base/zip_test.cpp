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
  bool deflate = true;
  bool is_zip64 = false;            // sizes in the zip64 field
  std::uint64_t declared_size = 0;  // if not 0: instead of the true size
};

// An archive according to the format specification.
std::string zip(const std::vector<Member>& members) {
  std::string file, directory;
  for (const Member& m : members) {
    const std::string packed = m.deflate ? raw_deflate(m.bytes) : m.bytes;
    const std::uint64_t size = m.declared_size != 0 ? m.declared_size : m.bytes.size();
    const auto sum =
        crc32(0, reinterpret_cast<const Bytef*>(m.bytes.data()), static_cast<uInt>(m.bytes.size()));
    const std::uint64_t size_field = m.is_zip64 ? 0xffffffff : size;
    const std::uint64_t packed_size_field = m.is_zip64 ? 0xffffffff : packed.size();
    const std::string extra = m.is_zip64
                                  ? little_endian(1, 2) + little_endian(16, 2) +
                                        little_endian(size, 8) + little_endian(packed.size(), 8)
                                  : "";
    const std::string common = little_endian(20, 2) + little_endian(0, 2) +
                               little_endian(m.deflate ? 8 : 0, 2) + little_endian(0, 4) +
                               little_endian(sum, 4) + little_endian(packed_size_field, 4) +
                               little_endian(size_field, 4) + little_endian(m.name.size(), 2) +
                               little_endian(extra.size(), 2);
    directory += "PK\1\2" + little_endian(20, 2) + common + little_endian(0, 2) +
                 little_endian(0, 2) + little_endian(0, 2) + little_endian(0, 4) +
                 little_endian(file.size(), 4) + m.name + extra;
    file += "PK\3\4" + common + m.name + extra + packed;
  }
  const std::size_t directory_offset = file.size();
  return file + directory + "PK\5\6" + little_endian(0, 4) + little_endian(members.size(), 2) +
         little_endian(members.size(), 2) + little_endian(directory.size(), 4) +
         little_endian(directory_offset, 4) + little_endian(0, 2);
}

std::string refusal(const std::string& bytes, std::size_t max_bytes = 1 << 20) {
  try {
    parse_zip(bytes, "a.npz", max_bytes);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Zip, ReadsStoredAndDeflatedMembers) {
  const std::string many(100000, 'x');
  const auto members = parse_zip(zip({{"a.npy", "hello"},
                                      {"b.npy", "plain", false},
                                      {"empty", ""},
                                      {"folder/", "", false},
                                      {"many", many},
                                      {"wide", "zip64", true, true}}),
                                 "a.npz", 1 << 20);
  ASSERT_EQ(members.size(), 5u);
  EXPECT_EQ(members.at("a.npy"), "hello");
  EXPECT_EQ(members.at("b.npy"), "plain");
  EXPECT_EQ(members.at("empty"), "");
  EXPECT_EQ(members.at("many"), many);
  EXPECT_EQ(members.at("wide"), "zip64");
}

TEST(Zip, ReportsInvalidArchives) {
  EXPECT_NE(refusal("").find("not a zip archive"), std::string::npos);
  EXPECT_NE(refusal("PK\5\6").find("not a zip archive"), std::string::npos);
  EXPECT_NE(refusal(zip({{"a", "1"}, {"a", "2"}})).find("a: duplicate member"), std::string::npos);
  EXPECT_NE(refusal(zip({{"a", std::string(5000, 'x')}}), 4096).find("more than 4096"),
            std::string::npos);
  EXPECT_NE(refusal(zip({{"a", "hello", true, false, 4}})).find("unpacked bytes"),
            std::string::npos);
  EXPECT_NE(refusal(zip({{"a", "hello", true, false, 6}})).find("unpacked bytes"),
            std::string::npos);
  // A zip bomb: declares far more than deflate can produce.
  EXPECT_NE(refusal(zip({{"a", "hello", true, false, 1 << 19}})).find("expected a stored"),
            std::string::npos);
}

TEST(Zip, SurvivesDamage) {
  const std::string whole = zip({{"a.npy", "some bytes to pack, some bytes"}, {"b", "x", false}});
  const auto good = parse_zip(whole, "a.npz", 1 << 20);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    EXPECT_NE(refusal(whole.substr(0, at)), "") << at;
    for (const int flip : {1, 0x80, 0xff}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      try {
        for (const auto& [name, bytes] : parse_zip(damaged, "a.npz", 1 << 20)) {
          const bool is_original = bytes == good.at("a.npy") || bytes == good.at("b");
          EXPECT_TRUE(is_original) << at;
        }
      } catch (const InputError&) {
      }
    }
  }
}

TEST(Zip, SkipsUnselectedMembers) {
  const std::string large(1 << 20, 'x');
  const std::string bytes = zip({{"a", large}, {"b", "short"}});
  std::map<std::string, std::size_t> begin_sizes;
  const auto filter = [&](const std::string& member, std::string_view begin, std::size_t size) {
    EXPECT_EQ(size, member == "a" ? large.size() : 5u);
    begin_sizes[member] = begin.size();
    return member == "b";
  };
  // Skipped members do not count towards the limit.
  const auto members = parse_zip(bytes, "x.zip", 1000000 + large.size(), filter);
  ASSERT_EQ(members.size(), 1u);
  EXPECT_EQ(members.at("b"), "short");
  EXPECT_LT(begin_sizes.at("a"), large.size() / 2);
  EXPECT_EQ(begin_sizes.at("b"), 5u);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
