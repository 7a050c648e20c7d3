// Settings remembered between starts, stored as JSON in the user's configuration folder. No setting
// is essential, so a broken file is ignored with a notice.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace attnscope::window {

inline constexpr double kMinScale = 0.5, kMaxScale = 4;  // pixels per unit
inline constexpr double kMaxPresentationScale = 8;       // limit while presenting on a large screen
inline constexpr double kMinPresentationZoom = 0.75, kMaxPresentationZoom = 1.5;
inline constexpr double kMinPanelWidth = 220, kMaxPanelWidth = 640;  // side panels, units
inline constexpr double kLongRunSeconds = 0.5;  // seconds; longer runs show progress

struct Settings {
  // Window position and size in screen coordinates. Size 0: suitable for the monitor.
  int x = 0, y = 0, width = 0, height = 0;
  bool maximised = false;
  bool dark = false;
  double scale = 0;  // pixels per unit; 0: the monitor's
  // Widths of the side panels in units of scale 1.
  double left_width = 300, right_width = 290;
  bool panels = true;
  bool simple = true;               // hides rarely used settings, see Ui::is_simple
  bool reading = true;              // the right panel explains the view
  bool reduced_motion = false;      // no animated transitions
  double memory = 0;                // budget of runs in MB; 0: default_memory_budget()
  bool tour_done = false;           // the opening moves were shown (tour.h)
  std::string folder;               // last folder of the file browser
  std::string export_folder;        // folder of the last export
  std::vector<std::string> recent;  // opened or saved files and folders, newest first
  void add_recent(const std::string& path);
  bool operator==(const Settings&) const = default;
};

// $XDG_CONFIG_HOME/attnscope, else ~/.config/attnscope. Does not create it.
std::filesystem::path configuration_folder();

struct LoadedSettings {
  Settings settings;
  std::string notice;  // reason why the stored settings were not used; empty if they were
};
// Returns the defaults if the file does not exist, and the defaults with a notice if the file is
// broken. Never throws.
LoadedSettings load_settings(const std::filesystem::path& file);
// Creates the file's folder. Throws WorkError if the file cannot be written.
void save_settings(const std::filesystem::path& file, const Settings& settings);

}  // namespace attnscope::window
