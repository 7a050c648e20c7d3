// Export formats of views: one table for the window, the command line and its help.
//
// A format writes a view to a file as a picture, numbers or a moving picture. A new format needs an
// entry in export_formats(), and a write function unless an existing one can write the format.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/view/export/picture.h"

namespace attnscope {

// Input of ExportFormat::write.
struct ExportContent {
  const Trace& trace;
  const Session& session;
  const PictureOptions& options;
  const Findings& findings;
};

struct ExportFormat {
  enum class Kind { Picture, Numbers, Movie };

  std::string id;       // "png"
  std::string label;    // "PNG"
  std::string summary;  // for tooltips
  std::string ending;   // ".png"
  Kind kind = Kind::Picture;
  bool has_pixels = false;    // PictureOptions::scale applies
  bool has_session = false;   // contains the session (PictureOptions::embeds_session)
  bool is_numbered = false;   // Movie: one file per frame, FILE-%03d.png
  bool is_one_array = false;  // Numbers: stores one array; views with several arrays are rejected
  // Writes a picture or numbers. Empty for movies, which write_frames() (frames.h) writes.
  std::function<void(const std::filesystem::path&, const ExportContent&)> write{};
};

const std::vector<ExportFormat>& export_formats();  // in the order of menus

// Format of a still picture or of numbers for this file name; null if there is none.
const ExportFormat* still_format(const std::filesystem::path& path);
// Format for this file name, including GIFs and numbered pictures; null if there is none.
const ExportFormat* export_format(const std::filesystem::path& path);

// Endings of pictures and numbers: ".png, .svg, .pdf, .csv, .npy or .safetensors".
std::string still_endings();

}  // namespace attnscope
