#include "core/lesson/claim.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/figure/plain_text.h"

namespace attnscope {
namespace {

const Measure& measure(const std::string& id) {
  const auto found = std::ranges::find(measures(), id, &Measure::id);
  if (found == measures().end()) throw std::logic_error("no measure " + id);
  return *found;
}

std::vector<std::string> measure_ids() {
  std::vector<std::string> ids;
  for (const Measure& m : measures()) ids.push_back(m.id);
  return ids;
}

}  // namespace

Claim claim_from_json(const Json& value, const Session& step, std::string_view path) {
  JsonObject object(value, path);
  Claim claim;
  claim.text = object.text("text");
  claim.measure = measure_ids()[object.choice("measure", measure_ids())];
  const Measure& selected = measure(claim.measure);
  claim.layer = object.integer_or("layer", step.view.layer, 0, kMaxIndex);
  claim.head = object.integer_or("head", step.view.head, 0, kMaxIndex);
  if (selected.requires_query) claim.query = object.integer("query", 0, kMaxIndex);
  if (selected.requires_key) claim.key = object.integer("key", 0, kMaxIndex);
  claim.other = object.flag_or("other", false);
  claim.view = step.view;
  const double max = std::numeric_limits<double>::max();
  if (object.has("least")) claim.least = object.number("least", -max, max);
  if (object.has("most")) claim.most = object.number("most", -max, max);
  if (!claim.least && !claim.most) object.fail("least", "\"least\" or \"most\"");
  if ((selected.compares || claim.other) && !reference_of(step)) {
    object.fail("measure", "a session with \"compare\" for " + selected.id);
  }
  object.finish();
  return claim;
}

ClaimCheck check(const Claim& claim, const Traces& traces) {
  if ((measure(claim.measure).compares || claim.other) && traces.reference() == nullptr) {
    throw InputError("the claim requires run B, which is missing");
  }
  Traces swapped(traces.reference(), traces.trace);
  swapped.findings.add(findings_of_reference(traces.findings));
  ClaimCheck result;
  result.value = measure(claim.measure).value(claim.other ? swapped : traces, claim);
  result.holds = !std::isnan(result.value) && (!claim.least || result.value >= *claim.least) &&
                 (!claim.most || result.value <= *claim.most);
  return result;
}

namespace {

// Formats integers without rounding: "2048".
std::string number_text(double value, MeasureUnit unit, int digits) {
  constexpr double kMaxCount = 1e6;
  if (unit == MeasureUnit::Share) return percent(value, digits);
  if (std::abs(value) < kMaxCount && value == std::round(value)) {
    return std::to_string(static_cast<long>(value));
  }
  return brief(value, digits + 1);
}

std::string limits_text(const std::optional<std::string>& least,
                        const std::optional<std::string>& most) {
  if (least && most) return *least == *most ? *least : *least + " to " + *most;
  return least ? "at least " + *least : "at most " + *most;
}

}  // namespace

MeasuredText measured_text(const Claim& claim, const ClaimCheck& result) {
  constexpr double kSmallLimit = 1e-3;
  constexpr int kDigits = 2;
  const MeasureUnit unit = measure(claim.measure).unit;
  const auto text_of = [&](const std::optional<double>& limit) -> std::optional<std::string> {
    if (!limit) return std::nullopt;
    return number_text(*limit, unit, kDigits);
  };
  const std::optional<std::string> least = text_of(claim.least), most = text_of(claim.most);
  std::string value = number_text(result.value, unit, kDigits);
  const bool is_at_limit = result.value == claim.least || result.value == claim.most;
  const bool equals_limit = value == least || value == most;
  if (result.holds && (is_at_limit || (value == least && value == most))) return {value, ""};
  if (result.holds && !claim.least && *claim.most > 0 && *claim.most < kSmallLimit) {
    return {"below " + *most, ""};
  }
  if (equals_limit && !is_at_limit) value = number_text(result.value, unit, kDigits + 1);
  return {value, "expected " + limits_text(least, most)};
}

std::string to_string(const MeasuredText& text) {
  return text.value + (text.expected.empty() ? "" : ", " + text.expected);
}

}  // namespace attnscope
