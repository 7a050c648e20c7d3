#include "core/view/export/frame_sequence.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/figure/plain_text.h"
#include "core/view/next/next.h"
#include "core/view/view.h"

namespace attnscope {
namespace {

constexpr int kMaxFrames = 10000, kDefaultFrames = 60;
// Seconds per frame. Integers change in visible steps and are shown longer than real numbers.
constexpr double kRealSeconds = 0.05, kIntegerSeconds = 0.4, kMaxSeconds = 600;

double number_from(std::string_view text, std::string_view option) {
  const std::string copy(text);
  std::size_t parsed = 0;
  double value = 0;
  try {
    value = std::stod(copy, &parsed);
  } catch (const std::exception&) {
    parsed = 0;
  }
  if (copy.empty() || parsed != copy.size() || !std::isfinite(value)) {
    throw InputError("animate: expected KEY=FROM:TO, such as \"query=0:64\", found \"" +
                     std::string(option) + "\"");
  }
  return value;
}

MovingNumber find_number(const Session& session, const Trace& trace, const std::string& key) {
  const std::vector<MovingNumber> numbers = moving_numbers(session, trace);
  std::string keys;
  for (const MovingNumber& number : numbers) {
    if (number.key == key) return number;
    keys += (keys.empty() ? "" : ", ") + number.key;
  }
  throw InputError("animate: expected " +
                   (keys.empty() ? "a view with numbers to animate" : "one of " + keys) +
                   ", found \"" + key + "\"");
}

// The number's values in the range, in the direction of the range.
std::vector<Index> values_in_range(const MovingNumber& number, const FrameOptions& frames) {
  const auto [low, high] = std::minmax(frames.from, frames.to);
  std::vector<Index> values;
  for (const Index value : number.values) {
    const auto real = static_cast<double>(value);
    if (real >= low && real <= high) values.push_back(value);
  }
  if (frames.from > frames.to) std::ranges::reverse(values);
  return values;
}

}  // namespace

FrameOptions frames_from_text(std::string_view text) {
  const auto equals = text.find('='), colon = text.find(':', equals + 1);
  if (equals == std::string_view::npos || equals == 0 || colon == std::string_view::npos) {
    number_from("", text);
  }
  FrameOptions frames;
  frames.key = text.substr(0, equals);
  frames.from = number_from(text.substr(equals + 1, colon - equals - 1), text);
  frames.to = number_from(text.substr(colon + 1), text);
  return frames;
}

double frame_count(const FrameOptions& frames, const MovingNumber& number) {
  if (frames.count) return *frames.count;
  if (!number.values.empty()) return static_cast<double>(values_in_range(number, frames).size());
  const bool is_integer = number.parameter.kind == Parameter::Kind::Integer;
  return is_integer ? std::abs(frames.to - frames.from) + 1 : kDefaultFrames;
}

FrameSequence::FrameSequence(const Session& session, const Traces& traces,
                             const FrameOptions& frames, ExperimentRun& run)
    : session_(session),
      traces_(traces),
      options_(frames),
      run_(run),
      number_(find_number(session, *traces.trace, frames.key)),
      values_(values_in_range(number_, frames)),
      continued_{session} {
  const bool is_whole = number_.parameter.kind == Parameter::Kind::Integer;
  for (const double end : {frames.from, frames.to}) {
    if (!is_whole || (std::abs(end) <= Parameter::kMaxInteger && std::floor(end) == end)) continue;
    throw InputError("animate: " + frames.key + ": expected an integer, found " + brief(end));
  }
  if (!number_.values.empty() && values_.size() < 2) {
    throw InputError("animate: " + frames.key +
                     ": expected a range with at least 2 of the values " +
                     brief(static_cast<double>(number_.values.front()), 10) + " to " +
                     brief(static_cast<double>(number_.values.back()), 10) + ", found " +
                     std::to_string(values_.size()));
  }
  const double requested = frame_count(frames, number_);
  if (!(requested >= 2 && requested <= kMaxFrames)) {
    throw InputError("frames: expected an integer from 2 to " + std::to_string(kMaxFrames) +
                     ", found " + brief(requested, 10));
  }
  count_ = static_cast<int>(requested);
  seconds_ = frames.seconds.value_or(is_whole ? kIntegerSeconds : kRealSeconds);
  if (!(seconds_ > 0 && seconds_ <= kMaxSeconds)) {
    throw InputError("seconds: expected more than 0 and at most " + brief(kMaxSeconds) +
                     " for each frame, found " + brief(seconds_));
  }
  // Statistics from a file are measured once and do not depend on this text.
  const std::string& texts = session.view.statistics_file;
  if (!texts.empty() && number_.changes_heads) {
    throw InputError("animate: " + frames.key +
                     ": expected heads that are measured over this text, found the file \"" +
                     texts + "\"");
  }
  check_value(number_.parameter, value(0), "animate");
  check_value(number_.parameter, value(count_ - 1), "animate");
}

Value FrameSequence::value(int frame) const {
  const double fraction = static_cast<double>(frame) / (count_ - 1);
  if (!values_.empty()) {
    const double position = fraction * static_cast<double>(values_.size() - 1);
    return values_[static_cast<std::size_t>(std::llround(position))];
  }
  const double number = options_.from + fraction * (options_.to - options_.from);
  if (number_.parameter.kind != Parameter::Kind::Integer) return number;
  return static_cast<Index>(std::llround(number));
}

Frame FrameSequence::frame(int index) {
  check_stop();
  Session session = session_;
  if (number_.set) {
    number_.set(session, value(index));
  } else {
    session = with_generated(std::get<Index>(value(index)));
  }
  return {session, traces_of(session)};
}

const Session& FrameSequence::with_generated(Index tokens) {
  while (static_cast<Index>(continued_.size()) <= tokens) {
    Session next = continued_.back();
    // If the text is truncated at its end, reads its last tokens instead of its first ones.
    if (!shows_end(*traces_of(next).trace, next.run)) next.run.overlong = Overlong::Last;
    const std::shared_ptr<const Trace> trace = traces_of(next).trace;
    const Index last = static_cast<Index>(trace->tokens.size()) - 1;
    const bool is_first = continued_.size() == 1;
    const std::int32_t token =
        sample_continuation(*trace, last, next_settings(next.view), is_first).id;
    if (!append_token(next.run, *trace, token)) {
      throw InputError("animate: tokens: expected at most " +
                       std::to_string(continued_.size() - 1) +
                       ", after which the model ends the text, found " + std::to_string(tokens));
    }
    continued_.push_back(next);
  }
  return continued_[static_cast<std::size_t>(tokens)];
}

Traces FrameSequence::traces_of(const Session& session) {
  const std::vector<FindingRequest> requests = required_findings(session);
  const bool has_all = std::ranges::all_of(requests, [&](const FindingRequest& request) {
    const Finding& required = finding(request.id);
    return !required.with_run || !required.exists(session) || traces_.findings.has(required.id);
  });
  if (has_all && same_run(session, session_)) return traces_;
  Traces traces = run_.observe(session, requests);
  for (const Finding& candidate : findings()) {  // background findings are independent of the run
    if (candidate.in_background) traces.findings.add(traces_.findings.only(candidate.id));
  }
  return traces;
}

}  // namespace attnscope
