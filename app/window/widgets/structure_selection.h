// Lists of architectures, residual connections and early exits for selection, with reasons why
// entries are unavailable. No drawing here.
#pragma once

#include <string>

#include "app/window/state.h"
#include "app/window/widgets/selection.h"
#include "core/model/architecture.h"

namespace attnscope::window {

ChoiceList architecture_list(const State& state);
ChoiceList residual_connection_list(const State& state);
ChoiceList exits_list(const State& state);
// Retrieval heads; they require a store (SelectionState::store).
ChoiceList retrieval_list(const State& state);

// Reason why a text cannot be read in segments of this many tokens; empty if it can.
std::string segment_refusal(const State& state, Index segment);

// Architecture in effect: the selected one, else the model's; null before the first run.
const Architecture* effective_architecture(const State& state);
// Early exits in effect; null if there are none or nothing has run.
const Choice* effective_exits(const State& state);
Index effective_segment(const State& state);
// True for bidirectional text models, whose input may be a pair of sentences.
bool reads_sentences(const State& state);

// Selects an architecture. If it reads source and target, copies the text to the target if there is
// no target yet. Otherwise clears the target.
void choose_architecture(RunSpec& spec, std::optional<Choice> choice);

// Structure that differs from the checkpoint's: "Universal, gated"; empty: as trained.
std::string describe_structure(const RunSpec& spec);

}  // namespace attnscope::window
