// Undo and redo of changes to the session.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "app/window/edited_session.h"

namespace attnscope::window {

// JSON pointers of the values that differ between two sessions ("/text", "/view/options/map/from").
// Ignores pan, zoom and tool selection: they create no undo step, but the next step stores them.
std::set<std::string> changed_pointers(const Session& a, const Session& b);

class History {
 public:
  explicit History(SharedSession start) : current_(std::move(start)) {}

  // Records an edit. Consecutive edits of one text or number, less than a second apart (typing,
  // moving a slider), form a single step.
  void record(const SharedSession& session, double seconds);
  // Adds automatic changes to the newest step.
  void amend(SharedSession session) { current_ = std::move(session); }
  const SharedSession& current() const { return current_; }  // last recorded session
  bool can_undo() const { return !past_.empty(); }
  bool can_redo() const { return !future_.empty(); }
  const SharedSession& undo();  // the session before the last step
  const SharedSession& redo();
  void end_step() { pointer_.clear(); }  // the next edit starts a new step

 private:
  SharedSession current_;
  std::vector<SharedSession> past_, future_;
  std::string pointer_;  // JSON pointer of edits that extend the newest step; empty: none
  double seconds_ = 0;   // time of the last edit in the newest step
};

}  // namespace attnscope::window
