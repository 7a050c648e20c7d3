// Views in files, as pictures or as numbers. The window's export and the command line both go
// through here.
#pragma once

#include <filesystem>

#include "core/figure/png.h"
#include "core/view/view.h"

namespace attnscope {

struct PictureOptions {
  double width = 720;  // in units of 1/96 inch; at scale 1 a pixel each
  double height = 0;   // 0: as high as the content, at most 1.4 times the width, or
                       // 66 times the font size in a narrow picture
  double font_size = 13;
  double scale = 2;  // PNG: pixels per unit
  bool dark = false;
  bool transparent = false;  // PNG, SVG and PDF: nothing behind the picture
  FigureParts parts{};
  bool operator==(const PictureOptions&) const = default;

  // Sizes as people give them. Pixels and scale give the width and height in units: set the scale
  // first.
  void set_pixels(double wide, double high);  // high 0: as high as the content
  void set_inches(double wide, double high) {
    width = wide * kUnitsPerInch;
    height = high * kUnitsPerInch;
  }
  double dots_per_inch() const { return scale * kUnitsPerInch; }
  void set_dots_per_inch(double dots) { scale = dots / kUnitsPerInch; }
  static constexpr double kUnitsPerInch = 96;
};

// The view that the experiment asks for, with title and caption, for options.scale pixels per unit.
// `findings`: those that findings_read(experiment) names. InputError where there is nothing to show
// (no such layer or head, no tokens, no space) or a size makes no sense. Stopped: maps of long
// texts take a while.
DisplayList lay_out_picture(const Trace& trace, const Experiment& experiment,
                            const PictureOptions& options, const Findings& findings = {},
                            const Stop& stop = {});

// Title, software and the experiment that made the picture, so that opening the file restores it.
PictureMetadata picture_metadata(const Trace& trace, const Experiment& experiment);

// Writes a picture or the view's numbers in the format of the file name's ending (export_format.h).
void write_view(const std::filesystem::path& path, const Trace& trace, const Experiment& experiment,
                const PictureOptions& options, const Findings& findings = {},
                const Stop& stop = {});

// Throws InputError if write_view() does not know the ending: call it before long work.
void check_export_name(const std::filesystem::path& path);

}  // namespace attnscope
