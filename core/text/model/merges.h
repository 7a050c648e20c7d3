// Merges of a byte-pair encoding and their application.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

namespace attnscope {

struct Piece {  // a token during merging
  std::int32_t id = 0;
  std::size_t begin = 0, end = 0;  // byte range
};

struct Merge {
  std::int32_t rank, result;
};

// Merges neighbours, lowest rank first and leftmost in a tie, until no neighbours can be merged.
// find(left, right) returns a const Merge*, null if the two cannot be merged. O(n log n).
template <class Find>
void merge_best_pairs(std::vector<Piece>& pieces, const Find& find);

class Merges {
 public:
  // Adds a merge with the next higher rank. Ignores a repeated pair.
  void add(std::int32_t left, std::int32_t right, std::int32_t result);
  void reserve(std::size_t count);
  bool empty() const { return count_ == 0; }

  void apply(std::vector<Piece>& pieces) const;

 private:
  struct Slot {
    std::uint64_t pair = 0;
    Merge merge{-1, -1};  // rank -1: free
  };
  void grow(std::size_t slots);
  std::size_t slot_of(std::uint64_t pair) const;
  const Merge* find(std::int32_t left, std::int32_t right) const;

  std::vector<Slot> slots_;  // open addressing; size a power of two; at most half full
  std::size_t count_ = 0;
};

template <class Find>
void merge_best_pairs(std::vector<Piece>& pieces, const Find& find) {
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Candidate {
    std::int32_t rank;
    std::size_t left, right;         // indices of the pieces
    std::int32_t left_id, right_id;  // ids when queued; if they changed, the candidate is outdated
    std::int32_t result;
    bool operator>(const Candidate& other) const {
      return std::tie(rank, left) > std::tie(other.rank, other.left);
    }
  };
  if (pieces.size() < 2) return;
  // Doubly linked list of the pieces, from which the right piece of a merge is removed.
  std::vector<std::size_t> previous(pieces.size()), next(pieces.size());
  std::vector<bool> is_merged(pieces.size(), false);
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  const auto consider = [&](std::size_t left, std::size_t right) {
    if (left == kNone || right == kNone) return;
    const Merge* m = find(pieces[left], pieces[right]);
    if (m) candidates.push({m->rank, left, right, pieces[left].id, pieces[right].id, m->result});
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    previous[i] = i == 0 ? kNone : i - 1;
    next[i] = i + 1 == pieces.size() ? kNone : i + 1;
    consider(i, next[i]);
  }
  while (!candidates.empty()) {
    const Candidate c = candidates.top();
    candidates.pop();
    if (is_merged[c.left] || is_merged[c.right] || next[c.left] != c.right ||
        pieces[c.left].id != c.left_id || pieces[c.right].id != c.right_id) {
      continue;
    }
    pieces[c.left].id = c.result;
    pieces[c.left].end = pieces[c.right].end;
    is_merged[c.right] = true;
    next[c.left] = next[c.right];
    if (next[c.left] != kNone) previous[next[c.left]] = c.left;
    consider(previous[c.left], c.left);
    consider(c.left, next[c.left]);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!is_merged[i]) pieces[kept++] = pieces[i];
  }
  pieces.resize(kept);
}

}  // namespace attnscope
