// Positional encodings (spec.md, section 3).
//
// One file per encoding; encodings() lists them in order. An input encoding adds position vectors
// to the embeddings. A pair encoding changes queries, keys or scores of one attention operation.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/part/choice.h"
#include "core/part/info.h"
#include "core/part/part.h"

namespace attnscope {

// Inputs of an encoding.
struct EncodingContext {
  const Values& values;
  const NamedVars& weights;
  Dimensions dimensions;
  bool causal = false;         // determines whether T5's buckets are bidirectional by default
  std::optional<float> scale;  // set by the user; empty: default
};

struct RotaryPair;  // core/position/rope.h

struct Encoding : Info {
  bool uses_step = false;  // also encodes the step of a recurrence over depth (parameter "step")
  bool absolute = false;   // depends on i and j, not only on i - j
  // Adds the position vectors to the input of the first layer. x: [B, L, d], positions: [L].
  // Empty for pair encodings.
  std::function<Var(const Var& x, const std::vector<std::int32_t>& positions,
                    const EncodingContext&)>
      embed;
  // Rotates queries or keys by their positions. Set only for encodings whose only effect is the
  // rotation. x: [B h, L, d_k]; positions: [L], empty for 0, 1, ...
  std::function<Var(const Var& x, const std::vector<std::int32_t>& positions,
                    const EncodingContext&)>
      rotate;
  // Rotation planes of a head with `head_size` components. Empty: no rotation.
  std::function<std::vector<RotaryPair>(const Values&, Index head_size)> planes;
  // True if the encoding of a row depends on the length of the text, for lengths up to `context`.
  // Empty: never.
  std::function<bool(const Values&, Index context)> depends_on_length;
  // Position in the sequence of a code in the part's pos_q or pos_k, if the encoding replaces
  // positions by codes. Empty: it keeps them.
  std::function<Index(const Values&, const PartRules&, Index code)> sequence_position;
  // Sets the part's position ingredients (rotates q and k, adds tables). The caller has set part.q,
  // k, v, pos_q, pos_k, pattern and scale. Empty for input encodings and "none".
  std::function<void(Part& part, const EncodingContext&)> apply;
};

const std::vector<Encoding>& encodings();       // in display order; "none" first
const Encoding& encoding(std::string_view id);  // throws InputError "position.type: ..."

// Position in the sequence of an entry of pos_q or pos_k of a part with this encoding.
Index sequence_position(const Choice& choice, const PartRules& rules, Index entry);

}  // namespace attnscope
