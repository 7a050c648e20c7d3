// Opening moves: at the first start, the view Flow animates the path of a token through a head.
// Three short cards ask for one move of the user each: pointing at a word, changing a word,
// dragging a window. Afterwards, Map opens on a salient pair. panels/tour_band.h draws the cards.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "core/experiment/session.h"
#include "core/figure/display_list.h"

namespace attnscope::window {

struct State;

// Acts that the cards wait for, in order.
enum class TourMove { Point, Change, Drag };
inline constexpr std::array<TourMove, 3> kTourMoves = {TourMove::Point, TourMove::Change,
                                                       TourMove::Drag};

struct Tour {
  bool is_on = false;
  std::size_t move = 0;       // index in kTourMoves of the current move; the earlier ones are done
  bool has_searched = false;  // a salient pair was searched for
  bool has_played = false;    // the animation was started
  bool is_playing = false;    // the animation has not ended yet
  double play_start = 0;      // its start, seconds of the window's clock
  // Last position of the pointer in the picture. Pointing at a word requires a move: the window may
  // have opened under the pointer.
  std::optional<Point> pointer;
  bool was_outside = false;        // the pointer was outside the picture
  bool has_moved = false;          // the pointer has moved in the picture, or into it
  std::string text;                // the text before the change
  std::optional<Choice> local;     // local window before the user has changed it
  std::string local_text;          // text that `local` is adapted to
  std::optional<Choice> previous;  // selection that it replaced; empty: the model's variant
  // Result of the current move, which is complete if the result stays unchanged for a moment;
  // nullopt: no result yet.
  std::optional<std::string> act;
  double act_since = 0;     // time of the result's last change, seconds of the window's clock
  bool opens_pair = false;  // the tour has finished, and Map waits for the run to mark a pair
};

// Reason why the tour cannot start; empty if it can.
std::string tour_refusal(const State& state);
// Opens Flow with the panels, and waits for the first move.
void start_tour(State& state);
// Ends the animation and restores the variant that the tour has replaced.
void end_tour(State& state);
// Ends the tour and opens Map, which marks a salient pair as soon as the run is complete. A notice
// explains the map and stays until the next click or key.
void finish_tour(State& state);
// Call before each frame: plays the animation once, up to the user's first move, continues with the
// next card when a move is complete, and marks the pair after the tour. is_pressed: a mouse button
// is down; a drag ends with its release. Returns true if cards or pair changed.
bool update_tour(State& state, bool is_pressed = false);
// Time at which the current move is complete if its result does not change; negative: no result.
double tour_deadline(const State& state);
// True if the tour is on and no dialog is open. Then no key runs an action, except Escape and
// Ctrl+Q.
bool shows_tour(const State& state);

}  // namespace attnscope::window
