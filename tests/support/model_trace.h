// Traces of small untrained models, with q, k, v and all other tensors that views draw.
#pragma once

#include <string>

#include "core/attention/variant.h"
#include "core/trace/trace.h"
#include "core/view/view.h"

namespace attnscope::testing {

struct TracedModel {
  std::string variant = "full", encoding = "rope";  // JSON or an id
  Index length = 12, layers = 2, heads = 2, kv_heads = 2, head_size = 8, context = 300;
  bool causal = true;
};
Trace run_model(const TracedModel& options);
// Trace of a variant with illustrative parameters and without position encoding, for 16 tokens.
Trace run_variant(const Variant& v);

// Settings of a view with the parameters in `json`, for example {"before": true}.
ViewSettings settings_with(const std::string& view, const std::string& json);

}  // namespace attnscope::testing
