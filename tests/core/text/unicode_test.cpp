#include "core/text/unicode.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Unicode, DecodesCharacters) {
  EXPECT_EQ(character_at("a", 0).code, 'a');
  EXPECT_EQ(character_at("xé", 1).code, 0xe9);
  EXPECT_EQ(character_at("xé", 1).size, 2u);
  EXPECT_EQ(character_at("😀", 0).code, 0x1f600);
  EXPECT_EQ(character_at("😀", 0).size, 4u);
}

TEST(Unicode, DecodesInvalidBytesOneByOne) {
  for (const char* text : {"\xff", "\xc3", "\xe4\xb8", "\xc0\x80", "\xed\xa0\x80", "\x80",
                           "\xf4\x90\x80\x80", "\xc3(", "\xf0\x9f\x98"}) {
    EXPECT_EQ(character_at(text, 0).code, -1) << text;
    EXPECT_EQ(character_at(text, 0).size, 1u) << text;
  }
}

TEST(Unicode, ClassifiesCharacters) {
  for (const int c : std::initializer_list<int>{'a', 'Z', 0xe9, 0x4e2d, 0x2b0})
    EXPECT_EQ(class_of(c), CharacterClass::Letter);
  for (const int c : std::initializer_list<int>{'0', 0xbd, 0x2167})
    EXPECT_EQ(class_of(c), CharacterClass::Number);
  for (const int c : std::initializer_list<int>{' ', '\n', 0xb, 0x85, 0xa0, 0x2003, 0x3000}) {
    EXPECT_EQ(class_of(c), CharacterClass::Space);
  }
  for (const int c : std::initializer_list<int>{'!', '_', 0x301, 0x200b, 0, -1, 0x1f600}) {
    EXPECT_EQ(class_of(c), CharacterClass::Other);
  }
  for (const int c : std::initializer_list<int>{0, 0x1b, 0x7f, 0x200b, 0x2028, 0xe000})
    EXPECT_TRUE(is_control(c));
  for (const int c : std::initializer_list<int>{' ', 'a', 0xa0, 0x301}) EXPECT_FALSE(is_control(c));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
