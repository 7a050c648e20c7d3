#include "core/view/picture.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/figure/plain_text.h"
#include "core/figure/render.h"

namespace attnscope {
namespace {

constexpr double kMostHeight = 1.4;  // of the width, where no height is given

void check(const std::string& name, double value, double least, double most) {
  if (value >= least && value <= most) return;
  throw InputError(name + ": expected a number from " + brief(least, 6) + " to " + brief(most, 6) +
                   ", found " + brief(value, 6));
}

}  // namespace

DisplayList lay_out_picture(const Trace& trace, const Experiment& experiment,
                            const PictureOptions& options, const Trace* reference,
                            const Stop& stop) {
  constexpr double kLeastSize = 50, kMostSize = 16384, kLeastFont = 4, kMostFont = 200;
  constexpr double kLeastScale = 0.1, kMostScale = 20;
  check("width", options.width, kLeastSize, kMostSize);
  if (options.height != 0) check("height", options.height, kLeastSize, kMostSize);
  check("font size", options.font_size, kLeastFont, kMostFont);
  check("scale", options.scale, kLeastScale, kMostScale);
  const bool tight = options.height == 0;
  const ViewLayout layout =
      view(experiment.view.id)
          .lay_out({.trace = trace,
                    .experiment = experiment,
                    .width = options.width,
                    .height = tight ? kMostHeight * options.width : options.height,
                    .font_size = options.font_size,
                    .theme = options.dark ? Theme::dark() : Theme::light(),
                    .measure = file_text_measure(),
                    .framed = true,
                    .tight = tight,
                    .scale = options.scale,
                    .reference = reference,
                    .stop = stop});
  if (!layout.refusal.empty()) throw InputError(experiment.view.id + ": " + layout.refusal);
  return layout.list;
}

void write_view(const std::filesystem::path& path, const Trace& trace, const Experiment& experiment,
                const PictureOptions& options, const Trace* reference, const Stop& stop) {
  PictureOptions of_file = options;
  if (path.extension() != ".png") of_file.scale = kVectorPixels;
  write_picture(path, lay_out_picture(trace, experiment, of_file, reference, stop), of_file.scale,
                {{"Title", picture_title(trace) + " · " + view(experiment.view.id).label},
                 {"Software", "attnscope"},
                 {"Experiment", to_json(experiment).dump()}});
}

}  // namespace attnscope
