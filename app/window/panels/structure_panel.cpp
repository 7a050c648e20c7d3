#include "app/window/panels/structure_panel.h"

#include <algorithm>
#include <filesystem>

#include "app/window/files.h"
#include "app/window/panels/choice_panel.h"
#include "app/window/widgets/structure_selection.h"
#include "core/model/exits.h"

namespace attnscope::window {

namespace {

constexpr Index kUsualSegment = 16;  // tokens, where a person first asks for segments
constexpr double kUsualThreshold = 0.9;

const Parameter& segment_parameter() {
  static const Parameter parameter{.key = "segment",
                                   .symbol = "",
                                   .label = "Segment",
                                   .help =
                                       "Tokens that are read at a time; layers remember those "
                                       "before them as their attention says.",
                                   .initial = Index{kUsualSegment},
                                   .least = 1,
                                   .most = kMostModelTokens,
                                   .slider_least = 1,
                                   .slider_most = 256};
  return parameter;
}

const Parameter& threshold_parameter() {
  static const Parameter parameter{
      .key = "exit",
      .symbol = "λ",
      .label = "Exit threshold",
      .help = "Tokens leave at the first layer that is as sure as this.",
      .kind = Parameter::Kind::Real,
      .initial = kUsualThreshold,
      .least = 0,
      .most = 1,
      .slider_least = 0,
      .slider_most = 1};
  return parameter;
}

// One parameter that may be off: `value` is empty then. True when it changed.
template <class Number>
bool draw_optional(Ui& ui, const Parameter& parameter, const char* scope, const char* off,
                   const char* on, const std::string& refusal, std::optional<Number>& value,
                   ListTexts& texts) {
  ImGui::TextUnformatted(parameter.label.c_str());
  const std::string id = std::string(scope) + ".use";
  const std::string help = refusal.empty() ? parameter.help : "Not here: " + refusal;
  const int clicked =
      segments(ui, id.c_str(),
               {{off, "", "off"}, {on, help.c_str(), "on", refusal.empty() || value.has_value()}},
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
  if (draw_parameters(ui, scope, {parameter}, {}, values, texts)) {
    value = std::get<Number>(values.all().find(parameter.key)->second);
    changed = true;
  }
  return changed;
}

void draw_segment(Ui& ui, State& state, ListTexts& texts) {
  const Index now = effective_segment(state);
  std::optional<Index> value;
  if (now > 0) value = now;
  const std::string refusal = segment_refusal(state, now > 0 ? now : kUsualSegment);
  if (!draw_optional(ui, segment_parameter(), "structure", "Whole text", "In segments", refusal,
                     value, texts)) {
    return;
  }
  std::optional<Index>& chosen = state.edited().structure.segment;
  chosen = value.value_or(0);
  const ModelConfig* trained =
      state.edited_trace() != nullptr ? state.edited_trace()->trained.get() : nullptr;
  if (trained != nullptr && trained->segment == *chosen) chosen.reset();
}

void draw_retrieval(Ui& ui, State& state, ListTexts& texts) {
  std::optional<RetrievalChoice>& retrieval = state.edited().retrieval;
  if (retrieval) state.store = retrieval->store;
  std::optional<Choice> chosen;
  if (retrieval) chosen = retrieval->mixer;
  draw_choice(ui, retrieval_list(state), chosen, texts);
  if (!chosen) {
    retrieval.reset();
  } else {
    retrieval = RetrievalChoice{*chosen, state.store};
  }
  const std::string name = std::filesystem::path(state.store).filename().string();
  const std::string label = name.empty() ? "Open a store…" : "Store: " + name + "…";
  const float width = ImGui::GetContentRegionAvail().x;
  const float room = width - 2 * ImGui::GetStyle().FramePadding.x;
  if (button(ui, fitted(on_screen(label), room).c_str(), "retrieval.store", false, width)) {
    browse(state, BrowsePurpose::OpenStore);
  }
  hint(ui,
       "A store holds contexts of texts with the token that followed each: attnscope datastore "
       "writes one with the model that is to read it.");
}

}  // namespace

void draw_structure_panel(Ui& ui, State& state, ListTexts& texts) {
  const std::string chosen = describe_structure(state.edited());
  ImGui::Dummy({0, ui.px(5)});
  ImGui::PushFont(ui.fonts.bold);
  const float room = ImGui::GetContentRegionAvail().x - ImGui::GetTreeNodeToLabelSpacing();
  const std::string title = fitted("Structure" + (chosen.empty() ? "" : ": " + chosen), room);
  const bool open =
      ImGui::TreeNodeEx((on_screen(title) + "###structure").c_str(),
                        ImGuiTreeNodeFlags_NoTreePushOnOpen | ImGuiTreeNodeFlags_SpanAvailWidth);
  ImGui::PopFont();
  mark(ui, "structure");
  hint(ui,
       "How layers make the model: its architecture, how blocks join, early exits, segments, "
       "retrieval.");
  if (!open) return;
  Experiment& e = state.edited();
  if (!chosen.empty() && button(ui, "As the model was trained", "structure.clear")) {
    choose_architecture(e, std::nullopt);
    e.structure = {};
    e.exit.reset();
    e.retrieval.reset();
  }
  std::optional<Choice> architecture = e.structure.architecture;
  draw_choice(ui, architecture_list(state), architecture, texts);
  choose_architecture(e, std::move(architecture));
  draw_choice(ui, join_list(state), e.structure.join, texts);
  const std::optional<Choice> exits = e.structure.exits;
  draw_choice(ui, exits_list(state), e.structure.exits, texts);
  const bool leaves = effective_exits(state) != nullptr;
  if (leaves) {
    draw_optional(ui, threshold_parameter(), "exit", "All layers", "Leave early", "", e.exit,
                  texts);
    if (button(ui, "Calibrate…", "exit.calibrate")) state.calibration.open = true;
    hint(ui, "Choose the threshold by a text: what is lost stays within what is tolerated.");
  }
  if (exits.has_value() != e.structure.exits.has_value()) {  // to be seen at once
    e.exit = leaves ? std::optional(kUsualThreshold) : std::nullopt;
  }
  draw_segment(ui, state, texts);
  draw_retrieval(ui, state, texts);
}

}  // namespace attnscope::window
