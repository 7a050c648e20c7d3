// Actions on the heads that are selected in the grid.
#include <algorithm>

#include "app/window/actions/action_lists.h"
#include "core/view/grid/grid_order.h"

namespace attnscope::window {
namespace {

Intervention removal_of(const std::pair<Index, Index>& head) {
  Intervention off;
  off.layer = head.first;
  off.head = head.second;
  return off;
}

bool is_applied(const State& s, const std::pair<Index, Index>& head) {
  const Interventions& list = s.session->run.interventions;
  return std::ranges::find(list, removal_of(head)) != list.end();
}

bool are_all_off(const State& s) {
  const HeadList heads = selected_heads(s.session->view);
  return !heads.empty() &&
         std::ranges::all_of(heads, [&](const auto& head) { return is_applied(s, head); });
}

void switch_heads(State& s, bool is_off) {
  Interventions& list = s.session.edit().run.interventions;
  for (const auto& head : selected_heads(s.session->view)) {
    std::erase(list, removal_of(head));
    if (is_off) list.push_back(removal_of(head));
  }
}

// Reason why the selected heads cannot be switched; empty if they can. Interventions exist only for
// heads of the decoder's self-attention.
std::string refusal(const State& s) {
  if (selected_heads(s.session->view).empty()) {
    return "No head is selected: Ctrl+click or Shift+click heads in Grid.";
  }
  if (!has_trace(s)) return "There is no run.";
  const TracePart part = s.part();
  if (part.stack != Stack::Decoder || part.kind != AttentionKind::Self) {
    return "Only heads of the decoder's self-attention can be switched off.";
  }
  return view_objection(view("intervene"), s);
}

}  // namespace

void add_head_actions(std::vector<Action>& list) {
  const auto has_selection = [](const State& s) {
    return !selected_heads(s.session->view).empty();
  };
  const auto add = [&](const char* id, const char* label, const char* help,
                       std::function<void(State&)> run) {
    list.push_back({id, label, help, Menu::Edit, {}, std::move(run), [](const State& s) {
                      return refusal(s).empty();
                    }});
    list.back().refusal = refusal;
    list.back().view = "grid";
    list.back().has_button = has_selection;
  };
  add("heads_off", "Switch selected heads off",
      "Remove the contribution of the selected heads, or restore it.",
      [](State& s) { switch_heads(s, !are_all_off(s)); });
  list.back().checked = are_all_off;
  list.back().starts_group = true;
  add("heads_compare", "Compare without selected heads",
      "Switch the selected heads off, and compare the layer after them with B, which has them on.",
      [](State& s) {
        switch_heads(s, false);
        // Maps of later layers show the effect.
        Index layer = 0;
        for (const auto& head : selected_heads(s.session->view))
          layer = std::max(layer, head.first);
        s.select_head(std::min(layer + 1, s.layers() - 1), s.edited().view.head);
        Session& session = s.session.edit();
        session.b = session;
        switch_heads(s, true);
        s.session.edit().view.id = "compare";
        s.editing_b = false;
      });
  add("heads_clear", "Deselect heads", "Deselect all heads.",
      [](State& s) { select_heads(s.session.edit().view, {}); });
  list.back().enabled = has_selection;
  list.back().refusal = [has_selection](const State& s) {
    return has_selection(s) ? std::string() : refusal(s);
  };
}

}  // namespace attnscope::window
