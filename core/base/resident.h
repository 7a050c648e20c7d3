// What was read from files, each of it in memory once, however many ask for it.
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

// From names to values that do not change. Whatever somebody still holds is found again; beyond
// that the last few are kept. All of it may be called from several threads: whoever asks for what
// another one is reading waits for that, and only for that.
//
// `Stamp` is what tells an edition from a later one of the same name: the time of a file.
template <class Value, class Stamp>
class Resident {
 public:
  explicit Resident(std::size_t most_kept) : most_kept_(most_kept) {}

  // `read` is called where the name or its stamp is another than those that are in memory. What it
  // throws goes on to the caller, and nothing is kept.
  std::shared_ptr<const Value> get(const std::string& name, const Stamp& stamp,
                                   const std::function<Value()>& read) {
    const std::shared_ptr<Entry> entry = entry_of(name);
    const std::scoped_lock lock(entry->mutex);
    std::shared_ptr<const Value> value = entry->value.lock();
    if (value == nullptr || !(entry->stamp == stamp)) {
      value = std::make_shared<const Value>(read());
      entry->value = value;
      entry->stamp = stamp;
      count_one();
    }
    keep(name, value);
    return value;
  }

  Index reads() const {  // how often something was read
    const std::scoped_lock lock(mutex_);
    return reads_;
  }

 private:
  struct Entry {
    std::mutex mutex;  // held while it is read
    std::weak_ptr<const Value> value{};
    Stamp stamp{};
  };
  struct Kept {
    std::string name;
    std::shared_ptr<const Value> value;
  };

  std::shared_ptr<Entry> entry_of(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    std::shared_ptr<Entry>& entry = entries_[name];
    if (entry == nullptr) entry = std::make_shared<Entry>();
    return entry;
  }

  void count_one() {
    const std::scoped_lock lock(mutex_);
    ++reads_;
  }

  // As the most recent one. What goes is freed when the lock is open again.
  void keep(const std::string& name, const std::shared_ptr<const Value>& value) {
    std::vector<Kept> gone;
    const std::scoped_lock lock(mutex_);
    const auto before = std::ranges::find(kept_, name, &Kept::name);
    if (before != kept_.end()) {
      gone.push_back(std::move(*before));
      kept_.erase(before);
    }
    kept_.push_back({name, value});
    if (kept_.size() <= most_kept_) return;
    gone.push_back(std::move(kept_.front()));
    kept_.erase(kept_.begin());
  }

  const std::size_t most_kept_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, std::shared_ptr<Entry>> entries_;
  std::vector<Kept> kept_;  // the most recent last
  Index reads_ = 0;
};

}  // namespace attnscope
