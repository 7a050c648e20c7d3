#include "core/text/merges.h"

#include <functional>
#include <queue>
#include <tuple>

namespace attnscope {
namespace {

std::uint64_t key(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
         static_cast<std::uint32_t>(right);
}

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct Candidate {
  std::int32_t rank;
  std::size_t left, right;         // indices of the pieces
  std::int32_t left_id, right_id;  // as they were; stale when the pieces have changed since
  std::int32_t result;
  bool operator>(const Candidate& other) const {
    return std::tie(rank, left) > std::tie(other.rank, other.left);
  }
};

}  // namespace

void Merges::add(std::int32_t left, std::int32_t right, std::int32_t result) {
  table_.try_emplace(key(left, right), Merge{static_cast<std::int32_t>(table_.size()), result});
}

const Merges::Merge* Merges::find(std::int32_t left, std::int32_t right) const {
  const auto found = table_.find(key(left, right));
  return found == table_.end() ? nullptr : &found->second;
}

void Merges::apply(std::vector<Piece>& pieces) const {
  if (pieces.size() < 2 || table_.empty()) return;
  // A doubly linked list over the pieces; merged ones are unlinked and marked.
  std::vector<std::size_t> before(pieces.size()), after(pieces.size());
  std::vector<bool> gone(pieces.size(), false);
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> best;
  const auto consider = [&](std::size_t left, std::size_t right) {
    if (left == kNone || right == kNone) return;
    const std::int32_t l = pieces[left].id, r = pieces[right].id;
    if (const Merge* m = find(l, r)) best.push({m->rank, left, right, l, r, m->result});
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    before[i] = i == 0 ? kNone : i - 1;
    after[i] = i + 1 == pieces.size() ? kNone : i + 1;
    consider(i, after[i]);
  }
  while (!best.empty()) {
    const Candidate c = best.top();
    best.pop();
    if (gone[c.left] || gone[c.right] || after[c.left] != c.right ||
        pieces[c.left].id != c.left_id || pieces[c.right].id != c.right_id) {
      continue;
    }
    pieces[c.left].id = c.result;
    pieces[c.left].end = pieces[c.right].end;
    gone[c.right] = true;
    after[c.left] = after[c.right];
    if (after[c.left] != kNone) before[after[c.left]] = c.left;
    consider(before[c.left], c.left);
    consider(c.left, after[c.left]);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!gone[i]) pieces[kept++] = pieces[i];
  }
  pieces.resize(kept);
}

}  // namespace attnscope
