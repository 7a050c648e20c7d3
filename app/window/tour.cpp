#include "app/window/tour.h"

#include <iterator>
#include <sstream>
#include <utility>

#include "app/window/actions/actions.h"
#include "app/window/jobs/play.h"
#include "app/window/lesson.h"
#include "app/window/salient_pairs.h"
#include "app/window/state.h"
#include "app/window/variant_selection.h"

namespace attnscope::window {
namespace {

constexpr const char* kFlow = "flow";
constexpr const char* kMap = "map";
constexpr const char* kStep = "step";  // parameter of Flow
constexpr const char* kLocal = "local";
constexpr const char* kWindow = "window";  // parameter of Local window

// Seconds for which the result of a move must stay unchanged: the pointer rests, the word is
// complete, the narrow window was seen.
constexpr double rest_seconds(TourMove move) {
  return move == TourMove::Point ? 0.5 : move == TourMove::Change ? 1.2 : 2.5;
}

auto word_count(const std::string& text) {
  std::istringstream words(text);
  return std::distance(std::istream_iterator<std::string>(words), {});
}

// Result of the move so far; nullopt: none yet.
std::optional<std::string> result_of(const State& state, TourMove move) {
  const Tour& tour = state.tour;
  if (move == TourMove::Point) {
    const std::optional<Hit>& hit = state.view.hit;
    if (!tour.has_moved || !state.view.pointer || !hit || (hit->query < 0 && hit->key < 0))
      return std::nullopt;
    return std::to_string(hit->query) + " " + std::to_string(hit->key);
  }
  if (move == TourMove::Change) {
    const std::string& text = state.session->run.text;
    const bool is_deletion = word_count(text) < word_count(tour.text);  // the new word is to come
    return text != tour.text && !is_deletion && state.is_current() ? std::optional(text)
                                                                   : std::nullopt;
  }
  const std::optional<Choice>& variant = state.session->run.variant;
  if (!tour.local || !variant || variant->id != kLocal || variant == tour.local)
    return std::nullopt;
  if (!state.is_current()) return std::nullopt;
  return std::to_string(variant->values.integer(kWindow));
}

// Selects a local window for the last card. False if the model cannot have one.
bool select_local(State& state) {
  const Choice local{kLocal, {}};
  if (!can_check_compatibility(state)) return false;
  if (const std::string reason = variant_refusal(state, local, true); !reason.empty()) {
    state.notify(reason);
    return false;
  }
  state.selection.scope = ChoiceScope::All;
  state.tour.previous = state.session->run.variant;
  state.history.end_step();
  select_variant(state, local, true);
  state.tour.local = state.session->run.variant;
  state.tour.local_text = state.session->run.text;
  return true;
}

void watch_pointer(State& state) {
  Tour& tour = state.tour;
  const std::optional<Point>& now = state.view.pointer;
  if (state.run.trace == nullptr) return;
  if (!now) {
    tour.was_outside = true;
    return;
  }
  const bool differs = tour.pointer && (tour.pointer->x != now->x || tour.pointer->y != now->y);
  tour.has_moved |= differs || tour.was_outside;
  tour.pointer = now;
}

// A change of the text adapts the window; this does not count as a move of the user.
void follow_text(State& state) {
  Tour& tour = state.tour;
  const RunSpec& run = state.session->run;
  if (!tour.local || run.text == tour.local_text) return;
  tour.local = run.variant;
  tour.local_text = run.text;
}

// Shows all steps, without an undo step.
void show_all_steps(State& state) {
  const bool was_recorded = same_session(state.session.snapshot(), state.history.current());
  const auto& parameters = view(kFlow).options.parameters;
  set_view_value(state.session.edit().view, kFlow, kStep,
                 default_values(parameters).integer(kStep));
  if (was_recorded) state.history.amend(state.session.snapshot());
}

// Ends the animation when it is complete, or when the user begins to act.
void update_animation(State& state) {
  Tour& tour = state.tour;
  tour.is_playing = tour.is_playing && state.view.play.is_on && state.view.play.view == kFlow;
  if (!tour.is_playing) return;
  const bool is_complete =
      state.seconds >= tour.play_start + view(kFlow).options.animation->seconds;
  if (!is_complete && !tour.has_moved && !state.text.has_keyboard()) return;
  tour.is_playing = state.view.play.is_on = false;
  show_all_steps(state);
}

void start_animation(State& state) {
  if (state.run.trace == nullptr || state.run.is_preview() || !state.is_current()) return;
  // Follows the query of a salient pair unless a pair is pinned.
  const bool has_query = state.session->view.pinned_query >= 0;
  const bool was_searched = std::exchange(state.tour.has_searched, true);
  if (!was_searched && !has_query && salient_pair_refusal(state).empty()) {
    show_strong_pair(state);
  }
  if (state.run.salient_pairs.task != nullptr) return;
  state.tour.has_played = true;
  state.tour.play_start = state.seconds;
  const bool is_allowed =
      state.session->view.id == kFlow && !state.settings.reduced_motion && !state.tour.has_moved;
  if (!is_allowed || state.view.play.is_on) return;
  toggle_play(state);
  state.tour.is_playing = true;
  state.view.play.is_recorded = true;  // no undo step
}

// Marks a salient pair in Map, unless the user has opened another view.
bool open_pair(State& state) {
  const bool has_run = state.run.trace != nullptr && !state.run.is_preview() && state.is_current();
  const bool is_map = state.session->view.id == kMap;
  if (is_map && !has_run) return false;
  state.tour.opens_pair = false;
  if (!is_map || !salient_pair_refusal(state).empty()) return false;
  if (shown_salient_pair(state) == nullptr) show_strong_pair(state);
  return true;
}

}  // namespace

bool shows_tour(const State& state) {
  return state.tour.is_on && !state.dialogs.open();
}

std::string tour_refusal(const State& state) {
  if (state.lesson.lesson != nullptr) return "Leave the lesson first.";
  if (state.session->b) return "Clear B first: the moves follow a single run.";
  return view_objection(view(kFlow), state);
}

void start_tour(State& state) {
  end_tour(state);
  state.settings.panels = true;
  state.settings.tour_done = true;
  set_presenting(state, false);
  state.history.end_step();
  state.session.edit().view.id = kFlow;
  state.tour = {};
  state.tour.is_on = true;
  state.tour.text = state.session->run.text;
  state.tour.pointer = state.view.pointer;
}

void end_tour(State& state) {
  if (!state.tour.is_on) return;
  state.tour.is_on = false;
  if (state.view.play.view == kFlow) state.view.play.is_on = false;
  if (state.tour.has_played) show_all_steps(state);  // also if the animation was paused
  const std::optional<Choice>& variant = state.session->run.variant;
  if (state.tour.local && variant && variant->id == kLocal) {
    select_variant(state, state.tour.previous, false);
  }
}

void finish_tour(State& state) {
  const bool is_done = state.tour.move >= kTourMoves.size();
  end_tour(state);
  state.notify_until_act(
      std::string(is_done ? "Done; attention is as before. " : "") +
      "Map shows the whole head: a bright cell means that the word of its row attends strongly to "
      "the word of its column.");
  state.session.edit().view.id = kMap;
  state.tour.opens_pair = true;
}

bool update_tour(State& state, bool is_pressed) {
  Tour& tour = state.tour;
  if (!tour.is_on) return tour.opens_pair && open_pair(state);
  if (state.lesson.lesson != nullptr || state.presentation.is_on || !state.settings.panels) {
    end_tour(state);
    return true;
  }
  watch_pointer(state);
  follow_text(state);
  if (!tour.has_played) start_animation(state);
  update_animation(state);
  if (state.dialogs.open()) {
    tour.act.reset();
    return false;
  }
  // A user who changes a word at once need not point first.
  const bool skips_pointing =
      kTourMoves[tour.move] == TourMove::Point && result_of(state, TourMove::Change);
  if (skips_pointing) ++tour.move;
  const TourMove move = kTourMoves[tour.move];
  std::optional<std::string> act;
  if (move != TourMove::Drag || !is_pressed) act = result_of(state, move);
  if (act != tour.act) {
    tour.act = std::move(act);
    tour.act_since = state.seconds;
  }
  if (!tour.act || state.seconds < tour.act_since + rest_seconds(move)) return false;
  tour.act.reset();
  ++tour.move;
  const bool can_continue = tour.move < kTourMoves.size() &&
                            (kTourMoves[tour.move] != TourMove::Drag || select_local(state));
  if (can_continue) return true;
  finish_tour(state);
  return true;
}

double tour_deadline(const State& state) {
  const Tour& tour = state.tour;
  if (!shows_tour(state) || !tour.act || tour.move >= kTourMoves.size()) return -1;
  return tour.act_since + rest_seconds(kTourMoves[tour.move]);
}

}  // namespace attnscope::window
