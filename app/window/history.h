// Undo and redo of the experiment.
#pragma once

#include <vector>

#include "core/experiment/experiment.h"

namespace attnscope::window {

// Which part of an experiment an edit touched: typing in one field, or moving one slider, is a
// single step as long as it goes on.
enum class Field {
  None,
  Text,
  Model,
  Variant,
  Encoding,
  Causal,
  Groups,
  Backend,
  Overlong,
  Interventions,
  Other,
  View,
  Several
};

// The one field in which the two differ. Panning and zooming count as no difference: they are
// carried along with the next step but make none.
Field changed_field(const Experiment& a, const Experiment& b);

class History {
 public:
  explicit History(Experiment start) : now_(std::move(start)) {}

  // Takes note of an edit. Edits of one field that follow each other within a second are one step.
  void record(const Experiment& now, double seconds);
  bool can_undo() const { return !past_.empty(); }
  bool can_redo() const { return !future_.empty(); }
  const Experiment& undo();  // the experiment before the last step
  const Experiment& redo();
  void end_step() { field_ = Field::None; }  // what comes next is a step of its own

 private:
  Experiment now_;
  std::vector<Experiment> past_, future_;
  Field field_ = Field::None;  // of the newest step
  double seconds_ = 0;         // when it was last added to
};

}  // namespace attnscope::window
