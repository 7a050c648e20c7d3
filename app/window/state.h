// The state of the window as plain values: panels draw and change it, actions change it, the
// program carries out the pending requests. Free of OpenGL and ImGui, so that tests can create it.
//
// The session consists of run A and, in a comparison, run B. The pictured run is A, or B while
// Shift is held.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/window/dialogs/dialog_states.h"
#include "app/window/edited_session.h"
#include "app/window/file_state.h"
#include "app/window/history.h"
#include "app/window/jobs/step_pictures.h"
#include "app/window/lesson.h"
#include "app/window/panels/text_panel_state.h"
#include "app/window/panels/view_panel_state.h"
#include "app/window/run_state.h"
#include "app/window/selection_state.h"
#include "app/window/settings.h"
#include "app/window/tour.h"
#include "core/experiment/samples.h"
#include "core/view/view.h"

namespace attnscope::window {

// A line above the status line. Errors stay until the user closes them.
struct Notice {
  std::string text;
  bool error = false;
  double until = 0;        // seconds of the window's clock; unused for errors
  bool until_act = false;  // disappears at the next key or click instead
  bool has_expired(double seconds) const { return !error && !until_act && seconds > until; }
};

// Requests of actions and panels to the program; carried out and cleared after each frame.
struct PendingRequests {
  bool close = false, full_screen = false, swap_screens = false, cancel_run = false;
  std::optional<std::string> clipboard;
};

struct State {
  explicit State(Session start = {}) : session(std::move(start)), history(session.snapshot()) {}

  EditedSession session;
  bool editing_b = false;  // the user has selected B for the left panels
  History history;

  RunState run;
  SelectionState selection;
  FileState files;
  LessonState lesson;
  StepPictures step_pictures;
  PresentationState presentation;
  Dialogs dialogs;
  Tour tour;
  TextPanel text;
  ViewPanel view;

  Settings settings;
  double scale = 1;    // current pixels per unit
  double seconds = 0;  // the window's clock
  std::string gpu;     // renderer name of the graphics context
  std::vector<Notice> notices;
  double ignores_letters_until =
      0;  // time until which letters run no commands, see run_shortcuts()
  PendingRequests requests;

  // True if the newest run belongs to the current session; view settings may differ.
  bool is_current() const;
  // The session of the newest run with the current view; source of pictures and exports.
  SharedSession shown_session() const;
  // The session to save on exit; during a lesson, the session from before it.
  SharedSession user_session() const {
    return lesson.lesson != nullptr ? lesson.saved_session : session.snapshot();
  }
  // True if B is shown instead of A: Shift is held, and the view shows a single run. Views of both
  // runs swap A and B themselves.
  bool shows_b() const;
  // The pictured run: its trace (null: none), findings and session, with the current view.
  std::shared_ptr<const Trace> pictured_trace() const {
    return shows_b() ? run.reference() : run.trace;
  }
  Findings pictured_findings() const;
  SharedSession pictured_session() const;
  // Controls with an effect in the view. Includes the choice of layer or head if variant and
  // encoding are selected for a single layer or head.
  ViewControls controls() const;
  bool panels_shown() const { return settings.panels && !presentation.is_on; }
  void notify(std::string text);            // the notice disappears by itself
  void notify_until_act(std::string text);  // the notice disappears at the next key or click
  void report_error(std::string text);      // the notice stays until closed
  // True if the left panels edit B instead of A: if the user has selected B, or while the picture
  // shows B.
  bool edits_b() const { return session->b && (editing_b || shows_b()); }
  const RunView& edited() const { return edits_b() ? *session->b : *session; }
  RunView& edit() { return edits_b() ? *session.edit().b : session.edit(); }
  const Trace* edited_trace() const { return edits_b() ? run.reference().get() : run.trace.get(); }
  // True if the text of the edited side's last run exceeds the model's context.
  bool is_overlong() const;
  // Shows this layer and head in the edited run. B also changes if A is edited and both showed the
  // same head.
  void select_head(Index layer, Index head);
  // Like select_head(), but for a part: stack, kind, step and segment.
  void select_part(const PartChoice& part);
  // Head under the pointer, with its run.
  struct PointedHead {
    std::shared_ptr<const Trace> trace;  // null: none
    HeadRef ref;
    const AttentionTap* tap = nullptr;  // null: no head
    Index head = 0;                     // index within its group
  };
  PointedHead pointed() const;
  PointedHead pointed_at(const Hit& hit) const;  // the head at `hit`
  // Tokens under the pointer, as indices into the query and key streams; -1: none. Merged words
  // span several tokens.
  struct PointedTokens {
    std::string query_stream, key_stream;
    Index query = -1, key = -1;
    Index queries = 1, keys = 1;
  };
  PointedTokens pointed_tokens() const;
  // Attention of the view's layer and head; null without a trace.
  const AttentionTap* tap(Index* head_in_group = nullptr) const;
  // Moves pins along with their tokens, and clears those on changed tokens.
  void move_pins(const Trace& previous, const Trace& current);

  Index layers() const;  // number of layers of the part that the edited side shows
  Index heads() const;   // number of heads in the layer that the side shows
  // The part that the edited side's view shows; the default part without a trace.
  TracePart part() const;
  // True for decoder self-attention, to which variants and encodings apply.
  bool shows_configurable_part() const;
  // Clamps the view's layer, head and part to the trace.
  void clamp_view();

 private:
  struct CachedControls {
    std::weak_ptr<const Trace> trace;  // weak, so that unused traces free their textures
    ViewSettings view;
    ViewControls controls;
  };
  mutable std::optional<CachedControls> cached_controls_;  // cache of controls()
  struct CachedShown {
    SharedSession run_session, edited_session;
    bool is_current = false;
    SharedSession shown_session;
  };
  const CachedShown& cached_shown() const;
  mutable CachedShown cached_shown_;
};

}  // namespace attnscope::window
