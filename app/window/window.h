// The window: settings on the left, the picture in the middle, explanations on the right.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/experiment/view_settings.h"

namespace attnscope::window {

struct WindowOptions {
  std::optional<std::filesystem::path> session;  // session file to open
  std::optional<std::filesystem::path> open;  // any file that with_opened_file() in files.h accepts
  std::string tokens, key_tokens;             // token files if `open` contains tensors
  std::optional<std::string> text, model;     // replace the session's text and model
  std::optional<std::filesystem::path> input;     // an image, pixels or a trajectory
  std::optional<std::string> target;              // target of models with source and target
  std::function<void(ViewSettings&)> apply_view;  // applies options of the view
  int width = 0, height = 0;                      // size of the window; 0: the last size
  double scale = 0;                               // 0: from the settings or the monitor
  std::optional<bool> dark;
  std::optional<bool> simple;    // simple or full controls, see Settings::simple
  std::string lesson;            // lesson to start: an id or a file; empty: none
  bool present = false;          // start in presentation mode
  std::optional<bool> tour;      // start the opening moves; default: at the first start
  bool measure = false;          // print frame times and exit
  std::filesystem::path report;  // path of the report (report.h); empty: none

  // True if the options specify content to show.
  bool has_content() const {
    return session || open || text || model || input || target || apply_view || !lesson.empty();
  }
};

// True if the opening moves (tour.h) start. Without `tour`, they start at the program's first
// start, unless the options have content to show or start a presentation.
bool starts_tour(const WindowOptions& options, bool tour_done);

// Missing display, or missing OpenGL. All commands except the window work without a display.
struct NoDisplay : WorkError {
  using WorkError::WorkError;
};

// Runs the window until it is closed. Throws NoDisplay, or InputError for an unreadable session.
void run_window(const WindowOptions& options);

}  // namespace attnscope::window
