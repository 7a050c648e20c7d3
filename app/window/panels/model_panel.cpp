#include "app/window/panels/model_panel.h"

#include <algorithm>
#include <filesystem>

#include "app/window/actions/actions.h"
#include "app/window/model_selection.h"
#include "app/window/panels/choice_panel.h"
#include "app/window/panels/structure_panel.h"
#include "app/window/panels/tour_band.h"
#include "app/window/variant_selection.h"
#include "app/window/widgets/selection.h"
#include "app/window/widgets/structure_selection.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/snapshots.h"
#include "core/model/architecture.h"
#include "core/view/parts/describe.h"

namespace attnscope::window {
namespace {

std::string model_label(const std::string& model) {
  std::filesystem::path path = model;
  if (snapshot_step(path)) path = training_folder(model);
  const std::string name = path.filename().string();
  return name.empty() ? model : name;
}

// Width of the column of names, in units.
float name_width(const Ui& ui, const std::vector<ModelGroup>& groups) {
  constexpr float kMinWidth = 190, kGap = 16;
  float widest = ui.px(kMinWidth - kGap);
  for (const ModelGroup& group : groups) {
    for (const ModelGroup::Entry& model : group.models) {
      widest = std::max(widest, ImGui::CalcTextSize(on_screen(model.name).c_str()).x);
    }
  }
  return widest / ui.px(1) + kGap;
}

std::string subtitle_of(const std::vector<ModelGroup>& groups, const std::string& model) {
  for (const ModelGroup& group : groups) {
    const auto entry = std::ranges::find(group.models, model, &ModelGroup::Entry::name);
    if (entry != group.models.end()) return entry->subtitle;
  }
  return "";
}

void draw_models(Ui& ui, State& state, const ModelPanel& panel) {
  heading(ui, "Model");
  ImGui::SetNextItemWidth(-1);
  const std::string current = state.edited().run.model;
  const bool is_open =
      begin_combo(ui, "##model", on_screen(model_label(current)), ImGuiComboFlags_HeightLargest);
  mark(ui, "model");
  if (!is_open) {
    hint(ui, "Model whose attention is shown.");
    if (const std::string text = subtitle_of(panel.models, current); !text.empty()) faint(ui, text);
    return;
  }
  const float column = name_width(ui, panel.models);
  for (const ModelGroup& group : panel.models) {
    ImGui::PushFont(ui.fonts.small);
    ImGui::TextDisabled("%s", group.title.c_str());
    ImGui::PopFont();
    for (const ModelGroup::Entry& model : group.models) {
      if (list_row(ui, on_screen(model.name), model.name == current, true,
                   {model.subtitle, column})) {
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

// Selects the heads that the settings below apply to, and lists heads with individual settings.
void draw_scope(Ui& ui, State& state) {
  const std::string layer = "Layer " + std::to_string(state.edited().view.layer);
  const std::string head = "Head " + std::to_string(state.edited().view.head);
  const bool has_heads = state.layers() > 0 && state.shows_configurable_part();
  if (!has_heads) state.selection.scope = ChoiceScope::All;
  heading(ui, "Apply to");
  const int clicked = segments(
      ui, "scope",
      {{"All heads", "Applies to all heads of all layers.", "all"},
       {layer.c_str(), "Applies to the shown layer only, overriding the settings for all heads.",
        "layer", has_heads},
       {head.c_str(), "Applies to the shown head only, overriding the settings for its layer.",
        "head", has_heads}},
      static_cast<int>(state.selection.scope));
  if (clicked >= 0) state.selection.scope = static_cast<ChoiceScope>(clicked);
  if (state.edited().run.groups.empty()) return;
  ImGui::PushFont(ui.fonts.small);
  for (const std::string& line : describe_groups(state.edited())) paragraph(ui, line);
  ImGui::PopFont();
  if (button(ui, "Same for all heads", "scope.clear")) state.edit().run.groups.clear();
  hint(ui, "Clears the settings of single layers and heads.");
}

void draw_causal(Ui& ui, State& state) {
  const std::optional<bool>& causal = state.edited().run.causal;
  ImGui::TextUnformatted("Direction");
  const int selected = !causal ? 0 : (*causal ? 1 : 2);
  const auto choice_help = [](const std::string& refusal, const char* otherwise) {
    return refusal.empty() ? otherwise : "Not available: " + refusal;
  };
  const std::string causal_reason = causal_refusal(state, true);
  const std::string bidirectional_reason = causal_refusal(state, false);
  const std::string causal_help =
      choice_help(causal_reason, "Each token attends to itself and earlier tokens.");
  const std::string bidirectional_help =
      choice_help(bidirectional_reason, "Each token attends to all tokens, including later ones.");
  const int clicked =
      segments(ui, "causal",
               {{"Model", "Direction that the model was trained with.", "model"},
                {"Causal", causal_help.c_str(), "yes", causal_reason.empty()},
                {"Bidirectional", bidirectional_help.c_str(), "no", bidirectional_reason.empty()}},
               selected);
  if (clicked == 0) select_direction(state, std::nullopt);
  if (clicked > 0) select_direction(state, clicked == 1);
}

std::string id_of(const std::optional<Choice>& choice) {
  return choice ? choice->id : "";
}

// Offers a bundled model that was trained with the method, if the current weights are illustrative.
// Illustrative weights show how a method computes, but not the result of training.
void draw_trained_twin(Ui& ui, State& state, const ModelPanel& panel, const std::string& id) {
  const Trace* trace = state.edited_trace();
  if (id.empty() || trace == nullptr || trace->untrained.empty()) return;
  if (!panel.models_by_choice) return;
  const auto twin = panel.models_by_choice->find(id);
  if (twin == panel.models_by_choice->end() || twin->second == state.edited().run.model) return;
  ImGui::Spacing();
  const std::string label = "Use " + twin->second;
  if (button(ui, label.c_str(), "twin." + id)) {
    undo_implied_changes(state);
    RunView& edited = state.edit();
    edited.run.model = twin->second;
    choose_variant(edited, state.selection.scope, std::nullopt);
    choose_encoding(edited, state.selection.scope, std::nullopt);
    edited.run.causal.reset();
  }
  hint(ui, "Some weights here are illustrative (not trained); this model was trained with them.");
}

// Lists the implied changes of a selection, with a button that undoes selection and changes.
void draw_implied_changes(Ui& ui, State& state, const std::string& changes,
                          const std::string& reason, const char* id, void (*undo)(State&)) {
  if (changes.empty()) return;
  ImGui::Spacing();
  ImGui::PushStyleColor(ImGuiCol_Text, ui.look->warning);
  paragraph(
      ui, on_screen("Also changed: " + changes + "." + (reason.empty() ? "" : " " + reason + ".")));
  ImGui::PopStyleColor();
  if (button(ui, "Undo", id)) undo(state);
  hint(ui, "Undoes the selection and the changes that it implied.");
}

void draw_implied_choice_changes(Ui& ui, State& state) {
  draw_implied_changes(ui, state, implied_changes(state), implied_changes_reason(state),
                       "along.undo", undo_implied_changes);
}

void draw_backend(Ui& ui, State& state) {
  heading(ui, "Device");
  constexpr BackendChoice kChoices[] = {BackendChoice::Auto, BackendChoice::Cpu,
                                        BackendChoice::Gpu};
  const auto it = std::find(std::begin(kChoices), std::end(kChoices), state.edited().run.backend);
  const int clicked =
      segments(ui, "backend",
               {{"Auto", "The faster available device.", "auto"},
                {"CPU", "The processor.", "cpu"},
                {"GPU", "OpenGL compute shaders; if they cannot run, the reason is shown.", "gpu"}},
               static_cast<int>(it - std::begin(kChoices)));
  if (clicked >= 0) state.edit().run.backend = kChoices[clicked];
}

// The device and, with simple controls, a button that shows all settings.
void draw_rest(Ui& ui, State& state) {
  const bool is_in_use = state.edited().run.backend != BackendChoice::Auto;
  if (!ui.is_simple || is_in_use) draw_backend(ui, state);
  if (!ui.is_simple) return;
  ImGui::Dummy({0, ui.px(6)});
  if (button(ui, "More settings", "simple.more")) action("simple").run(state);
  hint(ui, "Show all settings: structure, single heads, direction, device, all parameters.");
}

// Models without self-attention layers have no variant to select.
bool draw_fixed_attention(Ui& ui, State& state) {
  const Architecture* architecture = effective_architecture(state);
  if (architecture == nullptr || architecture->has_self_attention) return false;
  state.selection.scope = ChoiceScope::All;
  heading(ui, "Attention");
  const AttentionTap* tap = state.edited_trace() != nullptr ? state.tap() : nullptr;
  if (tap != nullptr) paragraph(ui, on_screen(describe_variant(*tap)));
  faint(ui,
        "Cross-attention from each target token to the source, as the architecture defines it "
        "(Structure). Variants, directions and positions apply to self-attention, which it does "
        "not have.");
  return true;
}

}  // namespace

void read_model_files(State& state, ModelPanel& panel) {
  const std::string& model = state.edited().run.model;
  if (!state.text.card || state.text.card->model != model) {
    state.text.card = CachedModelCard{model, std::nullopt};
    try {
      state.text.card->card = model_card(model);
    } catch (const std::exception&) {  // reported by the run
    }
  }
  const Trace* trace = state.edited_trace();
  if (panel.models_by_choice || trace == nullptr || trace->untrained.empty()) return;
  panel.models_by_choice.emplace();
  try {
    panel.models_by_choice = bundled_models_by_choice();
  } catch (const std::exception& e) {  // a broken model folder
    state.report_error(e.what());
  }
}

void draw_edited_switch(Ui& ui, State& state) {
  if (!state.session->b) return;
  const int clicked =
      segments(ui, "edited",
               {{"Edit A", "The settings below apply to A.", "a"},
                {"Edit B", "The settings below apply to B; A is compared with it.", "b"}},
               state.edits_b() ? 1 : 0);
  if (clicked >= 0) state.editing_b = clicked == 1;
  ImGui::Spacing();
}

void draw_model_panel(Ui& ui, State& state, ModelPanel& panel) {
  const RunView& edited = state.edited();
  if (edited.run.tensors.file.empty()) {
    draw_models(ui, state, panel);
    draw_training_step(ui, state, panel.training);
    draw_implied_changes(ui, state, implied_model_changes(state), "", "opened.undo",
                         undo_model_selection);
    if (!ui.is_simple || !describe_structure(edited.run).empty()) {
      draw_structure_panel(ui, state, panel.widgets);
    }
    if (draw_fixed_attention(ui, state)) return draw_rest(ui, state);
    const bool is_scoped = state.selection.scope != ChoiceScope::All || !edited.run.groups.empty();
    if (!ui.is_simple || is_scoped) draw_scope(ui, state);
  } else if (state.run.trace == nullptr || state.run.trace->is_imported) {
    return;  // nothing is computed, so there is nothing to select
  } else {
    state.selection.scope = ChoiceScope::All;  // one choice for all heads
  }
  const float top = ImGui::GetCursorScreenPos().y;
  std::optional<Choice> variant = scoped_variant(edited, state.selection.scope);
  const ChoiceEdit variant_edit = draw_choice(ui, variant_list(state), variant, panel.widgets, [&] {
    draw_implied_choice_changes(ui, state);
    draw_trained_twin(ui, state, panel, id_of(scoped_variant(edited, state.selection.scope)));
  });
  outline_move(ui, state, TourMove::Drag, top, ImGui::GetCursorScreenPos().y);
  if (variant_edit != ChoiceEdit::Nothing) {
    select_variant(state, std::move(variant), variant_edit == ChoiceEdit::Entry);
  }
  if (!ui.is_simple || edited.run.causal) draw_causal(ui, state);
  std::optional<Choice> encoding = scoped_encoding(edited, state.selection.scope);
  const ChoiceEdit encoding_edit =
      draw_choice(ui, encoding_list(state), encoding, panel.widgets, [&] {
        draw_trained_twin(ui, state, panel, id_of(scoped_encoding(edited, state.selection.scope)));
      });
  if (encoding_edit != ChoiceEdit::Nothing) {
    select_encoding(state, std::move(encoding), encoding_edit == ChoiceEdit::Entry);
  }
  draw_rest(ui, state);
}

}  // namespace attnscope::window
