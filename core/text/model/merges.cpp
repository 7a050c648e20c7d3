#include "core/text/model/merges.h"

namespace attnscope {
namespace {

std::uint64_t key(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
         static_cast<std::uint32_t>(right);
}

}  // namespace

void Merges::add(std::int32_t left, std::int32_t right, std::int32_t result) {
  table_.try_emplace(key(left, right), Merge{static_cast<std::int32_t>(table_.size()), result});
}

const Merge* Merges::find(std::int32_t left, std::int32_t right) const {
  const auto found = table_.find(key(left, right));
  return found == table_.end() ? nullptr : &found->second;
}

void Merges::apply(std::vector<Piece>& pieces) const {
  if (table_.empty()) return;
  merge_best_pairs(pieces,
                   [&](const Piece& left, const Piece& right) { return find(left.id, right.id); });
}

}  // namespace attnscope
