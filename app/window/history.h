// Undo and redo of the experiment.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/experiment/session.h"

namespace attnscope::window {

// Differences between two experiments as JSON pointers into their session form ("/text",
// "/view/options/map/from"). Panning, zooming and tool selection are ignored: they are stored with
// the next step but do not create one.
std::set<std::string> changed_places(const Session& a, const Session& b);

class History {
 public:
  explicit History(Session start) : now_(std::move(start)) {}

  // Records an edit. Consecutive edits of one text or number, less than a second apart (typing,
  // moving a slider), form a single step.
  void record(const Session& now, double seconds);
  // Adds automatic changes to the newest step.
  void amend(const Session& now) { now_ = now; }
  const Session& now() const { return now_; }  // as last recorded
  bool can_undo() const { return !past_.empty(); }
  bool can_redo() const { return !future_.empty(); }
  const Session& undo();  // the experiment before the last step
  const Session& redo();
  void end_step() { place_.clear(); }  // the next edit starts a new step

 private:
  Session now_;
  std::vector<Session> past_, future_;
  std::string place_;   // where the newest step can be extended; empty: nowhere
  double seconds_ = 0;  // when it was last extended
};

}  // namespace attnscope::window
