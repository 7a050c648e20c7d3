#include "core/view/retrieval/retrieval_numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/autodiff/operations_reduce.h"
#include "core/base/error.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/focus.h"

namespace attnscope {
namespace {

constexpr const char* kRetrieval = "retrieval";
constexpr const char* kRetrievedRule = "retrieved";  // rule in patterns of memorizing attention

// Softmax weights of a token's first k neighbours. An interpolation scores them by distance, a
// gated mixture by the model's logits of their successors.
std::vector<double> neighbour_weights(const Trace& trace, const RetrievedContexts& contexts,
                                      const MixSetting& setting, Index token) {
  std::vector<double> scores;
  const Tensor logits = trace.logits.row(token);
  for (Index n = 0; n < setting.k; ++n) {
    const std::int32_t value = contexts.store->values[contexts.neighbours.index(token, n)];
    scores.push_back(setting.is_gated
                         ? static_cast<double>(logits[value])
                         : -static_cast<double>(contexts.neighbours.distance(token, n)) /
                               setting.temperature);
  }
  const double max_score = *std::ranges::max_element(scores);
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - max_score);
  for (double& score : scores) score /= sum;
  return scores;
}

Tensor cached_model_log_probabilities(const ViewInput& input) {
  const auto make = [&] { return model_log_probabilities(input.trace); };
  const auto source = source_of(input.trace);
  if (input.cache == nullptr || source == nullptr) return make();
  return input.cache->matrix(source, CacheKey("model log-probabilities"), make);
}

}  // namespace

MixSetting mix_setting(const ViewInput& input, const RetrievedContexts& contexts) {
  MixSetting setting;
  setting.is_gated = input.trace.taps.contains("retrieval.gate");
  if (input.session.run.retrieval) {
    const Values& run = input.session.run.retrieval->retrieval_head.values;
    if (run.has("k")) setting.k = run.integer("k");
    if (run.has("lambda")) setting.lambda = run.real("lambda");
    if (run.has("temperature")) setting.temperature = run.real("temperature");
  }
  const Values values = view_values(input.session.view, kRetrieval);
  if (values.has("k") && !setting.is_gated) setting.k = values.integer("k");
  if (values.has("lambda")) setting.lambda = values.real("lambda");
  if (values.has("temperature")) setting.temperature = values.real("temperature");
  setting.k = std::clamp<Index>(setting.k, 1, contexts.neighbours.index.dim(1));
  return setting;
}

MixedRow mixed_row(const Trace& trace, const RetrievedContexts& contexts, const MixSetting& setting,
                   Index token) {
  const Index vocabulary = trace.logits.dim(1);
  const auto size = static_cast<std::size_t>(vocabulary);
  MixedRow row{neighbour_weights(trace, contexts, setting, token), {}, {}, {}};
  row.store.assign(size, 0.0);
  for (Index n = 0; n < setting.k; ++n) {
    const std::int32_t value = contexts.store->values[contexts.neighbours.index(token, n)];
    row.store[static_cast<std::size_t>(value)] += row.neighbours[static_cast<std::size_t>(n)];
  }
  const Tensor logits = trace.logits.row(token);
  const Tensor mixed = setting.is_gated ? trace.taps.at("log_probabilities").row(token) : Tensor();
  double max_logit = -std::numeric_limits<double>::infinity(), sum = 0;
  for (Index y = 0; y < vocabulary; ++y) {
    max_logit = std::max(max_logit, static_cast<double>(logits[y]));
  }
  for (Index y = 0; y < vocabulary; ++y) {
    row.model.push_back(std::exp(static_cast<double>(logits[y]) - max_logit));
    sum += row.model.back();
  }
  for (double& p : row.model) p /= sum;
  for (std::size_t y = 0; y < size; ++y) {
    row.mixed.push_back(setting.is_gated
                            ? std::exp(static_cast<double>(mixed[static_cast<Index>(y)]))
                            : setting.lambda * row.store[y] + (1 - setting.lambda) * row.model[y]);
  }
  if (setting.is_gated) {
    row.gate = static_cast<double>(trace.taps.at("retrieval.gate").value()[token]);
  }
  return row;
}

Tensor model_log_probabilities(const Trace& trace) {
  return log_softmax(Var(trace.logits.value())).value();
}

Tensor retrieval_bits(const ViewInput& input, const RetrievedContexts& contexts,
                      const MixSetting& setting) {
  const Trace& trace = input.trace;
  const auto length = static_cast<Index>(trace.tokens.size());
  Tensor bits = Tensor::full({2, length}, std::numeric_limits<float>::quiet_NaN());
  const Tensor log_probabilities = cached_model_log_probabilities(input);
  const Tensor mixed_log_probabilities =
      setting.is_gated ? trace.taps.at("log_probabilities").value() : Tensor();
  for (Index i = 1; i < length; ++i) {
    const std::int32_t id = trace.tokens[static_cast<std::size_t>(i)].id;
    const auto model_log = static_cast<double>(log_probabilities(i - 1, id));
    double mixed_log = 0;
    if (setting.is_gated) {
      mixed_log = static_cast<double>(mixed_log_probabilities(i - 1, id));
    } else {
      const std::vector<double> weights = neighbour_weights(trace, contexts, setting, i - 1);
      double matching = 0;
      for (Index n = 0; n < setting.k; ++n) {
        const std::int32_t value = contexts.store->values[contexts.neighbours.index(i - 1, n)];
        if (value == id) matching += weights[static_cast<std::size_t>(n)];
      }
      mixed_log =
          matching > 0
              ? std::log(setting.lambda * matching + (1 - setting.lambda) * std::exp(model_log))
              : model_log + std::log1p(-setting.lambda);
    }
    bits(0, i) = static_cast<float>(-model_log / std::log(2.0));
    bits(1, i) = static_cast<float>(-mixed_log / std::log(2.0));
  }
  return bits;
}

double mean_bits(const Tensor& bits, Index row) {
  double sum = 0;
  for (Index i = 1; i < bits.dim(1); ++i) sum += static_cast<double>(bits(row, i));
  return sum / static_cast<double>(bits.dim(1) - 1);
}

std::string with_spaces(std::string text) {
  const std::string marker = "␣";
  for (std::size_t pos = text.find(marker); pos != std::string::npos;
       pos = text.find(marker, pos + 1)) {
    text.replace(pos, marker.size(), " ");
  }
  return text;
}

std::string text_of_tokens(const Trace& trace, const std::vector<std::int32_t>& ids) {
  std::string text;
  for (const std::int32_t id : ids) text += token_label(trace, id);
  return with_spaces(std::move(text));
}

std::string retrieved_key_label(const Trace& trace, const RetrievedKeys& retrieved,
                                const RetrievedKeys::Key& key) {
  if (key.token >= 0) return trace.tokens[static_cast<std::size_t>(key.token)].label;
  return key_label(trace, *retrieved.tap, key.column);
}

bool retrieves_keys(const AttentionTap& tap) {
  const std::vector<std::string>& rules = tap.result.pattern->rules();
  return std::ranges::find(rules, kRetrievedRule) != rules.end();
}

bool retrieves(const Trace& trace) {
  return trace.counts.contains("retrieval.index") && trace.logits.defined();
}

RetrievedKeys retrieved_keys(const Trace& trace, Index layer, Index head, Index token) {
  RetrievedKeys retrieved;
  const auto has_head = [&](const AttentionTap& tap) {
    return tap.address.layer == layer && std::ranges::find(tap.heads, head) != tap.heads.end();
  };
  // Searches the requested head first, then all heads in order.
  for (const bool only_requested : {true, false}) {
    for (const AttentionTap& tap : trace.attention) {
      if (!retrieves_keys(tap) || (only_requested && !has_head(tap))) continue;
      for (Index row = 0; row < tap.queries() && retrieved.tap == nullptr; ++row) {
        if (trace.token_index(tap.query_rows, tap.queries(), row) != token) continue;
        retrieved.tap = &tap;
        retrieved.row = row;
      }
    }
    if (retrieved.tap != nullptr) break;
  }
  if (retrieved.tap == nullptr) return retrieved;
  const AttentionTap& tap = *retrieved.tap;
  const auto position = std::ranges::find(tap.heads, head);
  retrieved.head = position == tap.heads.end() ? 0 : position - tap.heads.begin();
  retrieved.token = token;
  const Tensor weights = attention_row(tap, retrieved.head, retrieved.row);
  for (const auto& [kind, count] : tap.result.columns) {
    if (kind == KeyKind::Memory) retrieved.stored_count += count;
  }
  const Index first = trace.token_index(tap.query_rows, tap.queries(), 0);
  const Index pattern_head = tap.result.pattern->heads() > 1 ? retrieved.head : 0;
  for (Index column = 0; column < retrieved.stored_count; ++column) {
    if (!tap.result.pattern->allowed(pattern_head, retrieved.row, column)) continue;
    // Segment-recurrent models store the tokens just before the segment.
    const bool is_in_text = trace.config && trace.config->segment > 0;
    const Index index = first - retrieved.stored_count + column;
    retrieved.keys.push_back(
        {is_in_text && index >= 0 ? index : -1, column, static_cast<double>(weights[column])});
    retrieved.memory_fraction += static_cast<double>(weights[column]);
  }
  std::ranges::stable_sort(retrieved.keys, std::ranges::greater{}, &RetrievedKeys::Key::weight);
  return retrieved;
}

Index retrieving_token(const ViewInput& input, bool needs_successor) {
  const auto length = static_cast<Index>(input.trace.tokens.size());
  const Values values = view_values(input.session.view, kRetrieval);
  const Index last = std::max<Index>(0, length - (needs_successor ? 2 : 1));
  if (values.has("token")) return std::min(values.integer("token"), length - 1);
  const Index pinned = needs_successor ? input.session.view.pinned_query : -1;
  return pinned >= 0 && pinned < length ? pinned : last;
}

namespace {

ViewData::Matrix neighbours_table(const Trace& trace, const RetrievedContexts& contexts,
                                  const MixedRow& row, Index token) {
  ViewData::Matrix table{
      "neighbours",
      Tensor({static_cast<Index>(row.neighbours.size()), 6}),
      {},
      {"row of the store", "text", "position", "squared distance", "successor id", "share"},
      {"context"}};
  for (Index n = 0; n < table.values.dim(0); ++n) {
    const Index context = contexts.neighbours.index(token, n);
    const ContextWords words = context_words(*contexts.store, context, 8, 0);
    table.rows.push_back(text_of_tokens(trace, words.before));
    const double numbers[] = {static_cast<double>(context),
                              static_cast<double>(words.text),
                              static_cast<double>(words.position),
                              static_cast<double>(contexts.neighbours.distance(token, n)),
                              static_cast<double>(words.value),
                              row.neighbours[static_cast<std::size_t>(n)]};
    std::transform(std::begin(numbers), std::end(numbers), table.values.data() + 6 * n,
                   [](double x) { return static_cast<float>(x); });
  }
  return table;
}

ViewData::Matrix next_table(const Trace& trace, const MixedRow& row) {
  std::vector<std::int32_t> ids(row.mixed.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::ranges::stable_sort(ids, std::ranges::greater{}, [&](std::int32_t id) {
    return row.mixed[static_cast<std::size_t>(id)];
  });
  ViewData::Matrix table{"next token",
                         Tensor({static_cast<Index>(ids.size()), 4}),
                         {},
                         {"token id", "model", "neighbours", "both"},
                         {"token"}};
  for (std::size_t n = 0; n < ids.size(); ++n) {
    const auto id = static_cast<std::size_t>(ids[n]);
    const auto row_index = static_cast<Index>(n);
    table.rows.push_back(token_label(trace, ids[n]));
    table.values(row_index, 0) = static_cast<float>(ids[n]);
    table.values(row_index, 1) = static_cast<float>(row.model[id]);
    table.values(row_index, 2) = static_cast<float>(row.store[id]);
    table.values(row_index, 3) = static_cast<float>(row.mixed[id]);
  }
  return table;
}

ViewData fetched_data(const ViewInput& input) {
  const ViewSettings& view = input.session.view;
  const RetrievedKeys retrieved =
      retrieved_keys(input.trace, view.layer, view.head, retrieving_token(input, false));
  ViewData::Matrix table{"fetched",
                         Tensor({static_cast<Index>(retrieved.keys.size()), 3}),
                         {},
                         {"token position", "weight", "tokens back"},
                         {"token"}};
  for (std::size_t n = 0; n < retrieved.keys.size(); ++n) {
    const RetrievedKeys::Key& key = retrieved.keys[n];
    const auto row = static_cast<Index>(n);
    table.rows.push_back(retrieved_key_label(input.trace, retrieved, key));
    table.values(row, 0) = key.token < 0 ? NAN : static_cast<float>(key.token);
    table.values(row, 1) = static_cast<float>(key.weight);
    table.values(row, 2) = key.token < 0 ? NAN : static_cast<float>(retrieved.token - key.token);
  }
  return {{std::move(table)}};
}

}  // namespace

ViewData retrieval_data(const ViewInput& input) {
  const Trace& trace = input.trace;
  if (!retrieves(trace)) {
    if (std::ranges::any_of(trace.attention, retrieves_keys)) return fetched_data(input);
    throw InputError("retrieval: expected a run with retrieval or memorizing, found neither");
  }
  const std::shared_ptr<const RetrievedContexts> contexts = input.findings.get(Findings::contexts);
  if (!contexts) throw InputError("retrieval: expected retrieved contexts, found none");
  const Index token = retrieving_token(input, true);
  const MixSetting setting = mix_setting(input, *contexts);
  const MixedRow row = mixed_row(trace, *contexts, setting, token);
  const Tensor bits = retrieval_bits(input, *contexts, setting);
  ViewData::Matrix text_table{"bits",
                              Tensor({bits.dim(1), setting.is_gated ? 3 : 2}),
                              {},
                              {"model", "with retrieval"},
                              {"token"}};
  if (setting.is_gated) text_table.columns.emplace_back("gate");
  for (Index i = 0; i < bits.dim(1); ++i) {
    text_table.rows.push_back(trace.tokens[static_cast<std::size_t>(i)].label);
    for (Index c = 0; c < 2; ++c) text_table.values(i, c) = bits(c, i);
    if (setting.is_gated) text_table.values(i, 2) = trace.taps.at("retrieval.gate").value()[i];
  }
  return {{neighbours_table(trace, *contexts, row, token), next_table(trace, row),
           std::move(text_table)}};
}

}  // namespace attnscope
