// Opening and saving from the window. Functions that change a State do not throw: errors become
// notices and leave the session unchanged.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "app/window/state.h"

namespace attnscope::window {

bool is_lesson(const std::filesystem::path& path);
// Reads a file for open_path(). Throws InputError if the file cannot be opened. Thread-safe.
ReadFile read_file_to_open(const std::filesystem::path& path);

// Applies a file to `current` and returns the result. Accepted kinds are a model folder, a session,
// an image with an embedded session, any other image (for models of images), tensors, a datastore,
// or else a text. Throws InputError for other files.
Session with_opened_file(const std::filesystem::path& path, Session current);
// Opens a file in the window, or starts its lesson. Returns false after an error. Reads a large
// file in the background and returns true; opening_tasks() (jobs/task_kinds.h) applies the file.
bool open_path(State& state, const std::filesystem::path& path);
// Open a mask or edges for the heads in scope (core/input/structure_file.h), or a datastore for
// retrieval. Return false after an error.
bool open_mask(State& state, const std::filesystem::path& path);
bool open_edges(State& state, const std::filesystem::path& path);
bool open_store(State& state, const std::filesystem::path& path);
// Missing file of run A or B (core/experiment/run_files.h); empty: none.
std::string missing_file(const State& state);
// Replaces the missing file by `path`, as one undoable step. Returns false after an error.
bool locate_file(State& state, const std::filesystem::path& path);
// Writes the session and makes the file the target of the next save.
bool save_to(State& state, const std::filesystem::path& path);

// Replaces the session as one undoable step.
void set_session(State& state, SharedSession session);

}  // namespace attnscope::window
