#include "core/view/flow/flow_numbers.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/pair.h"
#include "core/analysis/prediction.h"
#include "core/analysis/row.h"
#include "core/analysis/sinks.h"
#include "core/attention/variants/shared/implied_rows.h"
#include "core/experiment/next_token.h"
#include "core/figure/plain_text.h"
#include "core/model/config.h"
#include "core/model/logit_lens.h"
#include "core/model/residual_connection.h"
#include "core/model/sample.h"
#include "core/model/site.h"
#include "core/model/weights.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/focus.h"
#include "core/view/parts/token_axis.h"
#include "core/view/trajectory/walk_grid.h"

namespace attnscope {
namespace {

// Tolerance of float32 sums of some hundred numbers, relative to the largest number.
constexpr double kRounding = 2e-4;
constexpr Index kMaxCandidates = 12;

Tensor zeros_like_row(Index size) {
  return Tensor::zeros({size});
}

double largest(const Tensor& x) {
  double maximum = 0;
  for (const float v : x) maximum = std::max(maximum, std::abs(static_cast<double>(v)));
  return maximum;
}

// Largest difference of two tensors, relative to the larger magnitude.
double relative_difference(const Tensor& a, const Tensor& b) {
  double maximum = 0;
  for (Index n = 0; n < a.size(); ++n) {
    const double difference = static_cast<double>(a[n]) - static_cast<double>(b[n]);
    if (std::isnan(difference)) return INFINITY;
    maximum = std::max(maximum, std::abs(difference));
  }
  return maximum / std::max(1e-12, std::max(largest(a), largest(b)));
}

void add_to(Tensor& sum, const Tensor& term, double scale = 1) {
  for (Index n = 0; n < sum.size(); ++n) {
    sum[n] = static_cast<float>(static_cast<double>(sum[n]) + scale * static_cast<double>(term[n]));
  }
}

// Row of `head`, restricted to components `numbers`. x: [heads or shared heads, L, d].
Tensor head_row(const Tensor& x, Index head, Index heads, Index row, Part::Span numbers) {
  const Index shared_head = head / std::max<Index>(1, heads / x.dim(0));
  const float* from = x.data() + (shared_head * x.dim(1) + row) * x.dim(2) + numbers.first;
  return Tensor::from({numbers.count}, std::vector<float>(from, from + numbers.count));
}

Tensor head_row(const Tensor& x, Index head, Index heads, Index row) {
  return head_row(x, head, heads, row, {0, x.dim(2)});
}

Tensor stacked_rows(const std::vector<Tensor>& rows) {
  if (rows.empty()) return {};
  Tensor stacked({static_cast<Index>(rows.size()), rows.front().size()});
  float* to = stacked.data();
  for (const Tensor& row : rows) to = std::copy_n(row.data(), row.size(), to);
  return stacked;
}

// --- One head ----------------------------------------------------------------------------------

bool compares_pairs(const Part& part) {
  const bool has_products = part.source == Source::Product || part.source == Source::Additive;
  return has_products && part.q.defined() && part.k.defined() &&
         part.normaliser != Normaliser::FeatureRatio;
}

// Score s_ij of a weight; empty for variants without pair scores.
std::optional<double> score_of(const AttentionTap& tap, Index head, Index query, Index key,
                               double weight) {
  const std::shared_ptr<const Part> part = tap.part();
  if (part == nullptr || part->normaliser == Normaliser::FeatureRatio) return std::nullopt;
  if (part->normaliser == Normaliser::None) return std::nullopt;  // the weight is the score
  if (part->source == Source::Product && part->q.defined() && part->k.defined()) {
    const auto score = pair_score(*part, head, query, key);
    return score ? std::optional(score->score) : std::nullopt;
  }
  // a = exp(s - lse)
  const Tensor& lse = tap.result.log_sum_exp;
  if (part->normaliser != Normaliser::Softmax || !lse.defined() || !(weight > 0)) {
    return std::nullopt;
  }
  return std::log(weight) + static_cast<double>(lse[head * tap.queries() + query]);
}

// Value vectors by column of the weights; undefined unless each column has one vector, which the
// weights of the map multiply.
Tensor column_values(const AttentionTap& tap) {
  if (averaged_channels(tap.result) > 0) return {};
  const std::shared_ptr<const Part> part = tap.part();
  const Tensor values = part != nullptr && part->v.defined() ? part->v.value() : tap.input().v;
  const bool has_all = values.defined() && values.rank() == 3 && values.dim(1) == tap.keys();
  return has_all ? values : Tensor();
}

// Relative-position values: Σ_j a_ij rows[index(pos_i - pos_j)].
Tensor position_values(const AttentionTap& tap, Index head, Index query, const Tensor& weights) {
  const PartSettings* part = tap.settings();
  if (part == nullptr || !part->value_rows) return {};
  const RelativeRows& table = *part->value_rows;
  const Tensor& rows = table.rows.value();
  Tensor sum = zeros_like_row(rows.dim(2));
  const Index h = rows.dim(0) == 1 ? 0 : head;
  for (Index c = 0; c < weights.size(); ++c) {
    if (weights[c] == 0) continue;
    const Index offset = query_position(tap, query) - key_position(tap, head, c);
    const float* row = rows.data() + (h * rows.dim(1) + (*table.index)(offset)) * rows.dim(2);
    for (Index n = 0; n < sum.size(); ++n) sum[n] += weights[c] * row[n];
  }
  return sum;
}

void add_values(FlowSum& sum, const AttentionTap& tap, Index head, Index query,
                const Tensor& weights) {
  const Tensor values = column_values(tap);
  if (!values.defined()) return;
  const std::shared_ptr<const Part> part = tap.part();
  const Part::Span numbers =
      part != nullptr ? part->numbers_of(Var(values), query) : Part::Span{0, values.dim(2)};
  if (numbers.count != sum.output.size()) return;
  const auto heads = static_cast<Index>(tap.heads.size());
  sum.adds_values = true;
  std::vector<Tensor> unweighted, weighted;
  sum.sum = zeros_like_row(sum.output.size());
  std::vector<bool> is_shown(static_cast<std::size_t>(weights.size()));
  for (const FlowKey& key : sum.keys) {
    is_shown[static_cast<std::size_t>(key.column)] = true;
    unweighted.push_back(head_row(values, head, heads, key.column, numbers));
    weighted.push_back(zeros_like_row(sum.output.size()));
    add_to(weighted.back(), unweighted.back(), key.weight);
    add_to(sum.sum, weighted.back());
  }
  std::vector<double> others(static_cast<std::size_t>(sum.output.size()));
  for (Index c = 0; c < weights.size(); ++c) {
    if (is_shown[static_cast<std::size_t>(c)] || weights[c] == 0) continue;
    const Index kv = head / std::max<Index>(1, heads / values.dim(0));
    const float* row = values.data() + (kv * values.dim(1) + c) * values.dim(2) + numbers.first;
    for (std::size_t n = 0; n < others.size(); ++n) {
      others[n] += static_cast<double>(weights[c]) * static_cast<double>(row[n]);
    }
  }
  sum.others_sum = Tensor({sum.output.size()});
  std::ranges::transform(others, sum.others_sum.begin(),
                         [](double v) { return static_cast<float>(v); });
  sum.values = stacked_rows(unweighted);
  sum.weighted = stacked_rows(weighted);
  sum.relative_sum = position_values(tap, head, query, weights);
  add_to(sum.sum, sum.others_sum);
  if (sum.relative_sum.defined()) add_to(sum.sum, sum.relative_sum);
  sum.is_output = relative_difference(sum.sum, sum.output) <= kRounding;
}

}  // namespace

FlowSum flow_sum(const Trace& trace, const AttentionTap& tap, Index head, Index query, Index keys,
                 Index pinned) {
  FlowSum sum;
  const Tensor weights = sum.weights = attention_row(tap, head, query);
  const auto heads = static_cast<Index>(tap.heads.size());
  const std::shared_ptr<const Part> part = tap.part();
  const bool compares = part != nullptr && compares_pairs(*part);
  const RowStatistics row = row_statistics(weights.data(), weights.size(), keys);
  std::vector<Index> columns = row.strongest;
  const bool has_weight = pinned >= 0 && pinned < weights.size() && weights[pinned] != 0;
  if (has_weight && std::ranges::find(columns, pinned) == columns.end()) columns.back() = pinned;
  std::vector<Tensor> vectors;
  double total = 0;
  for (const float w : weights) {
    total += static_cast<double>(w);
    if (w != 0) ++sum.others;
  }
  for (const Index column : columns) {
    FlowKey key{column, key_label(trace, tap, column), static_cast<double>(weights[column])};
    key.score = score_of(tap, head, query, column, key.weight);
    if (compares) {
      vectors.push_back(
          head_row(part->k.value(), head, heads, column, part->numbers_of(part->k, query)));
    }
    total -= key.weight;
    --sum.others;
    sum.keys.push_back(std::move(key));
  }
  sum.others_weight = sum.others > 0 ? total : 0;
  sum.sink = sink_weight(tap, head, query);
  sum.key_vectors = stacked_rows(vectors);
  if (compares) {
    sum.query = head_row(part->q.value(), head, heads, query, part->numbers_of(part->q, query));
  }
  sum.output = head_row(tap.output(), head, heads, query);
  add_values(sum, tap, head, query, weights);
  return sum;
}

Index flow_query(const ViewSettings& settings, const Trace& trace, const AttentionTap& tap) {
  if (settings.pinned_query >= 0 && settings.pinned_query < tap.queries()) {
    return settings.pinned_query;
  }
  const Index token = selected_position(settings, trace, tap);
  for (Index row = 0; row < tap.queries(); ++row) {
    const bool is_main = tap.query_rows.stream.empty();
    if (is_main && trace.token_index(tap.query_rows, tap.queries(), row) == token) return row;
  }
  return tap.queries() - 1;
}

namespace {

// --- The heads of the layer --------------------------------------------------------------------

// Taps of all head groups of the layer, in order.
std::vector<const AttentionTap*> groups_of_layer(const Trace& trace, const AttentionTap& tap) {
  std::vector<const AttentionTap*> groups;
  for (const AttentionTap& candidate : trace.attention) {
    Address address = candidate.address;
    address.group = tap.address.group;
    if (address == tap.address) groups.push_back(&candidate);
  }
  std::ranges::sort(groups, {}, [](const AttentionTap* t) { return t->address.group; });
  return groups;
}

}  // namespace

FlowHeads flow_heads(const Trace& trace, const Interventions& interventions,
                     const AttentionTap& tap, Index query) {
  FlowHeads heads;
  std::vector<Tensor> outputs;
  const bool can_be_off =
      tap.address.stack == Stack::Decoder && tap.address.kind == AttentionKind::Self;
  for (const AttentionTap* group : groups_of_layer(trace, tap)) {
    const Tensor output = group->output();
    if (!output.defined()) return heads;
    for (std::size_t n = 0; n < group->heads.size(); ++n) {
      outputs.push_back(head_row(output, static_cast<Index>(n), output.dim(0), query));
      heads.is_off.push_back(can_be_off &&
                             is_off(interventions, tap.address.layer, group->heads[n]));
      if (outputs.back().size() != outputs.front().size()) return heads;
    }
  }
  heads.outputs = stacked_rows(outputs);
  if (!tap.combine_heads) return heads;
  // Row a: head a alone. Row `count`: no head. Row `count + 1`: all heads.
  const Index count = heads.outputs.dim(0), size = heads.outputs.dim(1);
  Tensor rows = Tensor::zeros({count + 2, count * size});
  for (Index a = 0; a < count; ++a) {
    if (heads.is_off[static_cast<std::size_t>(a)]) continue;
    for (const Index row : {a, count + 1}) {
      std::copy_n(heads.outputs.data() + a * size, size,
                  rows.data() + row * count * size + a * size);
    }
  }
  const Tensor joined = tap.combine_heads(rows);  // [count + 2, d]
  const Tensor bias = joined.slice(count, 1).reshaped({joined.dim(1)});
  heads.adds = joined.slice(0, count).copy();
  for (Index a = 0; a < count; ++a) {
    Tensor head = heads.adds.slice(a, 1).reshaped({joined.dim(1)});
    add_to(head, bias, -1);
  }
  heads.joined = joined.slice(count + 1, 1).reshaped({joined.dim(1)});
  if (largest(bias) > 0) heads.bias = bias;
  return heads;
}

std::string layer_tap(const HeadRef& layer) {
  Site site{(layer.part.stack == Stack::Encoder ? "encoder." : "") + layer_prefix(layer.layer), {}};
  site.address.step = layer.part.step;
  return tap_prefix(site);
}

std::string embedding_tap(const TracePart& part) {
  return part.stack == Stack::Encoder ? "encoder.embed" : "embed";
}

// Each layer has self-attention, but not always cross-attention.
std::vector<HeadRef> layers_of(const Trace& trace, TracePart part) {
  part.kind = AttentionKind::Self;
  return trace.layer_sequence(part);
}

namespace {

// --- The token's vector ------------------------------------------------------------------------

// A row of a tap; undefined if not recorded.
Tensor tap_row(const Trace& trace, const std::string& name, Index row) {
  const auto found = trace.taps.find(name);
  if (found == trace.taps.end() || found->second.rank() != 2) return {};
  if (row < 0 || row >= found->second.dim(0)) return {};
  return found->second.row(row);
}

std::string layer_name(const Trace& trace, const HeadRef& layer) {
  std::string name = "layer " + std::to_string(layer.layer);
  if (!trace.parts.step) return name;
  const bool has_one_layer = trace.layer_count(layer.part) == 1;
  return "step " + std::to_string(layer.part.step) + (has_one_layer ? "" : ", " + name);
}

bool has_exited(const Trace& trace, const HeadRef& layer, Index token) {
  if (layer.part.stack == Stack::Encoder) return false;
  const auto halted = [&](const char* name, Index step) {
    const auto found = trace.counts.find(name);
    return found != trace.counts.end() && token < found->second.size() &&
           found->second[token] < step;
  };
  return halted("exit.layer", layer.layer + 1) || halted("halting.steps", layer.part.step);
}

// The row placed in stream `stream` of a state of concatenated streams, with zeros in the others;
// -1 places it in each. Returns the row itself if the state has one stream.
Tensor in_stream(const Tensor& row, Index state_size, Index stream) {
  if (!row.defined() || row.size() >= state_size) return row;
  Tensor state = Tensor::zeros({state_size});
  for (Index first = 0, n = 0; first + row.size() <= state_size; first += row.size(), ++n) {
    if (stream >= 0 && n != stream) continue;
    std::copy(row.begin(), row.end(), state.begin() + first);
  }
  return state;
}

std::vector<FlowState> states_of(const Trace& trace, const Findings& findings,
                                 const TracePart& part, Index token) {
  std::vector<FlowState> states;
  const Tensor embedding = tap_row(trace, embedding_tap(part), token);
  if (!embedding.defined()) return states;
  states.push_back({"embedding", std::nullopt, embedding});
  const auto lens = findings.get(Findings::token_lens);
  const bool has_guesses = lens && part.stack == Stack::Decoder && predicts_next_tokens(trace) &&
                           token >= 0 && token < lens->length();
  const LogitLens guesses = has_guesses ? lens->at(token) : LogitLens{};
  const std::vector<HeadRef> layers = layers_of(trace, part);
  for (std::size_t n = 0; n < layers.size(); ++n) {
    FlowState state{layer_name(trace, layers[n]), layers[n],
                    tap_row(trace, layer_tap(layers[n]) + "residual", token)};
    if (!state.values.defined()) return {};
    // Reversible layers begin with the embedding in both streams.
    if (n == 0) states[0].values = in_stream(embedding, state.values.size(), -1);
    const auto row = static_cast<Index>(n);
    if (has_guesses && row < guesses.guess.dim(0)) {
      state.guess = token_label(trace, guesses.guess(row, 0));
      state.probability = static_cast<double>(guesses.probability(row, 0));
    }
    state.copied = has_exited(trace, layers[n], token);
    if (state.copied) state.values = states.back().values;  // replaces the recorded state
    states.push_back(std::move(state));
  }
  return states;
}

FlowLayer::Join join_of(const Trace& trace) {
  const ResidualConnection& connection = residual_connection(trace.config->residual_connection.id);
  if (!connection.has_bypass) return FlowLayer::Join::Replaced;
  if (!trace.config->pre_norm && trace.config->norm != Norm::None) return FlowLayer::Join::Normed;
  return connection.has_gate ? FlowLayer::Join::Gated : FlowLayer::Join::Sum;
}

std::optional<FlowLayer> layer_of(const Trace& trace, const Interventions& interventions,
                                  const std::vector<FlowState>& states, const HeadRef& head,
                                  Index token) {
  const auto current = std::ranges::find_if(states, [&](const FlowState& s) {
    return s.layer && s.layer->layer == head.layer && s.layer->part.step == head.part.step;
  });
  if (current == states.end() || current == states.begin() || !trace.config) return std::nullopt;
  FlowLayer layer;
  const FlowState& previous = *(current - 1);
  layer.input = {previous.label, previous.values};
  layer.output = current->values;
  const std::string prefix = layer_tap(*current->layer);
  const bool crosses = trace.taps.contains(prefix + "cross");
  for (const auto& [tap, name] : {std::pair{"attention", crosses ? "self-attention" : "attention"},
                                  {"cross", "cross-attention"},
                                  {"feed_forward", "feed-forward"}}) {
    // Reversible attention is added to the first stream, the feed-forward to the second.
    const Index stream = std::string_view(tap) == "feed_forward" ? 1 : 0;
    const Tensor values =
        in_stream(tap_row(trace, prefix + tap, token), layer.output.size(), stream);
    if (values.defined()) layer.terms.push_back({name, values});
  }
  layer.join = join_of(trace);
  const bool is_off_layer = head.part.stack == Stack::Decoder && is_off(interventions, head.layer);
  if (is_off_layer || current->copied) {  // the layer's output was not used
    layer.join = is_off_layer ? FlowLayer::Join::Off : FlowLayer::Join::Copied;
    layer.terms.clear();
  }
  if (layer.join != FlowLayer::Join::Sum) return layer;
  Tensor rest = layer.output.copy();
  add_to(rest, layer.input.values, -1);
  for (const FlowTerm& term : layer.terms) add_to(rest, term.values, -1);
  if (largest(rest) > kRounding * std::max(largest(layer.output), largest(layer.input.values))) {
    const bool has_streams =
        static_cast<bool>(residual_connection(trace.config->residual_connection.id).run_layers);
    layer.terms.push_back({has_streams ? "the other stream" : "positions", rest});
  }
  return layer;
}

// Predicted actions of a trajectory model at a state token, the second of a step's three tokens.
std::vector<FlowCandidate> action_candidates(const Trace& trace, Index token) {
  constexpr Index kTokensPerStep = 3, kState = 1;
  const Index step = token / kTokensPerStep;
  if (token % kTokensPerStep != kState || step >= trace.logits.dim(0)) return {};
  std::vector<FlowCandidate> candidates;
  const Index actions = trace.logits.dim(1);
  for (const Candidate& c :
       likeliest(probabilities(logits_at(trace, step), {}), std::min(actions, kMaxCandidates))) {
    const bool is_grid = actions == Grid::kActions;
    candidates.push_back(
        {is_grid ? action_name(c.id) : "action " + std::to_string(c.id), c.probability});
  }
  return candidates;
}

std::vector<FlowCandidate> candidates_of(const Trace& trace, const AttentionTap& tap, Index token) {
  const LazyTensor& logits = predictions(trace);
  if (tap.address.stack != Stack::Decoder || !logits.defined() || token < 0) return {};
  if (!predicts_next_tokens(trace)) return action_candidates(trace, token);
  if (token >= logits.dim(0)) return {};
  std::vector<FlowCandidate> candidates;
  for (const Candidate& c : likeliest(probabilities(logits_at(trace, token), {}), kMaxCandidates)) {
    candidates.push_back({token_label(trace, c.id), c.probability});
  }
  return candidates;
}

}  // namespace

std::optional<FlowLayer> flow_layer(const Trace& trace, const Interventions& interventions,
                                    const HeadRef& head, Index token) {
  return layer_of(trace, interventions, states_of(trace, {}, head.part, token), head, token);
}

FlowNumbers flow_numbers(const Trace& trace, const Findings& findings, const Session& session,
                         const AttentionTap& tap, Index head, Index keys) {
  FlowNumbers flow;
  flow.query = flow_query(session.view, trace, tap);
  flow.token = trace.token_index(tap.query_rows, tap.queries(), flow.query);
  flow.label = query_label(trace, tap, flow.query);
  flow.sum = flow_sum(trace, tap, head, flow.query, keys, session.view.pinned_key);
  flow.heads = flow_heads(trace, session.run.interventions, tap, flow.query);
  const HeadRef selected = head_ref(trace, session.view);
  flow.states = states_of(trace, findings, selected.part, flow.token);
  flow.layer = layer_of(trace, session.run.interventions, flow.states, selected, flow.token);
  flow.candidates = candidates_of(trace, tap, flow.token);
  return flow;
}

}  // namespace attnscope
