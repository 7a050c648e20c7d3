#include "app/window/panels/structure_panel.h"

#include <algorithm>
#include <filesystem>

#include "app/window/files.h"
#include "app/window/panels/choice_panel.h"
#include "app/window/widgets/structure_selection.h"
#include "core/model/exits.h"

namespace attnscope::window {
namespace {

constexpr Index kDefaultSegment = 16;  // tokens, default when segments are turned on
constexpr double kDefaultThreshold = 0.9;

const Parameter& segment_parameter() {
  static const Parameter parameter{.key = "segment",
                                   .symbol = "",
                                   .label = "Segment",
                                   .help =
                                       "Number of tokens read at a time. The attention variant "
                                       "defines the memory of earlier segments.",
                                   .initial = Index{kDefaultSegment},
                                   .limits = {.min = 1, .max = kMaxModelTokens},
                                   .slider = {.min = 1, .max = 256}};
  return parameter;
}

const Parameter& threshold_parameter() {
  static const Parameter parameter{
      .key = "exit",
      .symbol = "λ",
      .label = "Exit threshold",
      .help = "Tokens exit at the first layer whose confidence reaches this threshold.",
      .kind = Parameter::Kind::Real,
      .initial = kDefaultThreshold,
      .limits = {.min = 0, .max = 1},
      .slider = {.min = 0, .max = 1}};
  return parameter;
}

// Draws a parameter that can be off (empty `value`). True if `value` changed.
template <class Number>
bool draw_optional(Ui& ui, const Parameter& parameter, const char* scope, const char* off_label,
                   const char* on_label, const std::string& refusal, std::optional<Number>& value,
                   ParameterWidgets& widgets) {
  ImGui::TextUnformatted(parameter.label.c_str());
  const std::string id = std::string(scope) + ".use";
  const std::string help = refusal.empty() ? parameter.help : "Not available: " + refusal;
  const int clicked =
      segments(ui, id.c_str(),
               {{off_label, "", "off"},
                {on_label, help.c_str(), "on", refusal.empty() || value.has_value()}},
               value ? 1 : 0);
  bool changed = clicked >= 0 && (clicked == 1) != value.has_value();
  if (changed && value) {
    value.reset();
  } else if (changed) {
    value = std::get<Number>(parameter.initial);
  }
  if (!value) return changed;
  Values values = default_values({parameter});
  values.set(parameter.key, *value);
  if (draw_parameters(ui, scope, {parameter}, {}, values, widgets)) {
    value = std::get<Number>(values.all().find(parameter.key)->second);
    changed = true;
  }
  return changed;
}

void draw_segment(Ui& ui, State& state, ParameterWidgets& widgets) {
  const Index current = effective_segment(state);
  std::optional<Index> value;
  if (current > 0) value = current;
  const std::string refusal = segment_refusal(state, current > 0 ? current : kDefaultSegment);
  if (!draw_optional(ui, segment_parameter(), "structure", "Whole text", "In segments", refusal,
                     value, widgets)) {
    return;
  }
  std::optional<Index>& segment = state.edit().run.structure.segment;
  segment = value.value_or(0);
  const ModelConfig* trained =
      state.edited_trace() != nullptr ? state.edited_trace()->trained.get() : nullptr;
  if (trained != nullptr && trained->segment == *segment) segment.reset();
}

void draw_retrieval(Ui& ui, State& state, ParameterWidgets& widgets) {
  std::optional<RetrievalChoice>& retrieval = state.edit().run.retrieval;
  if (retrieval) state.selection.store = retrieval->store;
  std::optional<Choice> choice;
  if (retrieval) choice = retrieval->retrieval_head;
  draw_choice(ui, retrieval_list(state), choice, widgets);
  if (!choice) {
    retrieval.reset();
  } else {
    retrieval = RetrievalChoice{*choice, state.selection.store};
  }
  const std::string name = std::filesystem::path(state.selection.store).filename().string();
  const std::string label = name.empty() ? "Open store…" : "Store: " + name + "…";
  const float width = ImGui::GetContentRegionAvail().x;
  const float max_width = width - 2 * ImGui::GetStyle().FramePadding.x;
  if (button(ui, elide(on_screen(label), max_width).c_str(), "retrieval.store", false, width)) {
    browse(state, BrowsePurpose::OpenStore);
  }
  hint(ui,
       "A datastore contains contexts and the next token of each. Create it with “attnscope "
       "datastore” and the model that will use it.");
}

}  // namespace

void draw_structure_panel(Ui& ui, State& state, ParameterWidgets& widgets) {
  const std::string text = describe_structure(state.edited().run);
  ImGui::Dummy({0, ui.px(5)});
  ImGui::PushFont(ui.fonts.bold);
  const float max_width = ImGui::GetContentRegionAvail().x - ImGui::GetTreeNodeToLabelSpacing();
  const std::string title = elide("Structure" + (text.empty() ? "" : ": " + text), max_width);
  const bool is_open =
      ImGui::TreeNodeEx((on_screen(title) + "###structure").c_str(),
                        ImGuiTreeNodeFlags_NoTreePushOnOpen | ImGuiTreeNodeFlags_SpanAvailWidth);
  ImGui::PopFont();
  mark(ui, "structure");
  hint(ui,
       "Model structure: architecture, residual connections, early exits, segments, "
       "retrieval.");
  if (!is_open) return;
  RunSpec& run = state.edit().run;
  if (!text.empty() && button(ui, "Reset to model default", "structure.clear")) {
    choose_architecture(run, std::nullopt);
    run.structure = {};
    run.exit.reset();
    run.retrieval.reset();
  }
  std::optional<Choice> architecture = run.structure.architecture;
  draw_choice(ui, architecture_list(state), architecture, widgets);
  choose_architecture(run, std::move(architecture));
  draw_choice(ui, residual_connection_list(state), run.structure.residual_connection, widgets);
  const std::optional<Choice> exits = run.structure.exits;
  draw_choice(ui, exits_list(state), run.structure.exits, widgets);
  const bool has_exits = effective_exits(state) != nullptr;
  if (has_exits) {
    draw_optional(ui, threshold_parameter(), "exit", "All layers", "Exit early", "", run.exit,
                  widgets);
    if (button(ui, "Calibrate…", "exit.calibrate")) state.dialogs.calibration.open = true;
    hint(ui, "Determine the threshold on a text, for a tolerated loss.");
  }
  if (exits.has_value() != run.structure.exits.has_value()) {  // shows the effect at once
    run.exit = has_exits ? std::optional(kDefaultThreshold) : std::nullopt;
  }
  draw_segment(ui, state, widgets);
  draw_retrieval(ui, state, widgets);
}

}  // namespace attnscope::window
