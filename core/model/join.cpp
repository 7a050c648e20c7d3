#include "core/model/join.h"

#include "core/base/find_by_id.h"

namespace attnscope {

const std::vector<Join>& joins() {
  static const std::vector<Join> list{residual_join(), gru_join(), reversible_join()};
  return list;
}

Index state_width(const ModelConfig& config) {
  const Values& values = config.join.values;
  return values.has("end") && values.choice("end") == "both" ? 2 * config.width : config.width;
}

const Join& join(std::string_view id) {
  return find_by_id(joins(), id, "join.type");
}

}  // namespace attnscope
