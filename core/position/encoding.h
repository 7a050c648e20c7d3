// Positional encodings: SPEC section 3. One file each; encodings() is their ordered list.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/part/info.h"
#include "core/part/part.h"

namespace attnscope {

// What an encoding may look at.
struct EncodingContext {
  const Values& values;
  const NamedVars& weights;
  Dimensions dimensions;
  bool causal = false;         // T5's default direction
  std::optional<float> scale;  // given by the user; otherwise the default holds
};

struct RotaryPair;  // core/position/rope.h

struct Encoding : Info {
  bool of_steps = false;  // takes the step of a recurrence over depth, too: parameter "step"
  bool absolute = false;  // depends on i and j, not on i - j alone
  // Adds the position vectors to the input, before anything uses it. x: [B, L, d], positions [L].
  // Empty for encodings of pairs.
  std::function<Var(const Var& x, const std::vector<std::int32_t>& positions,
                    const EncodingContext&)>
      embed;
  // Turns queries or keys by their positions; for encodings that do this and nothing else.
  // x: [B h, L, d_k], positions [L]; empty: 0, 1, ...
  std::function<Var(const Var& x, const std::vector<std::int32_t>& positions,
                    const EncodingContext&)>
      turned;
  // The planes of a head of this size in which that turns, and how fast. Empty: in none.
  std::function<std::vector<RotaryPair>(const Values&, Index head_size)> planes;
  // Whether a row changes with the length of the text it stands in, up to so many tokens. Empty: no.
  std::function<bool(const Values&, Index context)> follows_length;
  // Fills in the part's ingredients (rotates q and k, adds tables). part.q, k, v, pos_q, pos_k,
  // pattern and scale are set. Empty for encodings of the input, and for none.
  std::function<void(Part& part, const EncodingContext&)> apply;
};

const std::vector<Encoding>& encodings();       // ordered as lists show them; "none" first
const Encoding& encoding(std::string_view id);  // InputError "position.type: no such encoding ..."

}  // namespace attnscope
