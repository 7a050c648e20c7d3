#include "core/text/utf8_stream.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace ATTNSCOPE_FILE {

const std::string kReplacement = "\xEF\xBF\xBD";

TEST(Utf8Stream, BuffersIncompleteCharacters) {
  Utf8Stream stream;
  EXPECT_EQ(stream.push("a\xE2"), "a");
  EXPECT_EQ(stream.push("\x82"), "");
  EXPECT_EQ(stream.push("\xAC!"), "€!");
  EXPECT_EQ(stream.push("\xF0\x9F\x99"), "");
  EXPECT_EQ(stream.push("\x82"), "🙂");
  EXPECT_EQ(stream.finish(), "");
}

TEST(Utf8Stream, ReplacesInvalidBytes) {
  Utf8Stream stream;
  EXPECT_EQ(stream.push("\xFFz\x80"), kReplacement + "z" + kReplacement);
  EXPECT_EQ(stream.push("\xC3("), kReplacement + "(");
  EXPECT_EQ(stream.push("\xE0\x80"), kReplacement + kReplacement);  // overlong
  EXPECT_EQ(stream.push("\xED\xA0"), kReplacement + kReplacement);  // a surrogate
  EXPECT_EQ(stream.push("\xF4\x90"), kReplacement + kReplacement);  // above U+10FFFF
  EXPECT_EQ(stream.push("\xE2\x82"), "");
  EXPECT_EQ(stream.finish(), kReplacement + kReplacement);
  EXPECT_EQ(stream.finish(), "");
}

TEST(Utf8Stream, IsIndependentOfChunkBoundaries) {
  const std::string text = "aé€🙂\xFF…ß";
  const std::string expected = "aé€🙂" + kReplacement + "…ß";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    Utf8Stream stream;
    std::string joined;
    for (std::size_t at = 0; at < text.size(); at += size) {
      joined += stream.push(text.substr(at, size));
    }
    EXPECT_EQ(joined + stream.finish(), expected) << size;
  }
}

// Pushes the first or last characters of every encoded length byte by byte, and invalid lead bytes.
TEST(Utf8Stream, KnowsCharacterLengths) {
  for (const std::string character :
       {"\x7f", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    Utf8Stream stream;
    for (std::size_t n = 0; n + 1 < character.size(); ++n) {
      EXPECT_EQ(stream.push(character.substr(n, 1)), "") << character << " byte " << n;
    }
    EXPECT_EQ(stream.push(character.substr(character.size() - 1)), character);
  }
  for (const std::string none : {"\x80", "\xBF", "\xC1", "\xF5", "\xFF"}) {
    Utf8Stream stream;
    EXPECT_EQ(stream.push(none), kReplacement);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
