// Actions of the menu View: view, layer, head, colours, pan and zoom.
#include <algorithm>

#include "app/window/actions/action_lists.h"
#include "app/window/actions/navigation.h"
#include "app/window/jobs/play.h"
#include "app/window/salient_pairs.h"
#include "core/figure/colour_map.h"

namespace attnscope::window {
namespace {

constexpr double kZoomStep = 1.25;

bool has_map(const State& s) {
  return s.tap() != nullptr && view(s.session->view.id).cells.zoom;
}

Cells visible_cells(const State& s) {
  const ViewSettings& v = s.session->view;
  const AttentionTap& tap = *s.tap();
  if (v.width <= 0 || v.height <= 0) {
    return {0, 0, static_cast<double>(tap.queries()), static_cast<double>(tap.keys())};
  }
  return {v.row, v.column, v.height, v.width};
}

void zoom(State& s, double factor) {
  const Cells visible = visible_cells(s);
  const AttentionTap& tap = *s.tap();
  show(s.session.edit().view,
       zoom_cells(visible, factor, visible.row + visible.height / 2,
                  visible.column + visible.width / 2, tap.queries(), tap.keys()),
       tap.queries(), tap.keys());
}

void step_head(State& s, Index steps) {
  // Continues across layers, so that one key visits all heads.
  const ViewSettings& v = s.edited().view;
  Index layer = v.layer, head = v.head + steps;
  if (head < 0 && layer > 0) {
    --layer;
    head = s.edited_trace()->head_count(s.part(), layer) - 1;
  } else if (head >= s.heads() && layer + 1 < s.layers()) {
    ++layer;
    head = 0;
  }
  s.select_head(layer, head);
}

void step_layer(State& s, Index steps) {
  s.select_head(s.edited().view.layer + steps, s.edited().view.head);
}

std::string describe_no_effect(const State& s) {
  return "No effect in " + view(s.session->view.id).label + " with its current settings.";
}

void next_colour_map(State& s) {
  const ViewControls controls = s.controls();
  const std::vector<const ColourMap*> maps = applicable_maps(controls);
  const auto it = std::ranges::find(maps, &effective_map(controls, s.session->view.colour_map));
  const ColourMap& next = it + 1 < maps.end() ? **(it + 1) : *maps.front();
  s.session.edit().view.colour_map = next.id;
  s.notify("Colours: " + next.label);
}

void next_colour_end(State& s) {
  const std::vector<ColourEndChoice> choices = s.controls().colour_ends;
  const ColourEndChoice* current = selected_colour_end(choices, s.session->view.colour_end);
  const ColourEndChoice& next = current == &choices.back() ? choices.front() : current[1];
  s.session.edit().view.colour_end = next.end;
  s.notify("Colour range: " + next.label);
}

// Shortcut of a view by its number: 1 to 9, then the same keys with Ctrl, then with Ctrl and Shift.
std::vector<Shortcut> view_shortcut(std::size_t number) {
  if (number >= 3 * kTabs) return {};
  return {{std::to_string(number % kTabs + 1), number >= kTabs, number >= 2 * kTabs}};
}

void add_view_choices(std::vector<Action>& list) {
  for (std::size_t i = 0; i < views().size(); ++i) {
    const View& v = views()[i];
    list.push_back({"view." + v.id, v.label, v.summary, Menu::View, view_shortcut(i),
                    [id = v.id](State& s) { s.session.edit().view.id = id; },
                    [](const State&) { return true; },
                    [id = v.id](const State& s) { return s.session->view.id == id; }});
    list.back().starts_group = i > 0 && (i == kTabs || views()[i - 1].group != v.group);
    list.back().refusal = [&v](const State& s) { return view_objection(v, s); };
  }
}

void add_action(std::vector<Action>& list, const char* id, const char* label, const char* help,
                std::vector<Shortcut> keys, std::function<void(State&)> run,
                std::function<bool(const State&)> enabled) {
  list.push_back(
      {id, label, help, Menu::View, std::move(keys), std::move(run), std::move(enabled)});
}

// Disables the last action in views without this control.
void require_control(std::vector<Action>& list, bool ViewControls::*control) {
  Action& action = list.back();
  action.enabled = [control, condition = action.enabled](const State& s) {
    return condition(s) && s.controls().*control;
  };
  action.refusal = [control](const State& s) {
    return s.controls().*control ? "" : describe_no_effect(s);
  };
}

void add_layer_and_head_actions(std::vector<Action>& list) {
  const auto has_earlier = [](const State& s) { return has_trace(s) && s.edited().view.layer > 0; };
  const auto has_later = [](const State& s) { return s.edited().view.layer + 1 < s.layers(); };
  add_action(
      list, "layer_back", "Previous layer", "Show the previous layer.", {{"["}},
      [](State& s) { step_layer(s, -1); }, has_earlier);
  require_control(list, &ViewControls::layer);
  list.back().starts_group = true;
  add_action(
      list, "layer_on", "Next layer", "Show the next layer.", {{"]"}},
      [](State& s) { step_layer(s, 1); }, has_later);
  require_control(list, &ViewControls::layer);
  add_action(
      list, "head_back", "Previous head", "Show the previous head, across layers.", {{","}},
      [](State& s) { step_head(s, -1); }, has_trace);
  require_control(list, &ViewControls::head);
  add_action(
      list, "head_on", "Next head", "Show the next head, across layers.", {{"."}},
      [](State& s) { step_head(s, 1); }, has_trace);
  require_control(list, &ViewControls::head);
  add_action(list, "surprise", "Show a strong pair",
             "Go to the next head and pair of words with salient attention.", {{"U"}},
             show_strong_pair, [](const State& s) { return salient_pair_refusal(s).empty(); });
  list.back().refusal = salient_pair_refusal;
}

void add_zoom_actions(std::vector<Action>& list) {
  add_action(
      list, "fit", "Fit", "Show the whole matrix.", {{"F"}},
      [](State& s) { show_all(s.session.edit().view); }, has_trace);
  list.back().starts_group = true;
  add_action(list, "show_whole", "Show all steps", "End the animation, and show the whole picture.",
             {{"Escape"}}, show_whole, shows_part);
  list.back().in_menu = false;
  add_action(
      list, "unpin", "Unpin", "Clear the pinned row and column.", {{"Escape"}},
      [](State& s) { s.session.edit().view.pinned_query = s.session.edit().view.pinned_key = -1; },
      [](const State& s) {
        return s.session->view.pinned_query >= 0 || s.session->view.pinned_key >= 0;
      });
  list.back().in_menu = false;
  add_action(
      list, "actual_size", "Actual size",
      "Make cells as large as the text, so that every label fits.", {{"0", true}},
      [](State& s) { s.view.actual_size = true; }, has_map);
  add_action(
      list, "zoom_in", "Zoom in", "Show fewer, larger cells.", {{"+"}, {"="}},
      [](State& s) { zoom(s, kZoomStep); }, has_map);
  add_action(
      list, "zoom_out", "Zoom out", "Show more cells.", {{"-"}},
      [](State& s) { zoom(s, 1 / kZoomStep); }, has_map);
}

void add_play_actions(std::vector<Action>& list) {
  add_action(list, "play", "Play", "Start or stop the animation of the view's parameter.", {{" "}},
             toggle_play, can_play);
  list.back().checked = [](const State& s) { return s.view.play.is_on; };
  add_action(
      list, "step_back", "Step back", "Decrease the animated parameter by one.", {{"Left"}},
      [](State& s) { step_by(s, -1); }, can_step);
  add_action(
      list, "step_on", "Step forward", "Increase the animated parameter by one.", {{"Right"}},
      [](State& s) { step_by(s, 1); }, can_step);
}

void add_colour_end_action(std::vector<Action>& list) {
  add_action(
      list, "colour_end", "Next colour range",
      "End the colour range at a high percentile of the visible values, at their maximum, or at 1.",
      {{"N"}}, next_colour_end,
      [](const State& s) { return has_trace(s) && s.controls().colour_ends.size() > 1; });
  list.back().starts_group = true;
  list.back().refusal = [](const State& s) {
    return s.controls().colour_ends.size() > 1 ? "" : describe_no_effect(s);
  };
}

void add_token_actions(std::vector<Action>& list) {
  add_action(
      list, "words", "Merge word pieces",
      "Merge word pieces: sum weights over the keys of a word, average them over its queries.",
      {{"J"}}, [](State& s) { s.session.edit().view.words = !s.session->view.words; },
      [](const State& s) {
        const ViewControls controls = s.controls();
        return has_trace(s) && controls.words && controls.word_merging_refusal.empty();
      });
  list.back().checked = [](const State& s) { return s.session->view.words; };
  list.back().refusal = [](const State& s) {
    const ViewControls controls = s.controls();
    if (!controls.words) return view(s.session->view.id).label + " always shows single tokens.";
    if (controls.word_merging_refusal.empty()) return std::string();
    return "Nothing to merge: " + controls.word_merging_refusal + ".";
  };
  add_action(
      list, "special", "Special tokens",
      "Show or hide tokens that the tokenizer adds, such as “[CLS]” or “<s>”. Other weights stay "
      "unchanged and determine the colour range.",
      {{"H"}}, [](State& s) { s.session.edit().view.hides_special ^= true; },
      [](const State& s) {
        const ViewControls controls = s.controls();
        return has_trace(s) && controls.words && controls.special_tokens_refusal.empty();
      });
  list.back().checked = [](const State& s) { return !s.session->view.hides_special; };
  list.back().refusal = [](const State& s) {
    const ViewControls controls = s.controls();
    if (!controls.words) return view(s.session->view.id).label + " shows all tokens.";
    return controls.special_tokens_refusal.empty()
               ? ""
               : "Nothing to hide: " + controls.special_tokens_refusal + ".";
  };
  add_action(
      list, "space_markers", "Space markers",
      "Show or hide “␣” where a token begins or ends with a space.", {},
      [](State& s) { s.session.edit().view.space_markers ^= true; }, has_trace);
  list.back().checked = [](const State& s) { return s.session->view.space_markers; };
}

void add_colour_map_action(std::vector<Action>& list) {
  add_action(list, "colour_map", "Next colour map", "Change the colours of the heat maps.", {{"G"}},
             next_colour_map,
             [](const State& s) { return has_trace(s) && !applicable_maps(s.controls()).empty(); });
  list.back().refusal = [](const State& s) {
    return applicable_maps(s.controls()).empty() ? describe_no_effect(s) : "";
  };
}

void add_reset_action(std::vector<Action>& list) {
  add_action(
      list, "reset_view", "Reset view", "Show the whole matrix with default colours.", {{"R"}},
      [](State& s) {
        show_all(s.session.edit().view);
        s.session.edit().view.colour_end = ViewSettings().colour_end;
        s.session.edit().view.colour_map = ViewSettings().colour_map;
      },
      has_trace);
}

}  // namespace

void add_view_actions(std::vector<Action>& list) {
  add_view_choices(list);
  add_layer_and_head_actions(list);
  add_zoom_actions(list);
  add_play_actions(list);
  add_colour_end_action(list);
  add_token_actions(list);
  add_colour_map_action(list);
  add_reset_action(list);
}

}  // namespace attnscope::window
