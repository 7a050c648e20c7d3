#include "core/text/model/merges.h"

#include <algorithm>
#include <bit>
#include <random>
#include <utility>

namespace attnscope {
namespace {

std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
         static_cast<std::uint32_t>(right);
}

// Random per process, so that a file cannot provoke hash collisions.
std::uint64_t hash_seed() {
  static const std::uint64_t seed = std::uint64_t{std::random_device{}()} * 0x100000001u;
  return seed;
}

}  // namespace

// Slot of the pair, or the free slot where it belongs.
std::size_t Merges::slot_of(std::uint64_t pair) const {
  const std::uint64_t mixed = (pair ^ hash_seed()) * 0x9e3779b97f4a7c15u;
  std::size_t at = (mixed ^ mixed >> 32) & (slots_.size() - 1);
  while (slots_[at].merge.rank >= 0 && slots_[at].pair != pair) {
    at = (at + 1) & (slots_.size() - 1);
  }
  return at;
}

void Merges::grow(std::size_t slots) {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots));
  for (const Slot& slot : old) {
    if (slot.merge.rank >= 0) slots_[slot_of(slot.pair)] = slot;
  }
}

void Merges::reserve(std::size_t count) {
  if (slots_.size() < 2 * count) grow(std::bit_ceil(2 * count));
}

void Merges::add(std::int32_t left, std::int32_t right, std::int32_t result) {
  if (2 * (count_ + 1) > slots_.size()) grow(std::max<std::size_t>(64, 2 * slots_.size()));
  const std::uint64_t pair = pair_key(left, right);
  Slot& slot = slots_[slot_of(pair)];
  if (slot.merge.rank >= 0) return;
  slot = {pair, {static_cast<std::int32_t>(count_++), result}};
}

const Merge* Merges::find(std::int32_t left, std::int32_t right) const {
  if (slots_.empty()) return nullptr;
  const Slot& slot = slots_[slot_of(pair_key(left, right))];
  return slot.merge.rank >= 0 ? &slot.merge : nullptr;
}

void Merges::apply(std::vector<Piece>& pieces) const {
  if (empty()) return;
  merge_best_pairs(pieces,
                   [&](const Piece& left, const Piece& right) { return find(left.id, right.id); });
}

}  // namespace attnscope
