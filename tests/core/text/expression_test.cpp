#include "core/text/expression.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/text/split/pieces.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using Matches = std::vector<std::string>;

Matches find_all(const std::string& pattern, std::string_view text) {
  Matches matches;
  Expression(pattern, "test").each(text, [&](std::size_t begin, std::size_t end) {
    matches.emplace_back(text.substr(begin, end - begin));
  });
  return matches;
}

Matches gpt2(std::string_view text) {
  return find_all(kGpt2Expression, text);
}

// Expected pieces derived by hand from the alternatives of GPT-2's expression.
TEST(Expression, SplitsLikeGpt2) {
  EXPECT_EQ(gpt2(""), Matches{});
  EXPECT_EQ(gpt2("Hello world"), (Matches{"Hello", " world"}));
  EXPECT_EQ(gpt2("it's they'll WE'LL"), (Matches{"it", "'s", " they", "'ll", " WE", "'", "LL"}));
  EXPECT_EQ(gpt2("a  b   c"), (Matches{"a", " ", " b", "  ", " c"}));
  EXPECT_EQ(gpt2("a\n\nb\nc"), (Matches{"a", "\n", "\n", "b", "\n", "c"}));
  EXPECT_EQ(gpt2("a \n b  "), (Matches{"a", " \n", " b", "  "}));
  EXPECT_EQ(gpt2("x=12.5!!  "), (Matches{"x", "=", "12", ".", "5", "!!", "  "}));
  EXPECT_EQ(gpt2("größer ½²x 中文。"), (Matches{"größer", " ½²", "x", " 中文", "。"}));
  // A no-break space is white space, but only " " joins the following word.
  EXPECT_EQ(gpt2("a\u00a0b"), (Matches{"a", "\u00a0", "b"}));
  EXPECT_EQ(gpt2("a\u0085b"), (Matches{"a", "\u0085", "b"})) << "NEL is white space";
  EXPECT_EQ(gpt2("e\u0301"), (Matches{"e", "\u0301"})) << "a combining mark is not a letter";
}

TEST(Expression, MatchesInvalidBytesAsControls) {
  EXPECT_EQ(gpt2("a\xff\xfe!b"), (Matches{"a", "\xff\xfe!", "b"}));
  EXPECT_EQ(gpt2("\xe4\xb8"), (Matches{"\xe4\xb8"}));
  EXPECT_EQ(find_all(".", "a\xff\u00e9"), (Matches{"a", "\xff", "\u00e9"}));
}

// Oniguruma syntax that other regular-expression libraries interpret differently.
TEST(Expression, SupportsOnigurumaSyntax) {
  EXPECT_EQ(find_all("\\p{N}{1,3}+", "1234567"), (Matches{"1234567"}))
      << "a repetition of a repetition";
  EXPECT_EQ(find_all("\\p{N}{1,3}", "1234567"), (Matches{"123", "456", "7"}));
  EXPECT_EQ(find_all("(ab){2}+", "ababab ababab"), (Matches{"abab", "abab"}));
  EXPECT_EQ(find_all("a{,2}b", "aaab"), (Matches{"aab"}));
  EXPECT_EQ(find_all("\\p{L}++", "abc1d"), (Matches{"abc", "d"}));
  EXPECT_EQ(find_all("[\\p{L}&&[^\\p{Han}]]+", "ab中c"), (Matches{"ab", "c"}));
  EXPECT_EQ(find_all("[^(\\s|[.,])]+", "a (b.c) d|e"), (Matches{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(find_all("[^\\W_]+", "a_b\u00e9 c"), (Matches{"a", "b\u00e9", "c"}));
  EXPECT_EQ(find_all("\\h+", "xfF09g"), (Matches{"fF09"})) << "hexadecimal digits";
  EXPECT_EQ(find_all("\\w+", "a\u0301b\u200c_9\u00b2"), (Matches{"a\u0301b", "_9\u00b2"}));
  EXPECT_EQ(find_all("\\bb", "b ab b"), (Matches{"b", "b"}));
  EXPECT_EQ(find_all("^a", "a\na"), (Matches{"a", "a"})) << "^ matches in every line";
  EXPECT_EQ(find_all("(?i:'S)", "'s 'S '\u017f"), (Matches{"'s", "'S", "'\u017f"}));
  EXPECT_EQ(find_all("\\p{Han}", "中、"), (Matches{"中"})) << "Script without Script_Extensions";
  EXPECT_EQ(find_all("[[:alpha:]]+|\\u00e4", "a1\u00e4"), (Matches{"a", "\u00e4"}));
  EXPECT_EQ(find_all("[[:punct:]]", "a<,~b$"), (Matches{"<", ",", "~", "$"})) << "includes symbols";
  EXPECT_EQ(find_all("x*", "xxa"), (Matches{"xx", ""}));
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

// Catastrophic backtracking ends with an error instead of running for a long time.
TEST(Expression, LimitsMatchingTime) {
  const std::clock_t begin = std::clock();  // of the processor
  EXPECT_THROW(find_all("(a+)+$", std::string(4000, 'a') + "b"), InputError);
  EXPECT_THROW(find_all("(a|aa)+$", std::string(4000, 'a') + "b"), InputError);
  EXPECT_THROW(find_all("(?=(.*x))y|a", std::string(400000, 'a')), InputError);
  EXPECT_LT(std::clock() - begin, 30 * CLOCKS_PER_SEC);
}

Matches split_at_dashes(SplitBehavior behavior, bool invert = false) {
  const std::string text = "a--b-c";
  Pieces pieces{AlignedText(text, 0), {{0, text.size()}}};
  expression_splitter(Expression("-", "test"), behavior, invert)->apply(pieces);
  Matches all;
  for (std::size_t n = 0; n < pieces.spans.size(); ++n) all.emplace_back(pieces.at(n));
  return all;
}

TEST(Pieces, FollowSplitBehavior) {
  EXPECT_EQ(split_at_dashes(SplitBehavior::Removed), (Matches{"a", "b", "c"}));
  EXPECT_EQ(split_at_dashes(SplitBehavior::Isolated), (Matches{"a", "-", "-", "b", "-", "c"}));
  EXPECT_EQ(split_at_dashes(SplitBehavior::MergedWithPrevious), (Matches{"a-", "-", "b-", "c"}));
  EXPECT_EQ(split_at_dashes(SplitBehavior::MergedWithNext), (Matches{"a", "-", "-b", "-c"}));
  EXPECT_EQ(split_at_dashes(SplitBehavior::Contiguous), (Matches{"a", "--", "b", "-", "c"}));
  EXPECT_EQ(split_at_dashes(SplitBehavior::Removed, true), (Matches{"-", "-", "-"}));
}

// Tests every escape alone, negated and in character classes, and nested character classes.
TEST(Expression, SupportsAllEscapes) {
  const std::string text = "aZ_09 \t\n-\u00e9\u0301\u4e2d";
  const auto joined_matches = [&](const char* pattern) {
    std::string joined;
    for (const std::string& one : find_all(pattern, text)) joined += one;
    return joined;
  };
  EXPECT_EQ(joined_matches("\\w"), "aZ_09\u00e9\u0301\u4e2d");
  EXPECT_EQ(joined_matches("\\W"), " \t\n-");
  EXPECT_EQ(joined_matches("\\s"), " \t\n");
  EXPECT_EQ(joined_matches("\\S"), "aZ_09-\u00e9\u0301\u4e2d");
  EXPECT_EQ(joined_matches("\\d"), "09");
  EXPECT_EQ(joined_matches("\\D"), "aZ_ \t\n-\u00e9\u0301\u4e2d");
  EXPECT_EQ(joined_matches("\\h"), "a09");
  EXPECT_EQ(joined_matches("\\H"), "Z_ \t\n-\u00e9\u0301\u4e2d");
  EXPECT_EQ(joined_matches("\\t|\\n"), "\t\n");
  EXPECT_EQ(joined_matches("\\p{Lu}"), "Z");
  EXPECT_EQ(joined_matches("\\P{L}"), "_09 \t\n-\u0301");
  EXPECT_EQ(joined_matches("\\p{^L}"), "_09 \t\n-\u0301");
  EXPECT_EQ(joined_matches("\\P{^L}"), "aZ\u00e9\u4e2d");
  EXPECT_EQ(joined_matches("\\p{Upper_case Letter}"), "Z") << "loose name matching";
  EXPECT_EQ(joined_matches("\\p{alnum}"), "aZ09\u00e9\u4e2d");
  EXPECT_EQ(joined_matches("\\P{alnum}"), "_ \t\n-\u0301");
  EXPECT_EQ(joined_matches("\\p{Han}|\\p{Latin}"), "aZ\u00e9\u4e2d");
  EXPECT_EQ(joined_matches("\\x61|\\x{5a}|\\u4e2d"), "aZ\u4e2d");
  EXPECT_EQ(joined_matches("\\x9"), "\t");
  EXPECT_EQ(joined_matches("\\-|\\_"), "_-");
  EXPECT_EQ(joined_matches("[\\W\\d]"), "09 \t\n-");
  EXPECT_EQ(joined_matches("[^\\W\\d]"), "aZ_\u00e9\u0301\u4e2d");
  EXPECT_EQ(joined_matches("[\\Ha]"), "aZ_ \t\n-\u00e9\u0301\u4e2d");
  EXPECT_EQ(joined_matches("[[:digit:][:space:]]"), "09 \t\n");
  EXPECT_EQ(joined_matches("[[:^digit:]&&[:^space:]]"), "aZ_-\u00e9\u0301\u4e2d");
  EXPECT_EQ(joined_matches("[^[:^digit:]]"), "09");
  EXPECT_EQ(joined_matches("[\\w&&[^\\d]&&[^_]]"), "aZ\u00e9\u0301\u4e2d");
  EXPECT_EQ(joined_matches("[^\\w&&[^\\d]]"), "09 \t\n-");
  EXPECT_EQ(joined_matches("[a[0-5]]"), "a0");
  EXPECT_EQ(joined_matches("[]a]"), "a");
  EXPECT_EQ(joined_matches("[a^]"), "a");
  EXPECT_EQ(joined_matches("[\\n-]"), "\n-");
  EXPECT_EQ(joined_matches("\\O"), text);
  EXPECT_EQ(find_all("\\Bb", "b ab"), (Matches{"b"}));
  EXPECT_EQ(find_all("(a)\\1", "aab"), (Matches{"aa"}));
  EXPECT_EQ(find_all("(?<n>a)b|(?:c)d|(?=e)e|(?!g)f|(?>h)", "abcdefgh"),
            (Matches{"ab", "cd", "e", "f", "h"}));
  EXPECT_EQ(find_all("(?<=a)b|(?<!b)c", "abcxc"), (Matches{"b", "c"}));
  EXPECT_EQ(find_all("(?i)A(?-i:B)", "aB ab"), (Matches{"aB"}));
  EXPECT_EQ(find_all("a{2}|b{2,}|c{1,2}", "aaabbbccc"), (Matches{"aa", "bbb", "cc", "c"}));
  EXPECT_EQ(find_all("a{,}|b{x}|c{", "a{,}b{x}c{"), (Matches{"a{,}", "b{x}", "c{"}))
      << "not intervals";
  EXPECT_EQ(find_all("b{2,3}?", "bbbb"), (Matches{"bb", "bb"}));
  EXPECT_EQ(find_all("xa{2}?b", "xb xaab"), (Matches{"xb", "xaab"})) << "optional repetition";
  EXPECT_EQ(find_all("x(a(b)){2}*y", "xy xababy"), (Matches{"xy", "xababy"}));
  EXPECT_EQ(find_all("\u00e9{2}+", "\u00e9\u00e9\u00e9\u00e9"),
            (Matches{"\u00e9\u00e9\u00e9\u00e9"}));
  EXPECT_EQ(find_all("a*?b|c+?", "aabcc"), (Matches{"aab", "c", "c"}));
  EXPECT_EQ(find_all("", "ab"), (Matches{"", "", ""}));
}

TEST(Expression, LimitsPatternSize) {
  const auto is_valid = [](const std::string& pattern) {
    try {
      const Expression expression(pattern, "test");
      return true;
    } catch (const InputError&) {
      return false;
    }
  };
  EXPECT_TRUE(is_valid(std::string(8192, 'a')));
  EXPECT_FALSE(is_valid(std::string(8193, 'a')));
  EXPECT_TRUE(is_valid(std::string(64, '[') + "a" + std::string(64, ']')));
  EXPECT_FALSE(is_valid("\\x{000000061}"));
  EXPECT_FALSE(is_valid("\\u12"));
  EXPECT_TRUE(is_valid("\\x7f"));
  EXPECT_FALSE(is_valid("\\x80"));
  EXPECT_FALSE(is_valid("\\p{}"));
  EXPECT_FALSE(is_valid("\\p{a=b}"));
  EXPECT_FALSE(is_valid("\\p{L"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
