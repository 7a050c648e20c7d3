// Functions that add groups of actions to the table in actions.h, called in menu order.
#pragma once

#include <vector>

#include "app/window/actions/actions.h"

namespace attnscope::window {

inline bool has_trace(const State& s) {
  return s.run.trace != nullptr;
}

void add_stop_generating_action(std::vector<Action>& list);
void add_file_actions(std::vector<Action>& list);
void add_autosave_actions(std::vector<Action>& list);
void add_edit_actions(std::vector<Action>& list);
void add_draw_actions(std::vector<Action>& list);
void add_next_actions(std::vector<Action>& list);
void add_intervene_actions(std::vector<Action>& list);
void add_compare_actions(std::vector<Action>& list);
void add_head_actions(std::vector<Action>& list);
void add_view_actions(std::vector<Action>& list);
void add_window_actions(std::vector<Action>& list);
void add_lesson_actions(std::vector<Action>& list);
void add_help_actions(std::vector<Action>& list);
void add_quit_action(std::vector<Action>& list);

}  // namespace attnscope::window
