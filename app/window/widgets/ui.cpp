#include "app/window/widgets/ui.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cfloat>
#include <utility>

#include "app/window/utf8.h"

namespace attnscope::window {
namespace {

constexpr double kChipPadding = 6;  // units left and right of the label

}  // namespace

void mark(Ui& ui, std::string_view id) {
  if (!ui.report.keeps_boxes()) return;
  const ImVec2 min_corner = ImGui::GetItemRectMin(), size = ImGui::GetItemRectSize();
  ui.report.box(id, {min_corner.x, min_corner.y, size.x, size.y});
}

bool invisible_button(const char* id, ImVec2 size) {
  return ImGui::InvisibleButton(id, {std::max(size.x, 1.0F), std::max(size.y, 1.0F)});
}

void begin_padded_child(const char* id, ImVec2 size, ImGuiWindowFlags flags) {
#if IMGUI_VERSION_NUM >= 19000
  ImGui::BeginChild(id, size, ImGuiChildFlags_AlwaysUseWindowPadding, flags);
#else
  ImGui::BeginChild(id, size, false, flags | ImGuiWindowFlags_AlwaysUseWindowPadding);
#endif
}

void heading(Ui& ui, const char* text, bool first) {
  if (!first) ImGui::Dummy({0, ui.px(5)});
  ImGui::PushFont(ui.fonts.bold);
  ImGui::TextUnformatted(text);
  ImGui::PopFont();
}

void faint(Ui& ui, std::string_view text) {
  ImGui::PushFont(ui.fonts.small);
  ImGui::PushStyleColor(ImGuiCol_Text, ui.look->faint);
  paragraph(ui, text);
  ImGui::PopStyleColor();
  ImGui::PopFont();
}

void paragraph(const Ui& ui, std::string_view text) {
  static_cast<void>(ui);
  const std::string visible = wrapped(text, ImGui::GetContentRegionAvail().x);
  ImGui::PushTextWrapPos(0);  // for words that are wider
  ImGui::TextUnformatted(visible.data(), visible.data() + visible.size());
  ImGui::PopTextWrapPos();
}

std::string wrapped(std::string_view text, float width) {
  std::string visible = on_screen(text);
  // Unlike ImGui::CalcTextSize(), does not round each word up.
  const auto width_of = [&](const char* begin, const char* end) {
    return ImGui::GetFont()->CalcTextSizeA(ImGui::GetFontSize(), FLT_MAX, 0, begin, end).x;
  };
  const std::string_view space = " ";
  const float space_width = width_of(space.data(), space.data() + space.size());
  float x = 0;
  for (std::size_t begin = 0; begin < visible.size();) {
    const std::size_t end = std::min(visible.find_first_of(" \n", begin), visible.size());
    const float word = width_of(visible.data() + begin, visible.data() + end);
    if (x > 0 && visible[begin - 1] == ' ' && x + word > width) {
      visible[begin - 1] = '\n';
      x = 0;
    }
    x += word + space_width;
    if (end < visible.size() && visible[end] == '\n') x = 0;
    begin = end + 1;
  }
  return visible;
}

std::string elide(const std::string& text, float width) {
  if (ImGui::CalcTextSize(text.c_str()).x <= width) return text;
  std::size_t end = text.size();
  std::string shortened;
  do {
    end = previous_character(text, end);
    shortened = text.substr(0, end) + "…";
  } while (end > 0 && ImGui::CalcTextSize(shortened.c_str()).x > width);
  return shortened;
}

float chip_width(const Ui& ui, std::string_view text, float max_width) {
  return std::min(ImGui::CalcTextSize(on_screen(text).c_str()).x + 2 * ui.px(kChipPadding),
                  max_width);
}

void chip(Ui& ui, std::string_view text, const ImVec4& background, const ImVec4& text_colour) {
  const float max_text_width = ImGui::GetContentRegionAvail().x - 2 * ui.px(kChipPadding);
  const std::string label = elide(on_screen(text), max_text_width);
  const ImVec2 extent = ImGui::CalcTextSize(label.c_str());
  const ImVec2 padding(ui.px(kChipPadding), ui.px(2));
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 end(origin.x + extent.x + 2 * padding.x, origin.y + extent.y + 2 * padding.y);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(origin, end, packed(background), ui.px(4));
  draw.AddText({origin.x + padding.x, origin.y + padding.y}, packed(text_colour), label.c_str());
  ImGui::Dummy({end.x - origin.x, end.y - origin.y});
}

namespace {

constexpr double kHintDelay = 0.4;   // seconds
constexpr double kHintFollow = 0.3;  // within these seconds after a hint, the next appears at once
constexpr double kHintWidth = 340;   // units; width of the text
constexpr double kMaxItemHeight = 60;  // units; hints of taller items appear at the pointer

// True if the pointer has rested on the last item for long enough.
bool is_hint_due(const Ui& ui) {
  HintTimer& hint_timer = ui.hint_timer;
  const double time = ImGui::GetTime();
  const ImVec2 corner = ImGui::GetItemRectMin();
  const unsigned window = ImGui::GetCurrentWindowRead()->ID;
  const int frame = ImGui::GetFrameCount();
  const bool is_same = hint_timer.window == window && hint_timer.corner.x == corner.x &&
                       hint_timer.corner.y == corner.y && hint_timer.frame + 1 >= frame;
  const bool follows = hint_timer.last_visible >= 0 && time - hint_timer.last_visible < kHintFollow;
  if (!is_same) hint_timer.rest_start = follows ? time - kHintDelay : time;
  if (ImGui::IsAnyMouseDown()) hint_timer.rest_start = time;
  hint_timer.corner = corner;
  hint_timer.window = window;
  hint_timer.frame = frame;
  hint_timer.wait = hint_timer.rest_start + kHintDelay - time;
  if (hint_timer.wait > 0) return false;
  hint_timer.last_visible = time;
  hint_timer.wait = -1;
  return true;
}

// Hint position: below or above the item, beside menus and lists, or at the pointer on tall items.
ImVec2 hint_position(const Ui& ui, ImVec2 size) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize, mouse = ImGui::GetIO().MousePos;
  const ImVec2 min_corner = ImGui::GetItemRectMin(), max_corner = ImGui::GetItemRectMax();
  const float gap = ui.px(4);
  ImVec2 position(min_corner.x, max_corner.y + gap);
  const ImGuiWindow& window = *ImGui::GetCurrentWindowRead();
  if ((window.Flags & (ImGuiWindowFlags_Popup | ImGuiWindowFlags_ChildMenu)) != 0 &&
      (window.Flags & ImGuiWindowFlags_Modal) == 0) {
    position = {window.Pos.x + window.Size.x + gap, min_corner.y};
    if (position.x + size.x > screen.x) position.x = window.Pos.x - gap - size.x;
  } else if (max_corner.y - min_corner.y > ui.px(kMaxItemHeight)) {
    position = {mouse.x + ui.px(14), mouse.y + ui.px(18)};
    if (position.y + size.y > screen.y) position.y = mouse.y - gap - size.y;
  } else if (position.y + size.y > screen.y) {
    position.y = min_corner.y - gap - size.y;
  }
  return {std::max(0.0F, std::min(position.x, screen.x - size.x)),
          std::max(0.0F, std::min(position.y, screen.y - size.y))};
}

}  // namespace

void hint(const Ui& ui, std::string_view text) {
  if (!ui.shows_hints || text.empty() || !ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled))
    return;
  if (!is_hint_due(ui)) return;
  const std::string visible = on_screen(text);
  const ImVec2 padding(ui.px(10), ui.px(7));
  const ImVec2 extent = ImGui::CalcTextSize(visible.c_str(), nullptr, false, ui.px(kHintWidth));
  ImGui::SetNextWindowPos(hint_position(ui, {extent.x + 2 * padding.x, extent.y + 2 * padding.y}));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, padding);
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, 1);  // also for disabled items
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(ui.px(kHintWidth) + padding.x);
  ImGui::TextUnformatted(visible.c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
  ImGui::PopStyleVar(2);
}

namespace {

// Equal widths if all labels fit; otherwise the widths of the labels with equal padding.
std::vector<float> segment_widths(const Ui& ui, const std::vector<Segment>& choices, float total) {
  const auto count = static_cast<float>(choices.size());
  std::vector<float> widths;
  float widest = 0, sum = 0;
  for (const Segment& choice : choices) {
    widths.push_back(ImGui::CalcTextSize(choice.label).x);
    widest = std::max(widest, widths.back());
    sum += widths.back();
  }
  const bool all_fit = widest + ui.px(16) <= total / count;
  for (float& width : widths) width = all_fit ? total / count : width + (total - sum) / count;
  return widths;
}

}  // namespace

int segments(Ui& ui, const char* id, const std::vector<Segment>& choices, int selected,
             float width) {
  int clicked = -1;
  const float total = width > 0 ? width : ImGui::GetContentRegionAvail().x;
  const float height = ImGui::GetFrameHeight();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const std::vector<float> widths = segment_widths(ui, choices, total);
  const float rounding = ImGui::GetStyle().FrameRounding;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(origin, {origin.x + total, origin.y + height}, packed(ui.look->raised),
                     rounding);
  ImGui::PushID(id);
  float left = origin.x;
  for (int i = 0; i < static_cast<int>(choices.size()); ++i) {
    const Segment& choice = choices[static_cast<std::size_t>(i)];
    const float segment_width = widths[static_cast<std::size_t>(i)];
    if (i > 0) ImGui::SameLine(0, 0);
    const ImVec2 corner(left, origin.y);
    left += segment_width;
    ImGui::SetCursorScreenPos(corner);
    ImGui::BeginDisabled(!choice.enabled);
    if (invisible_button(choice.id, {segment_width, height})) clicked = i;
    const bool is_hovered = ImGui::IsItemHovered();
    ImGui::EndDisabled();
    mark(ui, std::string(id) + "." + choice.id);
    const ImVec2 end(corner.x + segment_width, corner.y + height);
    const float inset = ui.px(2);
    if (i == selected || is_hovered) {
      const ImVec2 inner_corner(corner.x + inset, corner.y + inset);
      const ImVec2 inner_end(end.x - inset, end.y - inset);
      const ImVec4& selected_colour = ui.look->dark ? ui.look->hovered : ui.look->field;
      draw.AddRectFilled(inner_corner, inner_end,
                         packed(i == selected ? selected_colour : ui.look->hovered),
                         rounding - inset / 2);
      if (i == selected) {
        draw.AddRect(inner_corner, inner_end, packed(ui.look->line), rounding - inset / 2);
      }
    }
    const ImVec2 extent = ImGui::CalcTextSize(choice.label);
    const ImVec4& colour =
        i == selected ? ui.look->accent : (choice.enabled ? ui.look->text : ui.look->faint);
    draw.AddText({corner.x + (segment_width - extent.x) / 2, corner.y + (height - extent.y) / 2},
                 packed(colour), choice.label);
    hint(ui, choice.hint);
  }
  ImGui::PopID();
  return clicked;
}

QuietScope::QuietScope() {
  const ImVec4 none(0, 0, 0, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0);
  ImGui::PushStyleColor(ImGuiCol_FrameBg, none);
  ImGui::PushStyleColor(ImGuiCol_Button, none);
}

QuietScope::~QuietScope() {
  ImGui::PopStyleColor(2);
  ImGui::PopStyleVar();
}

bool button(Ui& ui, const char* label, std::string_view id, bool primary, float width) {
  if (primary) {
    ImGui::PushStyleColor(ImGuiCol_Button, ui.look->accent);
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, ui.look->accent);
    ImGui::PushStyleColor(ImGuiCol_Text, ui.look->on_accent);
  }
  const bool clicked = ImGui::Button(label, {width, 0});
  if (primary) ImGui::PopStyleColor(3);
  mark(ui, id);
  return clicked;
}

bool take_key(Ui& ui, std::string_view key) {
  for (KeyStroke& stroke : ui.strokes) {
    if (!stroke.is_handled && stroke.character == 0 && stroke.key == key && !stroke.control) {
      stroke.is_handled = true;
      return true;
    }
  }
  return false;
}

namespace {

// First enabled row from `first` on in the direction `step`; `fallback` if there is none.
int next_enabled(const std::vector<bool>& enabled, int first, int step, int fallback) {
  for (int i = first; i >= 0 && i < static_cast<int>(enabled.size()); i += step) {
    if (enabled[static_cast<std::size_t>(i)]) return i;
  }
  return fallback;
}

// Handles keys with the enabled rows of the previous frame. Call before the rows are drawn.
void begin_rows(Ui& ui) {
  OpenList& list = ui.list;
  if (ImGui::IsWindowAppearing()) {
    list = {};
    list.reveals = 2;  // twice: a popup has no size in its first frame
  }
  const std::vector<bool> enabled = std::exchange(list.enabled, {});
  const int previous = list.marked_row, last_row = static_cast<int>(enabled.size()) - 1;
  int& row = list.marked_row;
  if (take_key(ui, "Down")) row = next_enabled(enabled, row + 1, 1, row);
  if (take_key(ui, "Up")) row = next_enabled(enabled, row < 0 ? last_row : row - 1, -1, row);
  if (take_key(ui, "Home")) row = next_enabled(enabled, 0, 1, row);
  if (take_key(ui, "End")) row = next_enabled(enabled, last_row, -1, row);
  if (row != previous) list.reveals = 1;
  // While a list is open, users may type an entry's name: only digits trigger shortcuts.
  for (KeyStroke& stroke : ui.strokes) {
    const char32_t c = stroke.character;
    const bool is_letter = (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z');
    if (is_letter && !stroke.control) stroke.is_handled = true;
  }
  list.enter = take_key(ui, "Enter");
  if (list.enter && row < 0) ImGui::CloseCurrentPopup();
}

}  // namespace

bool begin_combo(Ui& ui, const char* id, const std::string& preview, ImGuiComboFlags flags) {
  // Leaves room for the arrow button, a square at the right end.
  const float max_width =
      ImGui::CalcItemWidth() - ImGui::GetFrameHeight() - ImGui::GetStyle().FramePadding.x;
  if (!ImGui::BeginCombo(id, elide(preview, max_width).c_str(), flags)) return false;
  begin_rows(ui);
  return true;
}

bool begin_list(Ui& ui, const char* id) {
  if (!ImGui::BeginPopup(id)) return false;
  begin_rows(ui);
  return true;
}

namespace {

// Width of a row from its start to the note's end, in pixels; 0 without a note.
float note_width(const Ui& ui, const RowNote& note) {
  if (note.text.empty()) return 0;
  ImGui::PushFont(ui.fonts.small);
  const float width = ui.px(note.offset) + ImGui::CalcTextSize(on_screen(note.text).c_str()).x;
  ImGui::PopFont();
  return width;
}

void draw_note(const Ui& ui, const RowNote& note) {
  if (note.text.empty()) return;
  const ImVec2 min_corner = ImGui::GetItemRectMin(), max_corner = ImGui::GetItemRectMax();
  ImGui::PushFont(ui.fonts.small);
  const float offset_y = (max_corner.y - min_corner.y - ImGui::GetFontSize()) / 2;
  ImGui::GetWindowDrawList()->AddText({min_corner.x + ui.px(note.offset), min_corner.y + offset_y},
                                      packed(ui.look->faint), on_screen(note.text).c_str());
  ImGui::PopFont();
}

}  // namespace

bool list_row(Ui& ui, const std::string& label, bool is_current, bool enabled,
              const RowNote& note) {
  OpenList& list = ui.list;
  const int row = static_cast<int>(list.enabled.size());
  list.enabled.push_back(enabled);
  if (ImGui::IsWindowAppearing() && is_current && enabled) list.marked_row = row;
  const bool is_marked = row == list.marked_row;
  // Highlights the marked row, not the hovered one: a key may have moved the mark off the pointer.
  const ImVec4 transparent(0, 0, 0, 0);
  ImGui::PushStyleColor(ImGuiCol_Header, is_marked ? ui.look->hovered : transparent);
  ImGui::PushStyleColor(ImGuiCol_HeaderHovered, is_marked ? ui.look->hovered : transparent);
  if (is_current) ImGui::PushStyleColor(ImGuiCol_Text, ui.look->accent);
  ImGui::BeginDisabled(!enabled);
  const ImVec2 size(std::max(note_width(ui, note), ImGui::GetContentRegionAvail().x), 0);
  bool clicked =
      ImGui::Selectable(label.c_str(), is_marked, 0, note.text.empty() ? ImVec2() : size);
  draw_note(ui, note);
  ImGui::EndDisabled();
  ImGui::PopStyleColor(is_current ? 3 : 2);
  const ImVec2 delta = ImGui::GetIO().MouseDelta;
  if (enabled && ImGui::IsItemHovered() && (delta.x != 0 || delta.y != 0)) list.marked_row = row;
  if (!is_marked) return clicked;
  mark(ui, "list.marked");
  if (list.reveals > 0) {
    --list.reveals;
    if (row == 0) {
      ImGui::SetScrollY(0);  // also shows the heading above the row
    } else {
      ImGui::ScrollToItem(ImGuiScrollFlags_KeepVisibleEdgeY);
    }
  }
  if (list.enter && enabled) {
    ImGui::CloseCurrentPopup();
    clicked = true;
  }
  return clicked;
}

namespace {

// Number of popups above the dialogs. Dialogs handle Escape themselves.
int open_popups() {
  const auto& stack = ImGui::GetCurrentContext()->OpenPopupStack;
  int count = 0;
  for (int i = stack.Size - 1; i >= 0; --i) {
    const ImGuiWindow* window = stack[i].Window;
    if (window == nullptr || (window->Flags & ImGuiWindowFlags_Modal) != 0) break;
    ++count;
  }
  return count;
}

}  // namespace

void close_popup_on_escape(Ui& ui) {
  if (open_popups() == 0 || !take_key(ui, "Escape")) return;
  ImGui::ClosePopupToLevel(ImGui::GetCurrentContext()->OpenPopupStack.Size - 1, true);
}

void close_popups() {
  const int count = open_popups();
  if (count == 0) return;
  ImGui::ClosePopupToLevel(ImGui::GetCurrentContext()->OpenPopupStack.Size - count, true);
}

namespace {

// Title bar of a dialog, with a close button at the right.
void draw_title(Ui& ui, const char* title, bool& open) {
  ImGui::PushFont(ui.fonts.title);
  ImGui::TextUnformatted(title);
  ImGui::PopFont();
  const float side = ui.px(26);
  ImGui::SameLine(ImGui::GetContentRegionMax().x - side);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  if (invisible_button("close", {side, side})) open = false;
  mark(ui, "dialog.close");
  const ImVec2 extent = ImGui::CalcTextSize("✕");
  ImGui::GetWindowDrawList()->AddText(
      {origin.x + (side - extent.x) / 2, origin.y + (side - extent.y) / 2},
      packed(ImGui::IsItemHovered() ? ui.look->text : ui.look->faint), "✕");
}

// Closes a dialog together with the popups above it. BeginPopupModal() with a cleared `open` flag
// would draw the window once more, without content.
void close_dialog(const char* id) {
  const auto& stack = ImGui::GetCurrentContext()->OpenPopupStack;
  const ImGuiID dialog = ImGui::GetID(id);
  for (int level = 0; level < stack.Size; ++level) {
    if (stack[level].PopupId == dialog) return ImGui::ClosePopupToLevel(level, true);
  }
}

}  // namespace

bool begin_dialog(Ui& ui, const char* title, bool& open, double width, double height) {
  const std::string id = std::string("##") + title;
  if (!open) {
    close_dialog(id.c_str());
    return false;
  }
  if (!ImGui::IsPopupOpen(id.c_str())) ImGui::OpenPopup(id.c_str());
  const ImGuiViewport& screen = *ImGui::GetMainViewport();
  const ImVec2 max_size(screen.WorkSize.x - ui.px(40), screen.WorkSize.y - ui.px(40));
  const ImVec2 size(std::min(ui.px(width), max_size.x),
                    height > 0 ? std::min(ui.px(height), max_size.y) : 0.0F);
  ImGui::SetNextWindowPos(screen.GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
  ImGui::SetNextWindowSize(size, ImGuiCond_Always);
  ImGui::SetNextWindowSizeConstraints({0, 0}, max_size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(20), ui.px(16)});
  const bool is_visible =
      ImGui::BeginPopupModal(id.c_str(), &open,
                             ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize |
                                 ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoSavedSettings);
  ImGui::PopStyleVar();
  if (!is_visible) return false;
  draw_title(ui, title, open);
  if (take_key(ui, "Escape")) open = false;
  return true;
}

void end_dialog() {
  ImGui::EndPopup();
}

}  // namespace attnscope::window
