#include "core/text/splitting.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace attnscope {
namespace {

std::vector<std::string> pieces(std::string_view text) {
  std::vector<std::string> all;
  split_as_gpt2(text, [&](std::string_view piece) { all.emplace_back(piece); });
  return all;
}

using Pieces = std::vector<std::string>;

// As the expression gives them; worked out by hand from its alternatives.
TEST(Splitting, FollowsTheExpression) {
  EXPECT_EQ(pieces(""), Pieces{});
  EXPECT_EQ(pieces("Hello world"), (Pieces{"Hello", " world"}));
  EXPECT_EQ(pieces("it's they'll WE'LL"), (Pieces{"it", "'s", " they", "'ll", " WE", "'", "LL"}));
  EXPECT_EQ(pieces("a  b   c"), (Pieces{"a", " ", " b", "  ", " c"}));
  EXPECT_EQ(pieces("a\n\nb\nc"), (Pieces{"a", "\n", "\n", "b", "\n", "c"}));
  EXPECT_EQ(pieces("a \n b  "), (Pieces{"a", " \n", " b", "  "}));
  EXPECT_EQ(pieces("x=12.5!!  "), (Pieces{"x", "=", "12", ".", "5", "!!", "  "}));
  EXPECT_EQ(pieces(" \tq"), (Pieces{" ", "\t", "q"}));
  EXPECT_EQ(pieces("'squote"), (Pieces{"'s", "quote"}));
  EXPECT_EQ(pieces(" 's"), (Pieces{" '", "s"}));
  EXPECT_EQ(pieces("  "), (Pieces{"  "}));
}

TEST(Splitting, KnowsUnicode) {
  EXPECT_EQ(pieces("größer ½²x 中文。"), (Pieces{"größer", " ½²", "x", " 中文", "。"}));
  // A no-break space is white space, but not the one that a word takes along.
  EXPECT_EQ(pieces("a\u00a0b"), (Pieces{"a", "\u00a0", "b"}));
  EXPECT_EQ(pieces("a\u3000\u3000b"), (Pieces{"a", "\u3000", "\u3000", "b"}));
  EXPECT_EQ(pieces("e\u0301"), (Pieces{"e", "\u0301"}));  // a combining mark is no letter
  EXPECT_EQ(pieces("a\xff\xfe!b"), (Pieces{"a", "\xff\xfe!", "b"}));
}

// Worked out as above; the same as `tokenizers` gives.
TEST(Splitting, FollowsTheExpressionOfLlama3) {
  const auto of = [](std::string_view text, std::size_t digits = 3) {
    Pieces all;
    split_as_llama3(text, digits, [&](std::string_view piece) { all.emplace_back(piece); });
    return all;
  };
  EXPECT_EQ(of("Hello world"), (Pieces{"Hello", " world"}));
  EXPECT_EQ(of("it's WE'LL"), (Pieces{"it", "'s", " WE", "'LL"}));
  EXPECT_EQ(of("12345 6"), (Pieces{"123", "45", " ", "6"}));
  EXPECT_EQ(of("123", 1), (Pieces{"1", "2", "3"}));
  EXPECT_EQ(of("a\n\n b \n\nc"), (Pieces{"a", "\n\n", " b", " \n\n", "c"}));
  EXPECT_EQ(of("x+=1;\n\ty  z"), (Pieces{"x", "+=", "1", ";\n", "\ty", " ", " z"}));
  EXPECT_EQ(of("(hello) ...!"), (Pieces{"(hello", ")", " ...!"}));
  EXPECT_EQ(of("a\n  "), (Pieces{"a", "\n", "  "}));
}

TEST(Splitting, TakesNumbersApart) {
  Pieces all;
  split_numbers("a12 b½", [&](std::string_view piece) { all.emplace_back(piece); });
  EXPECT_EQ(all, (Pieces{"a", "1", "2", " b", "½"}));
}

TEST(Splitting, CoversAnyBytes) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (auto n = random() % 40; n > 0; --n) {
      text += random() % 3 ? " '\nas1\xc3\xa9.\xe2\x80\x83"[random() % 13]
                           : static_cast<char>(random());
    }
    std::string joined;
    for (const std::string& piece : pieces(text)) {
      EXPECT_FALSE(piece.empty());
      joined += piece;
    }
    EXPECT_EQ(joined, text);
  }
}

}  // namespace
}  // namespace attnscope
