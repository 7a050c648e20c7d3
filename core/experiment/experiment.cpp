#include "core/experiment/experiment.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/strict_json.h"
#include "core/figure/colour_map.h"
#include "core/figure/png.h"
#include "core/model/config.h"
#include "core/view/view.h"

namespace attnscope {

using nlohmann::json;

namespace {

constexpr Index kFormat = 1;  // of session files
constexpr std::size_t kMostSessionBytes = std::size_t{64} << 20;
constexpr Index kMostIndex = Index{1} << 20;
const std::vector<std::string> kOverlong = {"first", "last", "all"};  // as Overlong counts

std::string to_hex(const std::string& bytes) {
  static const char* digits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string bytes_from_hex(JsonObject& object, std::string_view key) {
  const std::string text = object.text(key);
  const auto digit = [&](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    object.fail(key, "pairs of hexadecimal digits");
  };
  if (text.size() % 2 != 0) object.fail(key, "pairs of hexadecimal digits");
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    bytes += static_cast<char>(16 * digit(text[i]) + digit(text[i + 1]));
  }
  return bytes;
}

std::vector<std::int32_t> ids_from_json(JsonObject& object) {
  std::vector<std::int32_t> ids;
  for (const json& id : object.array("ids")) {
    const bool whole = id.is_number_integer();
    if (!whole || id < 0 || id > std::numeric_limits<std::int32_t>::max()) {
      object.fail("ids", "a list of token numbers");
    }
    ids.push_back(id.get<std::int32_t>());
  }
  return ids;
}

ViewSettings view_from_json(const json& value, const std::string& path) {
  constexpr double kFar = 1e9;
  JsonObject object(value, path);
  ViewSettings view;
  view.id = object.text_or("type", view.id);
  view.layer = object.integer_or("layer", 0, 0, kMostIndex);
  view.head = object.integer_or("head", 0, 0, kMostIndex);
  view.colour_map = object.text_or("colour_map", view.colour_map);
  static_cast<void>(attnscope::view(view.id));  // refuse what there is not
  static_cast<void>(attnscope::colour_map(view.colour_map));
  view.normalise = object.flag_or("normalise", false);
  view.row = object.number_or("row", 0, -kFar, kFar);
  view.column = object.number_or("column", 0, -kFar, kFar);
  view.height = object.number_or("height", 0, 0, kFar);
  view.width = object.number_or("width", 0, 0, kFar);
  view.pinned_query = object.integer_or("pinned_query", -1, -1, kMostIndex);
  view.pinned_key = object.integer_or("pinned_key", -1, -1, kMostIndex);
  view.statistics_file = object.text_or("statistics_file", "");
  if (object.has("options")) {
    const json& options = object.any("options");
    if (!options.is_object()) object.fail("options", "an object of parameters by view");
    for (const auto& [id, values] : options.items()) {
      const std::string place = object.path_of("options") + "." + id;
      set_view_values(view, id, values_from_json(attnscope::view(id).parameters, values, place));
    }
  }
  object.finish();
  return view;
}

TensorFiles tensors_from_json(const json& value, const std::string& path) {
  JsonObject object(value, path);
  TensorFiles files;
  files.file = object.text("file");
  files.tokens = object.text_or("tokens", "");
  files.key_tokens = object.text_or("key_tokens", "");
  object.finish();
  return files;
}

json to_json(const TensorFiles& files) {
  json object = {{"file", files.file}};
  if (!files.tokens.empty()) object["tokens"] = files.tokens;
  if (!files.key_tokens.empty()) object["key_tokens"] = files.key_tokens;
  return object;
}

json to_json(const ViewSettings& view) {
  json object = {{"type", view.id},
                 {"layer", view.layer},
                 {"head", view.head},
                 {"colour_map", view.colour_map},
                 {"normalise", view.normalise},
                 {"row", view.row},
                 {"column", view.column},
                 {"height", view.height},
                 {"width", view.width}};
  if (view.pinned_query >= 0) object["pinned_query"] = view.pinned_query;
  if (view.pinned_key >= 0) object["pinned_key"] = view.pinned_key;
  if (!view.statistics_file.empty()) object["statistics_file"] = view.statistics_file;
  for (const auto& [id, values] : view.options) object["options"][id] = to_json(values);
  return object;
}

// Layers or heads by number.
std::vector<Index> numbers_from_json(JsonObject& object, std::string_view key) {
  std::vector<Index> numbers;
  if (!object.has(key)) return numbers;
  for (const json& number : object.array(key)) {
    if (!number.is_number_integer() || number < 0 || number > kMostIndex) {
      object.fail(key, "a list of numbers from 0 on");
    }
    numbers.push_back(number.get<Index>());
  }
  if (numbers.empty()) object.fail(key, "at least one number");
  return numbers;
}

GroupChoice group_from_json(const json& value, const std::string& path) {
  JsonObject object(value, path);
  GroupChoice group;
  group.layers = numbers_from_json(object, "layers");
  group.heads = numbers_from_json(object, "heads");
  if (object.has("variant")) {
    group.variant = variant_from_json(object.any("variant"), object.path_of("variant"));
  }
  if (object.has("position")) {
    group.encoding = encoding_from_json(object.any("position"), object.path_of("position"));
  }
  object.finish();
  if (!group.variant && !group.encoding) {
    throw InputError(path + ": expected a variant, a position or both, found neither");
  }
  return group;
}

json to_json(const GroupChoice& group) {
  json object = json::object();
  if (!group.layers.empty()) object["layers"] = group.layers;
  if (!group.heads.empty()) object["heads"] = group.heads;
  if (group.variant) object["variant"] = to_json(*group.variant);
  if (group.encoding) object["position"] = to_json(*group.encoding);
  return object;
}

}  // namespace

Experiment experiment_from_json(const json& value, std::string_view path) {
  JsonObject object(value, path);
  if (!object.has("attnscope")) {
    throw InputError(std::string(path) + ": not a session of attnscope (\"attnscope\" is missing)");
  }
  object.integer("attnscope", kFormat, kFormat);
  Experiment e;
  if (object.has("text_hex")) {
    e.text = bytes_from_hex(object, "text_hex");
  } else {
    e.text = object.text_or("text", "");
  }
  if (object.has("ids")) e.ids = ids_from_json(object);
  if (object.has("tensors")) {
    e.tensors = tensors_from_json(object.any("tensors"), object.path_of("tensors"));
  }
  e.model = object.text_or("model", e.model);
  if (object.has("variant")) {
    e.variant = variant_from_json(object.any("variant"), object.path_of("variant"));
  }
  if (object.has("position")) {
    e.encoding = encoding_from_json(object.any("position"), object.path_of("position"));
  }
  if (object.has("causal")) e.causal = object.flag("causal");
  if (object.has("groups")) {
    const json& groups = object.array("groups");
    for (std::size_t g = 0; g < groups.size(); ++g) {
      e.groups.push_back(
          group_from_json(groups[g], object.path_of("groups") + "[" + std::to_string(g) + "]"));
    }
  }
  if (object.has("backend")) e.backend = backend_choice(object.text("backend"));
  e.overlong = static_cast<Overlong>(object.choice_or("overlong", 0, kOverlong));
  if (object.has("interventions")) {
    e.interventions =
        interventions_from_json(object.any("interventions"), object.path_of("interventions"));
  }
  if (object.has("view")) e.view = view_from_json(object.any("view"), object.path_of("view"));
  if (object.has("compare")) {
    const std::string place = object.path_of("compare");
    e.others.push_back(experiment_from_json(object.any("compare"), place));
    if (!e.others.back().others.empty()) {
      throw InputError(place + ".compare: a run is compared with one other, found a third");
    }
  }
  object.finish();
  return e;
}

json to_json(const Experiment& e) {
  json object = {{"attnscope", kFormat},
                 {"model", e.model},
                 {"backend", std::string(to_string(e.backend))},
                 {"overlong", kOverlong[static_cast<std::size_t>(e.overlong)]},
                 {"view", to_json(e.view)}};
  if (is_utf8(e.text)) {
    object["text"] = e.text;
  } else {
    object["text_hex"] = to_hex(e.text);
  }
  if (!e.ids.empty()) object["ids"] = e.ids;
  if (!e.tensors.file.empty()) object["tensors"] = to_json(e.tensors);
  if (e.variant) object["variant"] = to_json(*e.variant);
  if (e.encoding) object["position"] = to_json(*e.encoding);
  if (e.causal) object["causal"] = *e.causal;
  if (!e.interventions.empty()) object["interventions"] = to_json(e.interventions);
  if (!e.others.empty()) object["compare"] = to_json(e.others.front());
  for (const GroupChoice& group : e.groups) object["groups"].push_back(to_json(group));
  return object;
}

namespace {

// Like experiment_from_json(); whatever is wrong, the message begins with the file's name.
Experiment experiment_in_file(const std::string& text, const std::string& name) {
  try {
    return experiment_from_json(parse_json(text, name), name);
  } catch (const InputError& e) {
    if (std::string_view(e.what()).starts_with(name)) throw;
    throw InputError(name + ": " + e.what());
  }
}

}  // namespace

Experiment load_session(const std::filesystem::path& path) {
  const std::string name = path.string();
  const std::string bytes = read_file(path, kMostSessionBytes);
  if (!is_png(bytes)) return experiment_in_file(bytes, name);
  const PictureMetadata metadata = read_png_metadata(path);
  const auto made_by = metadata.find("Experiment");
  if (made_by == metadata.end()) {
    throw InputError(name + ": expected a session or a picture made by attnscope, found a PNG " +
                     "without the text \"Experiment\"");
  }
  return experiment_in_file(made_by->second, name);
}

void save_session(const std::filesystem::path& path, const Experiment& experiment) {
  write_file(path, to_json(experiment).dump(2) + "\n");
}

bool same_run(const Experiment& a, const Experiment& b) {
  Experiment looked_at_alike = a;
  looked_at_alike.view = b.view;
  const std::size_t both = std::min(a.others.size(), b.others.size());
  for (std::size_t i = 0; i < both; ++i) looked_at_alike.others[i].view = b.others[i].view;
  return looked_at_alike == b;
}

std::optional<Experiment> reference_of(const Experiment& experiment) {
  if (!experiment.others.empty()) return experiment.others.front();
  if (experiment.interventions.empty()) return std::nullopt;
  Experiment untouched = experiment;
  untouched.interventions.clear();
  return untouched;
}

}  // namespace attnscope
