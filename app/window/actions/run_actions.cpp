// The commands that change what is run: comparisons, interventions, writing on.
#include "app/window/actions/action_lists.h"
#include "app/window/actions/navigation.h"
#include "app/window/files.h"
#include "app/window/jobs/generation.h"

namespace attnscope::window {

namespace {

bool compares(const State& s) {
  return !s.experiment.others.empty();
}

}  // namespace

void add_compare_actions(std::vector<Action>& list) {
  list.push_back(
      {"compare",
       "Compare with this",
       "Keep what is set now as B, to stand beside whatever is changed from here on; holding "
       "Shift shows B in any view.",
       Menu::Edit,
       {{"B"}},
       [](State& s) {
         Experiment other = s.experiment;
         other.others.clear();
         s.experiment.others = {std::move(other)};
         s.experiment.view.id = "compare";
         s.editing_other = false;
       },
       has_trace});
  list.back().starts_group = true;
  list.back().view = "compare";
  list.push_back({"compare_swap",
                  "Swap A and B",
                  "Have the two that are compared change places.",
                  Menu::Edit,
                  {{"X"}},
                  [](State& s) {
                    Experiment a = s.experiment, b = s.experiment.others.front();
                    const ViewSettings of_b = b.view;
                    b.view = a.view;  // what is looked at stays, but for layer and head
                    b.view.layer = of_b.layer;
                    b.view.head = of_b.head;
                    b.view.part = of_b.part;
                    a.others.clear();
                    b.others = {std::move(a)};
                    s.experiment = std::move(b);
                  },
                  compares});
  list.back().view = "compare";
  list.push_back({"compare_edit",
                  "Edit B",
                  "The text, model, attention and position on the left are those of B, or of A "
                  "again.",
                  Menu::Edit,
                  {},
                  [](State& s) { s.editing_other = !s.editing_other; },
                  compares,
                  [](const State& s) { return s.edits_other(); }});
  list.push_back({"compare_stop",
                  "Stop comparing",
                  "Let go of B.",
                  Menu::Edit,
                  {},
                  [](State& s) {
                    s.experiment.others.clear();
                    s.editing_other = false;
                  },
                  compares});
  list.back().view = "compare";
}

void add_intervene_actions(std::vector<Action>& list) {
  list.push_back({"intervene_reset",
                  "Undo all interventions",
                  "Leave the model as it is again.",
                  Menu::Edit,
                  {},
                  [](State& s) { s.experiment.interventions.clear(); },
                  [](const State& s) { return !s.experiment.interventions.empty(); }});
  list.back().starts_group = true;
  list.back().view = "intervene";
  list.push_back({"cost",
                  "Cost against the length…",
                  "Measure time, operations and memory of variants at growing lengths, beside the "
                  "growth that their papers name.",
                  Menu::Edit,
                  {{"K"}},
                  [](State& s) { s.cost.open = true; }});
  list.back().view = "compare";
  list.push_back({"calibrate",
                  "Calibrate the exit threshold…",
                  "Choose the threshold at which tokens leave early by a text, so that what is "
                  "lost stays within what is tolerated.",
                  Menu::Edit,
                  {},
                  [](State& s) { s.calibration.open = true; }});
  list.back().view = "depth";
}

void add_next_actions(std::vector<Action>& list) {
  list.push_back({"next_step",
                  "Next token",
                  "Draw a token as the view Next is set, and put it behind the text.",
                  Menu::Edit,
                  {{"S"}},
                  [](State& s) {
                    s.generating = false;
                    go_on(s);
                  },
                  can_go_on});
  list.back().starts_group = true;
  list.back().view = "next";
  list.push_back({"next_run",
                  "Write on",
                  "Draw token after token, until this is chosen again.",
                  Menu::Edit,
                  {{"W"}},
                  [](State& s) {
                    s.generating = !s.generating;
                    if (s.generating) go_on(s);
                  },
                  can_go_on,
                  [](const State& s) { return s.generating; }});
  list.back().view = "next";
}

}  // namespace attnscope::window
