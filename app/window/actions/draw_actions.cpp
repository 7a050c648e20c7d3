// The commands that draw structure by hand: masks in the view Pattern, edges in the view Graph.
#include "app/window/actions/action_lists.h"
#include "app/window/actions/navigation.h"
#include "app/window/files.h"
#include "app/window/picking.h"
#include "core/base/error.h"
#include "core/experiment/picture_tensors.h"
#include "core/view/graph/graph_edges.h"
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
  s.say("The pattern of " + variant(tap.variant.id).label + " is a mask now: paint on it." +
        (tap.causal ? " Later keys stay hidden while the direction is causal." : ""));
}

void change_mask(State& s, const char* how) {
  Index head = 0;
  const AttentionTap& tap = *drawn_on(s, &head);
  std::optional<Choice>& choice = governing_variant(s.experiment);
  choice = custom_choice(changed_mask(mask_asked_for(choice, mask_of_head(tap, head)), how));
  show_pattern(s);
}

void switch_paint(State& s) {
  Values values = view_values(s.experiment.view, "pattern");
  const bool allows = values.choice("paint") == "allow";
  values.set("paint", std::string(allows ? "forbid" : "allow"));
  set_view_values(s.experiment.view, "pattern", values);
}

bool draws_graph(const State& s) {
  const AttentionTap* tap = drawn_on(s);
  return tap != nullptr && is_graph(*tap) && tap->queries() == tap->keys();
}

void draw_edges_with_mouse(State& s) {
  s.experiment.view.id = "graph";
  set_view_value(s.experiment.view, "graph", "tool", std::string("edges"));
}

void draw_these_edges(State& s) {
  Index head = 0;
  const AttentionTap& tap = *drawn_on(s, &head);
  const EdgeChoice now = edge_choice(tap, head);
  pick_variant(s, drawn_graph(now.edges, now.one_way), false);
  draw_edges_with_mouse(s);
}

// The variant with edges from elsewhere.
void take_edges_from(State& s, const char* source) {
  Choice choice = default_choice(variant(kGraph));
  choice.values.set("from", std::string(source));
  pick_variant(s, choice, false);
  s.experiment.view.id = "graph";
}

void add_graph_actions(std::vector<Action>& list) {
  const auto add = [&list](const char* id, const char* label, const char* help,
                           std::function<void(State&)> run) {
    list.push_back({id, label, help, Menu::Edit, {}, std::move(run), [](const State& s) {
                      return drawn_on(s) != nullptr;
                    }});
    list.back().view = "graph";
  };
  add("graph_from", "Draw these edges",
      "Make a graph of the shown head's pattern, to be drawn on: the variant becomes Graph.",
      draw_these_edges);
  list.back().enabled = [](const State& s) {
    const AttentionTap* tap = drawn_on(s);
    return tap != nullptr && tap->queries() <= kMostNodes && tap->keys() <= kMostNodes;
  };
  list.back().offered = [](const State& s) { return !draws_graph(s); };
  list.back().starts_group = true;
  add("graph_chain", "Chain of tokens", "Tie each token to its neighbours.",
      [](State& s) { take_edges_from(s, "chain"); });
  add("graph_brackets", "Brackets of the text",
      "Tie what brackets and quotation marks enclose, as the text has them.",
      [](State& s) { take_edges_from(s, "brackets"); });
  add("graph_clear", "Clear edges", "Take all edges away; tokens see themselves alone.",
      [](State& s) {
        std::optional<Choice>& choice = governing_variant(s.experiment);
        choice = drawn_graph({}, false, choice);
        draw_edges_with_mouse(s);
      });
  list.back().enabled = draws_graph;
  list.back().refusal = [](const State& s) {
    return draws_graph(s) ? "" : "Only with the variant Graph.";
  };
  add("graph_places", "Places as laid out", "Put tokens that were moved back to their places.",
      [](State& s) {
        Values values = view_values(s.experiment.view, "graph");
        values.erase("moved");
        set_view_values(s.experiment.view, "graph", values);
      });
  list.back().enabled = [](const State& s) {
    return view_values(s.experiment.view, "graph").has("moved");
  };
  list.back().offered = list.back().enabled;
  add("graph_open", "Open edges…",
      "Take edges from a file: a text with two tokens a line, pairs in .json, or a matrix (.npy).",
      [](State& s) { browse(s, BrowsePurpose::OpenEdges); });
}

bool has_picture(const State& s) {
  return s.trace != nullptr && s.trace->pixels != nullptr && !s.experiment.tensors.file.empty() &&
         !s.edits_other();
}

// Another grid for the picture, and the sizes of patterns that speak of it.
void set_grid(State& s, Index width, Index height) {
  s.experiment.tensors.width = width;
  s.experiment.tensors.height = height;
  const auto follow = [&](std::optional<Choice>& choice) {
    if (!choice) return;
    set_image_sizes(choice->values, variant(choice->id).parameters, width, height, true);
  };
  follow(s.experiment.variant);
  for (GroupChoice& group : s.experiment.groups) follow(group.variant);
  s.experiment.view.pinned_query = s.experiment.view.pinned_key = -1;
  show_all(s.experiment.view);
  s.say("Grid: " + std::to_string(width) + " × " + std::to_string(height));
}

// From 8 to 64 pixels on the longer side, in steps of a factor of about 1.5.
constexpr Index kSides[] = {8, 12, 16, 24, 32, 48, 64};

// The next of them in a direction; 0: there is none.
Index next_side(const State& s, bool finer) {
  const Index now = std::max(s.trace->pixels->width, s.trace->pixels->height);
  Index next = 0;
  for (const Index side : kSides) {
    if (finer && side > now && next == 0) next = side;
    if (!finer && side < now) next = side;
  }
  return next;
}

void step_grid(State& s, bool finer) {
  const PixelGrid& grid = *s.trace->pixels;
  const Index side = next_side(s, finer), longer = std::max(grid.width, grid.height);
  const auto scaled = [&](Index old) {
    return std::max<Index>(1, (old * side + longer / 2) / longer);
  };
  set_grid(s, scaled(grid.width), scaled(grid.height));
}

void show_sample_picture(State& s) {
  if (open_path(s, sample_picture())) view("image").example(s.experiment);
}

void add_picture_actions(std::vector<Action>& list) {
  const auto add = [&list](const char* id, const char* label, const char* help,
                           std::function<void(State&)> run,
                           std::function<bool(const State&)> enabled) {
    list.push_back({id, label, help, Menu::File, {}, std::move(run), std::move(enabled)});
    list.back().view = "image";
  };
  const auto always = [](const State&) { return true; };
  add(
      "picture_open", "Open picture…",
      "Let the pixels of any picture attend to each other, resized to a grid.",
      [](State& s) { browse(s, BrowsePurpose::OpenFile); }, always);
  add("picture_sample", "Sample picture",
      "A picture that comes with the program, with strided attention.", show_sample_picture,
      always);
  add(
      "grid_finer", "Finer grid", "Resize the picture to more pixels.",
      [](State& s) { step_grid(s, true); },
      [](const State& s) { return has_picture(s) && next_side(s, true) > 0; });
  add(
      "grid_coarser", "Coarser grid", "Resize the picture to fewer pixels.",
      [](State& s) { step_grid(s, false); },
      [](const State& s) { return has_picture(s) && next_side(s, false) > 0; });
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
  add_graph_actions(list);
  add_picture_actions(list);
}

}  // namespace attnscope::window
