// What a lesson says about a picture, in a form that can be measured:
//
//   {"text": "Each row sums to 1.", "measure": "row_sum_error", "layer": 0, "head": 2,
//    "most": 1e-5}
//
// "layer" and "head" are the step's unless they are given, and are those of the stack, kind, step
// and segment that the step looks at; "query" and "key" are token positions,
// where the measure takes them. "other": true measures the run that the step compares with. At
// least one of "least" and "most" must be given.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/experiment/experiment.h"
#include "core/experiment/runner.h"

namespace attnscope {

struct Claim {
  std::string text;     // a sentence
  std::string measure;  // id
  Index layer = 0, head = 0;
  Index query = -1, key = -1;  // -1: the measure takes none
  bool other = false;          // of the run beside it
  ViewSettings view{};         // of the step: what is drawn
  std::optional<double> least, most;
};

struct Measure {
  std::string id, help;
  bool takes_query = false, takes_key = false;
  bool compares = false;  // the step's experiment must have another to compare with
  std::function<double(const Traces&, const Claim&)> value;
};
const std::vector<Measure>& measures();

// Strict; `step` gives layer and head. InputErrors begin with `path`.
Claim claim_from_json(const Json& object, const Experiment& step, std::string_view path);

struct ClaimCheck {
  double value = 0;
  bool holds = false;  // NaN holds nothing
};
// InputError when the traces have no such layer, head, query or key.
ClaimCheck check(const Claim& claim, const Traces& traces);

// "0.93 (at least 0.9)"; where the limit itself was found, "5"; of a small difference that
// is to vanish and does, "below 0.00001".
std::string measured_text(const Claim& claim, const ClaimCheck& checked);

}  // namespace attnscope
