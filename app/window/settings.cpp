#include "app/window/settings.h"

#include <algorithm>
#include <cstdlib>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory_budget.h"

namespace attnscope::window {
namespace {

constexpr std::size_t kMaxSettingsBytes = 1 << 16;
constexpr int kMaxPixels = 32768;
constexpr std::size_t kMaxRecent = 10;
constexpr double kMinMemory = static_cast<double>(kMinMemoryBudget >> 20);  // MB
constexpr double kMaxMemory = 1 << 24;

// Reads `object[key]`, clamped to [min_value, max_value]. Without the key, `value` is unchanged.
// Throws InputError on a wrong type.
template <class T>
void read(const Json& object, const char* key, T& value, T min_value, T max_value) {
  if (const Json* member = object.find(key)) {
    if (!member->is_number()) throw InputError(std::string(key) + ": expected a number");
    value = static_cast<T>(std::clamp(member->get<double>(), static_cast<double>(min_value),
                                      static_cast<double>(max_value)));
  }
}

void read(const Json& object, const char* key, bool& value) {
  if (const Json* member = object.find(key)) {
    if (!member->is_boolean()) throw InputError(std::string(key) + ": expected true or false");
    value = member->get<bool>();
  }
}

void read(const Json& object, const char* key, std::string& value) {
  if (const Json* member = object.find(key)) {
    if (!member->is_string()) throw InputError(std::string(key) + ": expected a string");
    value = member->get<std::string>();
  }
}

Settings settings_from_json(const Json& object) {
  if (!object.is_object()) throw InputError("expected an object");
  Settings s;
  read(object, "x", s.x, -kMaxPixels, kMaxPixels);
  read(object, "y", s.y, -kMaxPixels, kMaxPixels);
  read(object, "width", s.width, 0, kMaxPixels);
  read(object, "height", s.height, 0, kMaxPixels);
  read(object, "maximised", s.maximised);
  read(object, "dark", s.dark);
  read(object, "scale", s.scale, 0.0, kMaxScale);
  if (s.scale < kMinScale) s.scale = 0;
  read(object, "left_width", s.left_width, kMinPanelWidth, kMaxPanelWidth);
  read(object, "right_width", s.right_width, kMinPanelWidth, kMaxPanelWidth);
  read(object, "panels", s.panels);
  read(object, "simple", s.simple);
  read(object, "reading", s.reading);
  read(object, "reduced_motion", s.reduced_motion);
  read(object, "memory", s.memory, 0.0, kMaxMemory);
  if (s.memory < kMinMemory) s.memory = 0;
  read(object, "tour_done", s.tour_done);
  read(object, "folder", s.folder);
  read(object, "export_folder", s.export_folder);
  if (const Json* member = object.find("recent")) {
    if (!member->is_array()) throw InputError("recent: expected a list of strings");
    for (const Json& path : *member) {
      if (!path.is_string()) throw InputError("recent: expected a list of strings");
      if (s.recent.size() < kMaxRecent) s.recent.push_back(path.get<std::string>());
    }
  }
  return s;
}

}  // namespace

void Settings::add_recent(const std::string& path) {
  std::erase(recent, path);
  recent.insert(recent.begin(), path);
  if (recent.size() > kMaxRecent) recent.pop_back();
}

std::filesystem::path configuration_folder() {
  if (const char* folder = std::getenv("XDG_CONFIG_HOME"); folder && *folder == '/') {
    return std::filesystem::path(folder) / "attnscope";
  }
  if (const char* home = std::getenv("HOME"); home && *home != '\0') {
    return std::filesystem::path(home) / ".config" / "attnscope";
  }
  return std::filesystem::temp_directory_path() / "attnscope";
}

LoadedSettings load_settings(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return {};
  try {
    return {settings_from_json(Json::parse(read_file(file, kMaxSettingsBytes))), ""};
  } catch (const std::exception& e) {
    return {
        {},
        "The window's settings could not be read and were reset (" + std::string(e.what()) + ")."};
  }
}

void save_settings(const std::filesystem::path& file, const Settings& s) {
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  const Json object = {{"x", s.x},
                       {"y", s.y},
                       {"width", s.width},
                       {"height", s.height},
                       {"maximised", s.maximised},
                       {"dark", s.dark},
                       {"scale", s.scale},
                       {"left_width", s.left_width},
                       {"right_width", s.right_width},
                       {"panels", s.panels},
                       {"simple", s.simple},
                       {"reading", s.reading},
                       {"reduced_motion", s.reduced_motion},
                       {"memory", s.memory},
                       {"tour_done", s.tour_done},
                       {"folder", s.folder},
                       {"export_folder", s.export_folder},
                       {"recent", s.recent}};
  write_file(file, object.dump(2, Json::BadUtf8::Replace) + "\n");
}

}  // namespace attnscope::window
