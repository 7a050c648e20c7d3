#include "core/view/export/export_format.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/join_words.h"
#include "core/figure/render.h"
#include "core/tensor/npy.h"
#include "core/view/export/frames.h"
#include "core/view/export/view_data.h"

namespace attnscope {
namespace {

using Kind = ExportFormat::Kind;
using Path = std::filesystem::path;

void write_still(const Path& path, const ExportContent& content) {
  PictureOptions options = content.options;
  if (!picture_format(path)->has_pixels) options.scale = kVectorPixels;
  write_picture(path, lay_out_picture(content.trace, content.session, options, content.findings),
                options.scale, picture_metadata(path, content.trace, content.session, options));
}

ViewData exported_numbers(const ExportContent& content) {
  return view_data(content.trace, content.session, content.findings);
}

void write_csv(const Path& path, const ExportContent& content) {
  write_file(path, to_csv(exported_numbers(content)));
}

void write_tensors(const Path& path, const ExportContent& content) {
  SafetensorsFile file =
      safetensors_of(exported_numbers(content), embedded_session(content.session, path));
  if (!content.options.embeds_session) file.metadata.erase("experiment");
  write_safetensors(path, file);
}

void write_array(const Path& path, const ExportContent& content) {
  const ViewData data = exported_numbers(content);
  if (data.matrices.size() != 1) {
    throw InputError(path.string() + ": expected .csv or .safetensors for a view with " +
                     std::to_string(data.matrices.size()) +
                     " arrays, found .npy, which contains one array");
  }
  write_npy(path, stored(data.matrices.front().values));
}

}  // namespace

const std::vector<ExportFormat>& export_formats() {
  static const std::vector<ExportFormat> formats{
      {.id = "png",
       .label = "PNG",
       .summary = "Pixels, with the session inside",
       .ending = ".png",
       .has_pixels = true,
       .has_session = true,
       .write = write_still},
      {.id = "svg",
       .label = "SVG",
       .summary = "Lines and text for the web and drawing programs",
       .ending = ".svg",
       .has_session = true,
       .write = write_still},
      {.id = "pdf",
       .label = "PDF",
       .summary = "Lines and text for papers",
       .ending = ".pdf",
       .has_session = true,
       .write = write_still},
      {.id = "csv",
       .label = "CSV",
       .summary = "Numbers with their tokens, for spreadsheets",
       .ending = ".csv",
       .kind = Kind::Numbers,
       .write = write_csv},
      {.id = "npy",
       .label = "NPY",
       .summary = "Numbers for NumPy",
       .ending = ".npy",
       .kind = Kind::Numbers,
       .is_one_array = true,
       .write = write_array},
      {.id = "safetensors",
       .label = "Tensors",
       .summary = "Numbers and tokens as safetensors",
       .ending = ".safetensors",
       .kind = Kind::Numbers,
       .has_session = true,
       .write = write_tensors},
      {.id = "gif",
       .label = "GIF",
       .summary = "Animation over the values of one parameter",
       .ending = ".gif",
       .kind = Kind::Movie,
       .has_pixels = true},
      {.id = "frames",
       .label = "Frames",
       .summary = "Animation as numbered PNG files",
       .ending = ".png",
       .kind = Kind::Movie,
       .has_pixels = true,
       .has_session = true,
       .is_numbered = true},
  };
  return formats;
}

const ExportFormat* still_format(const Path& path) {
  const auto& formats = export_formats();
  const auto found = std::ranges::find_if(formats, [&](const ExportFormat& format) {
    return format.kind != Kind::Movie && format.ending == path.extension();
  });
  return found == formats.end() ? nullptr : &*found;
}

const ExportFormat* export_format(const Path& path) {
  const bool has_number = is_numbered(path);
  const auto& formats = export_formats();
  const auto found = std::ranges::find_if(formats, [&](const ExportFormat& format) {
    return has_number ? format.is_numbered : format.ending == path.extension();
  });
  return found == formats.end() ? nullptr : &*found;
}

std::string still_endings() {
  std::vector<std::string> endings;
  for (const ExportFormat& format : export_formats()) {
    if (format.kind != Kind::Movie) endings.push_back(format.ending);
  }
  return alternatives(endings);
}

}  // namespace attnscope
