#include "core/view/view_cache.h"

#include <algorithm>

namespace attnscope {

Tensor ViewCache::matrix(const std::shared_ptr<const void>& source, const CacheKey& key,
                         const std::function<Tensor()>& make) {
  return matrix(source, nullptr, key, make);
}

Tensor ViewCache::matrix(const std::shared_ptr<const void>& source,
                         const std::shared_ptr<const void>& second, const CacheKey& key,
                         const std::function<Tensor()>& make) {
  Entry& cached = entry(key);
  if (cached.source != source || cached.second != second || !cached.matrix.defined()) {
    cached = {source, second, make()};
  }
  return cached.matrix;
}

std::shared_ptr<const void> ViewCache::object(
    const std::shared_ptr<const void>& source, const CacheKey& key,
    const std::function<std::shared_ptr<const void>()>& make) {
  Entry& cached = entry(key);
  if (cached.source != source || cached.object == nullptr) cached = {source, nullptr, {}, make()};
  return cached.object;
}

ViewCache::Entry& ViewCache::entry(const CacheKey& key) {
  // A window shows a few matrices at a time, each with the rules of a pattern. Stepping through
  // many heads exceeds the limit, which empties the cache.
  constexpr std::size_t kMaxEntries = 48;
  if (entries_.size() > kMaxEntries) entries_.clear();
  return entries_[key];
}

std::shared_ptr<const WordTrace> ViewCache::words(const Trace& trace,
                                                  const WordMergeOptions& choice) {
  constexpr std::size_t kMaxRuns = 2;  // the run and its reference
  const std::shared_ptr<const void> source = source_of(trace);
  const auto cached = std::ranges::find_if(
      merged_, [&](const Merged& m) { return m.source == source && m.choice == choice; });
  if (cached != merged_.end()) return cached->words;
  if (merged_.size() >= kMaxRuns) merged_.erase(merged_.begin());
  merged_.push_back({source, choice, merge_words(trace, choice)});
  return merged_.back().words;
}

std::shared_ptr<const void> source_of(const Trace& trace) {
  if (trace.attention.empty()) return nullptr;
  const AttentionTap& last = trace.attention.back();
  if (last.settings() != nullptr) return last.vectors.settings();
  return last.result.pattern;
}

}  // namespace attnscope
