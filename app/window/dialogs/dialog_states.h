// State of the window's dialogs.
#pragma once

#include <string>

#include "app/window/dialogs/calibration_dialog.h"
#include "app/window/dialogs/cost_dialog.h"
#include "app/window/dialogs/documentation_dialog.h"
#include "app/window/dialogs/export_dialog.h"
#include "app/window/dialogs/extrapolation_dialog.h"
#include "app/window/dialogs/file_browser.h"
#include "app/window/dialogs/palette.h"
#include "app/window/dialogs/study_job.h"
#include "app/window/dialogs/training_dialog.h"

namespace attnscope::window {

struct LessonList {
  bool open = false;
  int row = 0;  // selected row
};

struct Dialogs {
  FileBrowser browser;
  ExportDialog exporting;
  CostDialog cost;
  CalibrationDialog calibration;
  ExtrapolationDialog extrapolation;
  TrainingDialog training;
  StudyDialog study;
  DocumentationDialog documentation;
  LessonList lessons;
  Palette palette;
  bool help_open = false, about_open = false;

  // True if any dialog is open.
  bool open() const {
    return browser.open || exporting.open || cost.open || calibration.open || extrapolation.open ||
           training.open || study.open || documentation.open || lessons.open || palette.open ||
           help_open || about_open;
  }
};

}  // namespace attnscope::window
