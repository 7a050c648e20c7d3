// Experiments of the dialog Experiment: their list, the selected one, and its background run. No
// drawing here.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/window/dialogs/dialog_parts.h"
#include "app/window/jobs/background_task.h"
#include "core/figure/display_list.h"
#include "core/study/study_run.h"
#include "core/study/sweep.h"

namespace attnscope::window {

struct State;

// A definition in the list.
struct StudyEntry {
  std::string file, id;
  std::string title, claim, source;
  double minutes = 0;      // of the full run; 0: unknown
  bool has_quick = false;  // the definition has a quick run
  std::string problem{};   // why the file is no definition; empty if it is one
};

// Results of the selected experiment so far.
struct StudyRun {
  StudyRows rows;
  std::vector<std::string> problems;     // of points without a result
  std::string label;                     // of the running point; empty: none
  std::size_t finished = 0, points = 0;  // finished points; all points
  bool is_complete() const { return points > 0 && finished + problems.size() >= points; }
};

// The form that writes a sweep of the session (core/study/sweep.h). Its file is the definition.
struct SweepForm : ResultFile {
  bool open = false;
  Sweep sweep;
  std::vector<SweepParameter> parameters;
  std::vector<SweepMeasure> measures;
};

struct StudyDialog : ResultFile {
  bool open = false;
  std::vector<StudyEntry> entries;
  std::vector<std::string> opened;     // files of definitions that the user opened
  std::string selected;                // file of the selected definition; empty: none
  bool quick = true;                   // run with the definition's changes for a fast run
  std::shared_ptr<const Study> study;  // the selected experiment; null if its file is invalid
  std::string folder;                  // of the results
  StudyRun run;
  std::string run_problem;                         // why nothing can run or the run has ended
  std::unique_ptr<BackgroundTask<StudyRun>> task;  // running experiment; null: none
  SweepForm sweep;
  DisplayList picture;  // must live until the frame is drawn
};

// Folder of the user's definitions (*.json) and results, beside that of the models.
std::filesystem::path user_studies_folder();

// Lists the bundled definitions, those in user_studies_folder() and the opened ones, and selects
// the first one if none is selected.
void open_study_dialog(State& state);
void select_study(StudyDialog& dialog, const std::string& file, bool quick);
// Adds a definition to the list and selects it. False after an error, which becomes a notice.
bool open_study(State& state, const std::filesystem::path& file);
// Reads the finished points of the selected experiment from `folder`.
void read_finished_points(StudyDialog& dialog);
// Runs the points without a result.
void start_study(StudyDialog& dialog);
// Moves new results into the dialog. True if something changed.
bool take_study_results(State& state);
// Writes the picture or the table, as save_result().
std::string save_study(StudyDialog& dialog, bool dark);

// Opens the form for the edited session; a notice says why if nothing can vary.
void open_sweep_form(State& state);
// Selects a parameter, with default values.
void select_sweep_parameter(SweepForm& form, std::size_t index);
// Writes the definition, as save_result(), and selects it in the list.
std::string save_sweep(StudyDialog& dialog);

}  // namespace attnscope::window
