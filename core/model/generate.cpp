#include "core/model/generate.h"

#include <algorithm>

#include "core/base/error.h"

namespace attnscope {
namespace {

// Tokens that remain when the context is full: the first `protected_count` and the latest tokens.
std::vector<std::int32_t> remaining_tokens(const std::vector<std::int32_t>& all, Index context,
                                           Index protected_count) {
  const Index count = static_cast<Index>(all.size());
  const Index kept_count = std::max<Index>(1, context - context / 2);
  const Index prefix = std::clamp<Index>(protected_count, 0, kept_count - 1);
  std::vector<std::int32_t> result(all.begin(), all.begin() + prefix);
  result.insert(result.end(), all.begin() + (count - (kept_count - prefix)), all.end());
  return result;
}

}  // namespace

Generator::Generator(const Model& model, GeneratorOptions options)
    : model_(model),
      options_(std::move(options)),
      recompute_reason_(cache_refusal(model.config, options_.exit.has_value())) {}

Tensor Generator::step(const std::vector<std::int32_t>& ids, Trace* trace) {
  if (ids.empty()) throw InputError("ids: expected at least one token, found none");
  std::vector<std::int32_t> all = tokens_;
  all.insert(all.end(), ids.begin(), ids.end());
  const bool has_segments = model_.config.segment > 0;
  const Index count = static_cast<Index>(all.size()), context = model_.config.context;
  const bool exceeds_context = count > context && !has_segments;
  if (exceeds_context) all = remaining_tokens(all, context, options_.kept);
  const Index dropped = count - static_cast<Index>(all.size());
  const bool is_cached = recompute_reason_.empty();
  State memory = memory_, empty_cache;
  // A copy of the cache would be extended in new memory. A failed pass does not change its length.
  State& cache = exceeds_context ? empty_cache : cache_;
  const bool is_incremental = is_cached && cache.length > 0;
  cache.steps = steps_;
  const Step result =
      has_segments ? read_segments(all, memory, trace)
                   : run(is_incremental ? ids : all, is_cached ? &cache : nullptr, nullptr, trace);
  if (trace && !is_cached) {
    for (AttentionTap& tap : trace->attention) tap.address.step = steps_;
  }
  if (exceeds_context) cache_ = std::move(empty_cache);
  memory_ = std::move(memory);
  tokens_ = std::move(all);
  forgotten_ += dropped;
  exit_layer_ = result.exit_layer;
  ++steps_;
  return result.logits;
}

// Processes the segments of `all` that `memory` lacks, and adds the complete segments to `memory`.
Generator::Step Generator::read_segments(const std::vector<std::int32_t>& all, State& memory,
                                         Trace* trace) const {
  const Index segment = model_.config.segment, length = static_cast<Index>(all.size());
  Step result;
  while (memory.length < length) {
    const Index count = std::min(segment, length - memory.length);
    const auto first = all.begin() + memory.length;
    const bool is_last = memory.length + count == length;
    State next_memory = memory;
    result = run({first, first + count}, nullptr, &next_memory, is_last ? trace : nullptr);
    if (count < segment) break;  // an incomplete segment is processed again later
    memory = std::move(next_memory);
  }
  return result;
}

Generator::Step Generator::run(const std::vector<std::int32_t>& ids, State* cache, State* memory,
                               Trace* trace) const {
  ForwardOptions options;
  options.backend = options_.backend;
  options.trace = trace;
  options.cache = cache;
  options.memory = memory;
  options.exit = options_.exit;
  options.retrieval = options_.retrieval;
  options.last_logits = !options_.retrieval;  // retrieval needs all rows
  const auto to_row = [](const std::vector<std::int32_t>& list) {
    return IntTensor::from({1, static_cast<Index>(list.size())}, list);
  };
  Batch batch;
  batch.ids = to_row(ids);
  if (!options_.source.empty()) batch.source = to_row(options_.source);
  const Output output = attnscope::run(model_, batch, options);
  const Index vocabulary = model_.config.vocabulary;
  const Tensor logits =
      output.log_probabilities.defined() ? output.log_probabilities : output.logits.value();
  const Index rows = logits.size() / vocabulary;
  Step result{logits.reshaped({rows, vocabulary}).slice(rows - 1, 1).reshaped({vocabulary})};
  if (output.exits.defined()) result.exit_layer = output.exits[output.exits.size() - 1];
  return result;
}

}  // namespace attnscope
