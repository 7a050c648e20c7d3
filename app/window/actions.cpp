#include "app/window/actions.h"

#include <algorithm>
#include <cctype>

#include "app/window/files.h"
#include "app/window/generation.h"
#include "app/window/navigation.h"
#include "app/window/play.h"
#include "app/window/utf8.h"
#include "core/figure/colour_map.h"
#include "core/view/view_data.h"

namespace attnscope::window {

namespace {

constexpr double kZoomStep = 1.25;
constexpr double kScaleStep = 1.1;

bool has_trace(const State& s) {
  return s.trace != nullptr;
}

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
    head = s.edited_trace()->head_count(layer) - 1;
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

void set_scale(State& s, double scale) {
  s.settings.scale = std::clamp(scale, kLeastScale, kMostScale);
}

void restore(State& s, const Experiment& experiment) {
  s.generating = false;
  s.experiment = experiment;
  s.text.edit.assign(s.edited().text);
  s.text.follow_cursor = true;
}

void copy_data(State& s) {
  try {
    s.wishes.clipboard = to_csv(view_data(*s.trace, s.shown_experiment(), s.reference.get()));
    s.say("The picture's numbers are on the clipboard.");
  } catch (const std::exception& e) {
    s.complain(e.what());
  }
}

void add_file_actions(std::vector<Action>& list) {
  list.push_back(
      {"open",
       "Open…",
       "Open a session, a lesson, a text, tensors of your own or a picture that attnscope wrote.",
       Menu::File,
       {{"O", true}},
       [](State& s) { browse(s, BrowsePurpose::OpenFile); }});
  list.push_back({"open_model",
                  "Open model folder…",
                  "Use a model of your own: a folder with config.json and weights.",
                  Menu::File,
                  {},
                  [](State& s) { browse(s, BrowsePurpose::OpenModel); }});
  list.push_back({"save",
                  "Save session",
                  "Write the text and all settings to a file.",
                  Menu::File,
                  {{"S", true}},
                  [](State& s) {
                    if (s.session.empty()) {
                      browse(s, BrowsePurpose::SaveSession);
                    } else {
                      save_to(s, s.session);
                    }
                  }});
  list.back().starts_group = true;
  list.push_back({"save_as",
                  "Save session as…",
                  "Write the session to a file of another name.",
                  Menu::File,
                  {{"S", true, true}},
                  [](State& s) { browse(s, BrowsePurpose::SaveSession); }});
  list.push_back(
      {"export",
       "Export picture…",
       "Write the picture as PNG, SVG or PDF, its numbers as CSV, NPY or safetensors, or a moving "
       "picture as GIF.",
       Menu::File,
       {{"E", true}},
       [](State& s) {
         s.exporting.open = true;
         s.exporting.problem.clear();
         if (!s.exporting.themed) s.exporting.picture.dark = s.settings.dark;
       },
       has_trace});
  list.back().starts_group = true;
  list.push_back({"copy_data",
                  "Copy data",
                  "Copy the picture's numbers as comma-separated text.",
                  Menu::File,
                  {{"C", true}},
                  copy_data,
                  has_trace});
  list.push_back({"quit",
                  "Quit",
                  "Close the window; the session is kept for the next start.",
                  Menu::File,
                  {{"Q", true}},
                  [](State& s) { s.wishes.close = true; }});
  list.back().starts_group = true;
}

void add_edit_actions(std::vector<Action>& list) {
  list.push_back({"undo",
                  "Undo",
                  "Take back the last change.",
                  Menu::Edit,
                  {{"Z", true}},
                  [](State& s) { restore(s, s.history.undo()); },
                  [](const State& s) { return s.history.can_undo(); }});
  list.push_back({"redo",
                  "Redo",
                  "Repeat the change that was taken back.",
                  Menu::Edit,
                  {{"Z", true, true}, {"Y", true}},
                  [](State& s) { restore(s, s.history.redo()); },
                  [](const State& s) { return s.history.can_redo(); }});
  list.push_back({"edit_text",
                  "Edit text",
                  "Put the cursor into the text.",
                  Menu::Edit,
                  {{"T", true}},
                  [](State& s) {
                    s.settings.panels = true;
                    s.text.focused = true;
                    s.text.edit.select_all();
                  }});
  list.back().starts_group = true;
  list.push_back({"cancel",
                  "Cancel run",
                  "Stop the computation that goes on.",
                  Menu::Edit,
                  {},
                  [](State& s) { s.wishes.cancel_run = true; },
                  [](const State& s) { return s.busy_seconds > 0 || !s.view.pending.empty(); }});
}

void add_view_choices(std::vector<Action>& list) {
  constexpr std::size_t kMostKeys = 9;
  for (std::size_t i = 0; i < views().size(); ++i) {
    const View& v = views()[i];
    std::vector<Shortcut> keys;
    if (i < kMostKeys) keys.push_back({std::to_string(i + 1)});
    list.push_back({"view." + v.id, v.label, v.summary, Menu::View, keys,
                    [id = v.id](State& s) { s.experiment.view.id = id; },
                    [](const State&) { return true; },
                    [id = v.id](const State& s) { return s.experiment.view.id == id; }});
  }
}

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
      "normalise", "Normalise colours", "Stretch the colours over the range that is visible.",
      {{"N"}}, [](State& s) { s.experiment.view.normalise = !s.experiment.view.normalise; },
      has_trace);
  needs(&ViewControls::normalise);
  list.back().starts_group = true;
  list.back().checked = [](const State& s) { return s.experiment.view.normalise; };
  add("colour_map", "Next colour map", "Change the colours of the heat maps.", {{"G"}},
      next_colour_map,
      [](const State& s) { return has_trace(s) && !offered_maps(s.controls()).empty(); });
  list.back().refusal = [](const State& s) {
    return offered_maps(s.controls()).empty() ? no_effect(s) : "";
  };
  add(
      "reset_view", "Reset view", "Whole matrix, colours from 0 to 1, first colour map.", {{"R"}},
      [](State& s) {
        show_all(s.experiment.view);
        s.experiment.view.normalise = false;
        s.experiment.view.colour_map = ViewSettings().colour_map;
      },
      has_trace);
}

bool compares(const State& s) {
  return !s.experiment.others.empty();
}

void add_compare_actions(std::vector<Action>& list) {
  list.push_back(
      {"compare",
       "Compare with this",
       "Keep what is set now as B, to stand beside whatever is changed from here on; holding "
       "Shift shows B in any view.",
       Menu::Edit,
       {{"B"}},
       [](State& s) {
         Experiment other = s.experiment;
         other.others.clear();
         s.experiment.others = {std::move(other)};
         s.experiment.view.id = "compare";
         s.editing_other = false;
       },
       has_trace});
  list.back().starts_group = true;
  list.back().view = "compare";
  list.push_back({"compare_swap",
                  "Swap A and B",
                  "Have the two that are compared change places.",
                  Menu::Edit,
                  {{"X"}},
                  [](State& s) {
                    Experiment a = s.experiment, b = s.experiment.others.front();
                    const ViewSettings of_b = b.view;
                    b.view = a.view;  // what is looked at stays, but for layer and head
                    b.view.layer = of_b.layer;
                    b.view.head = of_b.head;
                    a.others.clear();
                    b.others = {std::move(a)};
                    s.experiment = std::move(b);
                  },
                  compares});
  list.back().view = "compare";
  list.push_back({"compare_edit",
                  "Edit B",
                  "The text, model, attention and position on the left are those of B, or of A "
                  "again.",
                  Menu::Edit,
                  {},
                  [](State& s) { s.editing_other = !s.editing_other; },
                  compares,
                  [](const State& s) { return s.edits_other(); }});
  list.push_back({"compare_stop",
                  "Stop comparing",
                  "Let go of B.",
                  Menu::Edit,
                  {},
                  [](State& s) {
                    s.experiment.others.clear();
                    s.editing_other = false;
                  },
                  compares});
  list.back().view = "compare";
}

void add_intervene_actions(std::vector<Action>& list) {
  list.push_back({"intervene_reset",
                  "Undo all interventions",
                  "Leave the model as it is again.",
                  Menu::Edit,
                  {},
                  [](State& s) { s.experiment.interventions.clear(); },
                  [](const State& s) { return !s.experiment.interventions.empty(); }});
  list.back().starts_group = true;
  list.back().view = "intervene";
}

void add_next_actions(std::vector<Action>& list) {
  list.push_back({"next_step",
                  "Next token",
                  "Draw a token as the view Next is set, and put it behind the text.",
                  Menu::Edit,
                  {{"S"}},
                  [](State& s) {
                    s.generating = false;
                    go_on(s);
                  },
                  can_go_on});
  list.back().starts_group = true;
  list.back().view = "next";
  list.push_back({"next_run",
                  "Write on",
                  "Draw token after token, until this is chosen again.",
                  Menu::Edit,
                  {{"W"}},
                  [](State& s) {
                    s.generating = !s.generating;
                    if (s.generating) go_on(s);
                  },
                  can_go_on,
                  [](const State& s) { return s.generating; }});
  list.back().view = "next";
}

void add_look_actions(std::vector<Action>& list) {
  list.push_back({"present",
                  "Presentation",
                  "Large type, panels hidden, the pointer high-lighted; Escape ends it.",
                  Menu::Look,
                  {{"F5"}},
                  [](State& s) { s.presenting = !s.presenting; },
                  [](const State&) { return true; },
                  [](const State& s) { return s.presenting; }});
  list.push_back({"panels",
                  "Side panels",
                  "Show or hide everything but the picture.",
                  Menu::Look,
                  {{"Tab"}},
                  [](State& s) { s.settings.panels = !s.settings.panels; },
                  [](const State&) { return true; },
                  [](const State& s) { return s.settings.panels; }});
  list.push_back({"full_screen",
                  "Full screen",
                  "Use the whole screen, or a window again.",
                  Menu::Look,
                  {{"F11"}},
                  [](State& s) { s.wishes.full_screen = true; }});
  list.push_back({"dark",
                  "Dark theme",
                  "Light letters on a dark ground, or the reverse.",
                  Menu::Look,
                  {{"D", true}},
                  [](State& s) { s.settings.dark = !s.settings.dark; },
                  [](const State&) { return true; },
                  [](const State& s) { return s.settings.dark; }});
  list.push_back({"larger",
                  "Larger",
                  "Make everything larger, for the last row.",
                  Menu::Look,
                  {{"+", true}, {"=", true}},
                  [](State& s) { set_scale(s, s.scale * kScaleStep); },
                  [](const State& s) { return s.scale < kMostScale; }});
  list.back().starts_group = true;
  list.push_back({"smaller",
                  "Smaller",
                  "Make everything smaller.",
                  Menu::Look,
                  {{"-", true}},
                  [](State& s) { set_scale(s, s.scale / kScaleStep); },
                  [](const State& s) { return s.scale > kLeastScale; }});
  list.push_back({"normal_size",
                  "Normal size",
                  "As large as the monitor asks for.",
                  Menu::Look,
                  {{"0", true, true}},
                  [](State& s) { s.settings.scale = 0; },
                  [](const State& s) { return s.settings.scale != 0; }});
}

bool has_lesson(const State& s) {
  return s.lesson.lesson != nullptr;
}

void add_lesson_actions(std::vector<Action>& list) {
  list.push_back({"lessons",
                  "Lessons…",
                  "Choose a lesson: steps with words, pictures and measured claims.",
                  Menu::Help,
                  {{"L"}},
                  [](State& s) { s.lesson.list_open = true; }});
  list.push_back({"lesson_on",
                  "Next step",
                  "The lesson's next step.",
                  Menu::Help,
                  {{"Page Down"}},
                  [](State& s) { show_step(s, s.lesson.step + 1); },
                  [](const State& s) {
                    return has_lesson(s) && s.lesson.step + 1 < s.lesson.lesson->steps.size();
                  }});
  list.push_back({"lesson_back",
                  "Step before",
                  "The lesson's step before this one.",
                  Menu::Help,
                  {{"Page Up"}},
                  [](State& s) { show_step(s, s.lesson.step - 1); },
                  [](const State& s) { return has_lesson(s) && s.lesson.step > 0; }});
  list.push_back({"lesson_notes",
                  "Speaker's notes",
                  "Show what the speaker may say.",
                  Menu::Help,
                  {{"M", true}},
                  [](State& s) { s.lesson.notes = !s.lesson.notes; },
                  has_lesson,
                  [](const State& s) { return s.lesson.notes; }});
  list.push_back({"lesson_leave",
                  "Leave the lesson",
                  "Go back to your own text and settings.",
                  Menu::Help,
                  {},
                  leave_lesson,
                  has_lesson});
}

void add_help_actions(std::vector<Action>& list) {
  list.push_back({"palette",
                  "All commands…",
                  "Find a command by its name.",
                  Menu::Help,
                  {{"P", true}},
                  [](State& s) { s.palette = {.open = true, .typed = "", .chosen = 0}; }});
  list.back().starts_group = true;
  list.push_back(
      {"tour", "Tour of the window", "The five places to know.", Menu::Help, {}, [](State& s) {
         s.settings.panels = true;
         s.presenting = false;
         s.tour_stop = 0;
       }});
  list.push_back(
      {"keys", "Keys and gestures", "The list of keys.", Menu::Help, {{"?"}, {"F1"}}, [](State& s) {
         s.help_open = !s.help_open;
       }});
  list.push_back({"about",
                  "About attnscope",
                  "What this program is and whose work it shows.",
                  Menu::Help,
                  {},
                  [](State& s) { s.about_open = true; }});
}

bool same_letter(char32_t typed, const std::string& key) {
  if (key.size() != 1) return false;
  if (typed > 0x7F) return false;
  return std::toupper(static_cast<int>(typed)) == std::toupper(static_cast<unsigned char>(key[0]));
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace

bool Shortcut::matches(const Stroke& stroke) const {
  if (key.size() == 1 && !control) return same_letter(stroke.character, key);
  if (stroke.character != 0 || stroke.control != control || stroke.alt) return false;
  // "+" needs Shift on most keyboards: the shift is part of the character there.
  const bool shift_matters = key.size() > 1 || std::isalnum(static_cast<unsigned char>(key[0]));
  if (shift_matters && stroke.shift != shift) return false;
  return lower(stroke.key) == lower(key);
}

std::string to_string(const Shortcut& shortcut) {
  return std::string(shortcut.control ? "Ctrl+" : "") + (shortcut.shift ? "Shift+" : "") +
         (shortcut.key == " " ? "Space" : shortcut.key);
}

std::string_view to_string(Menu menu) {
  switch (menu) {
    case Menu::File:
      return "File";
    case Menu::Edit:
      return "Edit";
    case Menu::View:
      return "View";
    case Menu::Look:
      return "Window";
    case Menu::Help:
      return "Help";
  }
  return "";
}

const std::vector<Action>& actions() {
  static const std::vector<Action> list = [] {
    std::vector<Action> all;
    add_file_actions(all);
    add_edit_actions(all);
    add_next_actions(all);
    add_intervene_actions(all);
    add_compare_actions(all);
    add_view_actions(all);
    add_look_actions(all);
    add_lesson_actions(all);
    add_help_actions(all);
    return all;
  }();
  return list;
}

const Action& action(std::string_view id) {
  const auto found = std::find_if(actions().begin(), actions().end(),
                                  [id](const Action& a) { return a.id == id; });
  if (found == actions().end()) throw std::logic_error("no action " + std::string(id));
  return *found;
}

std::string help_of(const Action& action, const State& state) {
  const std::string why = action.refusal ? action.refusal(state) : "";
  return action.help + (why.empty() ? "" : "\n" + why);
}

std::vector<const ColourMap*> offered_maps(const ViewControls& controls) {
  using Colours = ViewControls::Colours;
  std::vector<const ColourMap*> maps;
  if (controls.colours == Colours::None) return maps;
  for (const ColourMap& map : colour_maps()) {
    if (controls.colours == Colours::All || !map.diverging()) maps.push_back(&map);
  }
  return maps;
}

const ColourMap& shown_map(const ViewControls& controls, std::string_view chosen) {
  const ColourMap& map = colour_map(chosen);
  const bool replaced = controls.colours == ViewControls::Colours::Sequential && map.diverging();
  return replaced ? colour_maps().front() : map;
}

void run_shortcuts(State& state, std::vector<Stroke>& strokes, bool typing) {
  for (Stroke& stroke : strokes) {
    if (stroke.taken) continue;
    for (const Action& a : actions()) {
      const auto hit = std::find_if(a.shortcuts.begin(), a.shortcuts.end(), [&](const Shortcut& s) {
        const bool function_key = s.key.size() > 1 && s.key[0] == 'F';
        return s.matches(stroke) && (s.control || function_key || !typing);
      });
      if (hit == a.shortcuts.end()) continue;
      if (a.enabled(state)) a.run(state);
      stroke.taken = true;
      break;
    }
  }
}

std::vector<const Action*> matching_actions(std::string_view typed) {
  std::vector<std::pair<int, const Action*>> found;
  const std::string wanted = lower(typed);
  for (const Action& a : actions()) {
    const std::string label = lower(a.label);
    const std::string all = label + " " + lower(a.help) + " " + lower(to_string(a.menu));
    bool matches = true;
    for (std::size_t at = 0; matches && at < wanted.size();) {
      const std::size_t end = std::min(wanted.find(' ', at), wanted.size());
      matches = all.find(wanted.substr(at, end - at)) != std::string::npos;
      at = end + 1;
    }
    if (!matches) continue;
    const std::size_t place = label.find(wanted);
    const int rank = label == wanted ? 0 : place == 0 ? 1 : place != std::string::npos ? 2 : 3;
    found.emplace_back(rank, &a);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const Action*> list;
  for (const auto& [rank, a] : found) list.push_back(a);
  return list;
}

}  // namespace attnscope::window
