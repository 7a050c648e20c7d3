#include "app/window/panels/choice_panel.h"

#include "core/experiment/compatible_choice.h"

namespace attnscope::window {
namespace {

// Draws one entry of a list. True when clicked.
bool draw_entry(Ui& ui, const Entry& entry, bool is_selected, std::string_view scope) {
  const std::string refusal = entry.refusal ? entry.refusal() : "";
  const bool clicked = list_row(ui, on_screen(entry.label), is_selected, refusal.empty());
  mark(ui, std::string(scope) + ".type." + (entry.id.empty() ? "model" : entry.id));
  hint(ui, refusal.empty() ? entry.summary
                           : entry.summary + "\n\nNot available: " + refusal_sentence(refusal));
  return clicked;
}

// Draws the combo box, with its entries under group headings. Returns the clicked entry or null.
const Entry* draw_list(Ui& ui, const std::vector<Entry>& entries, const std::string& selected_id,
                       const std::string& preview, std::string_view scope) {
  const Entry* clicked = nullptr;
  ImGui::SetNextItemWidth(-1);
  ImGui::PushID(scope.data());
  const bool is_open = begin_combo(ui, "##type", on_screen(preview), ImGuiComboFlags_HeightLarge);
  mark(ui, std::string(scope) + ".type");
  if (is_open) {
    std::string group;
    for (const Entry& entry : entries) {
      if (entry.group != group) {
        group = entry.group;
        ImGui::Spacing();
        ImGui::PushFont(ui.fonts.small);
        ImGui::TextDisabled("%s", group.c_str());
        ImGui::PopFont();
      }
      if (draw_entry(ui, entry, entry.id == selected_id, scope)) clicked = &entry;
    }
    ImGui::EndCombo();
  }
  ImGui::PopID();
  return clicked;
}

}  // namespace

ChoiceEdit draw_choice(Ui& ui, const ChoiceList& list, std::optional<Choice>& choice,
                       ParameterWidgets& widgets, const std::function<void()>& draw_between) {
  if (list.heading) {
    heading(ui, list.title);
  } else {
    ImGui::TextUnformatted(list.title);
  }
  const std::string selected_id = choice ? choice->id : "";
  if (const Entry* clicked = draw_list(ui, list.entries, selected_id, list.preview, list.scope)) {
    if (clicked->id.empty()) {
      choice.reset();
    } else if (clicked->id != selected_id) {
      choice = Choice{clicked->id, clicked->start};
    }
    return ChoiceEdit::Entry;  // `list` still describes the previous choice
  }
  if (draw_between) draw_between();
  if (list.current == nullptr) return ChoiceEdit::Nothing;
  if (!choice && list.model_heads_differ) return ChoiceEdit::Nothing;
  // Changing a parameter of the inherited method selects that method explicitly.
  Values values = choice ? choice->values : list.model_values;
  std::vector<Parameter> offered = offered_parameters(*list.current);
  if (ui.is_simple) offered = essential_parameters(offered, values, list.model_values);
  if (draw_parameters(ui, list.scope, offered, list.refusal, values, widgets)) {
    choice = Choice{list.current->id, values};
    return ChoiceEdit::Parameters;
  }
  return ChoiceEdit::Nothing;
}

}  // namespace attnscope::window
