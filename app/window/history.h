// Undo and redo of the experiment.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/experiment/experiment.h"

namespace attnscope::window {

// Where two experiments differ, as JSON pointers into their session form ("/text",
// "/view/options/map/from"). Panning, zooming and the choice of a tool count as no difference: they
// are carried along with the next step but make none.
std::set<std::string> changed_places(const Experiment& a, const Experiment& b);

class History {
 public:
  explicit History(Experiment start) : now_(std::move(start)) {}

  // Takes note of an edit. Typing in one field and moving one slider is a single step as long as
  // it goes on: text or a number in one place, changed again within a second.
  void record(const Experiment& now, double seconds);
  // The newest step ends here: what the program itself adds to what a person did.
  void amend(const Experiment& now) { now_ = now; }
  const Experiment& now() const { return now_; }  // as last taken note of
  bool can_undo() const { return !past_.empty(); }
  bool can_redo() const { return !future_.empty(); }
  const Experiment& undo();  // the experiment before the last step
  const Experiment& redo();
  void end_step() { place_.clear(); }  // what comes next is a step of its own

 private:
  Experiment now_;
  std::vector<Experiment> past_, future_;
  std::string place_;   // where the newest step may go on; empty: nowhere
  double seconds_ = 0;  // when it was last added to
};

}  // namespace attnscope::window
