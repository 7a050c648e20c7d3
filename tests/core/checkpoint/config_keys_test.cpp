// Records the effect of each config key on the model. Each key is removed, and its value is
// replaced: a flag by its inverse, a number by other numbers, an activation by other activations.
// The golden texts reveal changed defaults and sizes.
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

// Formats a value. Reals have nine digits, because further digits depend on the processor.
std::string value_text(const Json& value) {
  if (!value.is_number() || value.is_number_integer()) return value.dump();
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value.get<double>());
  return text;
}

// Appends a change such as "hidden 64 -> 65" for each member that differs.
void add_differences(const Json& before, const Json& after, const std::string& path,
                     std::vector<std::string>& changes) {
  if (before == after) return;
  if (before.is_object() && after.is_object()) {
    for (const auto& [key, value] : before.items()) {
      if (!after.contains(key)) {
        changes.push_back(path + key + " removed");
      } else {
        add_differences(value, after[key], path + key + ".", changes);
      }
    }
    for (const auto& [key, value] : after.items()) {
      if (!before.contains(key)) changes.push_back(path + key + " added");
    }
    return;
  }
  if (before.is_array() && after.is_array() && before.size() == after.size() && before.size() > 0) {
    add_differences(before[0], after[0], path + "0.",
                    changes);  // first and last represent all
    add_differences(before[before.size() - 1], after[before.size() - 1], path + "last.", changes);
    return;
  }
  changes.push_back(path.substr(0, path.size() - 1) + " " + value_text(before) + " -> " +
                    value_text(after));
}

class ConfigKeys : public ::testing::TestWithParam<std::string> {
 protected:
  ConfigKeys()
      : folder_(testing::source_folder() / "tests" / "layouts" / GetParam()),
        config_(parse_json(read_file(folder_ / "config.json", 1 << 20), "config.json")),
        file_(read_safetensors(folder_ / "model.safetensors")) {}

  // Differences from unchanged_config(), or the error message.
  std::string outcome(const Json& config) {
    try {
      const Json changed_config = to_json(load_model(config).config);
      std::vector<std::string> changes;
      add_differences(to_json(unchanged_config()), changed_config, "", changes);
      std::string text;
      for (const std::string& change : changes) text += (text.empty() ? "" : ", ") + change;
      return text.empty() ? kSame : text;
    } catch (const InputError& e) {
      std::string message = e.what();
      for (auto at = message.find(folder_.string()); at != std::string::npos;
           at = message.find(folder_.string())) {
        message.replace(at, folder_.string().size(), "HERE");
      }
      return "refused: " + message;
    }
  }

  Model load_model(const Json& config) const {
    const std::string type = format_type(config, "config.json", "");
    const auto format =
        std::ranges::find(checkpoint_formats(), type, &CheckpointFormat::model_type);
    if (format == checkpoint_formats().end()) throw InputError("no layout " + type);
    CheckpointSource source = checkpoint_container(folder_).open(folder_);
    source.config = config;
    source.tensors = file_.tensors;
    return format->load(source);
  }
  const ModelConfig& unchanged_config() {
    if (!unchanged_config_) unchanged_config_ = load_model(config_).config;
    return *unchanged_config_;
  }

  fs::path folder_;
  Json config_;
  SafetensorsFile file_;
  std::optional<ModelConfig> unchanged_config_;
};

// Replaces `value` with "VALUE" where it is a word or a list element of `text`. Values with equal
// effects can then share a line.
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

// Values that replace the value of a key.
std::vector<Json> alternative_values(const std::string& key, const Json& value) {
  if (value.is_boolean()) return {!value.get<bool>()};
  if (value.is_number_integer()) return {value.get<Index>() + 1, 0, 2};
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
  const std::function<void(const Path&)> add_effects = [&](const Path& path) {
    const Json object = object_at(config_, path);
    std::string prefix;
    for (const std::string& key : path) prefix += key + ".";
    for (const auto& [key, value] : object.items()) {
      if (key == "model_type" || key == "id2label" || key == "label2id") continue;
      Json changed = config_;
      object_at(changed, path).erase(key);
      // Pairs of an outcome and the values that cause it, in order of first occurrence.
      std::vector<std::pair<std::string, std::string>> outcomes{
          {without_value(outcome(changed), "nothing"), "none"}};
      for (const Json& other : alternative_values(key, value)) {
        if (other == value) continue;
        object_at(changed, path)[key] = other;
        const std::string result = without_value(outcome(changed), value_text(other));
        const auto entry =
            std::ranges::find(outcomes, result, &std::pair<std::string, std::string>::first);
        if (entry == outcomes.end()) {
          outcomes.emplace_back(result, value_text(other));
        } else if (entry->second != value_text(other) &&
                   !entry->second.ends_with(", " + value_text(other))) {
          entry->second += ", " + value_text(other);
        }
      }
      if (outcomes.size() == 1 && outcomes[0].first == kSame) {
        without_effect.push_back(prefix + key);
      } else {
        for (const auto& [result, values] : outcomes) {
          if (result == kSame && values == "none") {
            default_values.push_back(prefix + key);
            continue;
          }
          text += prefix + key + " " + values + ": " + result + "\n";
        }
      }
      if (!value.is_object()) continue;
      Path nested = path;
      nested.push_back(key);
      add_effects(nested);
    }
  };
  add_effects({});
  text += "keys with default values\n" + testing::wrapped_entries(default_values);
  text += "keys without effect\n" + testing::wrapped_entries(without_effect);
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
