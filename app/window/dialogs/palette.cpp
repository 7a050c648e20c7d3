#include "app/window/dialogs/palette.h"

#include <algorithm>

#include "app/window/dialogs/dialogs.h"
#include "app/window/widgets/text_field.h"

namespace attnscope::window {
namespace {

// Draws an entry: label, kind, reason if the entry is disabled, and key at the right. Returns true
// if it is enabled and was clicked.
bool draw_row(Ui& ui, const State& state, const PaletteEntry& entry, bool is_selected) {
  const ImVec2 size(0, ImGui::GetTextLineHeight() * 1.3F);
  if (!ImGui::IsRectVisible({1, size.y})) {  // computing reasons can be slow
    ImGui::Dummy({1, size.y});
    return false;
  }
  const bool is_enabled = entry.enabled(state);
  const std::string reason = entry.refusal(state);
  ImGui::BeginDisabled(!is_enabled);
  ImGui::PushID(entry.id.c_str());
  const bool clicked = ImGui::Selectable("##row", is_selected, 0, size);
  mark(ui, "palette." + entry.id);
  hint(ui, entry.help + (reason.empty() ? "" : "\n" + reason));
  ImGui::PopID();
  const ImVec2 min_corner = ImGui::GetItemRectMin(), max_corner = ImGui::GetItemRectMax();
  const float y = min_corner.y + (max_corner.y - min_corner.y - ImGui::GetTextLineHeight()) / 2;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float alpha = is_enabled ? 1.0F : 0.5F;
  const std::string label = on_screen(entry.label);
  draw.AddText({min_corner.x + ui.px(8), y}, packed(ui.look->text, alpha), label.c_str());
  const float label_width = ImGui::CalcTextSize(label.c_str()).x;
  draw.AddText({min_corner.x + label_width + ui.px(18), y}, packed(ui.look->faint, alpha),
               entry.kind.c_str());
  if (!is_enabled && !reason.empty()) {
    const float left =
        min_corner.x + label_width + ImGui::CalcTextSize(entry.kind.c_str()).x + ui.px(36);
    draw.PushClipRect({left, min_corner.y}, {max_corner.x - ui.px(30), max_corner.y}, true);
    draw.AddText({left, y}, packed(ui.look->faint, alpha), on_screen(reason).c_str());
    draw.PopClipRect();
  }
  if (!entry.key.empty()) {
    const float width = ImGui::CalcTextSize(entry.key.c_str()).x;
    draw.AddText({max_corner.x - width - ui.px(8), y}, packed(ui.look->faint, alpha),
                 entry.key.c_str());
  }
  ImGui::EndDisabled();
  return clicked && is_enabled;
}

}  // namespace

void draw_palette(Ui& ui, State& state, const std::vector<ModelGroup>& models) {
  Palette& palette = state.dialogs.palette;
  if (!begin_dialog(ui, "Commands", palette.open, 560, 460)) return;
  const bool appears = ImGui::IsWindowAppearing();
  if (appears) {
    palette.entries = palette_entries(state, models);
  }
  keep_focus_here(ui);
  ImGui::SetNextItemWidth(-1);
  const bool changed = text_field(ui, palette.typed, "palette.typed",
                                  "Search commands, variants, encodings, models, lessons, samples");
  const std::vector<const PaletteEntry*> matches = matching_entries(palette.entries, palette.typed);
  if (changed || appears) palette.chosen = static_cast<int>(first_enabled(matches, state));
  if (take_key(ui, "Down")) ++palette.chosen;
  if (take_key(ui, "Up")) --palette.chosen;
  palette.chosen = std::clamp(palette.chosen, 0, std::max(static_cast<int>(matches.size()) - 1, 0));
  const bool enter = take_key(ui, "Enter");
  const PaletteEntry* activated = nullptr;
  ImGui::BeginChild("found");
  for (int i = 0; i < static_cast<int>(matches.size()); ++i) {
    const PaletteEntry& entry = *matches[static_cast<std::size_t>(i)];
    const bool is_selected = i == palette.chosen;
    const bool clicked = draw_row(ui, state, entry, is_selected);
    if (is_selected && !ImGui::IsItemVisible()) ImGui::SetScrollHereY();
    if (clicked || (is_selected && enter && entry.enabled(state))) activated = &entry;
  }
  if (matches.empty()) faint(ui, "No matching entry.");
  ImGui::EndChild();
  std::function<void(State&)> run;
  if (activated != nullptr) {
    run = activated->run;  // the entry may open the palette again
    palette.open = false;
    ImGui::CloseCurrentPopup();
  }
  end_dialog();
  if (run) run(state);
}

}  // namespace attnscope::window
