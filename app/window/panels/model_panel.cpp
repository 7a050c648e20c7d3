#include "app/window/panels/model_panel.h"

#include <algorithm>
#include <filesystem>

#include "app/window/actions/actions.h"
#include "app/window/opening.h"
#include "app/window/panels/choice_panel.h"
#include "app/window/panels/structure_panel.h"
#include "app/window/picking.h"
#include "app/window/widgets/selection.h"
#include "app/window/widgets/structure_selection.h"
#include "core/checkpoint/checkpoint.h"
#include "core/model/architecture.h"
#include "core/view/parts/describe.h"

namespace attnscope::window {

namespace {

std::string model_label(const std::string& model) {
  const std::string name = std::filesystem::path(model).filename().string();
  return name.empty() ? model : name;
}

constexpr double kNameWidth = 190;  // units

std::string words_of(const std::vector<ModelGroup>& groups, const std::string& model) {
  for (const ModelGroup& group : groups) {
    const auto found = std::ranges::find(group.models, model, &ModelGroup::Entry::name);
    if (found != group.models.end()) return found->subtitle;
  }
  return "";
}

void draw_models(Ui& ui, State& state, const ModelPanel& panel) {
  heading(ui, "Model");
  ImGui::SetNextItemWidth(-1);
  const std::string now = state.edited().model;
  const bool open =
      begin_combo(ui, "##model", on_screen(model_label(now)), ImGuiComboFlags_HeightLargest);
  mark(ui, "model");
  if (!open) {
    hint(ui, "The model whose attention is shown.");
    if (const std::string words = words_of(panel.models, now); !words.empty()) faint(ui, words);
    return;
  }
  for (const ModelGroup& group : panel.models) {
    ImGui::PushFont(ui.fonts.small);
    ImGui::TextDisabled("%s", group.title.c_str());
    ImGui::PopFont();
    for (const ModelGroup::Entry& model : group.models) {
      if (list_row(ui, on_screen(model.name), model.name == now, true,
                   {model.subtitle, kNameWidth})) {
        choose_model(state, model.name);
      }
      mark(ui, "model." + model.name);
    }
  }
  ImGui::Separator();
  if (list_row(ui, action("open_model").label, false)) action("open_model").run(state);
  mark(ui, "model.open");
  ImGui::EndCombo();
}

// For which heads the choices below hold, and which hold for others.
void draw_scope(Ui& ui, State& state) {
  const std::string layer = "Layer " + std::to_string(state.edited().view.layer);
  const std::string head = "Head " + std::to_string(state.edited().view.head);
  const bool some = state.layers() > 0 && state.shows_choices();
  if (!some) state.scope = ChoiceScope::All;
  heading(ui, "Choices for");
  const int clicked = segments(
      ui, "scope",
      {{"All heads", "Attention and position are chosen for all heads of all layers.", "all"},
       {layer.c_str(),
        "They are chosen for the layer that is shown, in place of what holds for all.", "layer",
        some},
       {head.c_str(),
        "They are chosen for the head that is shown, in place of what holds for its layer.", "head",
        some}},
      static_cast<int>(state.scope));
  if (clicked >= 0) state.scope = static_cast<ChoiceScope>(clicked);
  if (state.edited().groups.empty()) return;
  ImGui::PushFont(ui.fonts.small);
  for (const std::string& line : describe_groups(state.edited())) paragraph(ui, line);
  ImGui::PopFont();
  if (button(ui, "The same for all heads", "scope.clear")) state.edited().groups.clear();
  hint(ui, "Takes back what was chosen for some heads.");
}

void draw_causal(Ui& ui, State& state) {
  const std::optional<bool>& causal = state.edited().causal;
  ImGui::TextUnformatted("Direction");
  const int chosen = !causal ? 0 : (*causal ? 1 : 2);
  const auto help = [](const std::string& refusal, const char* otherwise) {
    return refusal.empty() ? otherwise : "Not here: " + refusal;
  };
  const std::string not_causal = causal_refusal(state, true);
  const std::string not_both = causal_refusal(state, false);
  const std::string on = help(not_causal, "Each token sees itself and what comes before.");
  const std::string off = help(not_both, "Each token sees all tokens, also those after it.");
  const int clicked = segments(ui, "causal",
                               {{"Model", "As the model was trained.", "model"},
                                {"Causal", on.c_str(), "yes", not_causal.empty()},
                                {"Both ways", off.c_str(), "no", not_both.empty()}},
                               chosen);
  if (clicked == 0) pick_direction(state, std::nullopt);
  if (clicked > 0) pick_direction(state, clicked == 1);
}

std::string chosen_id(const std::optional<Choice>& choice) {
  return choice ? choice->id : "";
}

// Untrained weights show what a method computes, not what it learns: a model that was trained with
// it may be at hand.
void draw_trained_twin(Ui& ui, State& state, ModelPanel& panel, const std::string& id) {
  const Trace* trace = state.edited_trace();
  if (id.empty() || trace == nullptr || trace->untrained.empty()) return;
  if (!panel.models_by_choice) {
    panel.models_by_choice.emplace();
    try {
      panel.models_by_choice = bundled_models_by_choice();
    } catch (const std::exception& e) {  // a broken folder among them
      state.complain(e.what());
    }
  }
  const auto found = panel.models_by_choice->find(id);
  if (found == panel.models_by_choice->end() || found->second == state.edited().model) return;
  ImGui::Spacing();
  const std::string label = "Use " + found->second;
  if (button(ui, label.c_str(), "twin." + id)) {
    undo_set_along(state);
    Experiment& e = state.edited();
    e.model = found->second;
    choose_variant(e, state.scope, std::nullopt);
    choose_encoding(e, state.scope, std::nullopt);
    e.causal.reset();
  }
  hint(ui, "Here some of its weights are untrained; this model was trained with them.");
}

// What goes with the choice and was not there before, and a way back.
void draw_along(Ui& ui, State& state, const std::string& words, const std::string& reason,
                const char* id, void (*undo)(State&)) {
  if (words.empty()) return;
  ImGui::Spacing();
  ImGui::PushStyleColor(ImGuiCol_Text, ui.look->warning);
  paragraph(ui, on_screen("Set along with it: " + words + "." +
                          (reason.empty() ? "" : " " + reason + ".")));
  ImGui::PopStyleColor();
  if (button(ui, "Undo", id)) undo(state);
  hint(ui, "Takes back the choice and what was set along with it.");
}

void draw_set_along(Ui& ui, State& state) {
  draw_along(ui, state, set_along(state), set_along_reason(state), "along.undo", undo_set_along);
}

void draw_backend(Ui& ui, State& state) {
  heading(ui, "Computed by");
  constexpr BackendChoice kChoices[] = {BackendChoice::Auto, BackendChoice::Cpu,
                                        BackendChoice::Gpu};
  const auto at = std::find(std::begin(kChoices), std::end(kChoices), state.edited().backend);
  const int clicked = segments(
      ui, "backend",
      {{"Auto", "Whichever is there and faster.", "auto"},
       {"CPU", "The processor.", "cpu"},
       {"GPU", "OpenGL compute shaders; refused with a reason where they cannot run.", "gpu"}},
      static_cast<int>(at - std::begin(kChoices)));
  if (clicked >= 0) state.edited().backend = kChoices[clicked];
}

// Where layers of self-attention are none there is no variant to choose for them.
bool draw_own_attention(Ui& ui, State& state) {
  const Architecture* architecture = effective_architecture(state);
  if (architecture == nullptr || architecture->has_self_attention) return false;
  state.scope = ChoiceScope::All;
  heading(ui, "Attention");
  const AttentionTap* tap = state.edited_trace() != nullptr ? state.tap() : nullptr;
  if (tap != nullptr) paragraph(ui, on_screen(describe_variant(*tap)));
  faint(ui,
        "From each token of the target to the source, as the architecture has it (Structure). "
        "Variants, "
        "directions and positions are choices for layers of self-attention, of which it has none.");
  return true;
}

}  // namespace

void draw_edited_switch(Ui& ui, State& state) {
  if (state.experiment.others.empty()) return;
  const int clicked =
      segments(ui, "edited",
               {{"Edit A", "What is set below holds for A.", "a"},
                {"Edit B", "What is set below holds for B, which A is compared with.", "b"}},
               state.edits_other() ? 1 : 0);
  if (clicked >= 0) state.editing_other = clicked == 1;
  ImGui::Spacing();
}

void draw_model_panel(Ui& ui, State& state, ModelPanel& panel) {
  Experiment& e = state.edited();
  if (e.tensors.file.empty()) {
    draw_models(ui, state, panel);
    draw_along(ui, state, opened_along(state), "", "opened.undo", undo_opened);
    draw_structure_panel(ui, state, panel.lists);
    if (draw_own_attention(ui, state)) return draw_backend(ui, state);
    draw_scope(ui, state);
  } else if (state.trace == nullptr || state.trace->given) {
    return;  // there is nothing to compute, and so nothing to choose
  } else {
    state.scope = ChoiceScope::All;  // one choice for all heads
  }
  std::optional<Choice> variant = scoped_variant(e, state.scope);
  const Picked of_variant = draw_choice(ui, variant_list(state), variant, panel.lists, [&] {
    draw_set_along(ui, state);
    draw_trained_twin(ui, state, panel, chosen_id(scoped_variant(e, state.scope)));
  });
  if (of_variant != Picked::Nothing) {
    pick_variant(state, std::move(variant), of_variant == Picked::Entry);
  }
  draw_causal(ui, state);
  std::optional<Choice> encoding = scoped_encoding(e, state.scope);
  const Picked of_encoding = draw_choice(ui, encoding_list(state), encoding, panel.lists, [&] {
    draw_trained_twin(ui, state, panel, chosen_id(scoped_encoding(e, state.scope)));
  });
  if (of_encoding != Picked::Nothing) {
    pick_encoding(state, std::move(encoding), of_encoding == Picked::Entry);
  }
  draw_backend(ui, state);
}

}  // namespace attnscope::window
