// The commands that draw structure by hand: masks in the view Pattern, edges in the view Graph.
#include "app/window/actions/action_lists.h"
#include "app/window/files.h"
#include "app/window/picking.h"
#include "core/base/error.h"
#include "core/view/pattern/paint.h"

namespace attnscope::window {

namespace {

// The shown head of a run whose pattern can be another one.
const AttentionTap* drawn_on(const State& s, Index* head = nullptr) {
  if (s.trace == nullptr || s.trace->given || s.edits_other()) return nullptr;
  const AttentionTap* tap = s.tap(head);
  const bool fits = tap != nullptr && tap->result.pattern && tap->queries() <= kMostPainted &&
                    tap->keys() <= kMostPainted;
  return fits ? tap : nullptr;
}

bool can_paint(const State& s) {
  const AttentionTap* tap = drawn_on(s);
  return tap != nullptr && is_painted(*tap);
}

std::string no_mask(const State& s) {
  return can_paint(s) ? "" : "Only with the variant Custom mask.";
}

void show_pattern(State& s) {
  s.experiment.view.id = "pattern";
  Values values = view_values(s.experiment.view, "pattern");
  values.set("show", std::string("rules"));
  if (values.choice("tool") == "look") values.set("tool", std::string("brush"));
  set_view_values(s.experiment.view, "pattern", values);
}

void paint_on_this(State& s) {
  Index head = 0;
  const AttentionTap& tap = *drawn_on(s, &head);
  pick_variant(s, custom_choice(mask_of_head(tap, head)), false);
  show_pattern(s);
  s.say("The pattern of " + variant(tap.variant.id).label + " is a mask now: paint on it.");
}

void change_mask(State& s, const char* how) {
  Index head = 0;
  const AttentionTap& tap = *drawn_on(s, &head);
  governing_variant(s.experiment) = custom_choice(changed_mask(mask_of_head(tap, head), how));
  show_pattern(s);
}

void switch_paint(State& s) {
  Values values = view_values(s.experiment.view, "pattern");
  const bool allows = values.choice("paint") == "allow";
  values.set("paint", std::string(allows ? "forbid" : "allow"));
  set_view_values(s.experiment.view, "pattern", values);
}

}  // namespace

void add_draw_actions(std::vector<Action>& list) {
  const auto add = [&list](const char* id, const char* label, const char* help,
                           std::vector<Shortcut> keys, std::function<void(State&)> run) {
    list.push_back({id, label, help, Menu::Edit, std::move(keys), std::move(run), can_paint});
    list.back().refusal = no_mask;
    list.back().view = "pattern";
    list.back().offered = can_paint;
  };
  add("mask_from", "Paint on this pattern",
      "Make a mask of the shown head's pattern, to be painted on: the variant becomes Custom mask.",
      {{"M"}}, paint_on_this);
  list.back().enabled = [](const State& s) { return drawn_on(s) != nullptr; };
  list.back().refusal = {};
  list.back().offered = [](const State& s) { return !can_paint(s); };
  list.back().starts_group = true;
  add("mask_paint", "Allow or forbid",
      "Switch what painting does to a pair: allow it or forbid it.", {{"P"}}, switch_paint);
  list.back().offered = [](const State&) { return false; };  // it stands among the parameters
  add("mask_invert", "Invert mask", "Allow what the mask forbids, and forbid what it allows.",
      {{"I"}}, [](State& s) { change_mask(s, "invert"); });
  add("mask_mirror", "Mirror mask", "Allow the pair across the diagonal of each that is allowed.",
      {}, [](State& s) { change_mask(s, "mirror"); });
  add("mask_forbid", "Clear mask", "Forbid all pairs.", {},
      [](State& s) { change_mask(s, "forbid"); });
  add("mask_allow", "Fill mask", "Allow all pairs.", {}, [](State& s) { change_mask(s, "allow"); });
  add("mask_open", "Open mask…",
      "Take a mask from a file: a matrix (.npy), a picture with a pixel a pair, or a text of 0 "
      "and 1.",
      {}, [](State& s) { browse(s, BrowsePurpose::OpenMask); });
  list.back().enabled = [](const State& s) { return drawn_on(s) != nullptr; };
  list.back().refusal = {};
  list.back().offered = {};
}

}  // namespace attnscope::window
