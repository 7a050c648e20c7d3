// Opening moves: at the first start, the view Flow plays one token's way through a head while three
// short cards wait for an act of the user: pointing at a word, changing a word, dragging a window.
// No drawing here; panels/tour_band.h draws the cards.
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
  std::optional<Point> pointer;    // where the pointer was at that time; only a move points
  std::string text;                // the text before the change
  std::optional<Choice> local;     // local window that the tour selected
  std::optional<Choice> previous;  // selection that it replaced; empty: the model's variant
  // Result of the current act, complete once unchanged for a moment; nullopt: not done yet.
  std::optional<std::string> act;
  double act_since = 0;  // time of the act's last change, seconds of the window's clock
};

// Reason why the tour cannot start; empty if it can.
std::string tour_refusal(const State& state);
// Opens Flow with the panels, and waits for the first move.
void start_tour(State& state);
// Ends the animation. Restores the variant if the tour has replaced it and no window was dragged.
void end_tour(State& state);
// Call before each frame: starts the animation once the run is complete, and moves on to the next
// card when an act is done. Returns true if the cards changed.
bool update_tour(State& state);
// Time at which update_tour() has something to do without an event; negative: none.
double tour_deadline(const State& state);
// True if the cards are drawn, and no key acts on the window except Escape and Ctrl+Q.
bool shows_tour(const State& state);

}  // namespace attnscope::window
