#include "app/window/utf8.h"

#include <gtest/gtest.h>

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

using Offsets = std::vector<std::size_t>;
using Step = decltype(&next_character);

Offsets starts(std::string_view text, Step next) {
  Offsets found;
  for (std::size_t offset = 0; offset < text.size(); offset = next(text, offset))
    found.push_back(offset);
  return found;
}

Offsets starts_backward(std::string_view text, Step previous) {
  Offsets found;
  for (std::size_t offset = text.size(); offset > 0;)
    found.insert(found.begin(), offset = previous(text, offset));
  return found;
}

TEST(Utf8, StepsOverWholeCharacters) {
  const std::string text = "aé中😀";
  EXPECT_EQ(starts(text, next_character), (Offsets{0, 1, 3, 6}));
  EXPECT_EQ(code_point_at(text, 6).value, U'😀');
}

TEST(Utf8, StepsBackwardOverSameCharacters) {
  const std::string text = "aé\xFF中\xE4\xB8😀z";
  EXPECT_EQ(starts_backward(text, previous_character), starts(text, next_character));
}

TEST(Utf8, StepsOverClusters) {
  const std::string text = "ae\u0301👩‍🚀z\xFF\n中";
  const Offsets expected = {0, 1, 4, 15, 16, 17, 18};
  EXPECT_EQ(starts(text, next_cluster), expected);
  EXPECT_EQ(starts_backward(text, previous_cluster), expected);
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
