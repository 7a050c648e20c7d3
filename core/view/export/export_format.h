// Export formats of views: one table for the window, the command line and its help.
//
// A format writes one file of a view: a picture, its numbers, or a moving picture. Adding one is a
// line in export_formats() and, unless a writer exists, a function that writes it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/view/export/picture.h"

namespace attnscope {

// Everything that a writer may need.
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
  bool is_numbered = false;   // Movie: one file per frame, FILE-%03d.png
  bool is_one_array = false;  // Numbers: holds a single array, so that some views are refused
  // Picture and Numbers; movies are written by write_frames() (frames.h).
  std::function<void(const std::filesystem::path&, const ExportContent&)> write{};
};

const std::vector<ExportFormat>& export_formats();  // in the order of lists

// Format of a still picture or of numbers by the file name's ending; null if there is none.
const ExportFormat* still_format(const std::filesystem::path& path);
// Format of any file name, numbered ones and GIFs among them; null if there is none.
const ExportFormat* export_format(const std::filesystem::path& path);

// Endings of pictures and numbers: ".png, .svg, .pdf, .csv, .npy or .safetensors".
std::string still_endings();

}  // namespace attnscope
