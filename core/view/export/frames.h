// Animations in files: a GIF, or numbered pictures.
#pragma once

#include <filesystem>
#include <functional>

#include "core/view/export/frame_sequence.h"
#include "core/view/export/picture.h"

namespace attnscope {

// True if the name has a placeholder for the frame number: "rope-%03d.png".
bool is_numbered(const std::filesystem::path& path);
// The file name of a frame: "rope-007.png".
std::filesystem::path numbered(const std::filesystem::path& path, int frame);

// Throws InputError if write_frames() would reject the name; call it before long work.
void check_frames_name(const std::filesystem::path& path);

// Writes a GIF, or numbered pictures in any picture format. All frames have the same size.
// `progress` receives the completed fraction on the calling thread. Throws Stopped if cancelled.
// Throws InputError only before it writes a file.
void write_frames(const std::filesystem::path& path, FrameSequence& frames,
                  const PictureOptions& options, const std::function<void(double)>& progress);

}  // namespace attnscope
