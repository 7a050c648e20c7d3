#include "app/window/panels/intervention_panel.h"

#include "core/view/parts/describe.h"

namespace attnscope::window {

void draw_intervention_panel(Ui& ui, State& state) {
  const Interventions& list = state.edited().run.interventions;
  if (list.empty()) return;
  const Trace* trace = state.edited_trace();
  const InterventionNames names =
      trace != nullptr ? intervention_names(*trace, state.tap()) : InterventionNames();
  heading(ui, "Interventions");
  std::size_t removed = list.size();
  for (std::size_t n = 0; n < list.size(); ++n) {
    ImGui::PushID(static_cast<int>(n));
    const std::string id = "intervention." + std::to_string(n);
    if (button(ui, "✕", id)) removed = n;
    hint(ui, "Remove this intervention.");
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    paragraph(ui, ui.shown_label(on_screen(describe(list[n], names))));
    ImGui::PopID();
  }
  if (removed == list.size()) return;
  Interventions& edited = state.edit().run.interventions;
  edited.erase(edited.begin() + static_cast<std::ptrdiff_t>(removed));
}

}  // namespace attnscope::window
