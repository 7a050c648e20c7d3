// State of the export dialog.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "app/window/jobs/background_task.h"
#include "core/experiment/finding.h"
#include "core/experiment/runner.h"
#include "core/experiment/session.h"
#include "core/figure/display_list.h"
#include "core/trace/trace.h"
#include "core/view/export/frames.h"
#include "core/view/export/picture.h"

namespace attnscope::window {

// Preview of the exported picture, kept until an input changes.
struct ExportPreview {
  std::shared_ptr<const Trace> trace;
  std::shared_ptr<const Session> session;
  PictureOptions options;
  Findings findings;
  DisplayList list;
  std::string problem;    // why there is no preview; empty if there is one
  bool is_fitted = true;  // scaled to fit; else in print size
};

// Cached result of the check for .npy export, which requires a view with a single array.
struct SingleArrayCheck {
  ViewSettings view;
  std::shared_ptr<const Trace> trace;
  std::string refusal;  // why .npy is impossible; empty: it is possible, or was not checked
};

struct ExportDialog {
  bool open = false;
  std::string path = "attention.png";
  PictureOptions picture;
  bool uses_inches = false;    // show sizes in inches and dots per inch
  bool has_own_theme = false;  // the user chose light or dark here
  FrameOptions frames;         // frames of an animation
  BackendProvider backends;    // devices for the runs of an animation; empty: the CPU
  bool focuses_name = false;   // move the keyboard focus to the file name in the next frame
  ExportPreview preview;
  SingleArrayCheck single_array;
  std::string problem;
  std::string overwrite_path;         // the existing file whose replacement was offered
  std::filesystem::path destination;  // file of the running export
  std::unique_ptr<BackgroundTask<std::filesystem::path>> task;  // the running export; null: none
};

// Calls `write` in the background to write `path`; `write` throws Stopped when cancelled.
void start_export(ExportDialog& dialog, const std::filesystem::path& path,
                  const std::function<void(Task& task)>& write);

}  // namespace attnscope::window
