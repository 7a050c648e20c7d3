// When the picture of before lies over the new one, and how much of it is left: between a lesson's
// steps, layers and heads. No drawing here.
#pragma once

#include "app/window/state.h"

namespace attnscope::window {

// What a person turns to and fro.
struct TurnedTo {
  const Lesson* lesson = nullptr;
  std::size_t step = 0;
  Index layer = 0, head = 0;
  PartChoice part;
  bool operator==(const TurnedTo&) const = default;
};
TurnedTo turned_to(const State& state);

class Fade {
 public:
  // Of the window's clock. Whoever turns on while a fade lasts, or soon after it, is in a hurry:
  // that is shown at once.
  static constexpr double kSeconds = 0.25, kHurry = 0.4;
  // For so long the picture of before stays whole, until the new one's run is there.
  static constexpr double kMostHeld = 0.3;

  // Once a frame, before it is drawn. True when one begins: what is on the screen is to be kept.
  bool begins(const TurnedTo& now, double seconds, bool allowed);
  // The share of the picture of before in this frame, 1..0. `current`: the run of what is shown now
  // is there.
  double share(double seconds, bool current);
  bool on() const { return on_; }
  void end() { on_ = false; }

 private:
  TurnedTo last_;
  bool known_ = false, on_ = false, held_ = false;
  double turned_ = 0, since_ = 0;  // seconds
};

// Whether a picture may fade now: it is one that a person looks at and does not work on.
bool may_fade(const State& state);

}  // namespace attnscope::window
