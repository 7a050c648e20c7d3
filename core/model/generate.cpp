#include "core/model/generate.h"

#include <algorithm>

#include "core/base/error.h"

namespace attnscope {

namespace {

// The tokens that stay when there are more than the context holds.
std::vector<std::int32_t> remembered(const std::vector<std::int32_t>& all, Index context,
                                     Index kept) {
  const Index count = static_cast<Index>(all.size());
  const Index least = std::max<Index>(1, context - context / 2);  // tokens that stay in all
  const Index first = std::clamp<Index>(kept, 0, least - 1);
  std::vector<std::int32_t> result(all.begin(), all.begin() + first);
  result.insert(result.end(), all.begin() + (count - (least - first)), all.end());
  return result;
}

}  // namespace

Generator::Generator(const Model& model, GeneratorOptions options)
    : model_(model), options_(options), recomputes_(cache_refusal(model.config)) {}

Tensor Generator::step(const std::vector<std::int32_t>& ids, const Stop& stop, Trace* trace) {
  if (ids.empty()) throw InputError("ids: expected at least one token, found none");
  std::vector<std::int32_t> all = tokens_;
  all.insert(all.end(), ids.begin(), ids.end());
  const Index count = static_cast<Index>(all.size()), context = model_.config.context;
  const bool full = count > context;
  if (full) all = remembered(all, context, options_.kept);
  const Index dropped = count - static_cast<Index>(all.size());

  const bool caches = recomputes_.empty();
  State cache;
  if (!full) cache = cache_;
  const bool goes_on = caches && cache.length > 0;
  cache.steps = steps_;
  const Tensor logits = run(goes_on ? ids : all, caches ? &cache : nullptr, stop, trace);
  if (trace && !caches) {
    for (AttentionTap& tap : trace->attention) tap.address.step = steps_;
  }
  cache_ = std::move(cache);
  tokens_ = std::move(all);
  forgotten_ += dropped;
  ++steps_;
  return logits;
}

Tensor Generator::run(const std::vector<std::int32_t>& ids, State* cache, const Stop& stop,
                      Trace* trace) const {
  ForwardOptions options;
  options.backend = options_.backend;
  options.stop = stop;
  options.trace = trace;
  options.cache = cache;
  options.last_logits = true;
  const IntTensor batch = IntTensor::from({1, static_cast<Index>(ids.size())}, ids);
  return forward(model_, batch, options).value().reshaped({model_.config.vocabulary});
}

}  // namespace attnscope
