#include "core/view/view_values.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/error.h"
#include "core/figure/colour_map.h"
#include "core/view/view.h"

namespace attnscope {

PartChoice part_from_json(JsonObject& object) {
  PartChoice part;
  if (object.has("stack")) {
    part.stack = stack_from_name(object.text("stack"), object.path_of("stack"));
  }
  if (object.has("kind")) {
    part.kind = kind_from_name(object.text("kind"), object.path_of("kind"));
  }
  if (object.has("step")) part.step = object.integer("step", 0, kMaxIndex);
  if (object.has("segment")) part.segment = object.integer("segment", 0, kMaxIndex);
  return part;
}

void add_part(const PartChoice& part, Json& object) {
  if (part.stack) object["stack"] = name_of(*part.stack);
  if (part.kind) object["kind"] = name_of(*part.kind);
  if (part.step) object["step"] = *part.step;
  if (part.segment) object["segment"] = *part.segment;
}

namespace {

constexpr std::array<std::pair<ColourEnd, std::string_view>, 3> kColourEnds{
    {{ColourEnd::Percentile, "percentile"},
     {ColourEnd::Largest, "largest"},
     {ColourEnd::One, "one"}}};

}  // namespace

std::string name_of(ColourEnd end) {
  return std::string(std::ranges::find(kColourEnds, end, [](auto& e) { return e.first; })->second);
}

ColourEnd colour_end_from_name(std::string_view name, std::string_view path) {
  for (const auto& [end, id] : kColourEnds) {
    if (id == name) return end;
  }
  throw InputError(std::string(path) + ": expected percentile, largest or one, found \"" +
                   std::string(name) + "\"");
}

ViewSettings view_settings_from_json(const Json& value, std::string_view path) {
  constexpr double kMaxCell = 1e9;
  JsonObject object(value, path);
  ViewSettings view;
  view.id = object.text_or("type", view.id);
  view.layer = object.integer_or("layer", 0, 0, kMaxIndex);
  view.head = object.integer_or("head", 0, 0, kMaxIndex);
  view.part = part_from_json(object);
  view.colour_map = object.text_or("colour_map", view.colour_map);
  static_cast<void>(attnscope::view(view.id));  // throws if unknown
  static_cast<void>(attnscope::colour_map(view.colour_map));
  // Older sessions have "normalise" instead of "colours".
  if (object.has("normalise")) {
    view.colour_end = object.flag_or("normalise", false) ? ColourEnd::Largest : ColourEnd::One;
  }
  if (object.has("colours")) {
    view.colour_end = colour_end_from_name(object.text("colours"), object.path_of("colours"));
  }
  view.words = object.flag_or("words", false);
  view.hides_special = object.flag_or("hides_special", false);
  view.space_markers = object.flag_or("space_markers", false);
  view.row = object.number_or("row", 0, -kMaxCell, kMaxCell);
  view.column = object.number_or("column", 0, -kMaxCell, kMaxCell);
  view.height = object.number_or("height", 0, 0, kMaxCell);
  view.width = object.number_or("width", 0, 0, kMaxCell);
  view.pinned_query = object.integer_or("pinned_query", -1, -1, kMaxIndex);
  view.pinned_key = object.integer_or("pinned_key", -1, -1, kMaxIndex);
  view.found_query = object.integer_or("found_query", -1, -1, kMaxIndex);
  view.found_key = object.integer_or("found_key", -1, -1, kMaxIndex);
  view.statistics_file = object.text_or("statistics_file", "");
  if (object.has("options")) {
    const Json& options = object.any("options");
    if (!options.is_object()) object.fail("options", "an object of parameters by view");
    for (const auto& [id, values] : options.items()) {
      const std::string place = object.path_of("options") + "." + id;
      set_view_values(view, id,
                      values_from_json(attnscope::view(id).options.parameters, values, place));
    }
  }
  object.finish();
  return view;
}

Json to_json(const ViewSettings& view) {
  Json object = {{"type", view.id},
                 {"layer", view.layer},
                 {"head", view.head},
                 {"colour_map", view.colour_map},
                 {"colours", name_of(view.colour_end)},
                 {"row", view.row},
                 {"column", view.column},
                 {"height", view.height},
                 {"width", view.width}};
  add_part(view.part, object);
  if (view.words) object["words"] = true;
  if (view.hides_special) object["hides_special"] = true;
  if (view.space_markers) object["space_markers"] = true;
  if (view.pinned_query >= 0) object["pinned_query"] = view.pinned_query;
  if (view.pinned_key >= 0) object["pinned_key"] = view.pinned_key;
  if (view.shows_found_pair()) {
    object["found_query"] = view.found_query;
    object["found_key"] = view.found_key;
  }
  if (!view.statistics_file.empty()) object["statistics_file"] = view.statistics_file;
  for (const auto& [id, values] : view.options) object["options"][id] = to_json(values);
  return object;
}

Values view_values(const ViewSettings& settings, std::string_view id) {
  const auto set = settings.options.find(id);
  return set != settings.options.end() ? set->second : default_values(view(id).options.parameters);
}

void set_view_values(ViewSettings& settings, std::string_view id, const Values& values) {
  if (values == default_values(view(id).options.parameters)) {
    settings.options.erase(std::string(id));
  } else {
    settings.options.insert_or_assign(std::string(id), values);
  }
}

void set_view_value(ViewSettings& settings, std::string_view id, std::string_view key,
                    Value value) {
  Values values = view_values(settings, id);
  values.set(key, std::move(value));
  set_view_values(settings, id, values);
}

}  // namespace attnscope
