#include "core/view/export/picture.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/figure/plain_text.h"
#include "core/view/export/export_format.h"
#include "core/view/session.h"

namespace attnscope {
namespace {

// Where no height is given: of the width; em, for what is to be said in a narrow column.
constexpr double kMostHeight = 1.4, kMostColumn = 66;

void check(const std::string& name, double value, double least, double most) {
  if (value >= least && value <= most) return;
  throw InputError(name + ": expected a number from " + brief(least, 6) + " to " + brief(most, 6) +
                   ", found " + brief(value, 6));
}

}  // namespace

DisplayList lay_out_picture(const Trace& trace, const Experiment& experiment,
                            const PictureOptions& options, const Findings& findings,
                            const Stop& stop) {
  constexpr double kLeastSize = 50, kMostSize = 16384, kLeastFont = 4, kMostFont = 200;
  constexpr double kLeastScale = 0.1, kMostScale = 20;
  check("width", options.width, kLeastSize, kMostSize);
  if (options.height != 0) check("height", options.height, kLeastSize, kMostSize);
  check("font size", options.font_size, kLeastFont, kMostFont);
  check("scale", options.scale, kLeastScale, kMostScale);
  const bool tight = options.height == 0;
  Experiment looking = experiment;
  looking.view = begun(experiment.view, trace);
  ViewLayout layout = view(experiment.view.id)
                          .lay_out({.trace = trace,
                                    .experiment = looking,
                                    .width = options.width,
                                    .height = tight ? std::max(kMostHeight * options.width,
                                                               kMostColumn * options.font_size)
                                                    : options.height,
                                    .font_size = options.font_size,
                                    .theme = options.dark ? Theme::dark() : Theme::light(),
                                    .measure = file_text_measure(),
                                    .framed = true,
                                    .tight = tight,
                                    .parts = options.parts,
                                    .scale = options.scale,
                                    .findings = findings,
                                    .stop = stop});
  if (!layout.refusal.empty()) throw InputError(experiment.view.id + ": " + layout.refusal);
  if (options.transparent) layout.list.background.a = 0;
  return std::move(layout.list);
}

void PictureOptions::set_pixels(double wide, double high) {
  width = wide / scale;
  height = high / scale;
}

PictureMetadata picture_metadata(const Trace& trace, const Experiment& experiment) {
  return {{"Title", picture_title(trace) + " · " + view(experiment.view.id).label},
          {"Software", "attnscope"},
          {kExperimentKeyword, to_json(experiment).dump()}};
}

void check_export_name(const std::filesystem::path& path) {
  if (still_format(path) != nullptr) return;
  throw InputError(path.string() + ": expected a file name that ends in " + still_endings() +
                   ", found " +
                   (path.has_extension() ? path.extension().string() : "none of them"));
}

void write_view(const std::filesystem::path& path, const Trace& trace, const Experiment& experiment,
                const PictureOptions& options, const Findings& findings, const Stop& stop) {
  check_export_name(path);
  still_format(path)->write(path, {trace, experiment, options, findings, stop});
}

}  // namespace attnscope
