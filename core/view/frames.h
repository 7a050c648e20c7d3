// Views as moving pictures: one of a view's numbers runs from here to there.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/base/stop.h"
#include "core/view/picture.h"

namespace attnscope {

struct FrameOptions {
  std::string key;          // of one of the view's numbers
  double from = 0, to = 1;  // both are shown
  int count = 60;
  double seconds = 0.05;  // of each frame, in a GIF
};

// "query=0:64" into key, from and to. InputError.
FrameOptions frames_from_text(std::string_view text);

// Whether this names pictures of its own for each frame: "rope-%03d.png".
bool is_numbered(const std::filesystem::path& path);
// "rope-007.png".
std::filesystem::path numbered(const std::filesystem::path& path, int frame);

// InputError where write_frames would refuse, before the work for it begins.
void check_frames(const std::filesystem::path& path, const Experiment& experiment,
                  const FrameOptions& frames);

// The experiment of one frame. InputError where the view has no such number.
Experiment frame_of(const Experiment& experiment, const FrameOptions& frames, int frame);

// A GIF, or numbered pictures (then of any format of write_picture). All frames have one size.
// `progress` is told the share that is done, on the calling thread. Throws Stopped, and InputError
// before anything is written.
void write_frames(const std::filesystem::path& path, const Trace& trace,
                  const Experiment& experiment, const PictureOptions& options,
                  const FrameOptions& frames, const Trace* reference,
                  const std::function<void(double)>& progress, const Stop& stop,
                  const HeadTable* heads = nullptr);

}  // namespace attnscope
