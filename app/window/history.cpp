#include "app/window/history.h"

#include <algorithm>

namespace attnscope::window {

namespace {

constexpr double kJoinSeconds = 1;
constexpr std::size_t kMostSteps = 500;

bool same_look(const ViewSettings& a, const ViewSettings& b) {
  ViewSettings moved = b;
  moved.row = a.row;
  moved.column = a.column;
  moved.height = a.height;
  moved.width = a.width;
  return a == moved;
}

bool same_id(const std::optional<Choice>& a, const std::optional<Choice>& b) {
  return a.has_value() == b.has_value() && (!a || a->id == b->id);
}

// Whether choices for some heads differ in nothing but parameters, which sliders change.
bool same_choices(const std::vector<GroupChoice>& a, const std::vector<GroupChoice>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const GroupChoice& x, const GroupChoice& y) {
                      return x.layers == y.layers && x.heads == y.heads &&
                             same_id(x.variant, y.variant) && same_id(x.encoding, y.encoding);
                    });
}

// Whether such edits come in a row that is one step: a slider moved, a word typed. Clicks do not.
bool continues(Field field) {
  return field != Field::Several && field != Field::Interventions;
}

}  // namespace

Field changed_field(const Experiment& a, const Experiment& b) {
  Field field = Field::None;
  const auto note = [&field](bool same, Field which) {
    if (!same) field = field == Field::None ? which : Field::Several;
  };
  note(a.text == b.text && a.ids == b.ids, Field::Text);
  note(a.model == b.model, Field::Model);
  note(a.tensors == b.tensors, Field::Several);
  note(a.variant == b.variant, Field::Variant);
  note(a.encoding == b.encoding, Field::Encoding);
  note(a.causal == b.causal, Field::Causal);
  note(a.groups == b.groups, Field::Groups);
  note(a.backend == b.backend, Field::Backend);
  note(a.overlong == b.overlong, Field::Overlong);
  note(a.interventions == b.interventions, Field::Interventions);
  note(a.others == b.others, Field::Other);
  note(same_look(a.view, b.view), Field::View);
  return field;
}

void History::record(const Experiment& now, double seconds) {
  const Field field = changed_field(now_, now);
  if (field != Field::None) {
    const bool joins = field == field_ && continues(field) && seconds - seconds_ < kJoinSeconds &&
                       same_choices(now_.groups, now.groups);
    if (!joins) past_.push_back(now_);
    if (past_.size() > kMostSteps) past_.erase(past_.begin());
    future_.clear();
    field_ = field;
    seconds_ = seconds;
  }
  now_ = now;
}

const Experiment& History::undo() {
  if (can_undo()) {
    future_.push_back(now_);
    now_ = past_.back();
    past_.pop_back();
    end_step();
  }
  return now_;
}

const Experiment& History::redo() {
  if (can_redo()) {
    past_.push_back(now_);
    now_ = future_.back();
    future_.pop_back();
    end_step();
  }
  return now_;
}

}  // namespace attnscope::window
