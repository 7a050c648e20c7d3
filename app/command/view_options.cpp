#include "app/command/view_options.h"

#include <nlohmann/json.hpp>

#include "app/command/choice_text.h"
#include "core/base/error.h"
#include "core/figure/colour_map.h"

namespace attnscope::command {
namespace {

// "map, grid, pattern".
template <class List>
std::string ids(const List& list) {
  std::string text;
  for (const auto& entry : list) text += (text.empty() ? "" : ", ") + entry.id;
  return text;
}

}  // namespace

void ViewOptions::add_to(CLI::App& command) {
  command_ = &command;
  command.add_option(
      "--view", view_,
      "What to show, with its parameters: map, rope,base=500 ('attnscope list views' "
      "names them): " +
          ids(views()) + "; default: map");
  command.add_option("--layer", layer_, "Layer, counted from 0; default: 0");
  command.add_option("--head", head_, "Head, counted from 0; default: 0");
  command.add_option("--colour-map,--color-map", colour_map_,
                     ids(colour_maps()) + "; default: viridis");
  command.add_flag("--normalise,--normalize", normalise_,
                   "Colour range from what is visible instead of 0 to 1");
  command
      .add_option("--part", part_,
                  "The part of a map to show, in cells: FIRST ROW, FIRST COLUMN, ROWS, COLUMNS")
      ->delimiter(',')
      ->expected(4);
}

void ViewOptions::apply(ViewSettings& settings) const {
  if (!view_.empty()) {
    const nlohmann::json chosen =
        choice_json(view_, "view", [](const std::string& id) { return view(id).parameters; });
    if (!chosen.contains("type") || !chosen["type"].is_string()) {
      throw InputError("view: expected a view's name, found \"" + view_ + "\"");
    }
    settings.id = view(chosen["type"].get<std::string>()).id;
    const std::vector<Parameter>& parameters = view(settings.id).parameters;
    if (chosen.size() > 1) {
      set_view_values(settings, settings.id,
                      values_from_json(parameters, chosen, "view " + settings.id));
    }
  }
  if (command_->count("--layer") > 0) settings.layer = layer_;
  if (command_->count("--head") > 0) settings.head = head_;
  if (!colour_map_.empty()) settings.colour_map = colour_map_;
  colour_map(settings.colour_map);  // refuses what there is not
  if (normalise_) settings.normalise = true;
  if (part_.empty()) return;
  if (!(part_[2] > 0) || !(part_[3] > 0)) {
    throw InputError("--part: expected more than 0 rows and columns, found " +
                     std::to_string(part_[2]) + " and " + std::to_string(part_[3]));
  }
  settings.row = part_[0];
  settings.column = part_[1];
  settings.height = part_[2];
  settings.width = part_[3];
}

void PictureSizeOptions::add_to(CLI::App& command) {
  command.add_option("--width", options_.width, "Width in units of 1/96 inch")
      ->capture_default_str();
  command.add_option("--height", options_.height,
                     "Height in the same units; default: as high as the content");
  command.add_option("--scale", options_.scale, "Pixels per unit, for PNG")->capture_default_str();
  command.add_option("--font-size", options_.font_size, "In units")->capture_default_str();
  command.add_option("--theme", theme_, "light or dark")->capture_default_str();
}

PictureOptions PictureSizeOptions::options() const {
  if (theme_ != "light" && theme_ != "dark") {
    throw InputError("--theme: expected light or dark, found \"" + theme_ + "\"");
  }
  PictureOptions options = options_;
  options.dark = theme_ == "dark";
  return options;
}

}  // namespace attnscope::command
