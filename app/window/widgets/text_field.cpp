#include "app/window/widgets/text_field.h"

#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include "app/window/widgets/text_editor.h"

namespace attnscope::window {
namespace {

using Field = FieldFocus::Field;

void take_focus(FieldFocus& fields, ImGuiID id, const TextBox& box) {
  if (fields.focused != 0 && fields.is_edited) {
    fields.left = fields.focused;
    fields.left_text = fields.box.edit.text();
  }
  fields.focused = id;
  fields.box = box;
  fields.box.is_focused = true;
  fields.box.is_dragging = false;
  fields.box.edit.select_all();
  fields.is_edited = false;
  fields.undo_steps.clear();
  fields.redo_steps.clear();
}

// Field that Tab leads to: the next or previous one of the same window.
ImGuiID neighbour(const FieldFocus& fields, const Field& field, bool backwards) {
  std::vector<ImGuiID> ids;
  for (const Field& f : fields.previous) {
    if (f.window == field.window) ids.push_back(f.id);
  }
  if (backwards) std::ranges::reverse(ids);
  const auto here = std::ranges::find(ids, field.id);
  if (here == ids.end()) return field.id;
  return std::next(here) == ids.end() ? ids.front() : *std::next(here);
}

bool is_disabled() {
  return (ImGui::GetCurrentContext()->CurrentItemFlags & ImGuiItemFlags_Disabled) != 0;
}

// Undoes or redoes the last change of the focused field's text.
void change_back(FieldFocus& fields, bool redo) {
  std::vector<TextEdit>& from = redo ? fields.redo_steps : fields.undo_steps;
  std::vector<TextEdit>& to = redo ? fields.undo_steps : fields.redo_steps;
  if (from.empty()) return;
  to.push_back(fields.box.edit);
  fields.box.edit = from.back();
  from.pop_back();
}

// Handles keys that text boxes ignore: Tab, Return, Escape, undo and redo. True after undo or redo.
bool use_field_keys(Ui& ui, const Field& field) {
  FieldFocus& fields = ui.fields;
  bool has_undone = false;
  for (KeyStroke& stroke : ui.strokes) {
    if (stroke.is_handled || stroke.character != 0 || !fields.box.is_focused) continue;
    if (stroke.key == "Tab" && !stroke.control) {
      fields.requested = neighbour(fields, field, stroke.shift);
      stroke.is_handled = true;
      fields.box.is_focused = false;
    } else if (stroke.key == "Enter" || stroke.key == "Escape") {
      fields.box.is_focused = false;
    } else if (stroke.control && (stroke.key == "z" || stroke.key == "y")) {
      change_back(fields, stroke.key == "y" || stroke.shift);
      stroke.is_handled = has_undone = true;
    }
  }
  return has_undone;
}

// Text of a field after a frame.
struct Edited {
  std::string text;
  bool has_changed = false;  // in this frame, by the user
  bool is_complete = false;  // the user has changed it, and the field has lost the keyboard
};

// Draws a field. `shown`: the text, which the field follows unless `keeps_edits` and the user has
// changed the text since the field got the keyboard.
Edited edit_field(Ui& ui, const std::string& shown, bool keeps_edits, const char* id,
                  const char* placeholder, bool is_invalid) {
  FieldFocus& fields = ui.fields;
  const Field field{ImGui::GetID(id), ImGui::GetCurrentContext()->CurrentWindow->RootWindow->ID};
  TextBox unfocused;
  unfocused.edit.assign(shown);
  const bool is_enabled = !is_disabled();
  if (is_enabled) {
    fields.drawn.push_back(field);
    const bool is_requested = std::exchange(fields.requests_next, false);
    if (is_requested || fields.requested == field.id) {
      fields.requested = 0;
      take_focus(fields, field.id, unfocused);
    }
  }
  const bool was_focused = is_enabled && fields.focused == field.id;
  TextBox& box = was_focused ? fields.box : unfocused;
  if (was_focused && box.edit.text() != shown && !(keeps_edits && fields.is_edited)) {
    box.edit.assign(shown);
    box.edit.select_all();
  }
  const TextEdit previous = box.edit;
  const bool has_keyboard =
      was_focused && ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows);
  const bool has_undone = has_keyboard && use_field_keys(ui, field);
  std::optional<std::string> clipboard;
  draw_text_editor(ui, box,
                   {.id = id,
                    .placeholder = placeholder,
                    .visible_lines = 1,
                    .lines = TextLines::Single,
                    .has_keyboard = has_keyboard,
                    .is_invalid = is_invalid},
                   clipboard);
  if (clipboard) ImGui::SetClipboardText(clipboard->c_str());
  Edited edited{box.edit.text(), false, false};
  if (!was_focused) {
    if (is_enabled && box.is_focused) take_focus(fields, field.id, unfocused);
    if (fields.left == field.id) edited = {std::exchange(fields.left_text, ""), false, true};
    return edited;
  }
  edited.has_changed = box.edit.text() != previous.text();
  if (edited.has_changed) fields.is_edited = true;
  if (edited.has_changed && !has_undone) {
    fields.undo_steps.push_back(previous);
    fields.redo_steps.clear();
  }
  if (!box.is_focused) {
    fields.focused = 0;
    edited.is_complete = fields.is_edited;
  }
  return edited;
}

std::optional<double> parse(const std::string& text, double) {
  double value = 0;
  const std::size_t begin = text.find_first_not_of(" +"), end = text.find_last_not_of(' ');
  if (begin == std::string::npos) return std::nullopt;
  const char* last = text.data() + end + 1;
  const auto [rest, problem] = std::from_chars(text.data() + begin, last, value);
  if (problem != std::errc() || rest != last || std::isnan(value)) return std::nullopt;
  return value;
}

// Rounds a number with a fraction.
std::optional<Index> parse(const std::string& text, Index) {
  const std::optional<double> value = parse(text, 0.0);
  constexpr double kMax = 9e15;  // integers up to this size are exact
  if (!value || !(std::abs(*value) <= kMax)) return std::nullopt;
  return static_cast<Index>(std::llround(*value));
}

template <class Number>
bool edit_number(Ui& ui, Number& value, const std::string& shown, const char* id,
                 NumberUpdate update) {
  const FieldFocus& fields = ui.fields;
  const bool is_invalid = fields.focused == ImGui::GetID(id) && fields.is_edited &&
                          !parse(fields.box.edit.text(), value);
  const Edited edited = edit_field(ui, shown, true, id, "", is_invalid);
  const bool has_update =
      edited.is_complete || (edited.has_changed && update == NumberUpdate::WhileTyping);
  if (!has_update) return false;
  const std::optional<Number> number = parse(edited.text, value);
  if (!number) return false;
  return std::exchange(value, *number) != *number;
}

}  // namespace

bool text_field(Ui& ui, std::string& text, const char* id, const char* placeholder) {
  Edited edited = edit_field(ui, text, false, id, placeholder, false);
  if (!edited.has_changed) return false;
  text = std::move(edited.text);
  return true;
}

bool number_field(Ui& ui, double& value, const char* format, const char* id, NumberUpdate update) {
  std::array<char, 64> shown;
  std::snprintf(shown.data(), shown.size(), format, value);
  return edit_number(ui, value, shown.data(), id, update);
}

bool number_field(Ui& ui, Index& value, const char* id, NumberUpdate update) {
  return edit_number(ui, value, std::to_string(value), id, update);
}

void focus_next_field(Ui& ui) {
  ui.fields.requests_next = true;
}

void keep_focus_here(Ui& ui) {
  if (!ui.fields.has_keyboard() && ui.fields.requested == 0 && !ImGui::IsAnyItemActive()) {
    focus_next_field(ui);
  }
}

void begin_fields(Ui& ui) {
  ui.fields.previous = std::exchange(ui.fields.drawn, {});
}

void end_fields(Ui& ui) {
  FieldFocus& fields = ui.fields;
  fields.left = 0;
  fields.requests_next = false;
  const auto is_drawn = [&](ImGuiID id) {
    return std::ranges::find(fields.drawn, id, &Field::id) != fields.drawn.end();
  };
  if (!is_drawn(fields.focused)) fields.focused = 0;
  if (!is_drawn(fields.requested)) fields.requested = 0;
}

}  // namespace attnscope::window
