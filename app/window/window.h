// The window: text, model, variant, encoding and parameters on the left, pictures in the middle,
// explanations on the right.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/experiment/view_settings.h"

namespace attnscope::window {

struct WindowOptions {
  std::optional<std::filesystem::path> session;  // to open
  std::optional<std::filesystem::path> open;     // anything: see opened() in files.h
  std::string tokens, key_tokens;                // of `open`, where it holds tensors
  std::optional<std::string> text, model;        // in place of what the session says
  std::optional<std::filesystem::path> input;    // a picture, pixels or a trajectory to be read
  std::optional<std::string> target;             // of a model that reads source and target
  std::function<void(ViewSettings&)> look;       // what of the view is chosen; empty: nothing
  int width = 0, height = 0;                     // of the window; 0: as it was last
  double scale = 0;                              // 0: as the settings or the monitor say
  std::optional<bool> dark;
  std::string lesson;            // to start with: an id or a file; empty: none
  bool present = false;          // begin on stage
  std::optional<bool> tour;      // whether the tour begins; otherwise at the first start
  bool measure = false;          // print how long frames take, and end
  std::filesystem::path report;  // where to say what is shown (report.h); empty: nowhere

  // Whether they say what is to be seen.
  bool asks_for_something() const {
    return session || open || text || model || input || target || look || !lesson.empty();
  }
};

// Whether a start with these options begins with the tour. It speaks of a text of one's own: by
// itself it waits for a start without a file or a lesson.
bool begins_tour(const WindowOptions& options, bool tour_done);

// There is no display, or no OpenGL on it. Everything but the window works without.
struct NoDisplay : WorkError {
  using WorkError::WorkError;
};

// Opens the window and returns when it is closed. NoDisplay; InputError when the session cannot be
// read.
void run_window(const WindowOptions& options);

}  // namespace attnscope::window
