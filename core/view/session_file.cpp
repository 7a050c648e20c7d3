#include "core/view/session_file.h"

#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/base64.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "core/base/strict_json.h"
#include "core/experiment/image_tensors.h"
#include "core/experiment/run_files.h"
#include "core/figure/png.h"
#include "core/model/retrieval_json.h"
#include "core/view/view_values.h"

namespace attnscope {
namespace {

constexpr Index kFormatVersion = 1;
const std::vector<std::string> kOverlong = {"first", "last", "all"};  // in enum order

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

std::vector<std::int32_t> ids_from_json(JsonObject& object, const char* key, Index min_id) {
  std::vector<std::int32_t> ids;
  for (const Json& id : object.array(key)) {
    const bool is_integer = id.is_number_integer();
    if (!is_integer || id < min_id || id > std::numeric_limits<std::int32_t>::max()) {
      object.fail(key, "a list of token ids");
    }
    ids.push_back(id.get<std::int32_t>());
  }
  return ids;
}

std::shared_ptr<const EmbeddedFiles> embedded_from_json(const Json& value,
                                                        const std::string& path) {
  JsonObject object(value, path);
  const auto bytes = [&](std::string_view key) {
    std::optional<std::string> decoded = from_base64(object.text_or(key, ""));
    if (!decoded) object.fail(key, "base64");
    return *std::move(decoded);
  };
  EmbeddedFiles files;
  files.file = bytes("file");
  files.tokens = bytes("tokens");
  files.key_tokens = bytes("key_tokens");
  object.finish();
  return share_contents(std::move(files));
}

Json to_json(const EmbeddedFiles& files) {
  Json object = {{"file", to_base64(files.file)}};
  if (!files.tokens.empty()) object["tokens"] = to_base64(files.tokens);
  if (!files.key_tokens.empty()) object["key_tokens"] = to_base64(files.key_tokens);
  return object;
}

TensorFiles tensors_from_json(const Json& value, const std::string& path) {
  JsonObject object(value, path);
  TensorFiles files;
  files.file = object.text("file");
  files.tokens = object.text_or("tokens", "");
  files.key_tokens = object.text_or("key_tokens", "");
  files.width = object.integer_or("width", 0, 0, kMaxGridSide);
  files.height = object.integer_or("height", 0, 0, kMaxGridSide);
  if (object.has("embedded")) {
    files.embedded = embedded_from_json(object.any("embedded"), object.path_of("embedded"));
  }
  object.finish();
  return files.file.empty() ? TensorFiles() : files;  // tokens and sizes describe the file
}

Json to_json(const TensorFiles& files) {
  Json object = {{"file", files.file}};
  if (!files.tokens.empty()) object["tokens"] = files.tokens;
  if (!files.key_tokens.empty()) object["key_tokens"] = files.key_tokens;
  if (files.width > 0) object["width"] = files.width;
  if (files.height > 0) object["height"] = files.height;
  if (files.embedded) object["embedded"] = to_json(*files.embedded);
  return object;
}

// Parses indices of layers or heads.
std::vector<Index> numbers_from_json(JsonObject& object, std::string_view key) {
  std::vector<Index> numbers;
  if (!object.has(key)) return numbers;
  for (const Json& number : object.array(key)) {
    if (!number.is_number_integer() || number < 0 || number > kMaxIndex) {
      object.fail(key, "a list of integers of at least 0");
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

}  // namespace

Session session_from_json(const Json& value, std::string_view path) {
  JsonObject object(value, path);
  if (!object.has("attnscope")) {
    throw InputError(std::string(path) + ": not a session of attnscope (\"attnscope\" is missing)");
  }
  object.integer("attnscope", kFormatVersion, kFormatVersion);
  Session session;
  RunSpec& run = session.run;
  if (object.has("text_hex")) {
    run.text = bytes_from_hex(object, "text_hex");
  } else {
    run.text = object.text_or("text", "");
  }
  if (object.has("ids")) run.ids = ids_from_json(object, "ids", 0);
  if (object.has("target_ids")) run.target_ids = ids_from_json(object, "target_ids", -1);
  run.target = object.text_or("target", "");
  run.second = object.text_or("second", "");
  run.input = object.text_or("input", "");
  if (object.has("tensors")) {
    run.tensors = tensors_from_json(object.any("tensors"), object.path_of("tensors"));
  }
  run.model = object.text_or("model", run.model);
  run.structure = structure_from_json(object);
  if (object.has("variant")) {
    run.variant = variant_from_json(object.any("variant"), object.path_of("variant"));
  }
  if (object.has("position")) {
    run.encoding = encoding_from_json(object.any("position"), object.path_of("position"));
  }
  if (object.has("causal")) run.causal = object.flag("causal");
  if (object.has("groups")) {
    const Json& groups = object.array("groups");
    for (std::size_t g = 0; g < groups.size(); ++g) {
      run.groups.push_back(
          group_from_json(groups[g], object.path_of("groups") + "[" + std::to_string(g) + "]"));
    }
  }
  if (object.has("backend")) run.backend = backend_choice(object.text("backend"));
  run.overlong = static_cast<Overlong>(object.choice_or("overlong", 0, kOverlong));
  run.max_tokens = object.integer_or("most_tokens", 0, 0, kMaxIndex);
  if (object.has("exit")) run.exit = object.number("exit", 0, 1);
  if (object.has("retrieval")) {
    run.retrieval = retrieval_from_json(object.any("retrieval"), object.path_of("retrieval"));
  }
  if (object.has("interventions")) {
    run.interventions =
        interventions_from_json(object.any("interventions"), object.path_of("interventions"));
  }
  if (object.has("view"))
    session.view = view_settings_from_json(object.any("view"), object.path_of("view"));
  if (object.has("compare")) {
    const std::string place = object.path_of("compare");
    Session compared = session_from_json(object.any("compare"), place);
    if (compared.b) {
      throw InputError(place + ".compare: expected at most two runs, found a third run");
    }
    session.b = std::move(compared);
  }
  object.finish();
  return session;
}

Json to_json(const Session& session) {
  const RunSpec& run = session.run;
  Json object = {{"attnscope", kFormatVersion},
                 {"model", run.model},
                 {"backend", std::string(to_string(run.backend))},
                 {"overlong", kOverlong[static_cast<std::size_t>(run.overlong)]},
                 {"view", to_json(session.view)}};
  if (is_utf8(run.text)) {
    object["text"] = run.text;
  } else {
    object["text_hex"] = to_hex(run.text);
  }
  if (!run.ids.empty()) object["ids"] = run.ids;
  if (!run.tensors.file.empty()) object["tensors"] = to_json(run.tensors);
  if (!run.target_ids.empty()) object["target_ids"] = run.target_ids;
  if (!run.target.empty()) object["target"] = run.target;
  if (!run.second.empty()) object["second"] = run.second;
  if (!run.input.empty()) object["input"] = run.input;
  if (run.max_tokens > 0) object["most_tokens"] = run.max_tokens;
  if (run.exit) object["exit"] = *run.exit;
  if (run.retrieval) object["retrieval"] = to_json(*run.retrieval);
  add_to_json(run.structure, object);
  if (run.variant) object["variant"] = to_json(*run.variant);
  if (run.encoding) object["position"] = to_json(*run.encoding);
  if (run.causal) object["causal"] = *run.causal;
  if (!run.interventions.empty()) object["interventions"] = to_json(run.interventions);
  if (session.b) object["compare"] = to_json(Session{*session.b});
  for (const GroupChoice& group : run.groups) object["groups"].push_back(to_json(group));
  return object;
}

namespace {

// session_from_json() with errors that begin with the file's name.
Session session_from_text(const std::string& text, const std::string& name) {
  try {
    return session_from_json(parse_json(text, name), name);
  } catch (const InputError& e) {
    if (std::string_view(e.what()).starts_with(name)) throw;
    throw InputError(name + ": " + e.what());
  }
}

}  // namespace

bool has_session(const std::filesystem::path& picture) {
  return read_png_metadata(picture).contains(kExperimentKeyword);
}

namespace {

Session read_session(const std::filesystem::path& path) {
  const std::string name = path.string();
  const std::string bytes = read_file(path, limits::kMaxSession);
  if (!is_png(bytes)) return session_from_text(bytes, name);
  const PictureMetadata metadata = read_png_metadata(path);
  const auto embedded = metadata.find(kExperimentKeyword);
  if (embedded == metadata.end()) {
    throw InputError(name + ": expected a session or a picture made by attnscope, found a PNG " +
                     "without the text \"" + kExperimentKeyword + "\"");
  }
  return session_from_text(embedded->second, name);
}

}  // namespace

Session load_session(const std::filesystem::path& path) {
  Session session = read_session(path);
  find_files(session.run, path.parent_path());
  if (session.b) find_files(session.b->run, path.parent_path());
  return session;
}

void save_session(const std::filesystem::path& path, const Session& session) {
  write_file(path, to_json(session).dump(2) + "\n");
}

}  // namespace attnscope
