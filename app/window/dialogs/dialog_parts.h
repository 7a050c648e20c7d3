// Parts of the dialogs with a result: lengths, the empty result, and the file of the result.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "app/window/widgets/ui.h"
#include "core/base/index.h"

namespace attnscope::window {

struct State;

// Draws a list of powers of two from 16 to `max_length` with its label, marked `id`.
void draw_length(Ui& ui, const char* label, const char* id, Index& length, Index max_length);

// Draws a message in the middle of a box of `size` pixels that waits for a result.
void draw_empty_result(Ui& ui, ImVec2 origin, ImVec2 size, const std::string& message);
// Asks for a larger window, and returns true, if a box of `size` pixels is too small for a chart.
bool draw_too_small_result(Ui& ui, ImVec2 origin, ImVec2 size);

// File of a result: a picture or a table.
struct ResultFile {
  std::string path;
  std::string problem;
  std::string overwrite_path;  // the existing file whose replacement was offered
};

// Writes the result with `write`. For an existing file, the first call only sets `overwrite_path`,
// and the next call replaces the file. Returns a notice; empty: not written.
std::string save_result(ResultFile& file,
                        const std::function<void(const std::filesystem::path&)>& write);

// Draws the field of the path, the button Save and the problem, with marks "ID.path" and "ID.save".
void draw_result_file(Ui& ui, State& state, ResultFile& file, const std::string& id,
                      const char* formats, bool has_result,
                      const std::function<std::string()>& save);

}  // namespace attnscope::window
