// Lists of variants and encodings, with reasons why entries are unavailable. No drawing here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/window/state.h"
#include "core/part/info.h"

namespace attnscope::window {

struct Entry {
  std::string id;  // empty: no selection; the choice of the wider scope or of the model applies
  std::string label, group, summary;
  // Returns the reason why the entry conflicts with the other settings, "" if it does not. A null
  // function means that the entry is always available. Called only while the list is open.
  std::function<std::string()> refusal;
  Values start;  // initial parameters
};

struct ChoiceList {
  const char* title = "";
  bool heading = true;  // draw the title as a heading above the list, else as a label
  std::string scope;    // "variant": prefix of widget ids
  std::vector<Entry> entries;
  std::string preview;              // label of the current selection
  const Info* current = nullptr;    // current selection; null if heads differ or nothing has run
  Values model_values;              // parameters in effect without a selection
  bool model_heads_differ = false;  // the model's heads differ and nothing is selected
  // Returns why the current selection cannot have these parameters; empty if it can. Must not
  // outlive the state that the list was made from.
  std::function<std::string(const Values&)> refusal;
};

// Inputs of choice_list() for variants, residual connections, ...
struct ChoiceSource {
  std::vector<const Info*> infos{};
  const Choice* inherited = nullptr;  // used if nothing is selected; null: none or unknown
  std::optional<Choice> choice{};
  std::function<Entry(const Info* inherited)> unset_entry{};  // entry for no selection
  // Returns why a choice conflicts with the other settings; empty if it does not.
  // `resets_parameters`: true if the choice is selected, false if only its parameters change.
  std::function<std::string(const Choice&, bool resets_parameters)> refusal{};
  Index tokens = 0;  // text length, for illustrative parameters; 0: unknown
};
ChoiceList choice_list(const ChoiceSource& source);
// Entry for no selection. `method`: label of the model's method; empty: unknown.
Entry model_default_entry(const std::string& method);

template <class List>
std::vector<const Info*> list_infos(const List& list) {
  std::vector<const Info*> infos;
  for (const Info& info : list) infos.push_back(&info);
  return infos;
}

// Parameters that a run uses, without parameters that only training uses.
std::vector<Parameter> offered_parameters(const Info& info);
// Parameters that simple controls show: those without a default (window, buckets), and those whose
// value differs from both their default and the model's value.
std::vector<Parameter> essential_parameters(const std::vector<Parameter>& parameters,
                                            const Values& values, const Values& model_values);

ChoiceList variant_list(const State& state);
ChoiceList encoding_list(const State& state);

// Reason why the current variant and encoding exclude the direction; empty if compatible.
std::string causal_refusal(const State& state, bool causal);

// Choice in effect for the shown layer and head: the last selection that covers them, else the
// model's; none before the first run.
std::optional<Choice> effective_variant(const State& state);
std::optional<Choice> effective_encoding(const State& state);

}  // namespace attnscope::window
