// Opening and saving from the window. Nothing here throws: what goes wrong becomes a notice, and
// what the person had stays.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "app/window/state.h"

namespace attnscope::window {

// Whether the file is a lesson: it is started, not edited.
bool is_lesson(const std::filesystem::path& path);
// A file that was read, to be opened: what takes long is done.
struct ReadFile {
  std::function<Experiment(Experiment now)> change{};  // InputError where it does not suit `now`
  bool session = false;                                // it replaces all that is set
};
// InputError where it cannot be opened. From any thread.
ReadFile read_to_open(const std::filesystem::path& path);

// What to do after opening this, by what it is: a folder with a model, a session, a picture that
// carries its experiment, any other for a model of images, tensors of one's own, a store, or else a
// text. InputError where it is none.
Experiment opened(const std::filesystem::path& path, const Experiment& now);
// The same in the window. Returns whether it could be used. A large file is read in the background:
// then true, and what becomes of it is seen by take_opened().
bool open_path(State& state, const std::filesystem::path& path);
// Whether one is being read.
bool is_opening(const State& state);
// Takes what was read by now; whether there is something new to draw. Before each frame.
bool take_opened(State& state);
// A store of contexts that the model is to retrieve from.
// A mask or edges for the heads that choices are for, from a file (core/input/drawn_file.h).
bool open_mask(State& state, const std::filesystem::path& path);
bool open_edges(State& state, const std::filesystem::path& path);
bool open_store(State& state, const std::filesystem::path& path);
// Writes the session and remembers the file for the next save.
bool save_to(State& state, const std::filesystem::path& path);

// Replaces the experiment as one step that can be undone.
void set_experiment(State& state, const Experiment& experiment);

// The in-window file browser, started where it was last.
void browse(State& state, BrowsePurpose purpose);
void enter_folder(FileBrowser& browser, const std::filesystem::path& folder);
// Whether the browser lists the entry for its purpose.
bool is_offered(const FileBrowser& browser, const FileEntry& entry);
// Another entry is named, so many below the one that is.
void step_entry(FileBrowser& browser, int by);
// What a click on "Open" or "Save" does; closes the browser when it worked.
void accept_browsed(State& state);

}  // namespace attnscope::window
