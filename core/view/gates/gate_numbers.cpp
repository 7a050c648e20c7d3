#include "core/view/gates/gate_numbers.h"

#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"
#include "core/view/parts/cached_numbers.h"

namespace attnscope {
namespace {

Stack gate_stack(const ViewInput& input) {
  return input.part().stack;
}

// The maximum, if gates differ: ", maximum 0.15 at “?” in layer 0".
std::string describe_maximum(const GateSet& set, const std::vector<TraceToken>& tokens) {
  Index row = -1, token = -1;
  float minimum = 2, maximum = -1;
  for (Index r = 0; r < gate_rows(set); ++r) {
    for (Index i = 0; i < set.mean.dim(1); ++i) {
      const float value = set.mean(r, i);
      if (std::isnan(value)) continue;
      minimum = std::min(minimum, value);
      if (value <= maximum) continue;
      maximum = value;
      row = r;
      token = i;
    }
  }
  if (row < 0 || maximum - minimum < 0.005F) return "";
  const std::string place = set.rows[static_cast<std::size_t>(row)].label();
  return ", maximum " + gate_number(static_cast<double>(maximum)) + " at “" +
         tokens[static_cast<std::size_t>(token)].label + "”" +
         (place.empty() ? "" : " in " + place);
}

}  // namespace

Refusal gates_refusal(const Trace& trace) {
  if (!trace.is_imported && has_gates(trace)) return {};
  return {"No gates in this run",
          "Gates exist in models with GTrXL residual gates (Residual: Gated), in the variant "
          "Memorizing, and in SPALM retrieval. Choose one of them."};
}

Refusal gates_refusal(const GateSets& sets) {
  return sets.empty() ? Refusal{"No gates here", "Choose the decoder."} : Refusal{};
}

std::shared_ptr<const GateSets> selected_gates(const ViewInput& input) {
  const Stack stack = gate_stack(input);
  return cached_numbers(input, source_of(input.trace), CacheKey("gates", stack),
                        [&] { return gates_of(input.trace, stack); });
}

const std::vector<TraceToken>& gate_tokens(const ViewInput& input) {
  return gate_stack(input) == Stack::Encoder ? input.trace.tokens_of({kSourceStream, 0})
                                             : input.trace.tokens;
}

Index gate_rows(const GateSet& set) {
  return static_cast<Index>(set.rows.size());
}

std::string gate_number(double value) {
  return std::isnan(value) ? "none" : fixed(value, 2);
}

std::string describe_gates(const GateSets& sets) {
  std::string text;
  for (const GateSet& set : sets) {
    text += (text.empty() ? "Gates: " : "; ") + set.title + " (" + set.closed + ", " + set.open +
            (set.untrained ? "; untrained, so half open everywhere" : "") + ")";
  }
  return text + ".";
}

std::vector<std::string> gates_summary(const GateSets& sets,
                                       const std::vector<TraceToken>& tokens) {
  std::string long_text, short_text;
  for (const GateSet& set : sets) {
    const std::string mean = gate_number(set.overall_mean());
    const std::string note = set.untrained ? " (untrained)" : "";
    long_text += (long_text.empty() ? "" : "; ") + set.short_title + " " + mean + note +
                 describe_maximum(set, tokens);
    short_text += (short_text.empty() ? "" : ", ") + set.short_title + " " + mean + note;
  }
  return {"Mean gate values: " + long_text + ".", "Mean gates: " + short_text + ".", short_text};
}

std::string describe_token_gates(const GateSet& set, Index row, Index token) {
  const std::string place = set.rows[static_cast<std::size_t>(row)].label();
  const std::string text = set.short_title + (place.empty() ? " " : ", " + place + ", ");
  const auto mean = static_cast<double>(set.mean(row, token));
  if (std::isnan(mean)) return text + "no gate";
  if (!set.deviation.defined()) return text + gate_number(mean);
  const auto number_of = [&](const Tensor& numbers) {
    return gate_number(static_cast<double>(numbers(row, token)));
  };
  return text + gate_number(mean) + " ± " + number_of(set.deviation) + " (" + number_of(set.least) +
         " to " + number_of(set.most) + ")";
}

ViewData gates_data(const ViewInput& input) {
  gates_refusal(input.trace).throw_if_refused();
  const auto sets = selected_gates(input);
  gates_refusal(*sets).throw_if_refused();
  std::vector<std::string> tokens;
  for (const TraceToken& token : gate_tokens(input)) tokens.push_back(token.label);
  ViewData data;
  for (const GateSet& set : *sets) {
    std::vector<std::string> rows;
    for (const GateSet::Row& row : set.rows) rows.push_back(row.label());
    data.matrices.push_back({set.id + " mean", set.mean, rows, tokens});
    if (!set.deviation.defined()) continue;
    data.matrices.push_back({set.id + " deviation", set.deviation, rows, tokens});
    data.matrices.push_back({set.id + " least", set.least, rows, tokens});
    data.matrices.push_back({set.id + " most", set.most, rows, tokens});
  }
  return data;
}

}  // namespace attnscope
