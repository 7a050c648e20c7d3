#include "core/model/residual_connection.h"

#include "core/base/find_by_id.h"

namespace attnscope {

const std::vector<ResidualConnection>& residual_connections() {
  static const std::vector<ResidualConnection> list{
      plain_residual_connection(), gated_residual_connection(),  reversible_residual_connection(),
      no_residual_connection(),    rezero_residual_connection(), fixup_residual_connection()};
  return list;
}

Index state_width(const ModelConfig& config) {
  const Values& values = config.residual_connection.values;
  return values.has("end") && values.choice("end") == "both" ? 2 * config.width : config.width;
}

const ResidualConnection& residual_connection(std::string_view id) {
  return find_by_id(residual_connections(), id, "join.type");
}

}  // namespace attnscope
