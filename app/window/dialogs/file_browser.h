// File browser in the window; opens in the folder that was used last.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace attnscope::window {

struct State;

enum class BrowsePurpose {
  OpenFile,
  OpenModel,
  OpenStore,
  OpenTexts,
  OpenMask,
  OpenEdges,
  CalibrationText,
  TrainingText,
  LengthsText,
  OpenStudy,
  SweepText,
  SweepFile,
  LocateFile,
  SaveSession,
  ExportPath
};

struct FileEntry {
  std::string name;
  bool is_folder = false;
  std::uintmax_t bytes = 0;
};
struct FileBrowser {
  bool open = false;
  BrowsePurpose purpose = BrowsePurpose::OpenFile;
  std::filesystem::path folder;
  std::vector<FileEntry> entries;  // contents of the folder when it was entered
  std::string name;                // typed or clicked
  std::string problem;             // why the folder or name cannot be used
  bool replaces = false;           // accepting again replaces the existing file
  bool scrolls_to_name = false;    // the name was selected by arrow keys: scroll to it
};

void browse(State& state, BrowsePurpose purpose);  // opens the browser
void enter_folder(FileBrowser& browser, const std::filesystem::path& folder);
// True if the entry is listed. Browsers for models list folders only.
bool is_listed(const FileBrowser& browser, const FileEntry& entry);
// Selects the entry `by` rows below the selected one.
void select_neighbour(FileBrowser& browser, int by);
// Enters a folder, or uses a file or model folder and, on success, closes the browser.
void accept_browser(State& state);

}  // namespace attnscope::window
