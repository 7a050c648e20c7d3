#include <gtest/gtest.h>

#include "core/text/tokenizer.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Visible, ShowsInvisibleCharacters) {
  EXPECT_EQ(visible("the"), "the");
  EXPECT_EQ(visible(" the"), "␣the");
  EXPECT_EQ(visible("  a b "), "␣␣a b␣");
  EXPECT_EQ(visible("   "), "␣␣␣");
  EXPECT_EQ(visible("\n"), "⏎");
  EXPECT_EQ(visible("\t\r\n"), "⇥0x0D⏎");
  EXPECT_EQ(visible("\x07"), "0x07");
  EXPECT_EQ(visible(std::string_view("\0", 1)), "0x00");
  EXPECT_EQ(visible("\x7f"), "0x7F");
  EXPECT_EQ(visible("\xe4"), "0xE4");
  EXPECT_EQ(visible("\xe4\xb8"), "0xE4 0xB8");
  EXPECT_EQ(visible("中é"), "中é");
  EXPECT_EQ(visible("a\u200bb"), "aU+200Bb");
  EXPECT_EQ(visible("\xed\xa0\x80"), "0xED 0xA0 0x80");  // a surrogate
  EXPECT_EQ(visible(""), "∅");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
