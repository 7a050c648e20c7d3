// Which variants and encodings can be chosen now, and why others cannot. No drawing here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/window/state.h"
#include "core/part/info.h"

namespace attnscope::window {

struct Entry {
  std::string id;  // empty: as the model was trained, or as what holds for more heads
  std::string label, group, summary;
  // Why it cannot be chosen with the rest as it is; "", or no function: it can. Asked only where
  // the list is open.
  std::function<std::string()> refusal;
  Values start;  // the parameters it starts with
};

struct ChoiceList {
  const char* title = "";
  bool heading = true;  // the title stands over the list as a heading, else as a label
  std::string scope;    // "variant": begins the names of widgets
  std::vector<Entry> entries;
  std::string preview;        // what holds now, in words
  const Info* now = nullptr;  // what holds now; null when heads differ or nothing has run
  Values model_values;        // its parameters where nothing is chosen for these heads
  bool model_mixed = false;   // nothing is chosen, and the model's heads differ
  // Why what holds now cannot have these parameters with the rest as it is; empty: it can. Not
  // beyond the state that the list was made from.
  std::function<std::string(const Values&)> refusal;
};

// What a list is made of: one for variants, one for joins, ...
struct Offer {
  std::vector<const Info*> infos{};
  const Choice* inherited = nullptr;  // what holds where nothing is chosen; null: none or not known
  std::optional<Choice> choice{};
  std::function<Entry(const Info* inherited)> without{};  // the entry of no choice
  // Why something cannot be chosen, by its name or with other parameters, with the rest as it is;
  // "": it can.
  std::function<std::string(const Choice&, bool anew)> refusal{};
  Index tokens = 0;  // of the text, for which parameters show what they do; 0: not known
};
ChoiceList choice_list(const Offer& offer);
// The entry of no choice: what the model has, in words where that is known.
Entry as_trained(const std::string& has);

template <class List>
std::vector<const Info*> infos_of(const List& list) {
  std::vector<const Info*> infos;
  for (const Info& info : list) infos.push_back(&info);
  return infos;
}

// Those that a run reads: what training alone reads is for the command line and for checkpoints.
std::vector<Parameter> offered_parameters(const Info& info);

ChoiceList variant_list(const State& state);
ChoiceList encoding_list(const State& state);

// Why the direction cannot be chosen with the present variant and encoding; empty: it can.
std::string causal_refusal(const State& state, bool causal);

// What holds in the shown layer and head: the person's last choice for it, else the model's, which
// is not known before the first run.
std::optional<Choice> effective_variant(const State& state);
std::optional<Choice> effective_encoding(const State& state);

}  // namespace attnscope::window
