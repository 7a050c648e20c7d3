// The state of the window as plain values: panels draw and change it, actions change it, the
// program carries out its pending requests. Free of OpenGL and ImGui, so that tests can create one.
//
// A is the experiment, B the one it is compared with (the first of `others`). The pictured run
// is A, or B while Shift is held.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/window/dialogs/calibration_dialog.h"
#include "app/window/dialogs/cost_dialog.h"
#include "app/window/dialogs/documentation_dialog.h"
#include "app/window/file_state.h"
#include "app/window/history.h"
#include "app/window/jobs/finding_tasks.h"
#include "app/window/jobs/step_pictures.h"
#include "app/window/lesson.h"
#include "app/window/scope.h"
#include "app/window/settings.h"
#include "app/window/widgets/text_edit.h"
#include "core/base/progress.h"
#include "core/checkpoint/card.h"
#include "core/experiment/finding.h"
#include "core/experiment/salient_pairs.h"
#include "core/experiment/samples.h"
#include "core/experiment/session.h"
#include "core/trace/trace.h"
#include "core/view/export/frames.h"
#include "core/view/export/picture.h"
#include "core/view/opening.h"
#include "core/view/view.h"

namespace attnscope::window {

// A line above the status line. Errors stay until the user closes them.
struct Notice {
  std::string text;
  bool error = false;
  double until = 0;  // seconds of the window's clock; unused for errors
};

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

// Preview of the exported picture, kept until an input changes.
struct ExportPreview {
  std::shared_ptr<const Trace> of;
  Session experiment;
  PictureOptions options;
  Findings findings;
  DisplayList list;
  std::string problem;  // why there is no preview
  bool whole = true;    // fitted; else in print size
};

// Check for .npy export, which needs a view with a single array; repeated when the view or the run
// changes.
struct SingleArrayCheck {
  ViewSettings view;
  std::shared_ptr<const Trace> trace;
  std::string refusal;  // why .npy is impossible; empty: possible, or too expensive to check
};

struct ExportDialog {
  bool open = false;
  std::string path = "attention.png";
  PictureOptions picture;
  bool inches = false;         // show sizes in inches and dots per inch
  bool has_own_theme = false;  // the user chose light or dark; else the window's theme
  FrameOptions frames;         // of an animation
  BackendProvider backends;    // of its runs; none: the CPU
  bool focus_name = false;     // move the keyboard focus to the name in the next frame
  ExportPreview preview;
  SingleArrayCheck single_array;
  std::string problem;
  std::string overwrite_path;         // the existing file whose replacement was offered
  std::filesystem::path destination;  // of the running export
  std::unique_ptr<BackgroundTask<std::filesystem::path>> task;  // the running export; null: none
};

struct Palette {
  bool open = false;
  std::string typed;
  int chosen = 0;
};

// Model card, read when the model was selected.
struct CachedModelCard {
  std::string model;
  std::optional<ModelCard> card;  // nothing: unreadable
};

struct TextPanel {
  TextEdit edit;
  bool focused = false;
  bool drawn = false;          // in this frame; a hidden editor receives no keys
  double scroll = 0;           // pixels
  bool follow_cursor = false;  // scroll to it in the next frame
  bool follow_end = false;     // likewise to the end of the text
  bool dragging = false;
  bool changed = false;  // edited since the last run of this text
  std::optional<CachedModelCard> card;
};

// A running animation, see play.h.
struct PlayState {
  bool on = false;
  std::string view;    // where it was started
  double value = 0;    // of the animated parameter
  double seconds = 0;  // of the window's clock at the last step
};

struct ViewPanel {
  std::optional<Hit> hit;          // under the pointer
  std::optional<Point> pointer;    // within the picture, in units
  std::optional<Point> pinned_at;  // where a pin was last set or cleared
  bool panning = false;
  int held_handle = -1;  // pressed handle of the layout; -1: none
  bool handle_moved = false;
  std::vector<Point> stroke;      // pointer positions while a handle is held
  decltype(Handle::stroke) draw;  // the handle's effect, as of the press
  Session before_stroke;
  PlayState play;
  bool shift = false;        // held, outside of text fields
  bool actual_size = false;  // requested; done where the plot's size is known
  std::string pending;       // still being computed, see ViewLayout
};

// Requests of actions and panels to the program; carried out and cleared after each frame.
struct PendingRequests {
  bool close = false, full_screen = false, swap_screens = false, cancel_run = false;
  std::optional<std::string> clipboard;
};

// Implied changes of the last selection of a variant, encoding or direction (variant_selection.h),
// or of a model (model_selection.h).
struct ImpliedChanges {
  RunView before, after{};
  std::string words{};                   // "no positions, bidirectional"
  std::string reason{};                  // why they were necessary; may be empty
  Index tokens = 0;                      // of the whole text
  ChoiceScope scope = ChoiceScope::All;  // heads of the selection
  bool for_b = false;                    // of B
};

// Results of "Show a strong pair" for a run.
struct SalientPairSearch {
  std::weak_ptr<const Trace> trace{};
  std::vector<SalientPair> pairs{};
  std::size_t next = 0;
  std::optional<SalientPair> last_shown{};  // last shown
  // Running search; null: none.
  std::unique_ptr<BackgroundTask<std::vector<SalientPair>>> task{};
  std::shared_ptr<Progress> progress{};  // of the search
  bool opens_session = false;            // opens a new session on the first result
};

struct State {
  explicit State(Session start = {}) : experiment(start), history(std::move(start)) {}

  Session experiment;          // A
  bool editing_other = false;  // the left panels edit B
  History history;

  std::optional<ImpliedChanges> implied;
  SalientPairSearch salient_pairs;
  // An experiment started by New and not edited since: its first run opens on a salient pair.
  std::optional<Session> new_session;
  // Selection of models: implied changes of the last one (model_selection.h), previous inputs, and
  // whether the view is known to have content, or was replaced.
  std::optional<ImpliedChanges> model_changes;
  InputHistory previous_inputs;
  bool has_checked_view = true;
  std::string store;  // last opened datastore, even while no retrieval is active

  ChoiceScope scope = ChoiceScope::All;  // heads that a selected variant or encoding applies to

  std::shared_ptr<const Trace> trace;                // newest; null before the first run
  Findings findings;                                 // of that run, including the reference run B
  Session shown;                                     // their experiment
  Findings background_findings;                      // computed in the background
  std::map<std::string, FindingTask> finding_tasks;  // by finding
  std::string error;            // why the newest run failed; empty: it succeeded
  double busy_seconds = 0;      // since the start of the running run; 0: none
  Progress::Snapshot progress;  // of that run
  Index preview_of =
      0;  // total number of tokens if the trace is a preview of the first ones; else 0
  Index layers_of = 0;  // likewise of layers
  bool is_preview() const { return preview_of > 0 || layers_of > 0; }
  bool generating = false;  // draws another token after each run

  Settings settings;
  double scale = 1;    // current pixels per unit
  double seconds = 0;  // the window's clock
  std::vector<Notice> notices;
  std::string gpu;  // renderer name of the graphics context

  TextPanel text;
  ViewPanel view;
  std::vector<OpeningFile> opening;  // the last one counts
  FileBrowser browser;
  ExportDialog exporting;
  CostDialog cost;
  CalibrationDialog calibration;
  DocumentationDialog documentation;
  Palette palette;
  LessonState lesson;
  StepPictures step_pictures;
  int tour_stop = -1;            // of the introductory tour; -1: inactive
  bool presenting = false;       // presentation mode: large type, full screen, no panels
  bool black = false;            // black screen while presenting
  std::size_t monitors = 1;      // when the presentation was entered
  double presentation_zoom = 1;  // user's factor on the type size
  bool help_open = false, about_open = false;
  std::filesystem::path session;         // target of Ctrl+S; empty: asks
  std::filesystem::path abandoned_file;  // autosave of a crashed process
  std::filesystem::path restored_file;   // the same after restoring: delete once saved again
  PendingRequests requests;

  bool dialog_open() const {
    return browser.open || exporting.open || palette.open || help_open || about_open ||
           lesson.list_open || cost.open || calibration.open || documentation.open;
  }
  // The experiment of the newest run with the current view; source of pictures and exports.
  Session shown_experiment() const;
  // The experiment saved on exit; a lesson's experiments are not.
  const Session& own_experiment() const {
    return lesson.lesson != nullptr ? lesson.saved_experiment : experiment;
  }
  // True if B is shown in place of A: Shift is held, and the view shows one run. Views that show
  // both runs swap them themselves.
  bool shows_other() const;
  std::shared_ptr<const Trace> reference() const { return findings.get(Findings::reference); }
  // The pictured run: its trace (null: none), findings and experiment, with the current view.
  std::shared_ptr<const Trace> pictured_trace() const {
    return shows_other() ? reference() : trace;
  }
  Findings pictured_findings() const;
  Session pictured_experiment() const;
  // Controls with an effect in the view. Layer and head also have one as the scope of selections.
  ViewControls controls() const;
  bool panels_shown() const { return settings.panels && !presenting; }
  void notify(std::string text);        // notifies; the notice disappears by itself
  void report_error(std::string text);  // notifies of an error
  // The left panels edit B instead of A.
  bool edits_other() const { return editing_other && experiment.b; }
  RunView& edited() { return edits_other() ? *experiment.b : experiment; }
  const RunView& edited() const { return edits_other() ? *experiment.b : experiment; }
  const Trace* edited_trace() const { return edits_other() ? reference().get() : trace.get(); }
  // True if the last run text of the edited side exceeds the model's context. Later edits do not
  // count.
  bool is_overlong() const;
  // Shows this layer and head in the edited experiment. The other side follows if both showed the
  // same.
  void look_at(Index layer, Index head);
  // Likewise for a part: stack, kind, step and segment.
  void look_at(const PartChoice& part);
  // Head under the pointer, with its run.
  struct PointedHead {
    std::shared_ptr<const Trace> trace;  // null: none
    HeadRef at;
    const AttentionTap* tap = nullptr;  // null: no head
    Index head = 0;                     // within its group
  };
  PointedHead pointed() const;
  PointedHead pointed_at(const Hit& hit) const;  // the same for any position
  // Tokens under the pointer, as indices into the query and key streams; -1: none. Merged words
  // span several tokens.
  struct PointedTokens {
    std::string query_stream, key_stream;
    Index query = -1, key = -1;
    Index queries = 1, keys = 1;
  };
  PointedTokens pointed_tokens() const;
  // The attention of the view's layer and head; null without a trace.
  const AttentionTap* tap(Index* head_in_group = nullptr) const;
  // Clears pins on rows and columns whose tokens differ in the new trace.
  void clear_stale_pins(const Trace& before, const Trace& now);

  Index layers() const;  // of the part that the edited experiment's view shows
  Index heads() const;   // of its view's layer
  // The part that the edited experiment's view shows; the default part without a trace.
  TracePart part() const;
  // True for decoder self-attention, to which variants and encodings apply.
  bool shows_configurable_part() const;
  // Clamps the view's layer, head and part to the trace.
  void clamp_view();

 private:
  struct CachedControls {
    std::weak_ptr<const Trace>
        trace;  // key only; its textures are freed when it is no longer shown
    ViewSettings view;
    ViewControls controls;
  };
  mutable std::optional<CachedControls> cached_controls_;  // cache of controls()
};

}  // namespace attnscope::window
