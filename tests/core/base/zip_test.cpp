#include "core/base/zip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "core/base/error.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

std::string deflated(const std::string& bytes) {
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
  bool wide = false;         // sizes in the zip64 field
  std::uint64_t claims = 0;  // declared size, if not the true one
};

// An archive according to the format specification.
std::string zip(const std::vector<Member>& members) {
  std::string file, directory;
  for (const Member& m : members) {
    const std::string packed = m.deflate ? deflated(m.bytes) : m.bytes;
    const std::uint64_t size = m.claims != 0 ? m.claims : m.bytes.size();
    const auto sum =
        crc32(0, reinterpret_cast<const Bytef*>(m.bytes.data()), static_cast<uInt>(m.bytes.size()));
    const std::uint64_t shown_size = m.wide ? 0xffffffff : size;
    const std::uint64_t shown_packed = m.wide ? 0xffffffff : packed.size();
    const std::string extra =
        m.wide ? number(1, 2) + number(16, 2) + number(size, 8) + number(packed.size(), 8) : "";
    const std::string common = number(20, 2) + number(0, 2) + number(m.deflate ? 8 : 0, 2) +
                               number(0, 4) + number(sum, 4) + number(shown_packed, 4) +
                               number(shown_size, 4) + number(m.name.size(), 2) +
                               number(extra.size(), 2);
    directory += "PK\1\2" + number(20, 2) + common + number(0, 2) + number(0, 2) + number(0, 2) +
                 number(0, 4) + number(file.size(), 4) + m.name + extra;
    file += "PK\3\4" + common + m.name + extra + packed;
  }
  const std::size_t at = file.size();
  return file + directory + "PK\5\6" + number(0, 4) + number(members.size(), 2) +
         number(members.size(), 2) + number(directory.size(), 4) + number(at, 4) + number(0, 2);
}

std::string refusal(const std::string& bytes, std::size_t most = 1 << 20) {
  try {
    parse_zip(bytes, "a.npz", most);
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
          const bool known = bytes == good.at("a.npy") || bytes == good.at("b");
          EXPECT_TRUE(known) << at;
        }
      } catch (const InputError&) {
      }
    }
  }
}

TEST(Zip, SkipsUnselectedMembers) {
  const std::string large(1 << 20, 'x');
  const std::string bytes = zip({{"a", large}, {"b", "short"}});
  std::map<std::string, std::size_t> begins;
  const auto wanted = [&](const std::string& member, std::string_view begin, std::size_t size) {
    EXPECT_EQ(size, member == "a" ? large.size() : 5u);
    begins[member] = begin.size();
    return member == "b";
  };
  // Skipped members do not count towards the limit.
  const auto members = parse_zip(bytes, "x.zip", 1000000 + large.size(), wanted);
  ASSERT_EQ(members.size(), 1u);
  EXPECT_EQ(members.at("b"), "short");
  EXPECT_LT(begins.at("a"), large.size() / 2);
  EXPECT_EQ(begins.at("b"), 5u);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
