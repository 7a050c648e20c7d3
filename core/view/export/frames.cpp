#include "core/view/export/frames.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stop.h"
#include "core/figure/gif.h"
#include "core/figure/render.h"

namespace attnscope {
namespace {

constexpr const char* kExpected = "expected a GIF (FILE.gif) or numbered pictures (FILE-%03d.png)";

// A placeholder such as "%03d" in a file name: position, length, digits.
struct Placeholder {
  std::size_t start = std::string::npos, length = 0, digits = 0;
};
Placeholder find_placeholder(const std::string& name) {
  for (std::size_t i = name.find('%'); i != std::string::npos; i = name.find('%', i + 1)) {
    std::size_t end = i + 1, digits = 0;
    while (end < name.size() && name[end] >= '0' && name[end] <= '9' && digits < 10) {
      digits = 10 * digits + static_cast<std::size_t>(name[end++] - '0');
    }
    if (end < name.size() && name[end] == 'd' && digits < 10) return {i, end + 1 - i, digits};
  }
  return {};
}

}  // namespace

bool is_numbered(const std::filesystem::path& path) {
  return find_placeholder(path.filename().string()).length > 0;
}

std::filesystem::path numbered(const std::filesystem::path& path, int frame) {
  std::string name = path.filename().string();
  const Placeholder number = find_placeholder(name);
  if (number.length == 0) return path;
  std::string digits = std::to_string(frame);
  if (digits.size() < number.digits) digits.insert(0, number.digits - digits.size(), '0');
  return path.parent_path() / name.replace(number.start, number.length, digits);
}

void check_frames_name(const std::filesystem::path& path) {
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
}

namespace {

class FrameWriter {
 public:
  FrameWriter(FrameSequence& frames, const PictureOptions& options)
      : frames_(frames), options_(options) {}

  // Finds the common height of the frames: the maximum of their heights.
  void measure(const std::function<void(int)>& report) {
    for (int frame = 0; frame < frames_.count(); ++frame) {
      report(frame);
      height_ = std::max(height_, lay_out(frames_.frame(frame)).height);
    }
  }

  void write_numbered(const std::filesystem::path& path, const std::function<void(int)>& report) {
    for (int number = 0; number < frames_.count(); ++number) {
      report(number);
      const Frame frame = frames_.frame(number);
      write_picture(numbered(path, number), padded(frame), options_.scale,
                    picture_metadata(path, *frame.traces.trace, frame.session, options_));
    }
  }

  std::string gif(const std::function<void(int)>& report) {
    // A sample of frames determines the palette.
    constexpr int kSamples = 5;
    std::vector<Image> samples;
    for (int n = 0; n < kSamples; ++n) {
      samples.push_back(image(n * (frames_.count() - 1) / (kSamples - 1)));
    }
    GifEncoder encoder(samples.front().width, samples.front().height, compute_palette(samples),
                       frames_.seconds());
    samples.clear();
    for (int frame = 0; frame < frames_.count(); ++frame) {
      report(frame);
      encoder.add(image(frame));
    }
    check_stop();
    return encoder.finish();
  }

 private:
  DisplayList lay_out(const Frame& frame) {
    return lay_out_picture(*frame.traces.trace, frame.session, options_, frame.traces.findings);
  }
  DisplayList padded(const Frame& frame) {
    DisplayList list = lay_out(frame);
    list.height = height_;
    return list;
  }
  Image image(int frame) { return render_image(padded(frames_.frame(frame)), options_.scale); }

  FrameSequence& frames_;
  const PictureOptions& options_;
  double height_ = 0;
};

}  // namespace

void write_frames(const std::filesystem::path& path, FrameSequence& frames,
                  const PictureOptions& options, const std::function<void(double)>& progress) {
  check_frames_name(path);
  PictureOptions file_options = options;
  const bool is_gif = !is_numbered(path);
  if (is_gif) file_options.transparent = false;
  if (!is_gif && !picture_format(path)->has_pixels) file_options.scale = kVectorPixels;
  // The first pass is half of the progress.
  const auto report_first_pass = [&](int frame) {
    if (progress) progress(static_cast<double>(frame) / (2 * frames.count()));
  };
  const auto report_second_pass = [&](int frame) { report_first_pass(frames.count() + frame); };
  FrameWriter writer(frames, file_options);
  writer.measure(report_first_pass);
  if (is_gif) {
    write_file(path, writer.gif(report_second_pass));
  } else {
    writer.write_numbered(path, report_second_pass);
  }
  report_second_pass(frames.count());
}

}  // namespace attnscope
