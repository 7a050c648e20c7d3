#include "app/window/widgets/text_editor.h"

#include <algorithm>
#include <cmath>

#include "app/window/utf8.h"
#include "app/window/widgets/line_layout.h"
#include "core/figure/text_shaping.h"

namespace attnscope::window {
namespace {

constexpr float kLineSpacing = 1.25F;

// Width in pixels of the character at each offset.
std::vector<float> character_widths(std::string_view text) {
  std::vector<float> widths(text.size(), 0.0F);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view paragraph = text.substr(begin, end - begin);
    const LineLayout layout(paragraph, is_rtl_paragraph(paragraph));
    for (const LineLayout::Cluster& c : layout.clusters()) {
      widths[begin + c.begin] = static_cast<float>(c.width);
    }
    begin = end + 1;
  }
  return widths;
}

// `width`: infinite for a single line.
std::vector<TextLine> wrap_to_width(const std::string& text, double width) {
  if (!std::isfinite(width)) return {{0, text.size()}};
  const std::vector<float> widths = character_widths(text);
  return wrap(text, width, [&](std::size_t offset) { return static_cast<double>(widths[offset]); });
}

bool is_in_rtl_paragraph(std::string_view text, const TextLine& line) {
  const std::size_t line_break = line.begin == 0 ? text.npos : text.rfind('\n', line.begin - 1);
  const std::size_t begin = line_break == text.npos ? 0 : line_break + 1;
  return is_rtl_paragraph(text.substr(begin, text.find('\n', begin) - begin));
}

LineLayout lay_out_line(std::string_view text, const TextLine& line) {
  return {text.substr(line.begin, line.end - line.begin), is_in_rtl_paragraph(text, line)};
}

// Position of the editor's lines on the screen.
struct Layout {
  ImVec2 origin;      // top left corner of the first line, after scrolling
  float width;        // pixels; lines of right-to-left paragraphs are aligned to the right edge
  float line_height;  // pixels
  std::vector<TextLine> lines;
  const std::string& text;

  LineLayout line_layout(std::size_t line) const { return lay_out_line(text, lines[line]); }
  float left_of(std::size_t line, const LineLayout& layout) const {
    return is_in_rtl_paragraph(text, lines[line])
               ? origin.x + width - static_cast<float>(layout.width())
               : origin.x;
  }
  float x_of(std::size_t line, std::size_t cursor) const {
    const LineLayout layout = line_layout(line);
    return left_of(line, layout) +
           static_cast<float>(layout.position_of(cursor - lines[line].begin));
  }
  float y_of(std::size_t line) const { return origin.y + static_cast<float>(line) * line_height; }
  std::size_t cursor_at(ImVec2 point) const {
    const float row = std::floor((point.y - origin.y) / line_height);
    const auto line =
        static_cast<std::size_t>(std::clamp(row, 0.0F, static_cast<float>(lines.size() - 1)));
    const LineLayout layout = line_layout(line);
    return lines[line].begin +
           layout.offset_at(static_cast<double>(point.x - left_of(line, layout)));
  }
};

void use_mouse(TextBox& box, const Layout& layout, bool is_hovered, bool is_single) {
  const ImGuiIO& io = ImGui::GetIO();
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    box.is_focused = is_hovered;
    box.is_dragging = is_hovered;
    if (is_hovered) box.edit.place(layout.cursor_at(io.MousePos), io.KeyShift);
  }
  if (is_hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    box.edit.select_word(layout.cursor_at(io.MousePos));
    box.is_dragging = false;
  }
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) box.is_dragging = false;
  if (box.is_dragging) box.edit.place(layout.cursor_at(io.MousePos), true);
  if (is_single) {
    box.scrolls_to_cursor |= box.is_dragging;
  } else if (is_hovered && io.MouseWheel != 0) {
    box.scroll -= static_cast<double>(io.MouseWheel * layout.line_height) * 2;
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
bool handle_command(TextEdit& edit, const KeyStroke& stroke, const TextEditorOptions& options,
                    std::optional<std::string>& clipboard) {
  const std::string& key = stroke.key;
  if (key == "a") {
    edit.select_all();
  } else if ((key == "c" || key == "x") && edit.cursor() != edit.anchor()) {
    clipboard = edit.selected_text();
    if (key == "x") edit.insert("");
  } else if (key == "v") {
    const char* clipboard_text = ImGui::GetClipboardText();
    std::string pasted = clipboard_text != nullptr ? clipboard_text : "";
    if (options.lines != TextLines::Wrapped) std::ranges::replace(pasted, '\n', ' ');
    if (!pasted.empty()) edit.insert(pasted);
  } else {
    return false;
  }
  return true;
}

// Exchanges Left and Right in a paragraph that runs from right to left.
std::string_view logical_key(const TextEdit& edit, std::string_view key,
                             const std::vector<TextLine>& lines) {
  if (key != "Left" && key != "Right") return key;
  if (!is_in_rtl_paragraph(edit.text(), lines[line_of(lines, edit.cursor())])) return key;
  return key == "Left" ? "Right" : "Left";
}

// Handles a stroke. True if the editor uses it.
bool handle_stroke(TextBox& box, const KeyStroke& stroke, const std::vector<TextLine>& lines,
                   const TextEditorOptions& options, std::optional<std::string>& clipboard) {
  TextEdit& edit = box.edit;
  if (stroke.character != 0) {
    edit.insert(to_utf8(stroke.character));
    return true;
  }
  const bool is_field = options.lines == TextLines::Single;
  const std::string_view key = logical_key(edit, stroke.key, lines);
  if (is_field && (key == "Up" || key == "Down" || key == "Enter" || key == "Escape")) return false;
  for (const MoveKey& m : kMoves) {
    if (key != m.key) continue;
    edit.move(stroke.control ? m.control_move : m.move, stroke.shift, lines);
    return true;
  }
  using Move = TextEdit::Move;
  if (stroke.key == "Backspace") {
    edit.erase(stroke.control ? Move::WordLeft : Move::Left, lines);
  } else if (stroke.key == "Delete") {
    edit.erase(stroke.control ? Move::WordRight : Move::Right, lines);
  } else if (stroke.key == "Enter" && options.lines == TextLines::Wrapped) {
    edit.insert("\n");
  } else if (stroke.key == "Escape" || stroke.key == "Enter") {
    box.is_focused = false;
  } else {
    return stroke.control && handle_command(edit, stroke, options, clipboard);
  }
  return true;
}

void handle_strokes(Ui& ui, TextBox& box, double width, const TextEditorOptions& options,
                    std::optional<std::string>& clipboard) {
  for (KeyStroke& stroke : ui.strokes) {
    if (stroke.is_handled || !box.is_focused) continue;
    const std::vector<TextLine> lines = wrap_to_width(box.edit.text(), width);
    if (handle_stroke(box, stroke, lines, options, clipboard)) {
      stroke.is_handled = true;
      box.scrolls_to_cursor = true;
    }
  }
}

void draw_selection(Ui& ui, const TextEdit& edit, const Layout& layout, ImDrawList& draw) {
  const std::size_t begin = edit.selection_begin(), end = edit.selection_end();
  for (std::size_t i = 0; begin < end && i < layout.lines.size(); ++i) {
    const TextLine& line = layout.lines[i];
    if (line.end < begin || line.begin >= end) continue;
    const LineLayout line_layout = layout.line_layout(i);
    const float origin = layout.left_of(i, line_layout), y = layout.y_of(i);
    const auto draw_box = [&](double left, double right) {
      draw.AddRectFilled({origin + static_cast<float>(left), y},
                         {origin + static_cast<float>(right), y + layout.line_height},
                         packed(ui.look->accent, 0.28F));
    };
    // Draws one box per group of selected characters that are next to each other.
    double left = 0, right = -1;
    for (const LineLayout::Cluster& c : line_layout.clusters()) {
      if (line.begin + c.begin < begin || line.begin + c.end > end) continue;
      const bool continues =
          std::abs(c.left - right) < 0.5 || std::abs(c.left + c.width - left) < 0.5;
      if (right >= left && continues) {
        left = std::min(left, c.left);
        right = std::max(right, c.left + c.width);
        continue;
      }
      if (right >= left) draw_box(left, right);
      left = c.left;
      right = c.left + c.width;
    }
    if (right >= left) draw_box(left, right);
    if (end > line.end) {  // the line break is selected too
      const double edge = is_in_rtl_paragraph(layout.text, line) ? -static_cast<double>(ui.px(4))
                                                                 : line_layout.width();
      draw_box(edge, edge + static_cast<double>(ui.px(4)));
    }
  }
}

void draw_lines(Ui& ui, const Layout& layout, bool is_invalid, float top, float bottom) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float alpha = ImGui::GetStyle().Alpha;
  const ImVec4& colour = is_invalid ? ui.look->error : ui.look->text;
  const float offset = (layout.line_height - ImGui::GetFontSize()) / 2;
  for (std::size_t i = 0; i < layout.lines.size(); ++i) {
    const float y = layout.y_of(i);
    if (y > bottom || y + layout.line_height < top) continue;
    const LineLayout line = layout.line_layout(i);
    const float left = layout.left_of(i, line);
    for (const LineLayout::Run& run : line.runs()) {
      draw.AddText({std::floor(left + static_cast<float>(run.left)), std::floor(y + offset)},
                   packed(run.is_code_point ? ui.look->faint : colour, alpha), run.drawn.c_str());
    }
  }
}

// Scrolls to the cursor if requested, and moves the lines, whose first one is at `top`,
// accordingly.
void scroll_lines(TextBox& box, Layout& layout, float top, float inner_height) {
  const auto line_height = static_cast<double>(layout.line_height);
  if (box.scrolls_to_cursor) {
    const double line = static_cast<double>(line_of(layout.lines, box.edit.cursor())) * line_height;
    const double lowest = line + line_height - static_cast<double>(inner_height);
    box.scroll = std::clamp(box.scroll, std::max(lowest, 0.0), std::max(line, 0.0));
  }
  const double total = line_height * static_cast<double>(layout.lines.size());
  const double lowest = std::max(0.0, total - static_cast<double>(inner_height));
  box.scroll = box.scrolls_to_end ? lowest : std::clamp(box.scroll, 0.0, lowest);
  layout.origin.y = top - static_cast<float>(box.scroll);
}

// Does the same for a single line, which begins at `left` or, in text from right to left, ends at
// the right edge. `cursor_width`: pixels.
void scroll_sideways(TextBox& box, Layout& layout, float left, double cursor_width) {
  const LineLayout line = layout.line_layout(0);
  const bool is_rtl = is_in_rtl_paragraph(layout.text, layout.lines[0]);
  const auto width = static_cast<double>(layout.width) - cursor_width;
  const double position = line.position_of(box.edit.cursor());
  const double distance = is_rtl ? line.width() - position : position;  // from the line's start
  if (box.scrolls_to_cursor) {
    box.scroll = std::clamp(box.scroll, std::max(distance - width, 0.0), distance);
  }
  box.scroll = std::clamp(box.scroll, 0.0, std::max(0.0, line.width() - width));
  layout.origin.x = left + static_cast<float>(is_rtl ? box.scroll : -box.scroll);
}

void draw_frame(const Ui& ui, ImVec2 corner, ImVec2 end, bool is_focused) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImGuiStyle& style = ImGui::GetStyle();
  draw.AddRectFilled(corner, end,
                     is_focused ? packed(ui.look->field) : ImGui::GetColorU32(ImGuiCol_FrameBg),
                     style.FrameRounding);
  if (!is_focused && !(style.FrameBorderSize > 0)) return;
  draw.AddRect(corner, end, packed(is_focused ? ui.look->accent : ui.look->line, style.Alpha),
               style.FrameRounding, 0, is_focused ? ui.px(1.5) : ui.px(1));
}

// Sizes of a box in pixels.
struct BoxSize {
  float width, height, line_height;
  ImVec2 padding;
};

BoxSize box_size(const Ui& ui, const TextEditorOptions& options) {
  if (options.lines == TextLines::Single) {
    return {ImGui::CalcItemWidth(), ImGui::GetFrameHeight(), ImGui::GetTextLineHeight(),
            ImGui::GetStyle().FramePadding};
  }
  const float line_height = std::round(ImGui::GetTextLineHeight() * kLineSpacing);
  const ImVec2 padding(ui.px(9), ui.px(options.visible_lines > 1 ? 7 : 3));
  return {ImGui::GetContentRegionAvail().x,
          std::round(static_cast<float>(options.visible_lines) * line_height) + 2 * padding.y,
          line_height, padding};
}

}  // namespace

bool draw_text_editor(Ui& ui, TextBox& box, const TextEditorOptions& options,
                      std::optional<std::string>& clipboard) {
  box.was_drawn = true;
  const bool is_single = options.lines == TextLines::Single;
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const BoxSize size = box_size(ui, options);
  invisible_button(options.id, {size.width, size.height});
  mark(ui, options.id);
  const bool is_hovered = ImGui::IsItemHovered();
  if (is_hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_TextInput);

  const ImVec2 padding = size.padding, first(origin.x + padding.x, origin.y + padding.y);
  const float inner_width = size.width - 2 * padding.x, cursor_width = ui.px(1.5);
  const double wrap_width = is_single ? HUGE_VAL : static_cast<double>(inner_width);
  const std::string previous_text = box.edit.text();
  const auto lay_out = [&] {
    Layout layout{first, inner_width, size.line_height, wrap_to_width(box.edit.text(), wrap_width),
                  box.edit.text()};
    if (is_single) {
      scroll_sideways(box, layout, first.x, static_cast<double>(cursor_width));
    } else {
      layout.origin.y -= static_cast<float>(box.scroll);
    }
    return layout;
  };
  use_mouse(box, lay_out(), is_hovered, is_single);
  if (options.has_keyboard) handle_strokes(ui, box, wrap_width, options, clipboard);
  Layout layout = lay_out();
  if (!is_single) scroll_lines(box, layout, first.y, size.height - 2 * padding.y);
  box.scrolls_to_cursor = box.scrolls_to_end = false;

  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImVec2 end(origin.x + size.width, origin.y + size.height);
  draw_frame(ui, origin, end, box.is_focused);
  const ImVec2 inset(is_single ? padding.x / 2 : 0, is_single ? ui.px(1) : ui.px(3));
  draw.PushClipRect({origin.x + inset.x, origin.y + inset.y}, {end.x - inset.x, end.y - inset.y},
                    true);
  if (layout.text.empty()) {
    draw.AddText(layout.origin, packed(ui.look->faint, ImGui::GetStyle().Alpha),
                 options.placeholder);
  }
  if (box.is_focused || !is_single) draw_selection(ui, box.edit, layout, draw);
  draw_lines(ui, layout, options.is_invalid, origin.y, end.y);
  if (box.is_focused) {
    const std::size_t cursor_line = line_of(layout.lines, box.edit.cursor());
    const float x = std::floor(layout.x_of(cursor_line, box.edit.cursor()));
    const float y = layout.y_of(cursor_line);
    draw.AddRectFilled({x, y + ui.px(1)}, {x + cursor_width, y + size.line_height - ui.px(1)},
                       packed(ui.look->text));
  }
  draw.PopClipRect();
  return box.edit.text() != previous_text;
}

}  // namespace attnscope::window
