// What readers make of each member of a config: without it, with its flag the other way round, with
// a number one larger or next to nothing, another activation. Kept as text, so that a default or a
// size that changes is seen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/format.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"
#include "tests/support/told.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;

// As nine digits: processors may round the last of more of them otherwise.
std::string word(const Json& value) {
  if (!value.is_number() || value.is_number_integer()) return value.dump();
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value.get<double>());
  return text;
}

// "hidden: 64 -> 65" for each member that differs.
void differences(const Json& before, const Json& after, const std::string& path,
                 std::vector<std::string>& found) {
  if (before == after) return;
  if (before.is_object() && after.is_object()) {
    for (const auto& [key, value] : before.items()) {
      if (!after.contains(key)) {
        found.push_back(path + key + " away");
      } else {
        differences(value, after[key], path + key + ".", found);
      }
    }
    for (const auto& [key, value] : after.items()) {
      if (!before.contains(key)) found.push_back(path + key + " new");
    }
    return;
  }
  if (before.is_array() && after.is_array() && before.size() == after.size() && before.size() > 0) {
    differences(before[0], after[0], path + "0.", found);  // the first layer is as good as all
    differences(before[before.size() - 1], after[before.size() - 1], path + "last.", found);
    return;
  }
  found.push_back(path.substr(0, path.size() - 1) + " " + word(before) + " -> " + word(after));
}

class ConfigKeys : public ::testing::TestWithParam<std::string> {
 protected:
  ConfigKeys()
      : folder_(testing::source_folder() / "tests" / "layouts" / GetParam()),
        config_(parse_json(read_file(folder_ / "config.json", 1 << 20), "config.json")),
        file_(read_safetensors(folder_ / "model.safetensors")) {}

  // What of the layout's own config comes out otherwise, or why it is refused.
  std::string outcome(const Json& config) {
    try {
      const Json now = to_json(model_of(config).config);
      std::vector<std::string> all;
      differences(to_json(own()), now, "", all);
      std::string text;
      for (const std::string& one : all) text += (text.empty() ? "" : ", ") + one;
      return text.empty() ? "the same" : text;
    } catch (const InputError& e) {
      std::string words = e.what();
      for (auto at = words.find(folder_.string()); at != std::string::npos;
           at = words.find(folder_.string())) {
        words.replace(at, folder_.string().size(), "HERE");
      }
      return "refused: " + words;
    }
  }

  Model model_of(const Json& config) const {
    const std::string type = format_type(config, "config.json", "");
    const auto format =
        std::ranges::find(checkpoint_formats(), type, &CheckpointFormat::model_type);
    if (format == checkpoint_formats().end()) throw InputError("no layout " + type);
    CheckpointSource source = checkpoint_container(folder_).open(folder_);
    source.config = config;
    source.tensors = file_.tensors;
    return format->load(source);
  }
  const ModelConfig& own() {
    if (!own_) own_ = model_of(config_).config;
    return *own_;
  }

  fs::path folder_;
  Json config_;
  SafetensorsFile file_;
  std::optional<ModelConfig> own_;
};

// What to set a member to, to see what comes of it.
std::vector<Json> others_of(const std::string& key, const Json& value) {
  if (value.is_boolean()) return {!value.get<bool>()};
  if (value.is_number_integer()) return {value.get<Index>() + 1, 0, 1, 2, 3};
  if (value.is_number()) return {0.5, 1.5 * value.get<double>()};
  if (value.is_string() && key.find("act") != std::string::npos) return {"relu", "gelu_new"};
  return {};
}

using Path = std::vector<std::string>;  // of objects, from the outermost on

Json& object_at(Json& config, const Path& path) {
  Json* object = &config;
  for (const std::string& key : path) object = &(*object)[key];
  return *object;
}

TEST_P(ConfigKeys, AreReadAsEver) {
  std::string text;
  const std::function<void(const Path&)> tell = [&](const Path& path) {
    const Json object = object_at(config_, path);
    std::string within;
    for (const std::string& key : path) within += key + ".";
    for (const auto& [key, value] : object.items()) {
      if (key == "model_type" || key == "id2label" || key == "label2id") continue;
      Json changed = config_;
      object_at(changed, path).erase(key);
      text += within + key + " none: " + outcome(changed) + "\n";
      for (const Json& other : others_of(key, value)) {
        if (other == value) continue;
        object_at(changed, path)[key] = other;
        text += within + key + " " + word(other) + ": " + outcome(changed) + "\n";
      }
      if (!value.is_object()) continue;
      Path inner = path;
      inner.push_back(key);
      tell(inner);
    }
  };
  tell({});
  EXPECT_TRUE(testing::is_as_told(text, "core/checkpoint/keys/" + GetParam() + ".txt"));
}

std::vector<std::string> layouts() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(testing::source_folder() / "tests" / "layouts")) {
    if (fs::exists(entry.path() / "model.safetensors") &&
        fs::exists(entry.path() / "config.json")) {
      names.push_back(entry.path().filename());
    }
  }
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, ConfigKeys, ::testing::ValuesIn(layouts()), [](const auto& at) {
  std::string name = at.param;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
