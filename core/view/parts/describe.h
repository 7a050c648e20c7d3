// What pictures say about the run they show.
#pragma once

#include <string>
#include <vector>

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

// picture_title() with the layer and head that the settings look at.
std::string head_title(const ViewInput& input);

// Whether the tokens of both are called the same.
bool same_tokens(const Trace& a, const Trace& b);

// How a token of the vocabulary is shown: "␣the"; "#17" where there is no tokenizer.
std::string token_label(const Trace& trace, std::int32_t id);

// "4 layers of 4 heads", "4 layers".
std::string layers_and_heads(const Trace& trace);

// The tap that the settings ask for; otherwise the message to show instead.
struct Found {
  const AttentionTap* tap = nullptr;
  Index head = 0;  // within the tap's group
  std::string headline, advice;
};
Found find_tap(const ViewInput& input);
Found find_tap(const Trace& trace, const ViewSettings& view);

}  // namespace attnscope
