#include "app/window/intervention_panel.h"

namespace attnscope::window {

void draw_intervention_panel(Ui& ui, State& state) {
  Interventions& list = state.edited().interventions;
  if (list.empty()) return;
  heading(ui, "Interventions");
  std::size_t taken_back = list.size();
  for (std::size_t n = 0; n < list.size(); ++n) {
    ImGui::PushID(static_cast<int>(n));
    const std::string id = "intervention." + std::to_string(n);
    if (button(ui, "✕", id)) taken_back = n;
    hint(ui, "Take this back.");
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    paragraph(ui, describe(list[n]));
    ImGui::PopID();
  }
  if (taken_back < list.size()) list.erase(list.begin() + static_cast<std::ptrdiff_t>(taken_back));
}

}  // namespace attnscope::window
