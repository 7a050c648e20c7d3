// What the window remembers between starts. Kept as JSON in the person's configuration folder;
// nothing in there is precious, so a broken file is ignored with a notice.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace attnscope::window {

inline constexpr double kLeastScale = 0.5, kMostScale = 4;  // of everything drawn
inline constexpr double kMostStageScale = 8;                // on stage, of a large wall
inline constexpr double kLeastStageZoom = 0.75, kMostStageZoom = 1.5;
inline constexpr double kLeastPanel = 220, kMostPanel = 640;  // units: a side panel's width
inline constexpr double kBusyShown = 0.5;                     // seconds until a run is called long

struct Settings {
  // Of the window, in screen coordinates. Size 0: as large as suits the monitor.
  int x = 0, y = 0, width = 0, height = 0;
  bool maximised = false;
  bool dark = false;
  double scale = 0;  // of everything drawn; 0: as the monitor says
  // Of the side panels, in units of scale 1.
  double left_width = 300, right_width = 290;
  bool panels = true;
  bool reading = true;              // whether the right panel says what is seen in the view
  bool reduced_motion = false;      // pictures change at once
  double memory = 0;                // what runs may take, in MB; 0: default_memory_budget()
  bool tour_done = false;           // whether the tour of the first start was seen or left
  std::string folder;               // where the file browser was last
  std::string export_folder;        // where the last picture went
  std::vector<std::string> recent;  // files and folders that were opened or saved, the newest first
  void add_recent(const std::string& path);
  bool operator==(const Settings&) const = default;
};

// $XDG_CONFIG_HOME/attnscope, else ~/.config/attnscope. Not created here.
std::filesystem::path configuration_folder();

struct LoadedSettings {
  Settings settings;
  std::string notice;  // why what was stored is not used; empty when all went well
};
// Never throws: without a file, the defaults; with a broken one, the defaults and a notice.
LoadedSettings load_settings(const std::filesystem::path& file);
// Creates the folder. WorkError when it cannot be written.
void save_settings(const std::filesystem::path& file, const Settings& settings);

}  // namespace attnscope::window
