#include "core/experiment/mask_and_graph.h"

#include <algorithm>

namespace attnscope {

Choice mask_choice(const MaskRows& rows) {
  Choice choice = default_choice(variant(kCustomMask));
  choice.values.set("rows", rows);
  return choice;
}

Choice graph_choice(const std::vector<std::vector<Index>>& edges, bool is_directed,
                    const std::optional<Choice>& previous) {
  const bool is_graph = previous && previous->id == kGraph;
  Choice choice = is_graph ? *previous : default_choice(variant(kGraph));
  choice.values.set("from", std::string("edges"));
  choice.values.set("edges", edges);
  choice.values.set("one_way", is_directed);
  return choice;
}

std::optional<Choice>& governing_variant(RunView& viewed) {
  const auto includes = [](const std::vector<Index>& numbers, Index number) {
    return numbers.empty() || std::ranges::find(numbers, number) != numbers.end();
  };
  for (auto group = viewed.run.groups.rbegin(); group != viewed.run.groups.rend(); ++group) {
    if (group->variant && includes(group->layers, viewed.view.layer) &&
        includes(group->heads, viewed.view.head)) {
      return group->variant;
    }
  }
  return viewed.run.variant;
}

}  // namespace attnscope
