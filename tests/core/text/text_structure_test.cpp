#include "core/text/text_structure.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/random.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using Numbers = std::vector<Index>;

// Structure of a text with one token per byte, so that token indices equal byte positions.
TextStructure structure_of_letters(const std::string& text) {
  std::vector<std::string> tokens;
  for (const char c : text) tokens.emplace_back(1, c);
  return text_structure(tokens);
}

TEST(TextStructure, EndsSentencesAtStopsBeforeSpaces) {
  const TextStructure structure =
      text_structure({"It", " rained", ".", " We", " stayed", "!", " 3", ".5", " l"});
  EXPECT_EQ(structure.sentence, (Numbers{0, 0, 0, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(structure.sentences(), 3);
}

TEST(TextStructure, IncludesClosingMarksInSentence) {
  const TextStructure structure =
      text_structure({"“", "Go", "!", "”", " He", " went", "...", " Far"});
  EXPECT_EQ(structure.sentence, (Numbers{0, 0, 0, 0, 1, 1, 1, 2}));
}

TEST(TextStructure, IgnoresStopsOfTitlesAndInitials) {
  EXPECT_EQ(text_structure({"Mr", ".", " Dog", " met", " J", ".", " Cat", ".", " I"}).sentences(),
            2);
}

TEST(TextStructure, EndsSentencesAtEmptyLinesAndWideStops) {
  EXPECT_EQ(text_structure({"Title", "\n\n", "Text"}).sentences(), 2);
  EXPECT_EQ(text_structure({"好。", "好"}).sentence, (Numbers{0, 1}));
}

TEST(TextStructure, AssignsTokensWithoutTextToPreviousSentence) {
  EXPECT_EQ(text_structure({"", "A b.", "", " C"}).sentence, (Numbers{0, 0, 0, 1}));
  EXPECT_EQ(text_structure({}).sentences(), 0);
}

TEST(TextStructure, FindsEnclosingBrackets) {
  const TextStructure structure = structure_of_letters("a(b[c]d)e");
  EXPECT_EQ(structure.enclosing, (Numbers{-1, -1, 1, 1, 3, 3, 1, 1, -1}));
  ASSERT_EQ(structure.brackets.size(), 2u);
  EXPECT_EQ(structure.brackets[0], std::pair(Index{1}, Index{7}));
  EXPECT_EQ(structure.brackets[1], std::pair(Index{3}, Index{5}));
}

TEST(TextStructure, MatchesQuotationMarks) {
  EXPECT_EQ(structure_of_letters("\"a\"b").enclosing, (Numbers{-1, 0, 0, -1}));
  EXPECT_EQ(text_structure({"“", "a", "”", "b"}).enclosing, (Numbers{-1, 0, 0, -1}));
}

TEST(TextStructure, IgnoresUnmatchedBrackets) {
  EXPECT_TRUE(structure_of_letters("a)b(c").brackets.empty());
  EXPECT_EQ(structure_of_letters("([)").enclosing, (Numbers{-1, 0, 0}));
}

TEST(TextStructure, SurvivesInvalidBytes) {
  for (int first = 0; first < 256; ++first) {
    const std::string odd(1, static_cast<char>(first));
    const TextStructure structure = text_structure({odd, "(" + odd, odd + ")", odd});
    EXPECT_EQ(structure.tokens(), 4);
    for (const Index within : structure.enclosing) EXPECT_LT(within, 4);
  }
}

// Reference implementation: a linear search in a stack of unclosed opening characters.
TEST(TextStructure, MatchesBracketsLikeStack) {
  const std::string letters = "()[]{}\"a";
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    std::string text;
    for (int n = 0; n < 40; ++n) text += letters[random.bits() % letters.size()];
    const auto closer = [](char c) {
      return c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : c == '"' ? '"' : ' ';
    };
    std::vector<Index> open;
    std::vector<std::pair<Index, Index>> expected;
    for (Index n = 0; n < static_cast<Index>(text.size()); ++n) {
      const char c = text[static_cast<std::size_t>(n)];
      auto at = static_cast<Index>(open.size()) - 1;
      const auto opened = [&](Index i) {
        return text[static_cast<std::size_t>(open[static_cast<std::size_t>(i)])];
      };
      while (at >= 0 && closer(opened(at)) != c) --at;
      if (at >= 0) {
        expected.emplace_back(open[static_cast<std::size_t>(at)], n);
        open.resize(static_cast<std::size_t>(at));
      } else if (closer(c) != ' ') {
        open.push_back(n);
      }
    }
    std::ranges::sort(expected);
    EXPECT_EQ(structure_of_letters(text).brackets, expected) << text;
  }
}

TEST(TextStructure, RecognisesOnlySingleCapitalsAndTitlesAsAbbreviations) {
  const auto sentences = [](const std::string& word) {
    return text_structure({word, ".", " Next", " one"}).sentences();
  };
  for (const char* word : {"A", "Z", "Mr", "etc", " J", "(Q", "\u00e9Z"}) {
    EXPECT_EQ(sentences(word), 1) << word;
  }
  for (const char* word :
       {"a", "z", "I", "azB", "xzA", "ZB", "AB", "mr", "ABMr", "Mrz", "3", "dog"}) {
    EXPECT_EQ(sentences(word), 2) << word;
  }
}

TEST(TextStructure, AssignsTokenToSentenceOfItsFirstCharacter) {
  const TextStructure structure = text_structure({"Go. Yes.", " No", ". Do", "!) So", " on"});
  EXPECT_EQ(structure.sentence, (Numbers{0, 2, 2, 3, 4}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
