// What pictures say about the run they show.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/intervention.h"
#include "core/view/view.h"

namespace attnscope {

// "Local (window = 4, dilation = 1); position: RoPE (base = 10000)".
std::string describe(const AttentionTap& tap);
std::string describe_variant(const AttentionTap& tap);   // "Local (window = 4, dilation = 1)"
std::string describe_encoding(const AttentionTap& tap);  // "RoPE (base = 10000)"
// The same, or that it was given.
std::string describe(const Trace& trace, const AttentionTap& tap);

// Where attention was given (Trace::given), what to do about a view that needs more.
inline constexpr const char* kAttentionAlone =
    "The file holds attention alone. Open one with q and k, or choose a model and a text.";

// What every caption ends with: tokens, what ran where, notes. `about`: what this view shows.
std::string caption(const Trace& trace, const std::string& about);

// "decoder, cross-attention, layer 2, head 1": what the settings look at.
std::string place_words(const Trace& trace, const ViewSettings& view);
// The same without layer and head, and with a comma behind it; empty where there is one part alone.
std::string part_words(const Trace& trace, const ViewSettings& view);
std::string capitalised(std::string text);
std::string as_sentence(std::string headline);  // with a full stop where it is not empty

// picture_title() with the layer and head that the settings look at; or with the part alone.
std::string head_title(const ViewInput& input);
std::string part_title(const ViewInput& input);

// "7 tokens"; "9 source and 7 target tokens".
std::string token_count_words(const Trace& trace);

// Whether the tokens of both are called the same.
bool same_tokens(const Trace& a, const Trace& b);

// Whether the model says what stands at a place, of a masked model, not what comes after it.
bool fills_in_places(const Trace& trace);
// Whether what is predicted is a token after each one: not the actions of a model that acts.
bool predicts_each(const Trace& trace);
inline constexpr const char* kSaysActions =
    "This model says actions, not tokens: Trajectory shows them.";
inline constexpr const char* kSaysNoHead =
    "This model has no head that predicts tokens, and so none that could say what a layer would. "
    "Choose one that has.";

// How a token of the vocabulary is shown: "␣the"; "#17" where there is no tokenizer.
std::string token_label(const Trace& trace, std::int32_t id);

// "4 layers of 4 heads", "4 layers".
std::string layers_and_heads(const Trace& trace, const TracePart& part);

// Why the run has no such part, and what it has: "no cross-attention", "expected self".
struct NoPart {
  std::string found, expected;
  const char* what = "";  // "kind": which of them there is not
};
std::optional<NoPart> no_part(const Trace& trace, const PartChoice& choice);

// The tap that the settings ask for; otherwise the message to show instead.
struct Found {
  const AttentionTap* tap = nullptr;
  Index head = 0;  // within the tap's group
  std::string headline, advice;
};
Found find_tap(const ViewInput& input);
Found find_tap(const Trace& trace, const ViewSettings& view);
// For View::objection, of views of heads: what `why` says of the run's last head group where it
// has something against each of them; empty where it has nothing against one.
std::string objection_to_all(const Trace& trace,
                             const std::function<std::string(const AttentionTap&)>& why);
std::string objection_without_attention(const Trace& trace);
// For numbers, which cannot stand beside a message: InputError with it.
Found needed_tap(const ViewInput& input);

// What interventions in this run are told with: its tokens, and those of the tap's rows and columns
// (null: numbers).
InterventionNames intervention_names(const Trace& trace, const AttentionTap* tap);

}  // namespace attnscope
