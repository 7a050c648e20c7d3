// Results that views derive from a run, cached from one layout to the next.
//
// A result is identified by its source (the run, pattern or finding that it is derived from) and a
// CacheKey, which contains everything else that it depends on.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/analysis/words.h"
#include "core/experiment/view_settings.h"
#include "core/trace/trace.h"

namespace attnscope {

// The kind of a result, and the values that it depends on besides its source.
class CacheKey {
 public:
  // `result`: a literal that is unique among results of the same source: "rollout".
  template <class... Values>
  explicit CacheKey(std::string_view result, const Values&... values) : result_(result) {
    (add(values), ...);
  }
  // Appends a number, enumerator, string or TracePart.
  template <class Value>
  void add(const Value& value) {
    if constexpr (std::is_same_v<Value, TracePart>) {
      add(value.stack);
      add(value.kind);
      add(value.step);
      add(value.segment);
    } else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
      values_.emplace_back(static_cast<Index>(value));
    } else if constexpr (std::is_floating_point_v<Value>) {
      values_.emplace_back(static_cast<double>(value));
    } else {
      values_.emplace_back(std::string(value));
    }
  }
  // A copy with further values, for results derived from this key's result.
  template <class... Values>
  CacheKey with(const Values&... values) const {
    CacheKey key = *this;
    (key.add(values), ...);
    return key;
  }
  bool operator<(const CacheKey& other) const {
    return std::tie(result_, values_) < std::tie(other.result_, other.values_);
  }

 private:
  std::string_view result_;
  std::vector<std::variant<Index, double, std::string>> values_;
};

// A window passes one cache to all its layouts, so that redrawing each frame is cheap. Without
// a cache, each layout computes everything again.
class ViewCache {
 public:
  // The matrix `key` derived from `source` (a pattern, or source_of() a run). Calls `make` unless
  // the last call with `key` had the same source. Keeps the source, so its address is not reused.
  Tensor matrix(const std::shared_ptr<const void>& source, const CacheKey& key,
                const std::function<Tensor()>& make);
  // matrix() for a matrix derived from two sources.
  Tensor matrix(const std::shared_ptr<const void>& source,
                const std::shared_ptr<const void>& second, const CacheKey& key,
                const std::function<Tensor()>& make);
  // matrix() for results other than matrices.
  template <class Make>
  auto numbers(const std::shared_ptr<const void>& source, const CacheKey& key, const Make& make) {
    using Numbers = std::invoke_result_t<const Make&>;
    return std::static_pointer_cast<const Numbers>(object(source, key, [&] {
      return std::shared_ptr<const void>(std::make_shared<const Numbers>(make()));
    }));
  }
  // The run with word pieces merged or special tokens removed (core/analysis/words.h), for the last
  // few runs.
  std::shared_ptr<const WordTrace> words(const Trace& trace, const WordMergeOptions& choice);

 private:
  struct Entry {
    std::shared_ptr<const void> source, second;
    Tensor matrix;
    std::shared_ptr<const void> object{};  // null for matrices
  };
  struct Merged {
    std::shared_ptr<const void> source;
    WordMergeOptions choice;
    std::shared_ptr<const WordTrace> words;
  };
  Entry& entry(const CacheKey& key);
  std::shared_ptr<const void> object(const std::shared_ptr<const void>& source, const CacheKey& key,
                                     const std::function<std::shared_ptr<const void>()>& make);
  std::map<CacheKey, Entry> entries_;
  std::vector<Merged> merged_;  // newest last
};

// A key for results of the selected head.
inline CacheKey head_key(std::string_view result, const Trace& trace, const ViewSettings& view) {
  return CacheKey(result, trace.part(view.part), view.layer, view.head);
}

// Identity of a trace's attention, unique to each run; null if the trace has no attention.
std::shared_ptr<const void> source_of(const Trace& trace);

}  // namespace attnscope
