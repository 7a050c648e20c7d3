#include "core/text/words.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Tokens with "|" between words and "+" between tokens of a word.
std::string words(const std::vector<std::string>& tokens) {
  std::vector<WordPiece> pieces;
  for (const std::string& token : tokens) pieces.push_back({token, token == "<s>"});
  const std::vector<bool> begins = begins_word(pieces);
  std::string text;
  for (std::size_t n = 0; n < tokens.size(); ++n) {
    if (n > 0) text += begins[n] ? "|" : "+";
    text += tokens[n];
  }
  return text;
}

TEST(Words, ContinueUntilSpace) {
  EXPECT_EQ(words({"The", " sa", "il", "or", " sings"}), "The| sa+il+or| sings");
  EXPECT_EQ(words({"GPT", "2", " my", "_", "var"}), "GPT+2| my+_+var");
}

TEST(Words, SpaceTokenBelongsToNextWord) {
  EXPECT_EQ(words({" ", "sail", "or", " ", "x"}), " +sail+or| +x");
  EXPECT_EQ(words({"a", " ", " ", " ", "b"}), "a| | | +b");
  EXPECT_EQ(words({"a", " ", "(", "b"}), "a| +(|b");
}

TEST(Words, TrailingSpaceEndsWord) {
  EXPECT_EQ(words({"low", "er ", "case ", ", ", "x "}), "low+er |case |, |x ");
}

TEST(Words, SeparatePunctuationAndLineEnds) {
  EXPECT_EQ(words({"well", "-", "known", ",", " he", "!", "!", "\n", "\n", "The", "\t", "x"}),
            "well|-|known|,| he|!|!|\n|\n|The|\t|x");
  EXPECT_EQ(words({"\r", "\n", "a"}), "\r+\n|a");  // one grapheme cluster
}

TEST(Words, IncludeMarksInWordsAndNumbers) {
  EXPECT_EQ(words({"don", "'t"}), "don+'t");
  EXPECT_EQ(words({"keep", "er", "'", "s"}), "keep+er+'+s");
  EXPECT_EQ(words({"l", "’", "eau"}), "l+’+eau");
  EXPECT_EQ(words({"the", " sailors", "'", " boat"}), "the| sailors|'| boat");
  EXPECT_EQ(words({" '", "tis"}), " '|tis");
  EXPECT_EQ(words({"3", ".", "14", ",", " 15", "."}), "3+.+14|,| 15|.");
  EXPECT_EQ(words({"end", ".", "The"}), "end|.|The");
}

TEST(Words, KeepBytesOfCharacterTogether) {
  EXPECT_EQ(words({"Z", "\xC3", "\xBC", "rich"}), "Z+\xC3+\xBC+rich");
  EXPECT_EQ(words({" ", "\xE2", "\x82", "\xAC", "5"}), " +\xE2+\x82+\xAC|5");
  EXPECT_EQ(words({"e", "\xCC\x81", "t"}), "e+\xCC\x81+t");  // a combining accent
  EXPECT_EQ(words({"\xF0\x9F\x91", "\xA9", "\xE2\x80\x8D", "\xF0\x9F\x92\xBB", "!"}),
            "\xF0\x9F\x91+\xA9+\xE2\x80\x8D+\xF0\x9F\x92\xBB|!");  // a joined emoji
  EXPECT_EQ(words({"a", "\xFF", "\xFE", "b"}), "a|\xFF|\xFE|b");   // invalid bytes
}

TEST(Words, SeparateTokensOfUnspacedScripts) {
  EXPECT_EQ(words({"我们", "在", "船", "上"}), "我们|在|船|上");
  EXPECT_EQ(words({"\xE6\x88", "\x91", "在"}), "\xE6\x88+\x91|在");
}

TEST(Words, SeparateSpecialTokens) {
  EXPECT_EQ(words({"<s>", "Th", "e", "<s>", "n"}), "<s>|Th+e|<s>|n");
  EXPECT_EQ(words({"", "a", "", "b"}), "|a||b");
  EXPECT_EQ(words({}), "");
}

// Tests characters of unspaced scripts at the ends of their ranges, and characters of other
// scripts.
TEST(Words, SeparateOnlyCharactersOfUnspacedScripts) {
  for (const char* unspaced : {"\u0e01", "\u0ede", "\u1000", "\u1780", "\u3041", "\u30ff", "\u3400",
                               "\u9fff", "\uf900", "\uff66", "\uff9d", "\U00020000"}) {
    const std::string c = unspaced;
    EXPECT_EQ(words({c, c}), c + "|" + c);
  }
  for (const char* spaced :
       {"\u0f40", "\u10a0", "\u1820", "\u3105", "\ua000", "\uff21", "\uffa1"}) {
    const std::string c = spaced;
    EXPECT_EQ(words({c, c}), c + "+" + c);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
