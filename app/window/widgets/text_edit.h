// Editing of a text with soft-wrapped lines: cursor, selection, moves. No drawing here.
//
// ImGui's own multi-line field does not wrap lines. It also drops characters that its font lacks:
// the first key stroke would damage a text that contains them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::window {

// Bytes [begin, end) of a line in a text, without the line break.
struct TextLine {
  std::size_t begin = 0, end = 0;
};

// Width of the character at an offset; 0 if the character shares the glyph of an earlier character.
using CharacterWidth = std::function<double(std::size_t)>;

// Lines no wider than `width`, broken after spaces where possible. At least one line; a text that
// ends in a line break has an empty last line.
std::vector<TextLine> wrap(std::string_view text, double width, const CharacterWidth& advance);

class TextEdit {
 public:
  enum class Move { Left, Right, WordLeft, WordRight, LineStart, LineEnd, Up, Down, Start, End };

  const std::string& text() const { return text_; }
  void assign(std::string text);  // for undo or a file; keeps the cursor if possible
  std::size_t cursor() const { return cursor_; }
  std::size_t anchor() const { return anchor_; }  // the other end of the selection
  std::size_t selection_begin() const { return cursor_ < anchor_ ? cursor_ : anchor_; }
  std::size_t selection_end() const { return cursor_ < anchor_ ? anchor_ : cursor_; }
  std::string selected_text() const;

  // `lines`: wrapping of the current text, used by Up, Down, LineStart and LineEnd.
  void move(Move motion, bool selecting, const std::vector<TextLine>& lines);
  void place(std::size_t cursor, bool selecting);
  void select_word(std::size_t offset);
  void select_all();

  void insert(std::string_view typed);  // replaces the selection; line ends become "\n"
  void erase(Move towards, const std::vector<TextLine>& lines);  // selection, else up to `towards`

 private:
  std::size_t target(Move motion, const std::vector<TextLine>& lines) const;
  std::string text_;
  std::size_t cursor_ = 0, anchor_ = 0;
};

// Index of the cursor's line; a cursor at a soft break belongs to the next line.
std::size_t line_of(const std::vector<TextLine>& lines, std::size_t cursor);

}  // namespace attnscope::window
