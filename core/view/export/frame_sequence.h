// The frames of a moving picture: a number runs from here to there, and the model runs wherever
// that changes what it does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/experiment/runner.h"
#include "core/view/export/moving_numbers.h"

namespace attnscope {

struct FrameOptions {
  std::string key;                  // of a MovingNumber
  double from = 0, to = 1;          // both are shown
  std::optional<int> count{};       // one for each whole number, else as many as are usual
  std::optional<double> seconds{};  // of each frame, in a GIF; as suits the number
};

// "query=0:64" into key, from and to. InputError.
FrameOptions frames_from_text(std::string_view text);

// How many frames that makes, whether or not there can be so many.
double frame_count(const FrameOptions& frames, const Parameter& moved);

struct Frame {
  Experiment experiment;
  Traces traces;
};

class FrameSequence {
 public:
  // `traces` are of the experiment as it is, with all findings that its view reads. InputError
  // where it has no such number, or one that cannot be what `frames` says.
  FrameSequence(const Experiment& experiment, const Traces& traces, const FrameOptions& frames,
                ExperimentRun& run);

  int count() const { return count_; }
  double seconds() const { return seconds_; }
  // Any of them, in any order. InputError where the run refuses the number, or the model ends the
  // text before; Stopped.
  Frame frame(int number, const Stop& stop);

 private:
  Value value(int frame) const;
  const Experiment& continued(Index tokens, const Stop& stop);
  Traces traces_of(const Experiment& experiment, const Stop& stop);

  Experiment experiment_;
  Traces traces_;
  FrameOptions options_;
  ExperimentRun& run_;
  MovingNumber number_;
  int count_ = 0;
  double seconds_ = 0;
  std::vector<Experiment> continued_;  // by as many tokens as their index says
};

}  // namespace attnscope
