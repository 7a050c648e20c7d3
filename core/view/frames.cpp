#include "core/view/frames.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/figure/gif.h"
#include "core/figure/plain_text.h"
#include "core/figure/render.h"

namespace attnscope {
namespace {

constexpr int kMostFrames = 10000;
constexpr const char* kExpected = "expected a GIF (FILE.gif) or numbered pictures (FILE-%03d.png)";

// "%03d" in a name: where it begins, its length, how many digits it asks for.
struct Number {
  std::size_t at = std::string::npos, length = 0, digits = 0;
};
Number number_in(const std::string& name) {
  for (std::size_t at = name.find('%'); at != std::string::npos; at = name.find('%', at + 1)) {
    std::size_t end = at + 1, digits = 0;
    while (end < name.size() && name[end] >= '0' && name[end] <= '9' && digits < 10) {
      digits = 10 * digits + static_cast<std::size_t>(name[end++] - '0');
    }
    if (end < name.size() && name[end] == 'd' && digits < 10) return {at, end + 1 - at, digits};
  }
  return {};
}

double number_from(std::string_view text, std::string_view what) {
  const std::string copy(text);
  std::size_t used = 0;
  double value = 0;
  try {
    value = std::stod(copy, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (copy.empty() || used != copy.size() || !std::isfinite(value)) {
    throw InputError("animate: expected KEY=FROM:TO, such as query=0:64, found \"" +
                     std::string(what) + "\"");
  }
  return value;
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

bool is_numbered(const std::filesystem::path& path) {
  return number_in(path.filename().string()).length > 0;
}

std::filesystem::path numbered(const std::filesystem::path& path, int frame) {
  std::string name = path.filename().string();
  const Number number = number_in(name);
  if (number.length == 0) return path;
  std::string digits = std::to_string(frame);
  if (digits.size() < number.digits) digits.insert(0, number.digits - digits.size(), '0');
  return path.parent_path() / name.replace(number.at, number.length, digits);
}

Experiment frame_of(const Experiment& experiment, const FrameOptions& frames, int frame) {
  const View& shown = view(experiment.view.id);
  std::string known;
  const Parameter* moved = nullptr;
  for (const Parameter& p : shown.parameters) {
    if (p.kind != Parameter::Kind::Integer && p.kind != Parameter::Kind::Real) continue;
    known += (known.empty() ? "" : ", ") + p.key;
    if (p.key == frames.key) moved = &p;
  }
  if (moved == nullptr) {
    throw InputError(
        "animate: expected " +
        (known.empty() ? "a view with numbers to move" : "one of the view's numbers, " + known) +
        ", found \"" + frames.key + "\"");
  }
  const double share = static_cast<double>(frame) / std::max(1, frames.count - 1);
  const double number = frames.from + share * (frames.to - frames.from);
  Value value = number;
  if (moved->kind == Parameter::Kind::Integer) {
    if (!(std::abs(number) <= Parameter::kMostInteger)) {
      throw InputError("animate: " + frames.key + ": expected an integer, found " + brief(number));
    }
    value = static_cast<Index>(std::llround(number));
  }
  check_value(*moved, value, "animate");
  Experiment one = experiment;
  set_view_value(one.view, shown.id, frames.key, value);
  return one;
}

void check_frames(const std::filesystem::path& path, const Experiment& experiment,
                  const FrameOptions& frames) {
  if (frames.count < 2 || frames.count > kMostFrames) {
    throw InputError("frames: expected an integer from 2 to " + std::to_string(kMostFrames) +
                     ", found " + std::to_string(frames.count));
  }
  if (!(frames.seconds > 0) || !(frames.seconds <= 600)) {
    throw InputError("seconds: expected more than 0 and at most 600 for each frame, found " +
                     brief(frames.seconds));
  }
  if (is_numbered(path)) {
    check_picture_name(path);
    if (is_numbered(numbered(path, 0))) {
      throw InputError("output: expected one number in the name, found \"" +
                       path.filename().string() + "\"");
    }
  } else if (path.extension() != ".gif") {
    throw InputError("output: " + std::string(kExpected) + ", found \"" + path.filename().string() +
                     "\"");
  }
  frame_of(experiment, frames, 0);
  frame_of(experiment, frames, frames.count - 1);
}

void write_frames(const std::filesystem::path& path, const Trace& trace,
                  const Experiment& experiment, const PictureOptions& options,
                  const FrameOptions& frames, const Trace* reference,
                  const std::function<void(double)>& progress, const Stop& stop,
                  const HeadTable* heads) {
  check_frames(path, experiment, frames);
  PictureOptions of_file = options;
  const bool gif = !is_numbered(path);
  if (gif) of_file.transparent = false;
  if (!gif && path.extension() != ".png") of_file.scale = kVectorPixels;
  const auto list_of = [&](int frame) {
    stop.check();
    return lay_out_picture(trace, frame_of(experiment, frames, frame), of_file, reference, stop,
                           heads);
  };
  // All frames as high as the highest; a first pass that lays out and draws nothing.
  double height = 0;
  for (int frame = 0; frame < frames.count; ++frame) {
    height = std::max(height, list_of(frame).height);
  }
  const auto framed = [&](int frame) {
    DisplayList list = list_of(frame);
    list.height = height;
    return list;
  };
  const auto done = [&](int frame) {
    if (progress) progress(static_cast<double>(frame) / frames.count);
  };
  if (!gif) {
    for (int frame = 0; frame < frames.count; ++frame) {
      done(frame);
      const Experiment one = frame_of(experiment, frames, frame);
      write_picture(numbered(path, frame), framed(frame), of_file.scale,
                    {{"Title", picture_title(trace) + " · " + view(one.view.id).label},
                     {"Software", "attnscope"},
                     {"Experiment", to_json(one).dump()}});
    }
    done(frames.count);
    return;
  }
  // The colours of a few frames stand for those of all.
  constexpr int kSamples = 5;
  std::vector<Image> samples;
  for (int n = 0; n < kSamples; ++n) {
    samples.push_back(render_image(framed(n * (frames.count - 1) / (kSamples - 1)), of_file.scale));
  }
  GifEncoder encoder(samples.front().width, samples.front().height, palette_of(samples),
                     frames.seconds);
  samples.clear();
  for (int frame = 0; frame < frames.count; ++frame) {
    done(frame);
    encoder.add(render_image(framed(frame), of_file.scale));
  }
  stop.check();
  write_file(path, encoder.finish());
  done(frames.count);
}

}  // namespace attnscope
