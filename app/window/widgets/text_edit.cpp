#include "app/window/widgets/text_edit.h"

#include <algorithm>

#include "app/window/utf8.h"

namespace attnscope::window {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

// Offset in `line` with the column that `cursor` has in line `from`.
std::size_t same_column(std::string_view text, TextLine from, TextLine line, std::size_t cursor) {
  std::size_t offset = line.begin;
  for (std::size_t c = from.begin; c < cursor && offset < line.end; c = next_cluster(text, c)) {
    offset = next_cluster(text, offset);
  }
  return offset;
}

}  // namespace

std::vector<TextLine> wrap(std::string_view text, double width, const CharacterWidth& advance) {
  std::vector<TextLine> lines;
  std::size_t begin = 0, break_offset = 0;  // break_offset: after the last space of the line
  double line_width = 0;
  for (std::size_t offset = 0; offset < text.size();) {
    if (text[offset] == '\n') {
      lines.push_back({begin, offset});
      begin = break_offset = ++offset;
      line_width = 0;
      continue;
    }
    const std::size_t next = next_character(text, offset);
    const double step = advance(offset);
    // A space may overhang the edge, where it is invisible.
    if (step > 0 && line_width + step > width && offset > begin && !is_space(text[offset])) {
      const std::size_t end = break_offset > begin ? break_offset : offset;
      lines.push_back({begin, end});
      begin = break_offset = offset = end;
      line_width = 0;
      continue;
    }
    line_width += step;
    if (is_space(text[offset])) break_offset = next;
    offset = next;
  }
  lines.push_back({begin, text.size()});
  return lines;
}

std::size_t line_of(const std::vector<TextLine>& lines, std::size_t cursor) {
  const auto next = std::upper_bound(
      lines.begin(), lines.end(), cursor,
      [](std::size_t offset, const TextLine& line) { return offset < line.begin; });
  return next == lines.begin() ? 0 : static_cast<std::size_t>(next - lines.begin()) - 1;
}

void TextEdit::assign(std::string text) {
  text_ = std::move(text);
  const auto clamped = [this](std::size_t i) {
    i = std::min(i, text_.size());
    return i < text_.size() ? previous_character(text_, next_character(text_, i)) : i;
  };
  cursor_ = clamped(cursor_);
  anchor_ = clamped(anchor_);
}

std::string TextEdit::selected_text() const {
  return text_.substr(selection_begin(), selection_end() - selection_begin());
}

std::size_t TextEdit::target(Move motion, const std::vector<TextLine>& lines) const {
  const std::size_t line = line_of(lines, cursor_);
  std::size_t offset = cursor_;
  switch (motion) {
    case Move::Left:
      return previous_cluster(text_, offset);
    case Move::Right:
      return next_cluster(text_, offset);
    case Move::WordLeft:
      while (offset > 0 && is_space(text_[offset - 1])) --offset;
      while (offset > 0 && !is_space(text_[offset - 1])) --offset;
      return offset;
    case Move::WordRight:
      while (offset < text_.size() && !is_space(text_[offset])) ++offset;
      while (offset < text_.size() && is_space(text_[offset])) ++offset;
      return offset;
    case Move::LineStart:
      return lines[line].begin;
    case Move::LineEnd: {
      // The position after a soft break belongs to the next line.
      const bool is_soft = line + 1 < lines.size() && lines[line + 1].begin == lines[line].end;
      return is_soft ? previous_cluster(text_, lines[line].end) : lines[line].end;
    }
    case Move::Up:
      return line == 0 ? 0 : same_column(text_, lines[line], lines[line - 1], cursor_);
    case Move::Down:
      return line + 1 == lines.size() ? text_.size()
                                      : same_column(text_, lines[line], lines[line + 1], cursor_);
    case Move::Start:
      return 0;
    case Move::End:
      return text_.size();
  }
  return offset;
}

void TextEdit::move(Move motion, bool selecting, const std::vector<TextLine>& lines) {
  const bool is_sideways = motion == Move::Left || motion == Move::Right;
  if (is_sideways && !selecting && cursor_ != anchor_) {
    place(motion == Move::Left ? selection_begin() : selection_end(), false);
  } else {
    place(target(motion, lines), selecting);
  }
}

void TextEdit::place(std::size_t cursor, bool selecting) {
  cursor_ = std::min(cursor, text_.size());
  if (!selecting) anchor_ = cursor_;
}

void TextEdit::select_word(std::size_t offset) {
  offset = std::min(offset, text_.size());
  anchor_ = cursor_ = offset;
  while (anchor_ > 0 && !is_space(text_[anchor_ - 1])) --anchor_;
  while (cursor_ < text_.size() && !is_space(text_[cursor_])) ++cursor_;
}

void TextEdit::select_all() {
  anchor_ = 0;
  cursor_ = text_.size();
}

void TextEdit::insert(std::string_view typed) {
  std::string clean;
  clean.reserve(typed.size());
  for (std::size_t i = 0; i < typed.size(); ++i) {
    if (typed[i] == '\r') {
      if (i + 1 < typed.size() && typed[i + 1] == '\n') continue;
      clean += '\n';
    } else {
      clean += typed[i];
    }
  }
  const std::size_t begin = selection_begin();
  text_.replace(begin, selection_end() - begin, clean);
  place(begin + clean.size(), false);
}

void TextEdit::erase(Move towards, const std::vector<TextLine>& lines) {
  if (cursor_ == anchor_) place(target(towards, lines), true);
  insert("");
}

}  // namespace attnscope::window
