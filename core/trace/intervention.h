// Interventions: changes inside a model that show what depends on the changed component.
//
//   off layer=2 head=1             the head contributes nothing to the output projection
//   off layer=2                    the layer is skipped: its output is its input
//   forbid query=5 key=3           the pair is excluded from the softmax
//   forbid key=0                   no query sees the key: a whole column
//   force query=5 key=3            of its allowed keys, the query sees only the forced ones
//   force key=0                    every query that may see the key sees only forced keys
//   replace position=4 text= cat   another token at a position; token=312: by its id
//
// Layers, heads and pairs are those of the decoder's self-attention, in all steps if its layers are
// applied repeatedly. Pairs of a text that is read in segments cannot be addressed.
//
// Forbid and force apply to all layers and heads, or to those given by layer= and head=. Forbid
// takes precedence over force. Positions count from 0 in the tokens of the run. The text after
// text= extends to the end of the line and must be a single token.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/part/pattern.h"

namespace attnscope {

struct Intervention {
  enum class Kind { Off, Forbid, Force, Replace };
  Kind kind = Kind::Off;
  Index layer = -1, head = -1;  // -1: all
  Index query = -1, key = -1;   // Forbid, Force; query -1: all
  Index position = -1;          // Replace
  std::int32_t token = -1;      // Replace; -1: given by `text`
  std::string text{};
  bool operator==(const Intervention&) const = default;
};
using Interventions = std::vector<Intervention>;

// Parses one line. InputError "intervene: expected off, forbid, force or replace, found ..."
Intervention intervention_from_text(std::string_view line);
std::string to_text(const Intervention& intervention);
// Display names; items without a name, or with an empty one, are shown by number.
struct InterventionNames {
  std::function<std::string(std::int32_t)> token{};  // vocabulary entries
  std::function<std::string(Index)> query{}, key{};  // rows and columns of the maps
  std::function<std::string(Index)> position{};      // tokens of the text
};
// "head 1 of layer 2 is off", "␣she ↛ ␣because in all layers" (query ↛ key).
std::string describe(const Intervention& intervention, const InterventionNames& names = {});

// Parses a list of {"type": "forbid", "key": 0, ...}; strict. InputErrors begin with `path`.
Interventions interventions_from_json(const Json& list, std::string_view path);
Json to_json(const Interventions& interventions);

// Sizes of a model and text that limit layers, heads and positions of interventions.
struct ModelExtent {
  Index layers = 0, heads = 0, vocabulary = 0, tokens = 0;
  Index attended = -1;         // number of tokens in the decoder's self-attention; -1: `tokens`
  bool self_attention = true;  // the decoder has self-attention
  bool segments = false;       // the text is read in segments
};
// Throws InputError for a layer, head, pair or position out of bounds.
void check(const Interventions& interventions, const ModelExtent& extent);

bool is_off(const Interventions& interventions, Index layer);  // the whole layer
bool is_off(const Interventions& interventions, Index layer, Index head);

// True if an intervention forbids this pair of a head, or forces the query to attend elsewhere.
bool forbids(const Interventions& interventions, Index layer, Index head, Index query, Index key);
// True if an intervention changes the allowed keys of heads [first_head, first_head + heads).
bool changes_pattern(const Interventions& interventions, Index layer, Index first_head,
                     Index heads);
// Returns the pattern [L, L] of these heads after the interventions: fewer keys, the same rules.
// Throws InputError if a forced pair (query and key) is not allowed by the pattern.
Pattern changed_pattern(const Pattern& pattern, const Interventions& interventions, Index layer,
                        Index first_head, Index heads);

}  // namespace attnscope
