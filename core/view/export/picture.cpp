#include "core/view/export/picture.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/experiment/run_files.h"
#include "core/figure/plain_text.h"
#include "core/figure/render.h"
#include "core/view/export/export_format.h"
#include "core/view/session_file.h"

namespace attnscope {
namespace {

// Limits of an automatic height, relative to the width and in em. The larger limit applies.
constexpr double kMaxHeight = 1.4, kMaxColumn = 66;

void check(const std::string& name, double value, double minimum, double maximum) {
  if (value >= minimum && value <= maximum) return;
  throw InputError(name + ": expected a number from " + brief(minimum, 6) + " to " +
                   brief(maximum, 6) + ", found " + brief(value, 6));
}

}  // namespace

DisplayList lay_out_picture(const Trace& trace, const Session& session,
                            const PictureOptions& options, const Findings& findings) {
  constexpr double kMinSide = PictureOptions::kMinSide, kMaxSide = PictureOptions::kMaxSide;
  constexpr double kMinFont = 4, kMaxFont = 200;
  constexpr double kMinScale = 0.1, kMaxScale = 20;
  check("width", options.width, kMinSide, kMaxSide);
  if (options.height != 0) check("height", options.height, kMinSide, kMaxSide);
  check("font size", options.font_size, kMinFont, kMaxFont);
  check("scale", options.scale, kMinScale, kMaxScale);
  const bool is_tight = options.height == 0;
  Session session_with_defaults = session;
  session_with_defaults.view = with_defaults(session.view, trace);
  ViewLayout layout =
      view(session.view.id)
          .lay_out({.trace = trace,
                    .session = session_with_defaults,
                    .findings = findings,
                    .canvas = {.width = options.width,
                               .height = is_tight ? std::max(kMaxHeight * options.width,
                                                             kMaxColumn * options.font_size)
                                                  : options.height,
                               .font_size = options.font_size,
                               .theme = options.dark ? Theme::dark() : Theme::light(),
                               .measure = file_text_measure(),
                               .scale = options.scale},
                    .figure = {.framed = true, .tight = is_tight, .parts = options.parts}});
  if (!layout.refusal.empty()) throw InputError(session.view.id + ": " + layout.refusal);
  if (options.transparent) layout.list.background.a = 0;
  return std::move(layout.list);
}

void PictureOptions::set_pixels(double pixel_width, double pixel_height) {
  width = pixel_width / scale;
  height = pixel_height / scale;
}

Session embedded_session(Session session, const std::filesystem::path& path) {
  const auto prepare = [&path](RunSpec& run) {
    embed_tensor_files(run);
    shorten_paths(run, path.parent_path());
  };
  prepare(session.run);
  if (session.b) prepare(session.b->run);
  return session;
}

PictureMetadata picture_metadata(const std::filesystem::path& path, const Trace& trace,
                                 const Session& session, const PictureOptions& options) {
  PictureMetadata metadata{{"Title", picture_title(trace) + " · " + view(session.view.id).label},
                           {"Software", "attnscope"}};
  if (options.embeds_session) {
    metadata.insert_or_assign(kExperimentKeyword, to_json(embedded_session(session, path)).dump());
  }
  return metadata;
}

void check_export_name(const std::filesystem::path& path) {
  if (still_format(path) != nullptr) return;
  throw InputError(path.string() + ": expected a file name that ends in " + still_endings() +
                   ", found " +
                   (path.has_extension() ? path.extension().string() : "none of them"));
}

void write_view(const std::filesystem::path& path, const Trace& trace, const Session& session,
                const PictureOptions& options, const Findings& findings) {
  check_export_name(path);
  still_format(path)->write(path, {trace, session, options, findings});
}

}  // namespace attnscope
