#include <gtest/gtest.h>

#include "core/text/tokenizer.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(SpaceMarkers, AreRemovedFromWords) {
  EXPECT_EQ(without_space_markers("␣the"), "the");
  EXPECT_EQ(without_space_markers("low␣"), "low");
  EXPECT_EQ(without_space_markers("␣the␣old␣man"), "the old man");
  EXPECT_EQ(without_space_markers("“␣she” attends to “␣girl”"), "“she” attends to “girl”");
  EXPECT_EQ(without_space_markers("␣she ↛ ␣,"), "she ↛ ,");
}

TEST(SpaceMarkers, StayInLabelsOfSpaces) {
  EXPECT_EQ(without_space_markers("␣"), "␣");
  EXPECT_EQ(without_space_markers("“␣␣” attends to ␣"), "“␣␣” attends to ␣");
  EXPECT_EQ(without_space_markers("plain"), "plain");
  EXPECT_EQ(without_space_markers(""), "");
}

TEST(Visible, ShowsInvisibleCharacters) {
  EXPECT_EQ(visible("the"), "the");
  EXPECT_EQ(visible(" the"), "␣the");
  EXPECT_EQ(visible("  a b "), "␣␣a b␣");
  EXPECT_EQ(visible("   "), "␣␣␣");
  EXPECT_EQ(visible("\n"), "⏎");
  EXPECT_EQ(visible("\t\r\n"), "⇥0x0D⏎");
  EXPECT_EQ(visible("\xc2\xa0"), "U+00A0");  // no-break space
  EXPECT_EQ(visible(" \xe3\x80\x80"), "␣U+3000");
  EXPECT_EQ(visible("10\xc2\xa0km"), "10\xc2\xa0km");
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
