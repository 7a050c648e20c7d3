// What a person changes inside a model to see what depends on it.
//
//   off layer=2 head=1             a head gives nothing to the output projection
//   off layer=2                    a layer is left out: what enters it leaves it
//   forbid query=5 key=3           the pair takes no part in the softmax
//   forbid key=0                   nobody sees the key: a whole column
//   force query=5 key=3            of the keys that it may see, the query sees only the forced ones
//   force key=0                    ... and so does every query that may see the key
//   replace position=4 text= cat   another token in the place of one; token=312 by its number
//
// Layers, heads and pairs are those of the decoder's self-attention, in all steps where its layers
// are applied again and again. Pairs of a text that is read in segments have no numbers.
//
// Forbidding and forcing hold for all layers and heads, or for those that layer= and head= name;
// what is forbidden stays so when it is also forced. Positions count from 0 in the tokens that are
// run; a text reaches to the end of the line and must be one token.
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
  std::int32_t token = -1;      // Replace; -1: `text` says it
  std::string text{};
  bool operator==(const Intervention&) const = default;
};
using Interventions = std::vector<Intervention>;

// The lines above. InputError "intervene: expected off, forbid, force or replace, found \"...\"".
Intervention intervention_from_text(std::string_view line);
std::string to_text(const Intervention& intervention);
// What things are called; where a name is missing or empty, they are called by their number.
struct InterventionNames {
  std::function<std::string(std::int32_t)> token{};  // of the vocabulary
  std::function<std::string(Index)> query{}, key{};  // rows and columns of the maps
  std::function<std::string(Index)> position{};      // tokens of the text
};
// In words: "head 1 of layer 2 is off", "␣she ↛ ␣because in all layers" (who does not see what).
std::string describe(const Intervention& intervention, const InterventionNames& names = {});

// A list of {"type": "forbid", "key": 0, ...}; strict, InputErrors begin with `path`.
Interventions interventions_from_json(const Json& list, std::string_view path);
Json to_json(const Interventions& interventions);

// What there is to intervene in.
struct ModelExtent {
  Index layers = 0, heads = 0, vocabulary = 0, tokens = 0;
  Index attended = -1;         // tokens of the decoder's self-attention; -1: `tokens`
  bool self_attention = true;  // the decoder has one
  bool segments = false;       // it reads in segments
};
// InputError where one speaks of a layer, head, pair or position that there is not.
void check(const Interventions& interventions, const ModelExtent& extent);

bool is_off(const Interventions& interventions, Index layer);
bool is_off(const Interventions& interventions, Index layer, Index head);

// Whether any of them changes which keys these heads see.
bool changes_pattern(const Interventions& interventions, Index layer, Index first_head,
                     Index heads);
// S_i as these heads of the layer then have it: the same rules, fewer keys. [L, L]. InputError
// where a single pair is forced that the pattern does not allow.
Pattern changed_pattern(const Pattern& pattern, const Interventions& interventions, Index layer,
                        Index first_head, Index heads);

}  // namespace attnscope
