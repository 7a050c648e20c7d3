// Effect of each config key on the model: without the key, with a flag inverted, with a number one
// larger or near zero, with another activation. Stored as golden text, so that a changed default or
// size is visible.
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
#include "tests/support/golden.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;

constexpr const char* kSame = "the same";

// Nine digits: further ones depend on the processor.
std::string word(const Json& value) {
  if (!value.is_number() || value.is_number_integer()) return value.dump();
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value.get<double>());
  return text;
}

// Appends "hidden: 64 -> 65" for each member that differs.
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
    differences(before[0], after[0], path + "0.", found);  // the first layer represents all
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

  // Differences from the layout's own config, or the error.
  std::string outcome(const Json& config) {
    try {
      const Json now = to_json(model_of(config).config);
      std::vector<std::string> all;
      differences(to_json(own()), now, "", all);
      std::string text;
      for (const std::string& one : all) text += (text.empty() ? "" : ", ") + one;
      return text.empty() ? kSame : text;
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

// The outcome with "VALUE" for the value that was set, where it is a word or an element of a list:
// values with alike outcomes share a line.
std::string without_value(std::string text, const std::string& value) {
  for (std::size_t at = text.find(value); at != std::string::npos; at = text.find(value, at + 1)) {
    const char before = at == 0 ? ' ' : text[at - 1];
    const char after = at + value.size() == text.size() ? ' ' : text[at + value.size()];
    if ((before == ' ' || before == '[') && (after == ' ' || after == ',' || after == ']')) {
      text.replace(at, value.size(), "VALUE");
    }
  }
  return text;
}

// Alternative values of a member.
std::vector<Json> others_of(const std::string& key, const Json& value) {
  if (value.is_boolean()) return {!value.get<bool>()};
  if (value.is_number_integer()) return {value.get<Index>() + 1, 0, 1, 2, 3};
  if (value.is_number()) return {0.5, 1.5 * value.get<double>()};
  if (value.is_string() && key.find("act") != std::string::npos) return {"relu", "gelu_new"};
  return {};
}

using Path = std::vector<std::string>;  // keys of nested objects, outermost first

Json& object_at(Json& config, const Path& path) {
  Json* object = &config;
  for (const std::string& key : path) object = &(*object)[key];
  return *object;
}

TEST_P(ConfigKeys, EffectsMatchGolden) {
  std::string text;
  std::vector<std::string> without_effect, default_values;
  const std::function<void(const Path&)> tell = [&](const Path& path) {
    const Json object = object_at(config_, path);
    std::string within;
    for (const std::string& key : path) within += key + ".";
    for (const auto& [key, value] : object.items()) {
      if (key == "model_type" || key == "id2label" || key == "label2id") continue;
      Json changed = config_;
      object_at(changed, path).erase(key);
      // Values by their outcome, in the order in which outcomes occur first.
      std::vector<std::pair<std::string, std::string>> outcomes{
          {without_value(outcome(changed), "nothing"), "none"}};
      for (const Json& other : others_of(key, value)) {
        if (other == value) continue;
        object_at(changed, path)[key] = other;
        const std::string result = without_value(outcome(changed), word(other));
        const auto known =
            std::ranges::find(outcomes, result, &std::pair<std::string, std::string>::first);
        if (known == outcomes.end()) {
          outcomes.emplace_back(result, word(other));
        } else if (known->second != word(other) && !known->second.ends_with(", " + word(other))) {
          known->second += ", " + word(other);
        }
      }
      if (outcomes.size() == 1 && outcomes[0].first == kSame) {
        without_effect.push_back(within + key);
      } else {
        for (const auto& [result, values] : outcomes) {
          if (result == kSame && values == "none") {
            default_values.push_back(within + key);
            continue;
          }
          text += within + key + " " + values + ": " + result + "\n";
        }
      }
      if (!value.is_object()) continue;
      Path inner = path;
      inner.push_back(key);
      tell(inner);
    }
  };
  tell({});
  text += "with its default value\n" + testing::wrapped_entries(default_values);
  text += "without effect\n" + testing::wrapped_entries(without_effect);
  EXPECT_TRUE(testing::matches_golden(text, "core/checkpoint/keys/" + GetParam() + ".txt"));
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
