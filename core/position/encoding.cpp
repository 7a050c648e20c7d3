#include "core/position/encoding.h"

#include "core/base/error.h"
#include "core/position/list.h"

namespace attnscope {

// Absolute ones first, as they came in history; then those of pairs.
const std::vector<Encoding>& encodings() {
  static const std::vector<Encoding> list = {
      none_encoding(),
      sinusoidal_encoding(),
      learned_encoding(),
      universal_encoding(),
      rope_encoding(),
      alibi_encoding(),
      t5_encoding(),
      shaw_encoding(),
      relative_bias_encoding(),
      relative_factor_encoding(),
      transformer_xl_encoding(),
      untied_encoding(),
      deberta_encoding(),
      distance_aware_encoding(),
  };
  return list;
}

const Encoding& encoding(std::string_view id) {
  std::string known;
  for (const Encoding& entry : encodings()) {
    if (entry.id == id) return entry;
    known += (known.empty() ? "" : ", ") + entry.id;
  }
  throw InputError("position.type: no such encoding, expected one of " + known + ", found " +
                   std::string(id.substr(0, 40)));
}

}  // namespace attnscope
