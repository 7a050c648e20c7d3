// Titles, captions and labels that describe a run.
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
// describe(tap), or "as stored in the file" if the attention is imported (Trace::is_imported).
std::string describe(const Trace& trace, const AttentionTap& tap);

// Advice for views that need more than imported attention (Trace::is_imported).
inline constexpr const char* kImportedAttentionAdvice =
    "The file holds attention alone. Open one with q and k, or choose a model and a text.";

// Caption of a picture of `subject`, followed by the number of tokens and the notes.
std::string caption(const Trace& trace, const std::string& subject);

// "decoder, cross-attention, layer 2, head 1": the part that the settings select.
std::string describe_head(const Trace& trace, const ViewSettings& view);
// describe_head() without layer and head, with a trailing comma; empty if there is only one part.
std::string describe_part(const Trace& trace, const ViewSettings& view);
std::string capitalised(std::string text);
std::string as_sentence(std::string headline);  // adds a full stop unless empty

// picture_title() followed by the selected part, with or without layer and head.
std::string title_with_head(const ViewInput& input);
std::string title_with_part(const ViewInput& input);

// "7 tokens"; "9 source and 7 target tokens".
std::string describe_token_count(const Trace& trace);

bool have_same_labels(const Trace& a, const Trace& b);

// True for masked models, which predict the token at a position instead of the next one.
bool predicts_masked_tokens(const Trace& trace);
// False for models that predict actions instead of tokens.
bool predicts_next_tokens(const Trace& trace);
inline constexpr const char* kPredictsActions =
    "This model predicts actions, not tokens: use the view Trajectory.";
inline constexpr const char* kNoOutputHead =
    "This model has no output head, so there is no logit lens. Choose a model with one.";

// Label of a vocabulary entry: "␣the"; "#17" without a tokenizer.
std::string token_label(const Trace& trace, std::int32_t id);

// "4 layers of 4 heads", "4 layers".
std::string describe_layers_and_heads(const Trace& trace, const TracePart& part);

// A part that the run lacks, and the available parts: found "no cross-attention", expected "self".
struct MissingPart {
  std::string found, expected;
  const char* category = "";  // "stack", "kind", "step" or "segment"
};
std::optional<MissingPart> find_missing_part(const Trace& trace, const PartChoice& choice);

// The selected tap; if it is null, the message to show.
struct SelectedTap {
  const AttentionTap* tap = nullptr;
  Index head = 0;  // index within the tap's group
  std::string headline, advice;
};
SelectedTap find_tap(const ViewInput& input);
SelectedTap find_tap(const Trace& trace, const ViewSettings& view);
// View::objection for views of heads: empty if `objection_to` is empty for any head group of the
// run, else the objection to the last group.
std::string objection_to_all(const Trace& trace,
                             const std::function<std::string(const AttentionTap&)>& objection_to);
std::string objection_without_attention(const Trace& trace);
// find_tap() for exports of numbers: throws an InputError instead of returning a message.
SelectedTap require_tap(const ViewInput& input);

// Names of tokens, rows and columns in descriptions of interventions. `tap`: the attention whose
// rows and columns are named; null: they are numbered.
InterventionNames intervention_names(const Trace& trace, const AttentionTap* tap);

}  // namespace attnscope
