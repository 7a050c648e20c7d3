#include "core/text/expression.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/text/split/pieces.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using Found = std::vector<std::string>;

Found found(const std::string& pattern, std::string_view text) {
  Found all;
  Expression(pattern, "test").each(text, [&](std::size_t begin, std::size_t end) {
    all.emplace_back(text.substr(begin, end - begin));
  });
  return all;
}

Found gpt2(std::string_view text) {
  return found(kGpt2Expression, text);
}

// Expected pieces derived by hand from the alternatives of GPT-2's expression.
TEST(Expression, SplitsLikeGpt2) {
  EXPECT_EQ(gpt2(""), Found{});
  EXPECT_EQ(gpt2("Hello world"), (Found{"Hello", " world"}));
  EXPECT_EQ(gpt2("it's they'll WE'LL"), (Found{"it", "'s", " they", "'ll", " WE", "'", "LL"}));
  EXPECT_EQ(gpt2("a  b   c"), (Found{"a", " ", " b", "  ", " c"}));
  EXPECT_EQ(gpt2("a\n\nb\nc"), (Found{"a", "\n", "\n", "b", "\n", "c"}));
  EXPECT_EQ(gpt2("a \n b  "), (Found{"a", " \n", " b", "  "}));
  EXPECT_EQ(gpt2("x=12.5!!  "), (Found{"x", "=", "12", ".", "5", "!!", "  "}));
  EXPECT_EQ(gpt2("größer ½²x 中文。"), (Found{"größer", " ½²", "x", " 中文", "。"}));
  // A no-break space is white space, but not the space that a word includes.
  EXPECT_EQ(gpt2("a\u00a0b"), (Found{"a", "\u00a0", "b"}));
  EXPECT_EQ(gpt2("a\u0085b"), (Found{"a", "\u0085", "b"})) << "NEL is white space";
  EXPECT_EQ(gpt2("e\u0301"), (Found{"e", "\u0301"})) << "a combining mark is not a letter";
}

TEST(Expression, MatchesInvalidBytesAsControls) {
  EXPECT_EQ(gpt2("a\xff\xfe!b"), (Found{"a", "\xff\xfe!", "b"}));
  EXPECT_EQ(gpt2("\xe4\xb8"), (Found{"\xe4\xb8"}));
  EXPECT_EQ(found(".", "a\xff\u00e9"), (Found{"a", "\xff", "\u00e9"}));
}

// Syntax that differs from that of other libraries.
TEST(Expression, SupportsOnigurumaSyntax) {
  EXPECT_EQ(found("\\p{N}{1,3}+", "1234567"), (Found{"1234567"})) << "a repetition of a repetition";
  EXPECT_EQ(found("\\p{N}{1,3}", "1234567"), (Found{"123", "456", "7"}));
  EXPECT_EQ(found("(ab){2}+", "ababab ababab"), (Found{"abab", "abab"}));
  EXPECT_EQ(found("a{,2}b", "aaab"), (Found{"aab"}));
  EXPECT_EQ(found("\\p{L}++", "abc1d"), (Found{"abc", "d"}));
  EXPECT_EQ(found("[\\p{L}&&[^\\p{Han}]]+", "ab中c"), (Found{"ab", "c"}));
  EXPECT_EQ(found("[^(\\s|[.,])]+", "a (b.c) d|e"), (Found{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(found("[^\\W_]+", "a_b\u00e9 c"), (Found{"a", "b\u00e9", "c"}));
  EXPECT_EQ(found("\\h+", "xfF09g"), (Found{"fF09"})) << "hexadecimal digits";
  EXPECT_EQ(found("\\w+", "a\u0301b\u200c_9\u00b2"), (Found{"a\u0301b", "_9\u00b2"}));
  EXPECT_EQ(found("\\bb", "b ab b"), (Found{"b", "b"}));
  EXPECT_EQ(found("^a", "a\na"), (Found{"a", "a"})) << "lines";
  EXPECT_EQ(found("(?i:'S)", "'s 'S '\u017f"), (Found{"'s", "'S", "'\u017f"}));
  EXPECT_EQ(found("\\p{Han}", "中、"), (Found{"中"})) << "Script, not its extensions";
  EXPECT_EQ(found("[[:alpha:]]+|\\u00e4", "a1\u00e4"), (Found{"a", "\u00e4"}));
  EXPECT_EQ(found("[[:punct:]]", "a<,~b$"), (Found{"<", ",", "~", "$"})) << "with symbols";
  EXPECT_EQ(found("x*", "xxa"), (Found{"xx", ""}));
}

TEST(Expression, ReportsInvalidPatterns) {
  const auto refusal = [](const std::string& pattern) -> std::string {
    try {
      const Expression expression(pattern, "file: Split");
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_TRUE(refusal("(a").starts_with("file: Split: expression \"(a\": "));
  for (const char* pattern :
       {"[a", "a\\", "\\p{Klingon}", "(*ACCEPT)", "\\xe4", "[a&&", "(?<n", "+"}) {
    EXPECT_NE(refusal(pattern), "") << pattern;
  }
  EXPECT_NE(refusal(std::string(9000, 'a')).find("8192"), std::string::npos);
  EXPECT_NE(refusal(std::string(4000, '[')), "");
  EXPECT_NE(refusal(std::string(4000, '(')), "");
}

// Catastrophic backtracking is limited in steps and time.
TEST(Expression, LimitsMatchingTime) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(found("(a+)+$", std::string(4000, 'a') + "b"), InputError);
  EXPECT_THROW(found("(a|aa)+$", std::string(4000, 'a') + "b"), InputError);
  EXPECT_THROW(found("(?=(.*x))y|a", std::string(400000, 'a')), InputError);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

Found cut(SplitBehavior behavior, bool invert = false) {
  const std::string text = "a--b-c";
  Pieces pieces{AlignedText(text, 0), {{0, text.size()}}};
  expression_splitter(Expression("-", "test"), behavior, invert)->apply(pieces);
  Found all;
  for (std::size_t n = 0; n < pieces.spans.size(); ++n) all.emplace_back(pieces.at(n));
  return all;
}

TEST(Pieces, FollowSplitBehavior) {
  EXPECT_EQ(cut(SplitBehavior::Removed), (Found{"a", "b", "c"}));
  EXPECT_EQ(cut(SplitBehavior::Isolated), (Found{"a", "-", "-", "b", "-", "c"}));
  EXPECT_EQ(cut(SplitBehavior::MergedWithPrevious), (Found{"a-", "-", "b-", "c"}));
  EXPECT_EQ(cut(SplitBehavior::MergedWithNext), (Found{"a", "-", "-b", "-c"}));
  EXPECT_EQ(cut(SplitBehavior::Contiguous), (Found{"a", "--", "b", "-", "c"}));
  EXPECT_EQ(cut(SplitBehavior::Removed, true), (Found{"-", "-", "-"}));
}

// Every escape, alone, negated and in sets; nested and adjacent sets.
TEST(Expression, SupportsAllEscapes) {
  const std::string text = "aZ_09 \t\n-\u00e9\u0301\u4e2d";
  const auto all = [&](const char* pattern) {
    std::string joined;
    for (const std::string& one : found(pattern, text)) joined += one;
    return joined;
  };
  EXPECT_EQ(all("\\w"), "aZ_09\u00e9\u0301\u4e2d");
  EXPECT_EQ(all("\\W"), " \t\n-");
  EXPECT_EQ(all("\\s"), " \t\n");
  EXPECT_EQ(all("\\S"), "aZ_09-\u00e9\u0301\u4e2d");
  EXPECT_EQ(all("\\d"), "09");
  EXPECT_EQ(all("\\D"), "aZ_ \t\n-\u00e9\u0301\u4e2d");
  EXPECT_EQ(all("\\h"), "a09");
  EXPECT_EQ(all("\\H"), "Z_ \t\n-\u00e9\u0301\u4e2d");
  EXPECT_EQ(all("\\t|\\n"), "\t\n");
  EXPECT_EQ(all("\\p{Lu}"), "Z");
  EXPECT_EQ(all("\\P{L}"), "_09 \t\n-\u0301");
  EXPECT_EQ(all("\\p{^L}"), "_09 \t\n-\u0301");
  EXPECT_EQ(all("\\P{^L}"), "aZ\u00e9\u4e2d");
  EXPECT_EQ(all("\\p{Upper_case Letter}"), "Z") << "loose name matching";
  EXPECT_EQ(all("\\p{alnum}"), "aZ09\u00e9\u4e2d");
  EXPECT_EQ(all("\\P{alnum}"), "_ \t\n-\u0301");
  EXPECT_EQ(all("\\p{Han}|\\p{Latin}"), "aZ\u00e9\u4e2d");
  EXPECT_EQ(all("\\x61|\\x{5a}|\\u4e2d"), "aZ\u4e2d");
  EXPECT_EQ(all("\\x9"), "\t");
  EXPECT_EQ(all("\\-|\\_"), "_-");
  EXPECT_EQ(all("[\\W\\d]"), "09 \t\n-");
  EXPECT_EQ(all("[^\\W\\d]"), "aZ_\u00e9\u0301\u4e2d");
  EXPECT_EQ(all("[\\Ha]"), "aZ_ \t\n-\u00e9\u0301\u4e2d");
  EXPECT_EQ(all("[[:digit:][:space:]]"), "09 \t\n");
  EXPECT_EQ(all("[[:^digit:]&&[:^space:]]"), "aZ_-\u00e9\u0301\u4e2d");
  EXPECT_EQ(all("[^[:^digit:]]"), "09");
  EXPECT_EQ(all("[\\w&&[^\\d]&&[^_]]"), "aZ\u00e9\u0301\u4e2d");
  EXPECT_EQ(all("[^\\w&&[^\\d]]"), "09 \t\n-");
  EXPECT_EQ(all("[a[0-5]]"), "a0");
  EXPECT_EQ(all("[]a]"), "a");
  EXPECT_EQ(all("[a^]"), "a");
  EXPECT_EQ(all("[\\n-]"), "\n-");
  EXPECT_EQ(all("\\O"), text);
  EXPECT_EQ(found("\\Bb", "b ab"), (Found{"b"}));
  EXPECT_EQ(found("(a)\\1", "aab"), (Found{"aa"}));
  EXPECT_EQ(found("(?<n>a)b|(?:c)d|(?=e)e|(?!g)f|(?>h)", "abcdefgh"),
            (Found{"ab", "cd", "e", "f", "h"}));
  EXPECT_EQ(found("(?<=a)b|(?<!b)c", "abcxc"), (Found{"b", "c"}));
  EXPECT_EQ(found("(?i)A(?-i:B)", "aB ab"), (Found{"aB"}));
  EXPECT_EQ(found("a{2}|b{2,}|c{1,2}", "aaabbbccc"), (Found{"aa", "bbb", "cc", "c"}));
  EXPECT_EQ(found("a{,}|b{x}|c{", "a{,}b{x}c{"), (Found{"a{,}", "b{x}", "c{"})) << "not intervals";
  EXPECT_EQ(found("b{2,3}?", "bbbb"), (Found{"bb", "bb"}));
  EXPECT_EQ(found("xa{2}?b", "xb xaab"), (Found{"xb", "xaab"})) << "optional repetition";
  EXPECT_EQ(found("x(a(b)){2}*y", "xy xababy"), (Found{"xy", "xababy"}));
  EXPECT_EQ(found("\u00e9{2}+", "\u00e9\u00e9\u00e9\u00e9"), (Found{"\u00e9\u00e9\u00e9\u00e9"}));
  EXPECT_EQ(found("a*?b|c+?", "aabcc"), (Found{"aab", "c", "c"}));
  EXPECT_EQ(found("", "ab"), (Found{"", "", ""}));
}

TEST(Expression, LimitsPatternSize) {
  const auto reads = [](const std::string& pattern) {
    try {
      const Expression expression(pattern, "test");
      return true;
    } catch (const InputError&) {
      return false;
    }
  };
  EXPECT_TRUE(reads(std::string(8192, 'a')));
  EXPECT_FALSE(reads(std::string(8193, 'a')));
  EXPECT_TRUE(reads(std::string(64, '[') + "a" + std::string(64, ']')));
  EXPECT_FALSE(reads("\\x{000000061}"));
  EXPECT_FALSE(reads("\\u12"));
  EXPECT_TRUE(reads("\\x7f"));
  EXPECT_FALSE(reads("\\x80"));
  EXPECT_FALSE(reads("\\p{}"));
  EXPECT_FALSE(reads("\\p{a=b}"));
  EXPECT_FALSE(reads("\\p{L"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
