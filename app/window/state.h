// All that the window knows, as plain values: panels draw it and change it, actions change it, the
// program carries out what it wishes for. No OpenGL and no ImGui, so that tests can have one.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/window/dialogs/calibration_dialog.h"
#include "app/window/dialogs/cost_dialog.h"
#include "app/window/history.h"
#include "app/window/lesson.h"
#include "app/window/scope.h"
#include "app/window/settings.h"
#include "app/window/widgets/text_edit.h"
#include "core/base/progress.h"
#include "core/checkpoint/card.h"
#include "core/experiment/experiment.h"
#include "core/experiment/finding.h"
#include "core/experiment/samples.h"
#include "core/experiment/striking.h"
#include "core/trace/trace.h"
#include "core/view/export/frames.h"
#include "core/view/export/picture.h"
#include "core/view/opening.h"
#include "core/view/view.h"

namespace attnscope::window {

class ExportJob;
class OpenJob;
class SurpriseJob;

// A line above the status line. Errors stay until they are closed.
struct Notice {
  std::string text;
  bool error = false;
  double until = 0;  // seconds of the window's clock; not for errors
};

// What a file browser was opened for.
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
  bool confirm = false;            // the named file exists: asked whether to replace it
  bool arrows = false;             // the name was chosen by them: into sight with it
};

// The picture as it will be, kept as long as nothing of it changes.
struct ExportPreview {
  std::shared_ptr<const Trace> of;
  Experiment experiment;
  PictureOptions options;
  Findings findings;
  DisplayList list;
  std::string problem;  // why there is none
  bool whole = true;    // all of it is in sight; else it is as large as in print
};

// Whether the numbers of a view are one array, as .npy takes them, worked out when the view or the
// run changes.
struct OneArray {
  ViewSettings view;
  std::shared_ptr<const Trace> trace;
  std::string refusal;  // why they are not; empty: they are, or it takes the work to know
};

struct ExportDialog {
  bool open = false;
  std::string path = "attention.png";
  PictureOptions picture;
  bool inches = false;       // sizes are shown in inches and dots per inch
  bool themed = false;       // a person chose light or dark; else it is as the window
  FrameOptions frames;       // of a moving picture
  BackendProvider backends;  // of its runs; none: the CPU
  bool focus_name = false;   // the name gets the keys in the next frame
  ExportPreview preview;
  OneArray one_array;
  std::string problem;
  std::string replaced;            // the existing file that was asked about
  std::shared_ptr<ExportJob> job;  // that writes one at the moment
};

// How far what is made beside runs has come.
struct FindingState {
  bool running = false;
  double share = 0;     // 0..1
  std::string problem;  // why there is no result
};

struct Palette {
  bool open = false;
  std::string typed;
  int chosen = 0;
};

// What a model's folder says of it, read when it was chosen.
struct KnownCard {
  std::string model;
  std::optional<ModelCard> card;  // nothing: it cannot be read
};

struct TextPanel {
  TextEdit edit;
  bool focused = false;
  bool drawn = false;          // in this frame; keys are not for an editor that nobody sees
  double scroll = 0;           // pixels
  bool follow_cursor = false;  // scroll to it in the next frame
  bool follow_end = false;     // likewise to the end of the text
  bool dragging = false;
  bool changed = false;  // by hand, since the last run of what it says now
  std::optional<KnownCard> card;
};

// What runs on by itself, see play.h.
struct Playing {
  bool on = false;
  std::string view;    // where it was started
  double value = 0;    // of the number that it moves
  double seconds = 0;  // of the window's clock when it was last moved
};

struct ViewPanel {
  std::optional<Hit> hit;          // under the pointer
  std::optional<Point> pointer;    // within the picture, in units
  std::optional<Point> pinned_at;  // where a pin was made or let go of last
  bool panning = false;
  int held_handle = -1;  // of the layout's handles, pressed and not yet released; -1: none
  bool handle_moved = false;
  std::vector<Point> stroke;      // of the handle that is held: where the pointer has been
  decltype(Handle::stroke) draw;  // what it does, as the picture was when it was pressed
  Experiment before_stroke;
  Playing play;
  bool shift = false;        // held, and not for typing
  bool actual_size = false;  // asked for; done where the plot's size is known
  std::string pending;       // what is still being computed, see ViewLayout
};

// What actions and panels ask of the program; done and cleared after each frame.
struct Wishes {
  bool close = false, full_screen = false, swap_screens = false, cancel_run = false;
  std::string cancel_finding;  // the name of one that is made beside runs
  std::optional<std::string> clipboard;
};

// What the last pick of a variant, encoding or direction set along with it (picking.h), or of a
// model (opening.h).
struct SetAlong {
  Experiment before, after{};
  std::string words{};                   // "no positions, both directions"
  std::string reason{};                  // why the choice alone does not work; may be empty
  Index tokens = 0;                      // of the whole text
  ChoiceScope scope = ChoiceScope::All;  // for whose heads it was
  bool of_other = false;                 // of what is compared with
};

// What "Surprise me" has found in a run.
struct Surprises {
  std::weak_ptr<const Trace> of;
  std::vector<StrikingPair> pairs;
  std::size_t next = 0;
  std::optional<StrikingPair> noticed{};  // the one that was shown last
  std::shared_ptr<SurpriseJob> job;       // that looks for them; null: none does
  bool opens = false;                     // what it finds is where a fresh start opens
};

struct State {
  explicit State(Experiment start = {}) : experiment(start), history(std::move(start)) {}

  Experiment experiment;       // edited by everything
  bool editing_other = false;  // the left panels edit what is compared with
  History history;

  std::optional<SetAlong> along;
  Surprises surprises;
  // What was begun afresh: what its first run shows is chosen by what happens in it, unless
  // somebody is faster.
  std::optional<Experiment> fresh;
  // Of models: what the last choice of one set along (opening.h), what those before read, and
  // whether the view has something to say about it, or has given way.
  std::optional<SetAlong> opened;
  ReadBefore read_before;
  bool view_settled = true;
  std::string store;  // of contexts, the last that was opened: also while nothing is retrieved

  ChoiceScope scope = ChoiceScope::All;  // for which heads a variant or encoding is chosen

  std::shared_ptr<const Trace> trace;           // the newest that there is; null before the first
  Findings findings;                            // in it, the run beside it among them
  Experiment shown;                             // what made them
  Findings beside;                              // what is made beside runs (finding_job.h)
  std::map<std::string, FindingState> finding;  // how far those have come, by name
  std::string error;                            // why the newest run gave none; empty when it did
  double busy_seconds = 0;                      // of the run that goes on; 0: none
  Progress::Now progress;                       // of that run
  Index preview_of = 0;  // the trace has the first of so many tokens, and the run goes on; 0: all
  Index layers_of = 0;   // likewise the first of so many layers
  bool is_part() const { return preview_of > 0 || layers_of > 0; }
  bool generating = false;  // another token is drawn whenever a run is done

  Settings settings;
  double scale = 1;    // pixels per unit that holds at the moment
  double seconds = 0;  // the window's clock
  std::vector<Notice> notices;
  std::string gpu;  // what the graphics context calls itself

  TextPanel text;
  ViewPanel view;
  std::vector<std::shared_ptr<OpenJob>> opening;  // large files that are read; the last is wanted
  FileBrowser browser;
  ExportDialog exporting;
  CostDialog cost;
  CalibrationDialog calibration;
  Palette palette;
  LessonState lesson;
  int tour_stop = -1;        // of the first start's tour; -1: it is not on
  bool presenting = false;   // on stage: large type, the whole screen, no panels
  bool black = false;        // on stage: nothing is shown
  std::size_t monitors = 1;  // when the stage was entered
  double stage_zoom = 1;     // of its type, over what its height asks for
  bool help_open = false, about_open = false;
  std::filesystem::path session;    // the file that Ctrl+S writes; empty: asks
  std::filesystem::path abandoned;  // an autosave that a crashed program left
  std::filesystem::path restored;   // the same, taken in: to go when it is kept anew
  Wishes wishes;

  bool dialog_open() const {
    return browser.open || exporting.open || palette.open || help_open || about_open ||
           lesson.list_open || cost.open || calibration.open;
  }
  // The experiment that was run, looked at as now: what the picture shows, and files get.
  Experiment shown_experiment() const;
  // What is kept when the window closes: not what a lesson shows.
  const Experiment& own_experiment() const {
    return lesson.lesson != nullptr ? lesson.before : experiment;
  }
  // Whether B's run stands in the place of A's: Shift is held, and the view shows one run. Views
  // that show both flip them by themselves.
  bool shows_other() const;
  std::shared_ptr<const Trace> reference() const { return reference_trace(findings); }
  // What the picture shows: a trace, null without one, what was found in it, and what made it,
  // looked at as now.
  std::shared_ptr<const Trace> pictured_trace() const {
    return shows_other() ? reference() : trace;
  }
  Findings pictured_findings() const;
  Experiment pictured_experiment() const;
  // Which of the view's controls change something. Layer and head do where choices are made for
  // them, too.
  ViewControls controls() const;
  bool panels_shown() const { return settings.panels && !presenting; }
  void say(std::string text);       // a notice that goes by itself
  void complain(std::string text);  // an error
  // What the left panels edit: the experiment, or the one that it is compared with.
  bool edits_other() const { return editing_other && !experiment.others.empty(); }
  Experiment& edited() { return edits_other() ? experiment.others.front() : experiment; }
  const Experiment& edited() const {
    return edits_other() ? experiment.others.front() : experiment;
  }
  const Trace* edited_trace() const { return edits_other() ? reference().get() : trace.get(); }
  // Whether the text that the edited side was last run with is longer than the model's context.
  // What has been typed since says nothing: it was not run yet.
  bool is_overlong() const;
  // Has the edited experiment look at this layer and head. What the experiment is compared with
  // follows as long as both look at the same.
  void look_at(Index layer, Index head);
  // Likewise at the attention of this stack, kind, step and segment.
  void look_at(const PartChoice& part);
  // What lies under the pointer, in its run.
  struct Pointed {
    std::shared_ptr<const Trace> trace;  // null: nothing does
    HeadRef at;
    const AttentionTap* tap = nullptr;  // null: no head
    Index head = 0;                     // within its group
  };
  Pointed pointed() const;
  Pointed pointed_at(const Hit& hit) const;  // the same of any place of the picture
  // Which tokens of a run that is: of the query's and the key's stream, -1: none; of words so many
  // from there on.
  struct PointedTokens {
    std::string query_stream, key_stream;
    Index query = -1, key = -1;
    Index queries = 1, keys = 1;
  };
  PointedTokens pointed_tokens() const;
  // The attention that the view's layer and head point at; null without a trace.
  const AttentionTap* tap(Index* head_in_group = nullptr) const;
  // Lets go of pins on rows and columns that are other tokens in the newer trace.
  void keep_pins(const Trace& before, const Trace& now);

  Index layers() const;  // of the edited experiment's model, of the part that its view shows
  Index heads() const;   // of its view's layer
  // Which part the view of the edited experiment shows; the usual one without a trace.
  TracePart part() const;
  // Whether that is the attention that variants and encodings are chosen for.
  bool shows_choices() const;
  // The view's layer and head moved into what the trace has.
  void keep_view_inside();

 private:
  struct ControlsOf {
    std::weak_ptr<const Trace> trace;  // whose textures go when it is not shown any more
    ViewSettings view;
    ViewControls controls;
  };
  mutable std::optional<ControlsOf> controls_of_;  // what controls() found last
};

}  // namespace attnscope::window
