#include "core/base/base64.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Examples of RFC 4648, section 10.
TEST(Base64, MatchesStandard) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foo"), "Zm9v");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(to_base64(std::string("\0\xff\x80", 3)), "AP+A");
}

TEST(Base64, RestoresAllBytes) {
  std::string bytes;
  for (int length = 0; length < 300; ++length) {
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
    bytes += static_cast<char>(length * 37);
  }
}

TEST(Base64, RejectsInvalidText) {
  for (const char* text :
       {"Zg", "Zg=", "Zg===", "Z===", "====", "Zg= ", "Zm9v\n", "Zh==", "Zm-v"}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
