#include "app/command/view_options.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "app/command/choice_text.h"
#include "core/analysis/words.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/parts/describe.h"

namespace attnscope::command {
namespace {

template <class List>
std::string joined_ids(const List& list) {
  std::string text;
  for (const auto& entry : list) text += (text.empty() ? "" : ", ") + entry.id;
  return text;
}

std::string word_merging_views() {
  std::string text;
  for (const View& view : views()) {
    if (view.cells.merge_words) text += (text.empty() ? "" : ", ") + view.id;
  }
  return text;
}

}  // namespace

void ViewOptions::add_to(Command command) {
  command_ = command;
  command.add(
      "--view", view_,
      "View, such as map, or grid,sort=induction with a parameter ('attnscope list views'). "
      "Views: " +
          joined_ids(views()) +
          ". Default: map; for an encoder-decoder without a target, alignment; for a model "
          "without an input, its recommended view");
  command.add("--layer", layer_, "Layer, counted from 0; default: 0");
  command.add("--head", head_, "Head, counted from 0; default: 0");
  command.add("--stack", stack_,
              "Stack of an encoder-decoder: encoder or decoder; default: decoder");
  command.add("--kind", kind_, "Attention of the decoder: self or cross; default: self");
  command.add("--step", step_,
              "Step of models that apply their layers repeatedly, counted from 1; default: 1");
  command.add("--segment", segment_,
              "Segment of models that read in segments, counted from 0; default: 0; in the view "
              "memory, the last segment");
  command.add("--colour-map,--color-map", colour_map_,
              "Colour map: " + joined_ids(colour_maps()) + "; default: viridis");
  command.add("--colours,--colors", colour_end_,
              "Upper end of the colour scale for weights: percentile (the 99th of the visible "
              "weights), largest (the largest visible weight) or one (1); default: percentile");
  command.flag("--normalise,--normalize", normalise_, "Same as --colours largest");
  command.flag(
      "--words", words_,
      "Merge word pieces into words: sum weights over the keys of a word, and average them "
      "over its queries. Views: " +
          word_merging_views());
  command.flag("--hide-special", hides_special_,
               "Hide special tokens such as \"[CLS]\" or \"<s>\", without renormalising the other "
               "weights. Views: " +
                   word_merging_views());
  command.flag("--space-markers", space_markers_, "Mark a space with which a token begins or ends");
  command
      .add("--tile,--part", tile_,
           "Visible part of a map in tokens (also with --words): ROW,COL,HEIGHT,WIDTH, counted "
           "from 0")
      .numbers(4);
  command
      .add("--pin", pin_,
           "Pinned query and key token, ROW,COLUMN (-1: none). Their weights, or those of their "
           "words, are shown next to a map")
      .numbers(2);
  command.add(
      "--statistics-file", statistics_file_,
      "File of texts for the head statistics that sort a grid (--view grid,sort=induction)");
}

bool ViewOptions::selects_view() const {
  constexpr std::array kSelections = {"--view", "--layer",   "--head", "--stack", "--kind",
                                      "--step", "--segment", "--tile", "--pin",   "--words"};
  return std::ranges::any_of(kSelections,
                             [&](const char* name) { return command_->is_given(name); });
}

bool ViewOptions::is_given() const {
  return selects_view() || !colour_map_.empty() || !colour_end_.empty() || normalise_ ||
         hides_special_ || space_markers_ || !statistics_file_.empty();
}

void ViewOptions::apply(ViewSettings& settings) const {
  if (!view_.empty()) {
    const Json parsed = choice_json(
        view_, "view", [](const std::string& id) { return view(id).options.parameters; });
    if (!parsed.contains("type") || !parsed["type"].is_string()) {
      throw InputError("view: expected the name of a view, found \"" + view_ + "\"");
    }
    settings.id = view(parsed["type"].get<std::string>()).id;
    const std::vector<Parameter>& parameters = view(settings.id).options.parameters;
    if (parsed.size() > 1) {
      set_view_values(settings, settings.id,
                      values_from_json(parameters, parsed, "view " + settings.id));
    }
  }
  if (command_->is_given("--layer")) settings.layer = layer_;
  if (command_->is_given("--head")) settings.head = head_;
  if (!stack_.empty()) settings.part.stack = stack_from_name(stack_, "--stack");
  if (!kind_.empty()) settings.part.kind = kind_from_name(kind_, "--kind");
  if (step_) settings.part.step = *step_;
  if (segment_) settings.part.segment = *segment_;
  if (!colour_map_.empty()) settings.colour_map = colour_map_;
  colour_map(settings.colour_map);  // throws if unknown
  if (normalise_) settings.colour_end = ColourEnd::Largest;
  if (!colour_end_.empty()) settings.colour_end = colour_end_from_name(colour_end_, "--colours");
  if (words_) settings.words = true;
  if (words_ && !view(settings.id).cells.merge_words) {
    throw InputError("--words: expected a view that merges word pieces (" + word_merging_views() +
                     "), found " + settings.id);
  }
  if (hides_special_) settings.hides_special = true;
  if (space_markers_) settings.space_markers = true;
  if (hides_special_ && !view(settings.id).cells.merge_words) {
    throw InputError("--hide-special: expected a view that can hide tokens (" +
                     word_merging_views() + "), found " + settings.id);
  }
  if (!statistics_file_.empty()) {
    settings.statistics_file =
        std::filesystem::absolute(statistics_file_).lexically_normal().string();
  }
  if (!pin_.empty()) {
    if (pin_[0] < -1 || pin_[1] < -1) {
      throw InputError("--pin: expected a row and a column from 0, or -1 for none, found " +
                       std::to_string(pin_[0]) + "," + std::to_string(pin_[1]));
    }
    settings.pinned_query = pin_[0];
    settings.pinned_key = pin_[1];
  }
  if (tile_.empty()) return;
  const bool is_finite = std::ranges::all_of(tile_, [](double x) { return std::isfinite(x); });
  if (!is_finite || !(tile_[2] > 0) || !(tile_[3] > 0)) {
    throw InputError("--tile: expected at least one row and column, found " + brief(tile_[2], 6) +
                     " and " + brief(tile_[3], 6));
  }
  settings.row = tile_[0];
  settings.column = tile_[1];
  settings.height = tile_[2];
  settings.width = tile_[3];
}

void ViewOptions::check_trace(const Trace& trace, const ViewSettings& requested) const {
  const ViewSettings settings = with_defaults(requested, trace);
  if (!stack_.empty() || !kind_.empty() || step_ || segment_) {
    if (const std::optional<MissingPart> missing = find_missing_part(trace, settings.part)) {
      throw InputError(std::string("--") + missing->category + ": expected " + missing->expected +
                       ", found a run with " + missing->found);
    }
  }
  if (words_) {
    const std::string refusal = words_refusal(trace);
    if (!refusal.empty()) throw InputError("--words: cannot merge: " + refusal);
  }
  if (hides_special_) {
    const std::string refusal = special_refusal(trace);
    if (!refusal.empty()) throw InputError("--hide-special: cannot hide tokens: " + refusal);
  }
  const AttentionTap* tap = trace.find(head_ref(trace, settings));
  if (tap == nullptr) return;
  const Values values = view_values(settings, settings.id);
  if (!view_.empty() && values.has("token") && values.integer("token") >= tap->queries()) {
    throw InputError("--view: token: expected a token of the run, 0 to " +
                     std::to_string(tap->queries() - 1) + ", found " +
                     std::to_string(values.integer("token")));
  }
  if (!pin_.empty() && (pin_[0] >= tap->queries() || pin_[1] >= tap->keys())) {
    throw InputError("--pin: expected a row below " + std::to_string(tap->queries()) +
                     " and a column below " + std::to_string(tap->keys()) + ", found " +
                     std::to_string(pin_[0]) + "," + std::to_string(pin_[1]));
  }
  if (tile_.empty()) return;
  const auto overlaps = [](double first, double extent, Index count) {
    return first < static_cast<double>(count) && first + extent > 0;
  };
  if (overlaps(tile_[0], tile_[2], tap->queries()) && overlaps(tile_[1], tile_[3], tap->keys()))
    return;
  throw InputError("--tile: expected a part of " + std::to_string(tap->queries()) + " rows and " +
                   std::to_string(tap->keys()) + " columns, found row " + brief(tile_[0], 6) +
                   ", column " + brief(tile_[1], 6));
}

void PictureSizeOptions::add_to(Command command) {
  command_ = command;
  command.add("--width", options_.width, "Width in units of 1/96 inch").show_default();
  command.add("--height", options_.height,
              "Height in units of 1/96 inch; default: height of the content");
  Option scale = command.add("--scale", options_.scale, "Pixels per unit of 1/96 inch, for PNG");
  scale.show_default();
  command.add("--pixels", pixels_,
              "Size in pixels, WIDTHxHEIGHT or WIDTH; --scale or --dpi sets the size of text");
  command.add("--inches", inches_, "Print size in inches, WIDTHxHEIGHT or WIDTH; with --dpi");
  command.add("--dpi", dots_per_inch_, "Resolution in dots per inch, for PNG: 96 times the scale")
      .positive()
      .excludes(scale);
  command.add("--font-size", options_.font_size, "Font size in units of 1/96 inch").show_default();
  command.add("--theme", theme_, "Colour theme: light or dark").show_default();
  command.flag("--transparent", options_.transparent, "Transparent background");
}

void PictureSizeOptions::add_parts_to(Command command) {
  std::vector<std::string> presets;
  std::string summaries;
  for (const PicturePreset& preset : picture_presets()) {
    presets.push_back(preset.id);
    summaries += (summaries.empty() ? "" : " ") + preset.id + ": " + preset.summary;
  }
  command.add("--for", preset_, "Preset for a purpose; other options override it. " + summaries)
      .one_of(presets);
  FigureParts& parts = options_.parts;
  const Option title = command.add("--title", parts.title_text, "Custom title");
  const Option caption = command.add("--caption", parts.caption_text, "Custom caption");
  command.flag(
      "--no-title", [&parts] { parts.title = false; }, "Omit the title");
  command.flag(
      "--no-caption", [&parts] { parts.caption = false; }, "Omit the caption");
  command.option("--no-title").excludes(title);
  command.option("--no-caption").excludes(caption);
  command.flag(
      "--no-tokens", [&parts] { parts.tokens = false; }, "Omit the tokens along the sides of maps");
  command.flag(
      "--no-colour-bar,--no-color-bar", [&parts] { parts.colour_bar = false; },
      "Omit the colour bar");
  command.flag(
      "--no-session", [this] { options_.embeds_session = false; },
      "Leave the session out of the file; default: PNG, SVG, PDF and safetensors files contain the "
      "text, and the paths of model and input as given");
}

namespace {

// Parses "6.5x4", or "6.5" without a height.
std::pair<double, double> parse_size_option(const std::string& text, const std::string& option) {
  double width = 0, height = 0;
  char rest = 0;
  const int matched = std::sscanf(text.c_str(), "%lfx%lf%c", &width, &height, &rest);
  const bool only_width = matched == 1 && text.find('x') == std::string::npos;
  if ((matched == 2 || only_width) && width > 0 && height >= 0) return {width, height};
  throw InputError(option + ": expected WIDTHxHEIGHT or WIDTH, found \"" + text + "\"");
}

// Checks a width or height in `unit`. `factor`: number of these units per unit of the picture.
void check_side(const std::string& option, const std::string& side, double value, double factor,
                const std::string& unit) {
  const double minimum = PictureOptions::kMinSide * factor,
               maximum = PictureOptions::kMaxSide * factor;
  if (value >= minimum && value <= maximum) return;
  throw InputError(option + ": expected a " + side + " from " + brief(minimum, 6) + " to " +
                   brief(maximum, 6) + " " + unit + ", found " + brief(value, 6));
}

}  // namespace

// Applies the preset, then the options that the user has given.
void PictureSizeOptions::apply_preset(const PicturePreset& preset, PictureOptions& options) const {
  apply(preset, options);
  const auto is_given = [&](const char* name) { return command_ && command_->is_given(name); };
  if (is_given("--width")) options.width = options_.width;
  if (is_given("--height")) options.height = options_.height;
  if (is_given("--scale")) options.scale = options_.scale;
  if (is_given("--font-size")) options.font_size = options_.font_size;
  FigureParts& parts = options.parts;
  parts.title = options_.parts.title && (preset.title || !parts.title_text.empty());
  parts.caption = options_.parts.caption && (preset.caption || !parts.caption_text.empty());
}

PictureOptions PictureSizeOptions::options() const {
  if (theme_ != "light" && theme_ != "dark") {
    throw InputError("--theme: expected light or dark, found \"" + theme_ + "\"");
  }
  if (!pixels_.empty() && !inches_.empty()) {
    throw InputError("--inches: expected no --pixels");
  }
  PictureOptions options = options_;
  options.dark = theme_ == "dark";
  if (!preset_.empty()) apply_preset(picture_preset(preset_), options);
  if (dots_per_inch_ > 0) options.set_dots_per_inch(dots_per_inch_);
  if (!pixels_.empty()) {
    const auto [width, height] = parse_size_option(pixels_, "--pixels");
    const std::string unit = "pixels at scale " + brief(options.scale);
    check_side("--pixels", "width", width, options.scale, unit);
    if (height > 0) check_side("--pixels", "height", height, options.scale, unit);
    options.set_pixels(width, height);
  }
  if (!inches_.empty()) {
    const auto [width, height] = parse_size_option(inches_, "--inches");
    constexpr double kInches = 1 / PictureOptions::kUnitsPerInch;
    check_side("--inches", "width", width, kInches, "inches");
    if (height > 0) check_side("--inches", "height", height, kInches, "inches");
    options.set_inches(width, height);
  }
  return options;
}

}  // namespace attnscope::command
