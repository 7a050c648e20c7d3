#include "core/experiment/drawn.h"

#include <algorithm>

namespace attnscope {

Choice drawn_mask(const MaskRows& rows) {
  Choice choice = default_choice(variant(kCustomMask));
  choice.values.set("rows", rows);
  return choice;
}

Choice drawn_graph(const std::vector<std::vector<Index>>& edges, bool one_way,
                   const std::optional<Choice>& before) {
  const bool goes_on = before && before->id == kGraph;
  Choice choice = goes_on ? *before : default_choice(variant(kGraph));
  choice.values.set("from", std::string("edges"));
  choice.values.set("edges", edges);
  choice.values.set("one_way", one_way);
  return choice;
}

std::optional<Choice>& governing_variant(Experiment& experiment) {
  const auto holds = [](const std::vector<Index>& numbers, Index number) {
    return numbers.empty() || std::ranges::find(numbers, number) != numbers.end();
  };
  for (auto group = experiment.groups.rbegin(); group != experiment.groups.rend(); ++group) {
    if (group->variant && holds(group->layers, experiment.view.layer) &&
        holds(group->heads, experiment.view.head)) {
      return group->variant;
    }
  }
  return experiment.variant;
}

}  // namespace attnscope
