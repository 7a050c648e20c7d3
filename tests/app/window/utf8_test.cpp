#include "app/window/utf8.h"

#include <gtest/gtest.h>

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

TEST(Utf8, StepsOverWholeCharacters) {
  const std::string text = "aé中😀";
  std::vector<std::size_t> starts;
  for (std::size_t offset = 0; offset < text.size(); offset = next_character(text, offset))
    starts.push_back(offset);
  EXPECT_EQ(starts, (std::vector<std::size_t>{0, 1, 3, 6}));
  EXPECT_EQ(code_point_at(text, 6).value, U'😀');
}

TEST(Utf8, StepsBackwardOverSameCharacters) {
  const std::string text = "aé\xFF中\xE4\xB8😀z";
  std::vector<std::size_t> forward, back;
  for (std::size_t offset = 0; offset < text.size(); offset = next_character(text, offset))
    forward.push_back(offset);
  for (std::size_t offset = text.size(); offset > 0;) {
    offset = previous_character(text, offset);
    back.insert(back.begin(), offset);
  }
  EXPECT_EQ(forward, back);
}

TEST(Utf8, StepsOverClusters) {
  const std::string text = "ae\u0301👩‍🚀z\xFF\n中";
  const std::vector<std::size_t> expected = {0, 1, 4, 15, 16, 17, 18};
  std::vector<std::size_t> forward, back;
  for (std::size_t offset = 0; offset < text.size(); offset = next_cluster(text, offset))
    forward.push_back(offset);
  for (std::size_t offset = text.size(); offset > 0;) {
    offset = previous_cluster(text, offset);
    back.insert(back.begin(), offset);
  }
  EXPECT_EQ(forward, expected);
  EXPECT_EQ(back, expected);
}

TEST(Utf8, InvalidBytesAreSeparateCharacters) {
  const std::string text = "\xE4\xB8";  // incomplete character
  EXPECT_EQ(code_point_at(text, 0).value, U'\xFFFD');
  EXPECT_EQ(code_point_at(text, 0).bytes, 1U);
  EXPECT_EQ(next_character(text, 0), 1U);
}

TEST(Utf8, RoundTripsCodePoints) {
  for (const char32_t c : {U'a', U'é', U'中', U'😀'}) {
    EXPECT_EQ(code_point_at(to_utf8(c), 0).value, c);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
