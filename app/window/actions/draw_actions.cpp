// Actions for editing structure by hand: masks in the view Pattern, edges in the view Graph.
#include "app/window/actions/action_lists.h"
#include "app/window/actions/navigation.h"
#include "app/window/files.h"
#include "app/window/variant_selection.h"
#include "core/base/error.h"
#include "core/experiment/image_tensors.h"
#include "core/view/graph/graph_edges.h"
#include "core/view/pattern/paint.h"

namespace attnscope::window {
namespace {

// The shown head if its pattern can be edited; else null.
const AttentionTap* editable_tap(const State& s, Index* head = nullptr) {
  if (s.run.trace == nullptr || s.run.trace->is_imported || s.edits_b()) return nullptr;
  const AttentionTap* tap = s.tap(head);
  const bool is_editable = tap != nullptr && tap->result.pattern && tap->queries() <= kMaxPainted &&
                           tap->keys() <= kMaxPainted;
  return is_editable ? tap : nullptr;
}

bool can_paint(const State& s) {
  const AttentionTap* tap = editable_tap(s);
  return tap != nullptr && is_painted(*tap);
}

std::string mask_refusal(const State& s) {
  return can_paint(s) ? "" : "Requires the variant Custom mask.";
}

void show_pattern(State& s) {
  s.session.edit().view.id = "pattern";
  Values values = view_values(s.session->view, "pattern");
  values.set("show", std::string("rules"));
  if (values.choice("tool") == "look") values.set("tool", std::string("brush"));
  set_view_values(s.session.edit().view, "pattern", values);
}

void paint_on_pattern(State& s) {
  Index head = 0;
  const AttentionTap& tap = *editable_tap(s, &head);
  select_variant(s, custom_choice(mask_of_head(tap, head)), false);
  show_pattern(s);
  s.notify("The pattern of " + variant(tap.variant.id).label + " is now a mask: paint on it." +
           (tap.causal ? " Later keys stay masked while the direction is causal." : ""));
}

void change_mask(State& s, const char* operation) {
  Index head = 0;
  const AttentionTap& tap = *editable_tap(s, &head);
  std::optional<Choice>& choice = governing_variant(s.session.edit());
  choice =
      custom_choice(apply_to_mask(mask_as_painted(choice, mask_of_head(tap, head)), operation));
  show_pattern(s);
}

void switch_paint(State& s) {
  Values values = view_values(s.session->view, "pattern");
  const bool allows = values.choice("paint") == "allow";
  values.set("paint", std::string(allows ? "forbid" : "allow"));
  set_view_values(s.session.edit().view, "pattern", values);
}

bool is_editable_graph(const State& s) {
  const AttentionTap* tap = editable_tap(s);
  return tap != nullptr && is_graph(*tap) && tap->queries() == tap->keys();
}

void draw_edges_with_mouse(State& s) {
  s.session.edit().view.id = "graph";
  set_view_value(s.session.edit().view, "graph", "tool", std::string("edges"));
}

void draw_pattern_edges(State& s) {
  Index head = 0;
  const AttentionTap& tap = *editable_tap(s, &head);
  const EdgeChoice current = edge_choice(tap, head);
  select_variant(s, graph_choice(current.edges, current.is_directed), false);
  draw_edges_with_mouse(s);
}

void select_edges_from(State& s, const char* source) {
  Choice choice = default_choice(variant(kGraph));
  choice.values.set("from", std::string(source));
  select_variant(s, choice, false);
  s.session.edit().view.id = "graph";
}

void add_graph_actions(std::vector<Action>& list) {
  const auto add = [&list](const char* id, const char* label, const char* help,
                           std::function<void(State&)> run) {
    list.push_back({id, label, help, Menu::Edit, {}, std::move(run), [](const State& s) {
                      return editable_tap(s) != nullptr;
                    }});
    list.back().view = "graph";
  };
  add("graph_from", "Draw these edges",
      "Turn the shown head's pattern into an editable graph: the variant becomes Graph.",
      draw_pattern_edges);
  list.back().enabled = [](const State& s) {
    const AttentionTap* tap = editable_tap(s);
    return tap != nullptr && tap->queries() <= kMaxNodes && tap->keys() <= kMaxNodes;
  };
  list.back().has_button = [](const State& s) { return !is_editable_graph(s); };
  list.back().starts_group = true;
  add("graph_chain", "Chain of tokens", "Connect each token to its neighbours.",
      [](State& s) { select_edges_from(s, "chain"); });
  add("graph_brackets", "Brackets of the text",
      "Connect the tokens enclosed by brackets and quotation marks.",
      [](State& s) { select_edges_from(s, "brackets"); });
  add("graph_clear", "Clear edges", "Remove all edges; each token attends only to itself.",
      [](State& s) {
        std::optional<Choice>& choice = governing_variant(s.session.edit());
        choice = graph_choice({}, false, choice);
        draw_edges_with_mouse(s);
      });
  list.back().enabled = is_editable_graph;
  list.back().refusal = [](const State& s) {
    return is_editable_graph(s) ? "" : "Requires the variant Graph.";
  };
  add("graph_places", "Reset layout", "Move tokens back to their original positions.",
      [](State& s) {
        Values values = view_values(s.session->view, "graph");
        values.erase("moved");
        set_view_values(s.session.edit().view, "graph", values);
      });
  list.back().enabled = [](const State& s) {
    return view_values(s.session->view, "graph").has("moved");
  };
  list.back().has_button = list.back().enabled;
  add("graph_open", "Open edges…",
      "Read edges from a file: a text with two tokens per line, pairs in .json, or a matrix "
      "(.npy).",
      [](State& s) { browse(s, BrowsePurpose::OpenEdges); });
}

bool has_picture(const State& s) {
  return s.run.trace != nullptr && s.run.trace->pixels != nullptr &&
         !s.session->run.tensors.file.empty() && !s.edits_b();
}

// Changes the image's grid and adapts patterns whose parameters depend on it.
void set_grid(State& s, Index width, Index height) {
  s.session.edit().run.tensors.width = width;
  s.session.edit().run.tensors.height = height;
  const auto adapt_sizes = [&](std::optional<Choice>& choice, const auto& info) {
    if (choice) set_image_sizes(choice->values, info(choice->id).parameters, width, height, true);
  };
  const auto adapt_choices = [&](auto& choices) {
    adapt_sizes(choices.variant, variant);
    adapt_sizes(choices.encoding, encoding);
  };
  adapt_choices(s.session.edit().run);
  for (GroupChoice& group : s.session.edit().run.groups) adapt_choices(group);
  s.session.edit().view.pinned_query = s.session.edit().view.pinned_key = -1;
  show_all(s.session.edit().view);
  s.notify("Grid: " + std::to_string(width) + " × " + std::to_string(height));
}

// Sizes of the grid's longer side, in pixels.
constexpr Index kGridSides[] = {8, 12, 16, 24, 32, 48, 64};

// Next larger (`finer`) or smaller side of the grid; 0 if there is none.
Index next_side(const State& s, bool finer) {
  const Index current = std::max(s.run.trace->pixels->width, s.run.trace->pixels->height);
  Index next = 0;
  for (const Index side : kGridSides) {
    if (finer && side > current && next == 0) next = side;
    if (!finer && side < current) next = side;
  }
  return next;
}

void step_grid(State& s, bool finer) {
  const PixelGrid& grid = *s.run.trace->pixels;
  const Index side = next_side(s, finer), longer = std::max(grid.width, grid.height);
  const auto scaled = [&](Index length) {
    return std::max<Index>(1, (length * side + longer / 2) / longer);
  };
  set_grid(s, scaled(grid.width), scaled(grid.height));
}

void show_sample_picture(State& s) {
  if (open_path(s, sample_image())) view("image").content.example(s.session.edit());
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
      "picture_open", "Open image…",
      "Let the pixels of any image attend to each other, resized to a grid.",
      [](State& s) { browse(s, BrowsePurpose::OpenFile); }, always);
  add("picture_sample", "Sample image", "A bundled image with strided attention.",
      show_sample_picture, always);
  add(
      "grid_finer", "Finer grid", "Resize the image to more pixels.",
      [](State& s) { step_grid(s, true); },
      [](const State& s) { return has_picture(s) && next_side(s, true) > 0; });
  add(
      "grid_coarser", "Coarser grid", "Resize the image to fewer pixels.",
      [](State& s) { step_grid(s, false); },
      [](const State& s) { return has_picture(s) && next_side(s, false) > 0; });
}

}  // namespace

void add_draw_actions(std::vector<Action>& list) {
  const auto add = [&list](const char* id, const char* label, const char* help,
                           std::vector<Shortcut> keys, std::function<void(State&)> run) {
    list.push_back({id, label, help, Menu::Edit, std::move(keys), std::move(run), can_paint});
    list.back().refusal = mask_refusal;
    list.back().view = "pattern";
    list.back().has_button = can_paint;
  };
  add("mask_from", "Paint on this pattern",
      "Turn the shown head's pattern into an editable mask: the variant becomes Custom mask.",
      {{"M"}}, paint_on_pattern);
  list.back().enabled = [](const State& s) { return editable_tap(s) != nullptr; };
  list.back().refusal = {};
  list.back().has_button = [](const State& s) { return !can_paint(s); };
  list.back().starts_group = true;
  add("mask_paint", "Allow or forbid", "Switch painting between allowing and forbidding pairs.",
      {{"P"}}, switch_paint);
  list.back().has_button = [](const State&) { return false; };  // a parameter replaces the button
  add("mask_invert", "Invert mask", "Exchange allowed and forbidden pairs.", {{"I"}},
      [](State& s) { change_mask(s, "invert"); });
  add("mask_mirror", "Mirror mask",
      "Also allow the mirror pair across the diagonal of each allowed pair.", {},
      [](State& s) { change_mask(s, "mirror"); });
  add("mask_forbid", "Clear mask", "Forbid all pairs.", {},
      [](State& s) { change_mask(s, "forbid"); });
  add("mask_allow", "Fill mask", "Allow all pairs.", {}, [](State& s) { change_mask(s, "allow"); });
  add("mask_open", "Open mask…",
      "Read a mask from a file: a matrix (.npy), an image with one pixel per pair, or a text of 0 "
      "and 1.",
      {}, [](State& s) { browse(s, BrowsePurpose::OpenMask); });
  list.back().enabled = [](const State& s) { return editable_tap(s) != nullptr; };
  list.back().refusal = {};
  list.back().has_button = {};
  add_graph_actions(list);
  add_picture_actions(list);
}

}  // namespace attnscope::window
