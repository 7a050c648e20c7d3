#include "core/model/layer_stack.h"

#include "core/model/pass.h"
#include "core/model/recomputation.h"
#include "core/model/residual_connection.h"
#include "core/model/weights.h"

namespace attnscope {

LayerStack layer_stack(const std::string& stack, const std::vector<std::vector<HeadGroup>>& groups,
                       const Address& address, bool causal,
                       const std::function<Index(Index layer)>& weights_of) {
  LayerStack result;
  for (std::size_t n = 0; n < groups.size(); ++n) {
    Site site{stack + layer_prefix(static_cast<Index>(n)), address, &groups[n], causal};
    site.address.layer = static_cast<Index>(n);
    if (weights_of) {
      site.private_prefix = site.prefix;
      site.prefix = stack + layer_prefix(weights_of(static_cast<Index>(n)));
    }
    result.sites.push_back(std::move(site));
  }
  return result;
}

Var run_layers(Pass& pass, const LayerStack& stack, const Var& x) {
  const ResidualConnection& residual_connection =
      attnscope::residual_connection(pass.config().residual_connection.id);
  if (residual_connection.run_layers) return residual_connection.run_layers(pass, stack, x);
  std::optional<RecomputedLayers> recomputed;
  if (pass.options().recomputes_layers) recomputed.emplace(pass);
  Var state = x;
  Index n = 0;
  for (const Site& site : stack.sites) {
    ++n;
    state = pass.probed(ProbePoint::LayerInput, state, site.address);
    const Pass::ActiveRows rows = stack.active_rows ? stack.active_rows(n) : std::nullopt;
    const Var new_state = recomputed
                              ? recomputed->block(site, state, stack.source)
                              : pass.recorded_block(site, state, stack.source, rows);  // [n, d]
    state = stack.after_layer ? stack.after_layer(n, state, new_state) : new_state;
    pass.tap(tap_prefix(site) + "residual", state, site.address.segment);
    if (pass.options().layer_recorded) pass.options().layer_recorded(site.address.stack, n);
  }
  if (stack.sites.empty()) return state;
  Address end = stack.sites.back().address;
  ++end.layer;
  return pass.probed(ProbePoint::LayerInput, state, end);
}

}  // namespace attnscope
