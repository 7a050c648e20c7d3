#include "app/window/widgets/text_edit.h"

#include <gtest/gtest.h>

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

using Move = TextEdit::Move;

double unit_width(std::size_t) {
  return 1;
}

std::vector<std::string> wrap_to_strings(const std::string& text, double width) {
  std::vector<std::string> lines;
  for (const TextLine& line : wrap(text, width, unit_width)) {
    lines.push_back(text.substr(line.begin, line.end - line.begin));
  }
  return lines;
}

std::vector<TextLine> wrap_lines(const TextEdit& edit, double width = 1000) {
  return wrap(edit.text(), width, unit_width);
}

TEST(Wrap, BreaksAfterSpaces) {
  EXPECT_EQ(wrap_to_strings("one two three", 8), (std::vector<std::string>{"one two ", "three"}));
  EXPECT_EQ(wrap_to_strings("one two three", 100), (std::vector<std::string>{"one two three"}));
}

TEST(Wrap, BreaksLongWordsAnywhere) {
  EXPECT_EQ(wrap_to_strings("abcdefgh", 3), (std::vector<std::string>{"abc", "def", "gh"}));
}

TEST(Wrap, KeepsLineBreaks) {
  EXPECT_EQ(wrap_to_strings("a\n\nb\n", 10), (std::vector<std::string>{"a", "", "b", ""}));
  EXPECT_EQ(wrap_to_strings("", 10), (std::vector<std::string>{""}));
}

TEST(Wrap, TerminatesIfNothingFits) {
  EXPECT_EQ(wrap_to_strings("abc", 0.5), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(Wrap, PreservesAllBytes) {
  const std::string text = "The quick  brown\tfox \n jumps \xFF over\n\nit all";
  for (double width = 1; width < 12; ++width) {
    std::string joined;
    std::size_t offset = 0;
    for (const TextLine& line : wrap(text, width, unit_width)) {
      if (line.begin > offset) joined += "\n";
      joined += text.substr(line.begin, line.end - line.begin);
      offset = line.end;
    }
    EXPECT_EQ(joined, text) << "width " << width;
  }
}

TEST(TextEdit, TypesAndErases) {
  TextEdit edit;
  edit.insert("héllo");
  EXPECT_EQ(edit.cursor(), edit.text().size());
  edit.erase(Move::Left, wrap_lines(edit));
  EXPECT_EQ(edit.text(), "héll");
  edit.move(Move::Start, false, wrap_lines(edit));
  edit.move(Move::Right, false, wrap_lines(edit));
  edit.erase(Move::Right, wrap_lines(edit));  // both bytes of é
  EXPECT_EQ(edit.text(), "hll");
}

TEST(TextEdit, ReplacesTheSelection) {
  TextEdit edit;
  edit.insert("one two three");
  edit.select_word(5);
  EXPECT_EQ(edit.selected_text(), "two");
  edit.insert("2");
  EXPECT_EQ(edit.text(), "one 2 three");
  edit.select_all();
  edit.erase(Move::Left, wrap_lines(edit));
  EXPECT_EQ(edit.text(), "");
  edit.erase(Move::Left, wrap_lines(edit));  // nothing to erase
  EXPECT_EQ(edit.text(), "");
}

TEST(TextEdit, MovesByWords) {
  TextEdit edit;
  edit.insert("one two  three");
  edit.move(Move::WordLeft, false, wrap_lines(edit));
  EXPECT_EQ(edit.cursor(), 9U);
  edit.move(Move::WordLeft, false, wrap_lines(edit));
  EXPECT_EQ(edit.cursor(), 4U);
  edit.move(Move::WordRight, true, wrap_lines(edit));
  EXPECT_EQ(edit.selected_text(), "two  ");
}

TEST(TextEdit, MovesThroughWrappedLines) {
  TextEdit edit;
  edit.insert("aaaa bbbb cccc");
  const auto lines = wrap(edit.text(), 5, unit_width);
  ASSERT_EQ(lines.size(), 3U);
  edit.place(7, false);  // between the second and third b
  edit.move(Move::Up, false, lines);
  EXPECT_EQ(edit.cursor(), 2U);
  edit.move(Move::Down, false, lines);
  edit.move(Move::Down, false, lines);
  EXPECT_EQ(edit.cursor(), 12U);
  edit.move(Move::LineStart, false, lines);
  EXPECT_EQ(edit.cursor(), 10U);
  edit.move(Move::Down, false, lines);
  EXPECT_EQ(edit.cursor(), 14U);
}

TEST(TextEdit, EndOfWrappedLineStaysOnIt) {
  TextEdit edit;
  edit.insert("aaaa bbbb");
  const auto lines = wrap(edit.text(), 5, unit_width);
  edit.place(1, false);
  edit.move(Move::LineEnd, false, lines);
  EXPECT_EQ(line_of(lines, edit.cursor()), 0U);
  EXPECT_EQ(edit.cursor(), 4U);
}

TEST(TextEdit, AcceptsAnyLineEnding) {
  TextEdit edit;
  edit.insert("a\r\nb\rc\n");
  EXPECT_EQ(edit.text(), "a\nb\nc\n");
}

TEST(TextEdit, ClampsCursorToNewText) {
  TextEdit edit;
  edit.insert("a long text");
  edit.assign("é");
  EXPECT_EQ(edit.cursor(), 2U);
  edit.assign("xé");
  EXPECT_EQ(edit.cursor(), 1U);  // not between the bytes of é
}

TEST(TextEdit, CollapsesSelectionInDirectionOfMove) {
  TextEdit edit;
  edit.insert("abcdef");
  edit.place(2, false);
  edit.place(4, true);
  edit.move(Move::Left, false, wrap_lines(edit));
  EXPECT_EQ(edit.cursor(), 2U);
  EXPECT_EQ(edit.anchor(), 2U);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
