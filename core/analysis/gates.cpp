#include "core/analysis/gates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/analysis/memory_use.h"

namespace attnscope {
namespace {

constexpr const char* kExpertGates = "gate.experts";
constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

struct ResidualGate {
  const char* tap;
  const char* id;
  const char* title;
  const char* short_title;
};
constexpr ResidualGate kResidualGates[] = {
    {"gate.attention", "attention", "z of the residual gate after attention", "attention"},
    {"gate.cross", "cross", "z of the residual gate after cross-attention", "cross"},
    {"gate.feed_forward", "feed_forward", "z of the residual gate after the feed-forward",
     "feed-forward"}};

// Stores mean, deviation, minimum and maximum of each token's z [L, d] in row `target` of the set.
void add_statistics(const Tensor& z, Index target, GateSet& set) {
  const Index width = z.dim(1);
  set.components = width;
  for (Index i = 0; i < z.dim(0); ++i) {
    const float* row = z.data() + i * width;
    double sum = 0, squares = 0;
    for (Index n = 0; n < width; ++n) {
      sum += static_cast<double>(row[n]);
      squares += static_cast<double>(row[n]) * static_cast<double>(row[n]);
    }
    const double mean = sum / static_cast<double>(width);
    const double variance = squares / static_cast<double>(width) - mean * mean;
    set.mean(target, i) = static_cast<float>(mean);
    set.deviation(target, i) = static_cast<float>(std::sqrt(std::max(variance, 0.0)));
    set.least(target, i) = *std::min_element(row, row + width);
    set.most(target, i) = *std::max_element(row, row + width);
  }
}

std::vector<GateSet> residual_gates(const Trace& trace, Stack stack) {
  std::vector<GateSet> sets;
  for (const ResidualGate& gate : kResidualGates) {
    std::vector<const Located<Tensor>*> taps;
    for (const Located<Tensor>& tap : trace.located) {
      if (tap.name == gate.tap && tap.address.stack == stack) taps.push_back(&tap);
    }
    if (taps.empty()) continue;
    std::ranges::stable_sort(taps, {}, [](const auto* tap) { return tap->address; });
    const Shape shape{static_cast<Index>(taps.size()), taps.front()->values.dim(0)};
    GateSet set{gate.id,
                gate.title,
                gate.short_title,
                "0: keeps the state",
                "1: replaces it by the block's output",
                {},
                Tensor(shape),
                Tensor(shape),
                Tensor(shape),
                Tensor(shape)};
    for (const Located<Tensor>* tap : taps) {
      add_statistics(tap->values, static_cast<Index>(set.rows.size()), set);
      set.rows.push_back({tap->address.layer, -1, trace.parts.step ? tap->address.step : -1});
    }
    sets.push_back(std::move(set));
  }
  return sets;
}

// Gate of each expert of each layer, for each token; 0 for experts that the router did not select.
GateSet expert_gates(const Trace& trace, Stack stack) {
  GateSet set{"experts",
              "gates of the experts",
              "experts",
              "0: not selected by the router",
              "1: the only expert used",
              {},
              Tensor()};
  std::vector<float> gates;
  Index length = 0;
  for (const Located<Tensor>& tap : trace.located) {
    if (tap.name != kExpertGates || tap.address.stack != stack) continue;
    length = tap.values.dim(0);
    for (Index e = 0; e < tap.values.dim(1); ++e) {
      set.rows.push_back({tap.address.layer, -1, trace.parts.step ? tap.address.step : -1, e});
      for (Index i = 0; i < length; ++i) gates.push_back(tap.values(i, e));
    }
  }
  set.mean = Tensor({static_cast<Index>(set.rows.size()), length});
  std::ranges::copy(gates, set.mean.begin());
  return set;
}

// g of each head that mixes a memory with its segment, per token; NaN while the memory is empty.
GateSet memory_gates(const Trace& trace) {
  std::map<std::pair<Index, Index>, std::vector<float>> rows;  // by layer and head
  const auto length = static_cast<Index>(trace.tokens.size());
  for (const AttentionTap& tap : trace.attention) {
    const auto gate = tap.result.quantities.find("memorizing.gate");
    if (gate == tap.result.quantities.end()) continue;
    const bool has_memory = slot_count(tap, KeyKind::Memory) > 0;
    for (std::size_t a = 0; a < tap.heads.size(); ++a) {
      std::vector<float>& row = rows[{tap.address.layer, tap.heads[a]}];
      row.resize(trace.tokens.size(), kNone);
      for (Index i = 0; i < tap.queries(); ++i) {
        const Index token = trace.token_index(tap.query_rows, tap.queries(), i);
        if (token < 0 || !has_memory) continue;
        row[static_cast<std::size_t>(token)] = gate->second.value()[static_cast<Index>(a)];
      }
    }
  }
  GateSet set{"memory",
              "g, between the memory and the segment",
              "memory",
              "0: segment only",
              "1: memory only",
              {},
              Tensor({static_cast<Index>(rows.size()), length})};
  float* to = set.mean.data();
  for (const auto& [layer_head, row] : rows) {
    set.rows.push_back({layer_head.first, layer_head.second, -1});
    to = std::copy(row.begin(), row.end(), to);
  }
  return set;
}

}  // namespace

std::string GateSet::Row::label() const {
  std::string text;
  const auto add = [&text](const char* prefix, Index number) {
    if (number >= 0) text += (text.empty() ? "" : ", ") + (prefix + std::to_string(number));
  };
  add("step ", step);
  add("layer ", layer);
  add("head ", head);
  add("expert ", expert);
  return text;
}

namespace {

double mean_of(const float* first, const float* last) {
  double sum = 0;
  Index count = 0;
  for (; first != last; ++first) {
    if (std::isnan(*first)) continue;
    sum += static_cast<double>(*first);
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

double GateSet::row_mean(Index row) const {
  const float* first = mean.data() + row * mean.dim(1);
  return mean_of(first, first + mean.dim(1));
}

double GateSet::overall_mean() const {
  return mean_of(mean.data(), mean.data() + mean.size());
}

std::vector<GateSet> gates_of(const Trace& trace, Stack stack) {
  std::vector<GateSet> sets = residual_gates(trace, stack);
  GateSet experts = expert_gates(trace, stack);
  if (!experts.rows.empty()) sets.push_back(std::move(experts));
  if (stack != Stack::Decoder) return sets;
  GateSet memory = memory_gates(trace);
  if (!memory.rows.empty()) sets.push_back(std::move(memory));
  const auto retrieval = trace.taps.find("retrieval.gate");
  if (retrieval != trace.taps.end()) {
    sets.push_back({"retrieval",
                    "g, between retrieved tokens and the model",
                    "retrieval",
                    "0: retrieved tokens only",
                    "1: model state only",
                    {{}},
                    retrieval->second.value().reshaped({1, retrieval->second.dim(0)})});
    sets.back().untrained = retrieval_gate_is_untrained(trace);
  }
  return sets;
}

bool retrieval_gate_is_untrained(const Trace& trace) {
  const auto gate = trace.taps.find("retrieval.gate");
  return gate != trace.taps.end() &&
         std::ranges::all_of(gate->second.value(), [](float g) { return g == 0.5F; });
}

bool has_gates(const Trace& trace) {
  return trace.taps.contains("retrieval.gate") ||
         std::ranges::any_of(trace.located,
                             [](const auto& tap) { return tap.name.starts_with("gate."); }) ||
         std::ranges::any_of(trace.attention, [](const auto& tap) {
           return tap.result.quantities.contains("memorizing.gate");
         });
}

}  // namespace attnscope
