// Palette: search by name for actions, variants, encodings, models, lessons and samples.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/card.h"

namespace attnscope::window {

struct State;

struct PaletteEntry {
  std::string id;     // "export", "variant.lsh", "sample.alice"
  std::string label;  // "LSH (Reformer)"
  std::string kind;   // the action's menu, or "Attention", "Position", "Model", "Lesson", "Sample"
  std::string name;   // second name for the search: "lsh"
  std::string help;   // for the tooltip
  std::function<void(State&)> run;
  // Reason why the entry is disabled or has no effect; empty: none. Computing it can be slow for
  // variants and encodings.
  std::function<std::string(const State&)> refusal;
  std::function<bool(const State&)> enabled;
  std::string key{};       // shortcut; empty: none
  bool is_action = false;  // listed even if nothing is typed
};

struct Palette {
  bool open = false;
  std::string typed{};
  int chosen = 0;                       // selected row
  std::vector<PaletteEntry> entries{};  // collected when the palette opens
};

// All entries that apply to the state's model; actions first.
std::vector<PaletteEntry> palette_entries(State& state, const std::vector<ModelGroup>& models);

// Entries that contain all typed words in label, kind, name or help, ignoring case; best match
// first. Only actions if nothing is typed.
std::vector<const PaletteEntry*> matching_entries(const std::vector<PaletteEntry>& entries,
                                                  std::string_view typed);

// Index of the first enabled entry, which is selected at first; 0 if there is none.
std::size_t first_enabled(const std::vector<const PaletteEntry*>& entries, const State& state);

}  // namespace attnscope::window
