#include "core/text/terminal_text.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(TerminalText, EscapesControlSequences) {
  EXPECT_EQ(terminal_text("a\tb\n"), "a\tb\n");
  EXPECT_EQ(terminal_text("\x1b[31mred\a\x7f\r"), "\\x1b[31mred\\x07\\x7f\\x0d");
  EXPECT_EQ(terminal_text("\xc2\x9b"), "\\x9b") << "a C1 control character";
  EXPECT_EQ(terminal_text("\x9b\xff"), "\\x9b\\xff") << "invalid bytes";
  EXPECT_EQ(terminal_text("\xe2\x80\xae"), "\\u202e") << "reverses the text after it";
  EXPECT_EQ(terminal_text("Grüße, 中文, 👩‍🔬"), "Grüße, 中文, 👩‍🔬");
  EXPECT_EQ(terminal_text(std::string_view("\0x", 2)), "\\x00x");
}

TEST(TerminalText, LinesAreSingleAndShort) {
  EXPECT_EQ(terminal_line("a\nb\r\tc"), "a b  c");
  const std::string limit(kMaxMessage, 'x');
  EXPECT_EQ(terminal_line(limit), limit);
  const std::string cut = terminal_line("begin" + std::string(100'000, 'x') + "end");
  EXPECT_EQ(cut.size(), kMaxMessage + 2) << "the ellipsis has three bytes";
  EXPECT_TRUE(cut.starts_with("begin") && cut.ends_with("end")) << cut;
  EXPECT_LE(terminal_line(std::string(100'000, '\x1b')).size(), kMaxMessage + 2);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
