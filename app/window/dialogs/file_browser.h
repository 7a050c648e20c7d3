// File browser inside the window, opened in its last folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace attnscope::window {

struct State;

// Purpose of an open file browser.
enum class BrowsePurpose {
  OpenFile,
  OpenModel,
  OpenStore,
  OpenTexts,
  OpenMask,
  OpenEdges,
  CalibrationText,
  SaveSession,
  ExportPath
};

struct FileEntry {
  std::string name;
  bool folder = false;
  std::uintmax_t bytes = 0;
};
struct FileBrowser {
  bool open = false;
  BrowsePurpose purpose = BrowsePurpose::OpenFile;
  std::filesystem::path folder;
  std::vector<FileEntry> entries;  // of the folder, as last read
  std::string name;                // typed or clicked
  std::string problem;             // why the folder or name cannot be used
  bool confirm = false;            // asking whether to replace the existing file
  bool scrolls_to_name = false;    // the name was selected by arrow keys: scroll to it
};

void browse(State& state, BrowsePurpose purpose);  // opens the browser
void enter_folder(FileBrowser& browser, const std::filesystem::path& folder);
// True if the browser lists the entry for its purpose.
bool is_listed(const FileBrowser& browser, const FileEntry& entry);
// Selects the entry `by` rows below the selected one.
void select_neighbour(FileBrowser& browser, int by);
// Confirms "Open" or "Save"; closes the browser on success.
void accept_browser(State& state);

}  // namespace attnscope::window
