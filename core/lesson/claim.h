// Claims: measurable statements of a lesson about a picture, in JSON
//
//   {"text": "Each row sums to 1.", "measure": "row_sum_error", "layer": 0, "head": 2,
//    "most": 1e-5}
//
// A measure computes a number from a run. At least one of the bounds "least" and "most" is
// required. "layer" and "head" default to those of the lesson step. They are indices within the
// stack, attention kind, depth step and segment that the lesson step shows. "query" and "key" are
// token positions, required by some measures. "other": true measures run B.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/experiment/run.h"
#include "core/experiment/session.h"

namespace attnscope {

struct Claim {
  std::string text;     // a sentence
  std::string measure;  // id
  Index layer = 0, head = 0;
  Index query = -1, key = -1;  // -1: unused by the measure
  bool other = false;          // measures run B
  ViewSettings view{};         // settings of the lesson step
  std::optional<double> least, most;
};

enum class MeasureUnit {
  Number,
  Share  // a fraction, shown as a percentage
};

struct Measure {
  std::string id, help;
  bool requires_query = false, requires_key = false;
  bool compares = false;  // requires a run B
  std::function<double(const Traces&, const Claim&)> value;
  MeasureUnit unit = MeasureUnit::Number;
};
const std::vector<Measure>& measures();

// Throws InputError, beginning with `path`, for invalid or unknown members. Layer and head default
// to those of `step`.
Claim claim_from_json(const Json& object, const Session& step, std::string_view path);

struct ClaimCheck {
  double value = 0;
  bool holds = false;  // false for NaN
};
// Throws InputError if the traces lack the layer, head, query or key.
ClaimCheck check(const Claim& claim, const Traces& traces);

// A measured value and the limits of its claim.
struct MeasuredText {
  std::string value;     // "87%"; "below 1e-5" if the only limit is a small maximum
  std::string expected;  // "expected at least 80%"; empty if the value equals a limit
};
MeasuredText measured_text(const Claim& claim, const ClaimCheck& result);
std::string to_string(const MeasuredText& text);  // "87%, expected at least 80%"

}  // namespace attnscope
