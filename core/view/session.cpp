#include "core/view/session.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/limits.h"
#include "core/base/strict_json.h"
#include "core/experiment/picture_tensors.h"
#include "core/figure/png.h"
#include "core/view/view_values.h"

namespace attnscope {

namespace {

constexpr Index kFormat = 1;                                          // of session files
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

std::vector<std::int32_t> ids_from_json(JsonObject& object, const char* key, Index least) {
  std::vector<std::int32_t> ids;
  for (const Json& id : object.array(key)) {
    const bool whole = id.is_number_integer();
    if (!whole || id < least || id > std::numeric_limits<std::int32_t>::max()) {
      object.fail(key, "a list of token numbers");
    }
    ids.push_back(id.get<std::int32_t>());
  }
  return ids;
}

TensorFiles tensors_from_json(const Json& value, const std::string& path) {
  JsonObject object(value, path);
  TensorFiles files;
  files.file = object.text("file");
  files.tokens = object.text_or("tokens", "");
  files.key_tokens = object.text_or("key_tokens", "");
  files.width = object.integer_or("width", 0, 0, kMostPixelSide);
  files.height = object.integer_or("height", 0, 0, kMostPixelSide);
  object.finish();
  return files.file.empty() ? TensorFiles() : files;  // tokens and sizes are of that file
}

Json to_json(const TensorFiles& files) {
  Json object = {{"file", files.file}};
  if (!files.tokens.empty()) object["tokens"] = files.tokens;
  if (!files.key_tokens.empty()) object["key_tokens"] = files.key_tokens;
  if (files.width > 0) object["width"] = files.width;
  if (files.height > 0) object["height"] = files.height;
  return object;
}

// Layers or heads by number.
std::vector<Index> numbers_from_json(JsonObject& object, std::string_view key) {
  std::vector<Index> numbers;
  if (!object.has(key)) return numbers;
  for (const Json& number : object.array(key)) {
    if (!number.is_number_integer() || number < 0 || number > kMostIndex) {
      object.fail(key, "a list of numbers from 0 on");
    }
    numbers.push_back(number.get<Index>());
  }
  if (numbers.empty()) object.fail(key, "at least one number");
  return numbers;
}

GroupChoice group_from_json(const Json& value, const std::string& path) {
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

Json to_json(const GroupChoice& group) {
  Json object = Json::object();
  if (!group.layers.empty()) object["layers"] = group.layers;
  if (!group.heads.empty()) object["heads"] = group.heads;
  if (group.variant) object["variant"] = to_json(*group.variant);
  if (group.encoding) object["position"] = to_json(*group.encoding);
  return object;
}

// {"type": "knn", "store": FILE, "k": 8, ...}
RetrievalChoice retrieval_from_json(const Json& value, const std::string& path) {
  if (!value.is_object() || !value.contains("store") || !value["store"].is_string()) {
    throw InputError(path + ".store: expected the name of a file, found nothing");
  }
  Json parameters = value;
  parameters.erase("store");
  return {choice_from_json(mixer, parameters, path), value["store"].text()};
}

Json to_json(const RetrievalChoice& retrieval) {
  Json object = to_json(retrieval.mixer);
  object["store"] = retrieval.store;
  return object;
}

}  // namespace

Experiment experiment_from_json(const Json& value, std::string_view path) {
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
  if (object.has("ids")) e.ids = ids_from_json(object, "ids", 0);
  if (object.has("target_ids")) e.target_ids = ids_from_json(object, "target_ids", -1);
  e.target = object.text_or("target", "");
  e.second = object.text_or("second", "");
  e.input = object.text_or("input", "");
  if (object.has("tensors")) {
    e.tensors = tensors_from_json(object.any("tensors"), object.path_of("tensors"));
  }
  e.model = object.text_or("model", e.model);
  e.structure = structure_from_json(object);
  if (object.has("variant")) {
    e.variant = variant_from_json(object.any("variant"), object.path_of("variant"));
  }
  if (object.has("position")) {
    e.encoding = encoding_from_json(object.any("position"), object.path_of("position"));
  }
  if (object.has("causal")) e.causal = object.flag("causal");
  if (object.has("groups")) {
    const Json& groups = object.array("groups");
    for (std::size_t g = 0; g < groups.size(); ++g) {
      e.groups.push_back(
          group_from_json(groups[g], object.path_of("groups") + "[" + std::to_string(g) + "]"));
    }
  }
  if (object.has("backend")) e.backend = backend_choice(object.text("backend"));
  e.overlong = static_cast<Overlong>(object.choice_or("overlong", 0, kOverlong));
  e.most_tokens = object.integer_or("most_tokens", 0, 0, kMostIndex);
  if (object.has("exit")) e.exit = object.number("exit", 0, 1);
  if (object.has("retrieval")) {
    e.retrieval = retrieval_from_json(object.any("retrieval"), object.path_of("retrieval"));
  }
  if (object.has("interventions")) {
    e.interventions =
        interventions_from_json(object.any("interventions"), object.path_of("interventions"));
  }
  if (object.has("view"))
    e.view = view_settings_from_json(object.any("view"), object.path_of("view"));
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

Json to_json(const Experiment& e) {
  Json object = {{"attnscope", kFormat},
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
  if (!e.target_ids.empty()) object["target_ids"] = e.target_ids;
  if (!e.target.empty()) object["target"] = e.target;
  if (!e.second.empty()) object["second"] = e.second;
  if (!e.input.empty()) object["input"] = e.input;
  if (e.most_tokens > 0) object["most_tokens"] = e.most_tokens;
  if (e.exit) object["exit"] = *e.exit;
  if (e.retrieval) object["retrieval"] = to_json(*e.retrieval);
  add_to_json(e.structure, object);
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

bool carries_session(const std::filesystem::path& picture) {
  return read_png_metadata(picture).contains(kExperimentKeyword);
}

Experiment load_session(const std::filesystem::path& path) {
  const std::string name = path.string();
  const std::string bytes = read_file(path, limits::kMostSession);
  if (!is_png(bytes)) return experiment_in_file(bytes, name);
  const PictureMetadata metadata = read_png_metadata(path);
  const auto made_by = metadata.find(kExperimentKeyword);
  if (made_by == metadata.end()) {
    throw InputError(name + ": expected a session or a picture made by attnscope, found a PNG " +
                     "without the text \"" + kExperimentKeyword + "\"");
  }
  return experiment_in_file(made_by->second, name);
}

void save_session(const std::filesystem::path& path, const Experiment& experiment) {
  write_file(path, to_json(experiment).dump(2) + "\n");
}

}  // namespace attnscope
