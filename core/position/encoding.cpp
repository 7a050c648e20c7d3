#include "core/position/encoding.h"

#include "core/base/find_by_id.h"
#include "core/position/list.h"

namespace attnscope {

// Input encodings first, then pair encodings, grouped by their effect on a score.
const std::vector<Encoding>& encodings() {
  static const std::vector<Encoding> list = {
      none_encoding(),
      // Added to the input.
      sinusoidal_encoding(),
      learned_encoding(),
      universal_encoding(),
      // Rotation.
      rope_encoding(),
      // Bias by distance.
      alibi_encoding(),
      t5_encoding(),
      relative_bias_encoding(),
      relative_bias_2d_encoding(),
      // Relative vectors.
      shaw_encoding(),
      transformer_xl_encoding(),
      deberta_encoding(),
      global_local_encoding(),
      // Factor by distance.
      relative_factor_encoding(),
      distance_aware_encoding(),
      // Learned positions.
      untied_encoding(),
  };
  return list;
}

const Encoding& encoding(std::string_view id) {
  return find_by_id(encodings(), id, "position.type");
}

Index sequence_position(const Choice& choice, const PartRules& rules, Index entry) {
  const Encoding& e = encoding(choice.id);
  return e.sequence_position ? e.sequence_position(choice.values, rules, entry) : entry;
}

}  // namespace attnscope
