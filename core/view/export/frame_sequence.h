// Frames of an animation that sweeps one number over a range. The model runs again for each frame
// if the number affects the run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/experiment/run.h"
#include "core/view/export/moving_numbers.h"

namespace attnscope {

struct FrameOptions {
  std::string key;          // MovingNumber::key
  double from = 0, to = 1;  // range, including both ends
  // Default: one frame per value of MovingNumber::values or per integer, 60 for real numbers.
  std::optional<int> count{};
  std::optional<double> seconds{};  // per GIF frame; default: 0.4 for integers, else 0.05
};

// Parses "query=0:64". Throws InputError.
FrameOptions frames_from_text(std::string_view text);

// Number of frames, which can exceed the limit of FrameSequence.
double frame_count(const FrameOptions& frames, const MovingNumber& number);

struct Frame {
  Session session;
  Traces traces;
};

class FrameSequence {
 public:
  // `traces`: the run of `session`, with all findings that the session's view reads. Throws
  // InputError if the session has no number named FrameOptions::key, or if `frames` is invalid.
  FrameSequence(const Session& session, const Traces& traces, const FrameOptions& frames,
                ExperimentRun& run);

  int count() const { return count_; }
  double seconds() const { return seconds_; }
  // Computes frame `index`, in [0, count()). Frames can be computed in any order. Throws InputError
  // if the run rejects the value or the generated text ends before this frame. Throws Stopped if
  // cancelled.
  Frame frame(int index);

 private:
  Value value(int frame) const;
  const Session& with_generated(Index tokens);
  Traces traces_of(const Session& session);

  Session session_;
  Traces traces_;
  FrameOptions options_;
  ExperimentRun& run_;
  MovingNumber number_;
  int count_ = 0;
  double seconds_ = 0;
  std::vector<Index> values_;       // those of MovingNumber::values in the range
  std::vector<Session> continued_;  // index: number of generated tokens
};

}  // namespace attnscope
