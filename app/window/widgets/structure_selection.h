// Which architectures, joins and exits can be chosen now, and why others cannot. No drawing here.
#pragma once

#include <string>

#include "app/window/state.h"
#include "app/window/widgets/selection.h"
#include "core/model/architecture.h"

namespace attnscope::window {

ChoiceList architecture_list(const State& state);
ChoiceList join_list(const State& state);
ChoiceList exits_list(const State& state);
// With what is retrieved predictions can be mixed; it needs a store (State::store).
ChoiceList retrieval_list(const State& state);

// Why a text cannot be read in segments of so many tokens; empty: it can.
std::string segment_refusal(const State& state, Index segment);

// The architecture that holds: the person's choice, else the model's, which is not known before the
// first run (null).
const Architecture* effective_architecture(const State& state);
// The exits that hold; null: there are none, or nothing has run.
const Choice* effective_exits(const State& state);
Index effective_segment(const State& state);
// Whether the model sees a whole text at once, as those do that are trained on pairs of sentences.
bool reads_sentences(const State& state);

// Chooses an architecture, and gives it to read what it needs: one that reads a source and a
// target gets the text as its target where there is none.
void choose_architecture(Experiment& experiment, std::optional<Choice> choice);

// "Universal, gated" in place of the checkpoint's; empty: as the model was trained.
std::string describe_structure(const Experiment& experiment);

}  // namespace attnscope::window
