#include "app/window/panels/part_chooser.h"

#include "core/view/parts/describe.h"

namespace attnscope::window {
namespace {

struct PartEntry {
  std::string label;
  PartChoice choice;
};

// List of stacks, kinds of attention, steps or segments.
struct PartList {
  const char* id;
  const char* help;
  std::vector<PartEntry> entries;
  std::size_t selected = 0;
};

template <class Value>
PartList part_list(const char* id, const char* help, const std::vector<Value>& options,
                   const Value& current, const std::function<std::string(const Value&)>& label,
                   const std::function<PartChoice(const Value&)>& choice) {
  PartList list{id, help, {}, 0};
  for (std::size_t n = 0; n < options.size(); ++n) {
    if (options[n] == current) list.selected = n;
    list.entries.push_back({label(options[n]), choice(options[n])});
  }
  return list;
}

std::vector<PartList> part_lists(const State& state) {
  const Trace& trace = *state.edited_trace();
  const TracePart part = state.part();
  const PartAlternatives available = trace.alternatives(part);
  const PartChoice& requested = state.edited().view.part;
  const auto set = [requested](auto member, auto value) {
    PartChoice choice = requested;
    choice.*member = value;
    return choice;
  };
  const auto number = [](const char* name) {
    return [name](const Index& n) { return std::string(name) + " " + std::to_string(n); };
  };
  return {part_list<Stack>(
              "stack", "Attention of the encoder or of the decoder.", available.stacks, part.stack,
              [](const Stack& stack) { return capitalised(name_of(stack)); },
              [](const Stack& stack) { return PartChoice{.stack = stack}; }),
          part_list<AttentionKind>(
              "kind", "Keys of the decoder's attention: its own tokens, or the encoder's output.",
              available.kinds, part.kind,
              [](const AttentionKind& kind) { return capitalised(name_of(kind)) + "-attention"; },
              [set](const AttentionKind& kind) { return set(&PartChoice::kind, kind); }),
          part_list<Index>("step", "Application of the repeated layers, counted from 1.",
                           available.steps, part.step, number("Step"),
                           [set](const Index& n) { return set(&PartChoice::step, n); }),
          part_list<Index>("segment", "Segment of the text, counted from 0.", available.segments,
                           part.segment, number("Segment"),
                           [set](const Index& n) { return set(&PartChoice::segment, n); })};
}

void draw_part_list(Ui& ui, State& state, const PartList& list) {
  const std::string& current = list.entries[list.selected].label;
  float widest = 0;
  for (const PartEntry& entry : list.entries) {
    widest = std::max(widest, ImGui::CalcTextSize(entry.label.c_str()).x);
  }
  const float width = widest + ImGui::GetFrameHeight() + ui.px(18);
  const float right = ImGui::GetContentRegionMax().x + ImGui::GetWindowPos().x;
  if (ImGui::GetItemRectMax().x + ui.px(14) + width <= right) ImGui::SameLine(0, ui.px(14));
  ImGui::SetNextItemWidth(width);
  const bool is_open = begin_combo(ui, (std::string("##part.") + list.id).c_str(), current);
  mark(ui, std::string("part.") + list.id);
  if (!is_open) {
    hint(ui, list.help);
    return;
  }
  std::optional<PartChoice> clicked;
  for (std::size_t n = 0; n < list.entries.size(); ++n) {
    if (list_row(ui, list.entries[n].label, n == list.selected)) clicked = list.entries[n].choice;
    mark(ui, std::string("part.") + list.id + "." + std::to_string(n));
  }
  ImGui::EndCombo();
  if (clicked) state.select_part(*clicked);
}

}  // namespace

void draw_part_chooser(Ui& ui, State& state) {
  if (state.edited_trace() == nullptr || state.edited_trace()->attention.empty()) return;
  ImGui::BeginDisabled(!state.controls().part);
  for (const PartList& list : part_lists(state)) {
    if (list.entries.size() > 1) draw_part_list(ui, state, list);
  }
  ImGui::EndDisabled();
}

}  // namespace attnscope::window
