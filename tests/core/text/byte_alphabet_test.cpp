#include "core/text/byte_alphabet.h"

#include <gtest/gtest.h>

#include <set>

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(ByteAlphabet, MatchesGpt2) {
  EXPECT_EQ(to_byte_alphabet(" the\n\t!~"), "ĠtheĊĉ!~");
  EXPECT_EQ(to_byte_alphabet(std::string_view("\0\x7f\xa0\xad\xff", 5)), "ĀġłŃÿ");
}

TEST(ByteAlphabet, RoundTrips) {
  std::set<std::string> all;
  for (int b = 0; b < 256; ++b) {
    const std::string byte(1, static_cast<char>(b)), text = to_byte_alphabet(byte);
    all.insert(text);
    EXPECT_EQ(from_byte_alphabet(text), byte);
  }
  EXPECT_EQ(all.size(), 256u);
  EXPECT_FALSE(from_byte_alphabet("a b"));
  EXPECT_FALSE(from_byte_alphabet("中"));
  EXPECT_FALSE(from_byte_alphabet("\xff"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
