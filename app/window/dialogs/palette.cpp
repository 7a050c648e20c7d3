#include <algorithm>

#include "app/window/actions/actions.h"
#include "app/window/dialogs/dialogs.h"

namespace attnscope::window {
namespace {

// Draws an action: label, menu, and key at the right. True when clicked.
bool draw_row(Ui& ui, const State& state, const Action& a, bool is_enabled, bool is_selected) {
  ImGui::BeginDisabled(!is_enabled);
  ImGui::PushID(a.id.c_str());
  const bool clicked =
      ImGui::Selectable("##row", is_selected, 0, {0, ImGui::GetTextLineHeight() * 1.3F});
  mark(ui, "palette." + a.id);
  hint(ui, help_text(a, state));
  ImGui::PopID();
  const ImVec2 min_corner = ImGui::GetItemRectMin(), max_corner = ImGui::GetItemRectMax();
  const float y = min_corner.y + (max_corner.y - min_corner.y - ImGui::GetTextLineHeight()) / 2;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float alpha = is_enabled ? 1.0F : 0.5F;
  draw.AddText({min_corner.x + ui.px(8), y}, packed(ui.look->text, alpha), a.label.c_str());
  const float label_width = ImGui::CalcTextSize(a.label.c_str()).x;
  const std::string menu(to_string(a.menu));
  draw.AddText({min_corner.x + label_width + ui.px(18), y}, packed(ui.look->faint, alpha),
               menu.c_str());
  const std::string reason = is_enabled && a.refusal ? a.refusal(state) : "";
  if (!reason.empty()) {
    const float left = min_corner.x + label_width + ImGui::CalcTextSize(menu.c_str()).x + ui.px(36);
    draw.PushClipRect({left, min_corner.y}, {max_corner.x - ui.px(30), max_corner.y}, true);
    draw.AddText({left, y}, packed(ui.look->faint, alpha), on_screen(reason).c_str());
    draw.PopClipRect();
  }
  if (!a.shortcuts.empty()) {
    const std::string key = to_string(a.shortcuts.front());
    const float width = ImGui::CalcTextSize(key.c_str()).x;
    draw.AddText({max_corner.x - width - ui.px(8), y}, packed(ui.look->faint, alpha), key.c_str());
  }
  ImGui::EndDisabled();
  return clicked;
}

}  // namespace

void draw_palette(Ui& ui, State& state) {
  Palette& palette = state.dialogs.palette;
  if (!begin_dialog(ui, "Commands", palette.open, 520, 460)) return;
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-1);
  const bool changed = text_field(ui, "##typed", palette.typed, "palette.typed", "Search commands");
  const std::vector<const Action*> matches = matching_actions(palette.typed);
  if (changed) {  // select the first enabled action
    const auto first =
        std::ranges::find_if(matches, [&](const Action* a) { return a->enabled(state); });
    palette.chosen = first == matches.end() ? 0 : static_cast<int>(first - matches.begin());
  }
  if (take_key(ui, "Down")) ++palette.chosen;
  if (take_key(ui, "Up")) --palette.chosen;
  palette.chosen = std::clamp(palette.chosen, 0, std::max(static_cast<int>(matches.size()) - 1, 0));
  const bool enter = take_key(ui, "Enter");
  const Action* activated = nullptr;
  ImGui::BeginChild("found");
  for (int i = 0; i < static_cast<int>(matches.size()); ++i) {
    const Action& a = *matches[static_cast<std::size_t>(i)];
    const bool is_enabled = a.enabled(state), is_selected = i == palette.chosen;
    const bool clicked = draw_row(ui, state, a, is_enabled, is_selected);
    if (is_selected && !ImGui::IsItemVisible()) ImGui::SetScrollHereY();
    if (is_enabled && (clicked || (is_selected && enter))) activated = &a;
  }
  if (matches.empty()) faint(ui, "No matching command.");
  ImGui::EndChild();
  if (activated != nullptr) {
    palette.open = false;
    ImGui::CloseCurrentPopup();
  }
  end_dialog();
  if (activated != nullptr) activated->run(state);
}

}  // namespace attnscope::window
