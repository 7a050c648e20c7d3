// The commands of the menu View: which view, layer, head and colours, panning and zooming.
#include <algorithm>

#include "app/window/actions/action_lists.h"
#include "app/window/actions/navigation.h"
#include "app/window/jobs/play.h"
#include "app/window/surprise.h"
#include "core/figure/colour_map.h"

namespace attnscope::window {

namespace {

constexpr double kZoomStep = 1.25;

bool has_map(const State& s) {
  return s.tap() != nullptr && view(s.experiment.view.id).zooms;
}

Cells seen_cells(const State& s) {
  const ViewSettings& v = s.experiment.view;
  const AttentionTap& tap = *s.tap();
  if (v.width <= 0 || v.height <= 0) {
    return {0, 0, static_cast<double>(tap.queries()), static_cast<double>(tap.keys())};
  }
  return {v.row, v.column, v.height, v.width};
}

void zoom(State& s, double factor) {
  const Cells seen = seen_cells(s);
  const AttentionTap& tap = *s.tap();
  show(s.experiment.view,
       zoomed(seen, factor, seen.row + seen.height / 2, seen.column + seen.width / 2, tap.queries(),
              tap.keys()),
       tap.queries(), tap.keys());
}

void step_head(State& s, Index by) {
  // Past the last head comes the next layer's first, so that one key walks through all.
  const ViewSettings& v = s.edited().view;
  Index layer = v.layer, head = v.head + by;
  if (head < 0 && layer > 0) {
    --layer;
    head = s.edited_trace()->head_count(s.part(), layer) - 1;
  } else if (head >= s.heads() && layer + 1 < s.layers()) {
    ++layer;
    head = 0;
  }
  s.look_at(layer, head);
}

void step_layer(State& s, Index by) {
  s.look_at(s.edited().view.layer + by, s.edited().view.head);
}

std::string no_effect(const State& s) {
  return "No effect in " + view(s.experiment.view.id).label + " as it is set.";
}

void next_colour_map(State& s) {
  const ViewControls controls = s.controls();
  const std::vector<const ColourMap*> maps = offered_maps(controls);
  const auto now = std::ranges::find(maps, &shown_map(controls, s.experiment.view.colour_map));
  const ColourMap& next = now + 1 < maps.end() ? **(now + 1) : *maps.front();
  s.experiment.view.colour_map = next.id;
  s.say("Colours: " + next.label);
}

void next_colour_end(State& s) {
  const std::vector<ColourEndChoice> choices = s.controls().colour_ends;
  const ColourEndChoice* now = colour_end_of(choices, s.experiment.view.colour_end);
  const ColourEndChoice& next = now == &choices.back() ? choices.front() : now[1];
  s.experiment.view.colour_end = next.end;
  s.say("Colours " + next.label);
}

// 1 to 9, then these with Ctrl, then with Ctrl and Shift; there are no more keys than that.
std::vector<Shortcut> keys_of_view(std::size_t number) {
  constexpr std::size_t kDigits = 9;
  if (number >= 3 * kDigits) return {};
  return {{std::to_string(number % kDigits + 1), number >= kDigits, number >= 2 * kDigits}};
}

void add_view_choices(std::vector<Action>& list) {
  for (std::size_t i = 0; i < views().size(); ++i) {
    const View& v = views()[i];
    list.push_back({"view." + v.id, v.label, v.summary, Menu::View, keys_of_view(i),
                    [id = v.id](State& s) { s.experiment.view.id = id; },
                    [](const State&) { return true; },
                    [id = v.id](const State& s) { return s.experiment.view.id == id; }});
    list.back().starts_group = i > 0 && views()[i - 1].group != v.group;
    list.back().refusal = [&v](const State& s) { return objection_of(v, s); };
  }
}

}  // namespace

void add_view_actions(std::vector<Action>& list) {
  add_view_choices(list);
  const auto add = [&list](const char* id, const char* label, const char* help,
                           std::vector<Shortcut> keys, std::function<void(State&)> run,
                           std::function<bool(const State&)> enabled) {
    list.push_back(
        {id, label, help, Menu::View, std::move(keys), std::move(run), std::move(enabled)});
  };
  // With the control that a command is for: it may have no effect in the view.
  const auto needs = [&list](bool ViewControls::*control) {
    Action& last = list.back();
    last.enabled = [control, otherwise = last.enabled](const State& s) {
      return otherwise(s) && s.controls().*control;
    };
    last.refusal = [control](const State& s) { return s.controls().*control ? "" : no_effect(s); };
  };
  const auto earlier_layer = [](const State& s) {
    return has_trace(s) && s.edited().view.layer > 0;
  };
  const auto later_layer = [](const State& s) { return s.edited().view.layer + 1 < s.layers(); };
  add(
      "layer_back", "Layer before", "Show the layer before this one.", {{"["}},
      [](State& s) { step_layer(s, -1); }, earlier_layer);
  needs(&ViewControls::layer);
  list.back().starts_group = true;
  add(
      "layer_on", "Next layer", "Show the layer after this one.", {{"]"}},
      [](State& s) { step_layer(s, 1); }, later_layer);
  needs(&ViewControls::layer);
  add(
      "head_back", "Head before", "Show the head before this one, across layers.", {{","}},
      [](State& s) { step_head(s, -1); }, has_trace);
  needs(&ViewControls::head);
  add(
      "head_on", "Next head", "Show the head after this one, across layers.", {{"."}},
      [](State& s) { step_head(s, 1); }, has_trace);
  needs(&ViewControls::head);
  add("surprise", "Surprise me",
      "Go to the next head and pair of words in which something memorable happens.", {{"U"}},
      surprise, [](const State& s) { return surprise_refusal(s).empty(); });
  list.back().refusal = surprise_refusal;
  add(
      "fit", "Fit", "Show the whole matrix.", {{"F"}},
      [](State& s) { show_all(s.experiment.view); }, has_trace);
  list.back().starts_group = true;
  add(
      "actual_size", "Actual size", "Make cells as large as the text, so that every label fits.",
      {{"0", true}}, [](State& s) { s.view.actual_size = true; }, has_map);
  add(
      "zoom_in", "Zoom in", "Show fewer cells, larger.", {{"+"}, {"="}},
      [](State& s) { zoom(s, kZoomStep); }, has_map);
  add(
      "zoom_out", "Zoom out", "Show more cells.", {{"-"}}, [](State& s) { zoom(s, 1 / kZoomStep); },
      has_map);
  add("play", "Play", "Let the view's number run on by itself, or stop it.", {{" "}}, toggle_play,
      can_play);
  list.back().checked = [](const State& s) { return s.view.play.on; };
  add(
      "step_back", "Step back", "Take the number that plays back by one.", {{"Left"}},
      [](State& s) { step_by(s, -1); }, can_step);
  add(
      "step_on", "Step on", "Take the number that plays on by one.", {{"Right"}},
      [](State& s) { step_by(s, 1); }, can_step);
  add("colour_end", "Next end of the colours",
      "Let the colours end at a high percentile of what is in sight, at the largest, or at 1.",
      {{"N"}}, next_colour_end,
      [](const State& s) { return has_trace(s) && s.controls().colour_ends.size() > 1; });
  list.back().starts_group = true;
  list.back().refusal = [](const State& s) {
    return s.controls().colour_ends.size() > 1 ? "" : no_effect(s);
  };
  add(
      "words", "Merge word pieces",
      "Merge the pieces of words: weights summed over the keys of a word, mean over its queries.",
      {{"J"}}, [](State& s) { s.experiment.view.words = !s.experiment.view.words; },
      [](const State& s) {
        const ViewControls controls = s.controls();
        return has_trace(s) && controls.words && controls.not_in_words.empty();
      });
  list.back().checked = [](const State& s) { return s.experiment.view.words; };
  list.back().refusal = [](const State& s) {
    const ViewControls controls = s.controls();
    if (!controls.words) return view(s.experiment.view.id).label + " shows tokens as they are.";
    if (controls.not_in_words.empty()) return std::string();
    return "Nothing to merge: " + controls.not_in_words + ".";
  };
  add(
      "special", "Special tokens",
      "Show what the tokenizer puts in, “[CLS]” or “<s>”, or leave it out: the other weights stay "
      "as they are, and colours end where theirs do.",
      {{"H"}}, [](State& s) { s.experiment.view.hides_special ^= true; },
      [](const State& s) {
        const ViewControls controls = s.controls();
        return has_trace(s) && controls.words && controls.none_special.empty();
      });
  list.back().checked = [](const State& s) { return !s.experiment.view.hides_special; };
  list.back().refusal = [](const State& s) {
    const ViewControls controls = s.controls();
    if (!controls.words) return view(s.experiment.view.id).label + " shows all tokens.";
    return controls.none_special.empty() ? "" : "Nothing to hide: " + controls.none_special + ".";
  };
  add("colour_map", "Next colour map", "Change the colours of the heat maps.", {{"G"}},
      next_colour_map,
      [](const State& s) { return has_trace(s) && !offered_maps(s.controls()).empty(); });
  list.back().refusal = [](const State& s) {
    return offered_maps(s.controls()).empty() ? no_effect(s) : "";
  };
  add(
      "reset_view", "Reset view", "Whole matrix, usual colours.", {{"R"}},
      [](State& s) {
        show_all(s.experiment.view);
        s.experiment.view.colour_end = ViewSettings().colour_end;
        s.experiment.view.colour_map = ViewSettings().colour_map;
      },
      has_trace);
}

}  // namespace attnscope::window
