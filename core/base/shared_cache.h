// Cache of values loaded from files, shared by all callers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/index.h"

namespace attnscope {

// Maps names to immutable values. Keeps the `capacity` most recently used values. Also finds an
// evicted value while a caller still has a pointer to it. Thread-safe: a thread waits only for
// another thread that loads the same name.
//
// `Stamp` distinguishes versions of a name's value: a file's modification time, for example.
template <class Value, class Stamp>
class SharedCache {
 public:
  explicit SharedCache(std::size_t capacity) : capacity_(capacity) {}

  // Returns the cached value, or calls `read` if the name is absent or its stamp differs. If `read`
  // throws, caches nothing and rethrows.
  std::shared_ptr<const Value> get(const std::string& name, const Stamp& stamp,
                                   const std::function<Value()>& read) {
    const std::shared_ptr<Entry> entry = find_or_add(name);
    const std::scoped_lock lock(entry->mutex);
    std::shared_ptr<const Value> value = entry->value.lock();
    if (value == nullptr || !(entry->stamp == stamp)) {
      value = std::make_shared<const Value>(read());
      entry->value = value;
      entry->stamp = stamp;
      count_read();
    }
    mark_used(name, value);
    return value;
  }

  Index reads() const {  // number of successful calls of `read`
    const std::scoped_lock lock(mutex_);
    return reads_;
  }

 private:
  struct Entry {
    std::mutex mutex;  // locked during `read`
    std::weak_ptr<const Value> value{};
    Stamp stamp{};
  };
  struct Recent {
    std::string name;
    std::shared_ptr<const Value> value;
  };

  std::shared_ptr<Entry> find_or_add(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    std::shared_ptr<Entry>& entry = entries_[name];
    if (entry == nullptr) entry = std::make_shared<Entry>();
    return entry;
  }

  void count_read() {
    const std::scoped_lock lock(mutex_);
    ++reads_;
  }

  // Marks a value as most recently used. Evicted values are freed after the lock is released.
  void mark_used(const std::string& name, const std::shared_ptr<const Value>& value) {
    std::vector<Recent> evicted;
    const std::scoped_lock lock(mutex_);
    const auto it = std::ranges::find(recent_, name, &Recent::name);
    if (it != recent_.end()) {
      evicted.push_back(std::move(*it));
      recent_.erase(it);
    }
    recent_.push_back({name, value});
    if (recent_.size() <= capacity_) return;
    evicted.push_back(std::move(recent_.front()));
    recent_.erase(recent_.begin());
  }

  const std::size_t capacity_;
  mutable std::mutex mutex_;  // guards the next three members
  std::map<std::string, std::shared_ptr<Entry>> entries_;
  std::vector<Recent> recent_;  // least recently used first
  Index reads_ = 0;
};

}  // namespace attnscope
