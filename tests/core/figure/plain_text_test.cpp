#include "core/figure/plain_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(PlainText, KeepsUtf8AndReplacesInvalidBytes) {
  EXPECT_EQ(plain_text("a\xC3\xA4\xE4\xB8\xAD"), "a\xC3\xA4\xE4\xB8\xAD");
  EXPECT_EQ(plain_text("\xE4x"), "\xEF\xBF\xBDx");
  EXPECT_EQ(plain_text("a\nb\x7f"),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
  EXPECT_EQ(plain_text("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");          // overlong
  EXPECT_EQ(plain_text("\xED\xA0\x80").find('\xED'), std::string::npos);  // surrogate
  EXPECT_EQ(plain_text(""), "");
}

TEST(PlainText, EscapesMarkup) {
  EXPECT_EQ(markup("<a & \"b\">"), "&lt;a &amp; &quot;b&quot;&gt;");
}

TEST(PlainText, FormatsNumbers) {
  EXPECT_EQ(fixed(0.125, 2), "0.12");
  EXPECT_EQ(fixed(-0.001, 2), "0.00");
  EXPECT_EQ(fixed(-1.5, 1), "-1.5");
  EXPECT_EQ(fixed(1e300, 0).size(), 301u);
  EXPECT_EQ(brief(0.25), "0.25");
  EXPECT_EQ(brief(128), "128");
  EXPECT_EQ(brief(128, 2), "128");
  EXPECT_EQ(brief(12.3456), "12.35");
  EXPECT_EQ(brief(-0.001), "-0.001");
  EXPECT_EQ(brief(0.00099999), "0.001");
  EXPECT_EQ(brief(0.000156), "1.56e-4");
  EXPECT_EQ(brief(1e-5), "1e-5");
  EXPECT_EQ(brief(999999, 6), "999999");
  EXPECT_EQ(brief(1e6), "1e6");
  EXPECT_EQ(brief(1234567, 8), "1234567");
  EXPECT_EQ(brief(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(general(1.5e8, 8), "1.5e+08");
  EXPECT_EQ(decimal(12), "12");
  EXPECT_EQ(decimal(14.25), "14.25");
  EXPECT_EQ(decimal(20.404), "20.4");
  EXPECT_EQ(decimal(-0.001), "0");
  EXPECT_EQ(decimal(100, 0), "100");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(-123456), "-123,456");
}

TEST(PlainText, FormatsPercentages) {
  EXPECT_EQ(percent(0.42), "42%");
  EXPECT_EQ(percent(0.065), "6.5%");
  EXPECT_EQ(percent(0.07), "7%");
  EXPECT_EQ(percent(0.0032), "0.32%");
  EXPECT_EQ(percent(-0.24), "-24%");
  EXPECT_EQ(percent(1.5), "150%");
  EXPECT_EQ(percent(0.123456, 3), "12.3%");
  EXPECT_EQ(percent(0.996), "99.6%");
  EXPECT_EQ(percent(0.99996), ">99.99%");
  EXPECT_EQ(percent(0.9999999), "100%");  // a sum of float weights
  EXPECT_EQ(percent(0), "0%");
  EXPECT_EQ(percent(3e-5), "<0.01%");
}

TEST(PlainText, ReplacesControlCharactersOnly) {
  const std::string replaced = "\xEF\xBF\xBD";
  for (const char* unchanged :
       {" ", "~", "\xC2\xA0", "\xE2\x80\xA7", "\xE2\x80\xAA", "\xEF\xBF\xBD"}) {
    EXPECT_EQ(plain_text(unchanged), unchanged);
  }
  for (const char* code : {"\x1f", "\x7f", "\xC2\x80", "\xC2\x9F", "\xE2\x80\xA8", "\xE2\x80\xA9",
                           "\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    EXPECT_EQ(plain_text(code), replaced);
  }
}

TEST(PlainText, CountsInSingularAndPlural) {
  EXPECT_EQ(count_text(1, "head"), "1 head");
  EXPECT_EQ(count_text(0, "head"), "0 heads");
  EXPECT_EQ(count_text(1024, "token"), "1,024 tokens");
  EXPECT_EQ(count_text(2, "query", "queries"), "2 queries");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
