#include "app/window/panels/choice_panel.h"

namespace attnscope::window {

namespace {

// One entry of a list of things to choose. True when clicked.
bool draw_entry(Ui& ui, const Entry& entry, bool chosen, std::string_view scope) {
  const std::string refusal = entry.refusal ? entry.refusal() : "";
  const bool clicked = list_row(ui, on_screen(entry.label), chosen, refusal.empty());
  mark(ui, std::string(scope) + ".type." + (entry.id.empty() ? "model" : entry.id));
  hint(ui, refusal.empty() ? entry.summary : entry.summary + "\n\nNot here: " + refusal);
  return clicked;
}

// The combo of a list under its groups' headings. Returns the clicked entry or null.
const Entry* draw_list(Ui& ui, const std::vector<Entry>& entries, const std::string& chosen,
                       const std::string& preview, std::string_view scope) {
  const Entry* clicked = nullptr;
  ImGui::SetNextItemWidth(-1);
  ImGui::PushID(scope.data());
  const bool open = begin_combo(ui, "##type", on_screen(preview), ImGuiComboFlags_HeightLarge);
  mark(ui, std::string(scope) + ".type");
  if (open) {
    std::string group;
    for (const Entry& entry : entries) {
      if (entry.group != group) {
        group = entry.group;
        ImGui::Spacing();
        ImGui::PushFont(ui.fonts.small);
        ImGui::TextDisabled("%s", group.c_str());
        ImGui::PopFont();
      }
      if (draw_entry(ui, entry, entry.id == chosen, scope)) clicked = &entry;
    }
    ImGui::EndCombo();
  }
  ImGui::PopID();
  return clicked;
}

}  // namespace

Picked draw_choice(Ui& ui, const ChoiceList& list, std::optional<Choice>& choice, ListTexts& texts,
                   const std::function<void()>& below) {
  if (list.heading) {
    heading(ui, list.title);
  } else {
    ImGui::TextUnformatted(list.title);
  }
  const std::string chosen = choice ? choice->id : "";
  if (const Entry* clicked = draw_list(ui, list.entries, chosen, list.preview, list.scope)) {
    if (clicked->id.empty()) {
      choice.reset();
    } else if (clicked->id != chosen) {
      choice = Choice{clicked->id, clicked->start};
    }
    return Picked::Entry;  // `list` speaks of what was chosen before
  }
  if (below) below();
  if (list.now == nullptr) return Picked::Nothing;
  // Moving a slider of what the model has makes it a choice of one's own.
  Values values = choice ? choice->values : list.model_values;
  const bool refused = !choice && list.model_mixed;
  if (refused) return Picked::Nothing;
  const std::vector<Parameter> offered = offered_parameters(*list.now);
  if (draw_parameters(ui, list.scope, offered, list.refusal, values, texts)) {
    choice = Choice{list.now->id, values};
    return Picked::Parameters;
  }
  return Picked::Nothing;
}

}  // namespace attnscope::window
