// none: attention without positions.
#include "core/position/list.h"

namespace attnscope {

Encoding none_encoding() {
  Encoding e;
  e.id = "none";
  e.label = "None";
  e.group = "None";
  e.equation = "sᵢⱼ = qᵢ·kⱼ / √d_k";
  e.summary =
      "Nothing encodes where a token is. Without a mask, attention treats its keys as a set: "
      "permuting the tokens permutes the outputs. A causal mask alone still gives a decoder some "
      "information about order, since later tokens see more keys.";
  e.source = "Haviv et al., 2022, Transformers without positional encodings, arXiv:2203.16634";
  e.complexity = "nothing";
  return e;
}

}  // namespace attnscope
