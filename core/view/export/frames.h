// Moving pictures in files: a GIF, or a picture of each frame.
#pragma once

#include <filesystem>
#include <functional>

#include "core/base/stop.h"
#include "core/view/export/frame_sequence.h"
#include "core/view/export/picture.h"

namespace attnscope {

// Whether this names pictures of its own for each frame: "rope-%03d.png".
bool is_numbered(const std::filesystem::path& path);
// "rope-007.png".
std::filesystem::path numbered(const std::filesystem::path& path, int frame);

// InputError where write_frames would not know what to write, before work begins.
void check_frames_name(const std::filesystem::path& path);

// A GIF, or numbered pictures (then of any format of write_picture). All frames have one size.
// `progress` is told the share that is done, on the calling thread. Throws Stopped, and InputError
// before anything is written.
void write_frames(const std::filesystem::path& path, FrameSequence& frames,
                  const PictureOptions& options, const std::function<void(double)>& progress,
                  const Stop& stop);

}  // namespace attnscope
