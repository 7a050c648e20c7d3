#include "app/command/view_options.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/command/choice_text.h"
#include "core/base/error.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"

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
      .add_option("--tile,--part", tile_,
                  "The part of a map to show, in tokens: ROW,COL,HEIGHT,WIDTH, counted from 0")
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
  if (tile_.empty()) return;
  const bool finite = std::ranges::all_of(tile_, [](double x) { return std::isfinite(x); });
  if (!finite || !(tile_[2] > 0) || !(tile_[3] > 0)) {
    throw InputError("--tile: expected numbers with more than 0 rows and columns, found " +
                     brief(tile_[2], 6) + " and " + brief(tile_[3], 6));
  }
  settings.row = tile_[0];
  settings.column = tile_[1];
  settings.height = tile_[2];
  settings.width = tile_[3];
}

void ViewOptions::check_tile(const Trace& trace, const ViewSettings& settings) const {
  const AttentionTap* tap = trace.find(settings.layer, settings.head, nullptr);
  if (tile_.empty() || tap == nullptr) return;
  const auto meets = [](double first, double extent, Index count) {
    return first < static_cast<double>(count) && first + extent > 0;
  };
  if (meets(tile_[0], tile_[2], tap->queries()) && meets(tile_[1], tile_[3], tap->keys())) return;
  throw InputError("--tile: expected a part of " + std::to_string(tap->queries()) + " rows and " +
                   std::to_string(tap->keys()) + " columns, found row " + brief(tile_[0], 6) +
                   ", column " + brief(tile_[1], 6));
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
