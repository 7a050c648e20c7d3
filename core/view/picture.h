// Views as pictures in files. The window's export and the command line both go through here.
#pragma once

#include <filesystem>

#include "core/view/view.h"

namespace attnscope {

struct PictureOptions {
  double width = 720;  // in units of 1/96 inch; at scale 1 a pixel each
  double height = 0;   // 0: as high as the content, at most 1.4 times the width
  double font_size = 13;
  double scale = 2;  // PNG: pixels per unit
  bool dark = false;
};

// The view that the experiment asks for, with title and caption, for options.scale pixels per unit.
// `reference`: the run that reference_of(experiment) asks for, where it asks for one. InputError
// where there is nothing to show (no such layer or head, no tokens, no space) or a size makes no
// sense. Stopped: maps of long texts take a while.
DisplayList lay_out_picture(const Trace& trace, const Experiment& experiment,
                            const PictureOptions& options, const Trace* reference = nullptr,
                            const Stop& stop = {});

// Into a file, see write_picture; it carries the experiment, so that opening it restores all.
void write_view(const std::filesystem::path& path, const Trace& trace, const Experiment& experiment,
                const PictureOptions& options, const Trace* reference = nullptr,
                const Stop& stop = {});

}  // namespace attnscope
