// Export of views to files, as pictures or numbers. Window and command line share this code.
#pragma once

#include <filesystem>

#include "core/figure/png.h"
#include "core/view/view.h"

namespace attnscope {

struct PictureOptions {
  double width = 720;  // in units of 1/96 inch; a unit is a pixel at scale 1
  double height = 0;   // 0: height of the content, at most the larger of 1.4 times the
                       // width and 66 times the font size
  double font_size = 13;
  double scale = 2;  // PNG: pixels per unit
  bool dark = false;
  bool transparent = false;    // PNG, SVG and PDF: no background
  bool embeds_session = true;  // PNG, SVG, PDF and safetensors contain the session
  FigureParts parts{};
  bool operator==(const PictureOptions&) const = default;

  // Set the size in pixels at the current `scale`, or in inches. Height 0: height of the content.
  void set_pixels(double pixel_width, double pixel_height);
  void set_inches(double inch_width, double inch_height) {
    width = inch_width * kUnitsPerInch;
    height = inch_height * kUnitsPerInch;
  }
  double dots_per_inch() const { return scale * kUnitsPerInch; }
  void set_dots_per_inch(double dots) { scale = dots / kUnitsPerInch; }
  static constexpr double kUnitsPerInch = 96;
  static constexpr double kMinSide = 50, kMaxSide = 16384;  // of width and height, in units
};

// Lays out the session's view with title and caption, for output at options.scale pixels per unit.
// `findings`: results of required_findings(session). Throws InputError if there is nothing to show
// (unknown layer or head, no tokens, no space) or a size is out of range; Stopped if cancelled.
DisplayList lay_out_picture(const Trace& trace, const Session& session,
                            const PictureOptions& options, const Findings& findings = {});

// Session as the file `path` contains it: with its tensor files if they are small, and with short
// paths (run_files.h).
Session embedded_session(Session session, const std::filesystem::path& path);

// Title, software and, if options.embeds_session, session of the picture `path`. Opening a PNG
// restores the session.
PictureMetadata picture_metadata(const std::filesystem::path& path, const Trace& trace,
                                 const Session& session, const PictureOptions& options);

// Writes a picture or the view's numbers; the ending selects the format (export_format.h).
void write_view(const std::filesystem::path& path, const Trace& trace, const Session& session,
                const PictureOptions& options, const Findings& findings = {});

// Throws InputError if write_view() has no format for the ending; call this before long work.
void check_export_name(const std::filesystem::path& path);

}  // namespace attnscope
