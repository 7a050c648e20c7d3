#include "app/window/widgets/text_editor.h"

#include <algorithm>
#include <cmath>

#include "app/window/utf8.h"

namespace attnscope::window {
namespace {

constexpr float kLineSpacing = 1.25F;
constexpr double kTabSpaces = 4;

// Width in pixels of the first character as drawn: its glyph, or its code point if it has no glyph.
double character_width(std::string_view text) {
  const CodePoint code_point = code_point_at(text, 0);
  const auto width_of = [](char32_t character) {
    return static_cast<double>(advance(ImGui::GetFont(), ImGui::GetFontSize(), character));
  };
  if (code_point.value == '\n') return 0;
  if (code_point.value == '\t') return kTabSpaces * width_of(' ');
  if (is_drawable(code_point.value) && !(code_point.value == 0xFFFD && code_point.bytes == 1)) {
    return width_of(code_point.value);
  }
  // A code point drawn in place of a glyph is followed by a gap.
  const float width = ImGui::CalcTextSize(on_screen(text.substr(0, code_point.bytes)).c_str()).x;
  return static_cast<double>(width) + width_of(' ');
}

// Position of the editor's lines on the screen.
struct Layout {
  ImVec2 origin;      // top left corner of the first line, after scrolling
  float line_height;  // pixels
  std::vector<TextLine> lines;
  const std::string& text;

  float x_of(std::size_t line, std::size_t cursor) const {
    double x = 0;
    for (std::size_t c = lines[line].begin; c < cursor; c = next_character(text, c)) {
      x += character_width(std::string_view(text).substr(c));
    }
    return origin.x + static_cast<float>(x);
  }
  float y_of(std::size_t line) const { return origin.y + static_cast<float>(line) * line_height; }
  std::size_t cursor_at(ImVec2 point) const {
    const float row = std::floor((point.y - origin.y) / line_height);
    const auto line =
        static_cast<std::size_t>(std::clamp(row, 0.0F, static_cast<float>(lines.size() - 1)));
    float x = origin.x;
    for (std::size_t c = lines[line].begin; c < lines[line].end; c = next_character(text, c)) {
      const auto step = static_cast<float>(character_width(std::string_view(text).substr(c)));
      if (point.x < x + step / 2) return c;
      x += step;
    }
    return lines[line].end;
  }
};

void use_mouse(TextPanel& panel, const Layout& layout, bool is_hovered) {
  const ImGuiIO& io = ImGui::GetIO();
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    panel.is_focused = is_hovered;
    panel.is_dragging = is_hovered;
    if (is_hovered) panel.edit.place(layout.cursor_at(io.MousePos), io.KeyShift);
  }
  if (is_hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    panel.edit.select_word(layout.cursor_at(io.MousePos));
    panel.is_dragging = false;
  }
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) panel.is_dragging = false;
  if (panel.is_dragging) panel.edit.place(layout.cursor_at(io.MousePos), true);
  if (is_hovered && io.MouseWheel != 0) {
    panel.scroll -= static_cast<double>(io.MouseWheel * layout.line_height) * 2;
  }
}

struct MoveKey {
  std::string_view key;
  TextEdit::Move move, control_move;
};
constexpr MoveKey kMoves[] = {
    {"Left", TextEdit::Move::Left, TextEdit::Move::WordLeft},
    {"Right", TextEdit::Move::Right, TextEdit::Move::WordRight},
    {"Up", TextEdit::Move::Up, TextEdit::Move::Up},
    {"Down", TextEdit::Move::Down, TextEdit::Move::Down},
    {"Home", TextEdit::Move::LineStart, TextEdit::Move::Start},
    {"End", TextEdit::Move::LineEnd, TextEdit::Move::End},
};

// Ctrl with a letter: clipboard and select all. True if handled.
bool handle_command(TextEdit& edit, const KeyStroke& stroke,
                    std::optional<std::string>& clipboard) {
  const std::string& key = stroke.key;
  if (key == "a") {
    edit.select_all();
  } else if ((key == "c" || key == "x") && edit.cursor() != edit.anchor()) {
    clipboard = edit.selected_text();
    if (key == "x") edit.insert("");
  } else if (key == "v") {
    const char* pasted = ImGui::GetClipboardText();
    if (pasted != nullptr) edit.insert(pasted);
  } else {
    return false;
  }
  return true;
}

// Handles a stroke. True if the editor uses it.
bool handle_stroke(TextPanel& panel, const KeyStroke& stroke, const std::vector<TextLine>& lines,
                   std::optional<std::string>& clipboard) {
  TextEdit& edit = panel.edit;
  if (stroke.character != 0) {
    edit.insert(to_utf8(stroke.character));
    return true;
  }
  for (const MoveKey& m : kMoves) {
    if (stroke.key != m.key) continue;
    edit.move(stroke.control ? m.control_move : m.move, stroke.shift, lines);
    return true;
  }
  using Move = TextEdit::Move;
  if (stroke.key == "Backspace") {
    edit.erase(stroke.control ? Move::WordLeft : Move::Left, lines);
  } else if (stroke.key == "Delete") {
    edit.erase(stroke.control ? Move::WordRight : Move::Right, lines);
  } else if (stroke.key == "Enter") {
    edit.insert("\n");
  } else if (stroke.key == "Escape") {
    panel.is_focused = false;
  } else {
    return stroke.control && handle_command(edit, stroke, clipboard);
  }
  return true;
}

void handle_strokes(Ui& ui, TextPanel& panel, double width, std::optional<std::string>& clipboard) {
  for (KeyStroke& stroke : ui.strokes) {
    if (stroke.is_handled || !panel.is_focused) continue;
    const std::vector<TextLine> lines = wrap(panel.edit.text(), width, character_width);
    if (handle_stroke(panel, stroke, lines, clipboard)) {
      stroke.is_handled = true;
      panel.scrolls_to_cursor = true;
    }
  }
}

void draw_selection(Ui& ui, const TextEdit& edit, const Layout& layout, ImDrawList& draw) {
  const std::size_t begin = edit.selection_begin(), end = edit.selection_end();
  for (std::size_t i = 0; begin < end && i < layout.lines.size(); ++i) {
    const TextLine& line = layout.lines[i];
    if (line.end < begin || line.begin >= end) continue;
    const float left = layout.x_of(i, std::max(begin, line.begin));
    float right = layout.x_of(i, std::min(end, line.end));
    if (end > line.end) right += ui.px(4);  // the line break is selected too
    draw.AddRectFilled({left, layout.y_of(i)}, {right, layout.y_of(i) + layout.line_height},
                       packed(ui.look->accent, 0.28F));
  }
}

void draw_lines(Ui& ui, const Layout& layout, ImDrawList& draw, float top, float bottom) {
  const float offset = (layout.line_height - ImGui::GetFontSize()) / 2;
  for (std::size_t i = 0; i < layout.lines.size(); ++i) {
    const float y = layout.y_of(i);
    if (y > bottom || y + layout.line_height < top) continue;
    const TextLine& line = layout.lines[i];
    float x = layout.origin.x;
    // Draws nothing for a tab, and a faint code point for a character without a glyph.
    for (std::size_t c = line.begin; c < line.end;) {
      const std::size_t next = next_character(layout.text, c);
      const std::string_view character = std::string_view(layout.text).substr(c, next - c);
      const std::string text = on_screen(character);
      if (character != "\t") {
        const bool has_glyph = text == character;
        draw.AddText({std::floor(x), std::floor(y + offset)},
                     packed(has_glyph ? ui.look->text : ui.look->faint), text.c_str());
      }
      x += static_cast<float>(character_width(character));
      c = next;
    }
  }
}

}  // namespace

bool draw_text_editor(Ui& ui, TextPanel& panel, float height, const char* placeholder,
                      bool has_keyboard, std::optional<std::string>& clipboard) {
  panel.was_drawn = true;
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  invisible_button("editor", {width, height});
  mark(ui, "text");
  const bool is_hovered = ImGui::IsItemHovered();
  if (is_hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_TextInput);

  const ImVec2 padding(ui.px(9), ui.px(7));
  const float line_height = std::round(ImGui::GetTextLineHeight() * kLineSpacing);
  const auto wrap_width = static_cast<double>(width - 2 * padding.x);
  const std::string previous_text = panel.edit.text();
  const auto lay_out = [&] {
    return Layout{{origin.x + padding.x, origin.y + padding.y - static_cast<float>(panel.scroll)},
                  line_height,
                  wrap(panel.edit.text(), wrap_width, character_width),
                  panel.edit.text()};
  };
  use_mouse(panel, lay_out(), is_hovered);
  if (has_keyboard) handle_strokes(ui, panel, wrap_width, clipboard);

  Layout layout = lay_out();
  const std::size_t cursor_line = line_of(layout.lines, panel.edit.cursor());
  const float inner_height = height - 2 * padding.y;
  const auto total = static_cast<double>(line_height) * static_cast<double>(layout.lines.size());
  if (panel.scrolls_to_cursor) {
    const auto top = static_cast<double>(line_height) * static_cast<double>(cursor_line);
    const double lowest = top + static_cast<double>(line_height - inner_height);
    panel.scroll = std::clamp(panel.scroll, std::max(lowest, 0.0), std::max(top, 0.0));
    panel.scrolls_to_cursor = false;
  }
  const double lowest = std::max(0.0, total - static_cast<double>(inner_height));
  panel.scroll = panel.scrolls_to_end ? lowest : std::clamp(panel.scroll, 0.0, lowest);
  panel.scrolls_to_end = false;
  layout.origin.y = origin.y + padding.y - static_cast<float>(panel.scroll);

  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImVec2 end(origin.x + width, origin.y + height);
  const float rounding = ImGui::GetStyle().FrameRounding;
  draw.AddRectFilled(origin, end, packed(ui.look->field), rounding);
  draw.AddRect(origin, end, packed(panel.is_focused ? ui.look->accent : ui.look->line), rounding, 0,
               panel.is_focused ? ui.px(1.5) : ui.px(1));
  draw.PushClipRect({origin.x, origin.y + ui.px(3)}, {end.x, end.y - ui.px(3)}, true);
  if (layout.text.empty()) draw.AddText(layout.origin, packed(ui.look->faint), placeholder);
  draw_selection(ui, panel.edit, layout, draw);
  draw_lines(ui, layout, draw, origin.y, end.y);
  if (panel.is_focused) {
    const float x = std::floor(layout.x_of(cursor_line, panel.edit.cursor()));
    const float y = layout.y_of(cursor_line);
    draw.AddRectFilled({x, y + ui.px(1)}, {x + ui.px(1.5), y + line_height - ui.px(1)},
                       packed(ui.look->text));
  }
  draw.PopClipRect();
  return panel.edit.text() != previous_text;
}

}  // namespace attnscope::window
