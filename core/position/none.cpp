// none: attention that knows no order.
#include "core/position/list.h"

namespace attnscope {

Encoding none_encoding() {
  Encoding e;
  e.id = "none";
  e.label = "None";
  e.group = "None";
  e.equation = "sᵢⱼ = qᵢ·kⱼ / √d_k";
  e.summary =
      "Nothing says where a token stands. Without a mask, attention treats its keys as a set: "
      "shuffle the tokens and the outputs are shuffled alike. A causal mask alone still tells a "
      "decoder something about order, since later tokens see more.";
  e.source = "Haviv et al., 2022, Transformers without positional encodings, arXiv:2203.16634";
  e.cost = "nothing";
  return e;
}

}  // namespace attnscope
