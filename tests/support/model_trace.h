// Traces of small untrained models with q, k, v and all tensors that views explain.
#pragma once

#include <string>

#include "core/attention/variant.h"
#include "core/trace/trace.h"
#include "core/view/view.h"

namespace attnscope::testing {

struct TracedModel {
  std::string variant = "full", encoding = "rope";  // JSON or a name
  Index length = 12, layers = 2, heads = 2, kv_heads = 2, head_size = 8, context = 300;
  bool causal = true;
};
Trace run_model(const TracedModel& options);
// Trace of a variant with illustrative parameters, without positions, on 16 tokens.
Trace run_variant(const Variant& v);

// Settings of a view with these parameters: {"before": true}.
ViewSettings settings_with(const std::string& view, const std::string& json);

}  // namespace attnscope::testing
