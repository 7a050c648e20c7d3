// The merges of a byte-pair encoding, and their application.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace attnscope {

struct Piece {  // a token in the making
  std::int32_t id = 0;
  std::size_t begin = 0, end = 0;  // what it covers; neighbours' ranges are joined
};

class Merges {
 public:
  // Pairs are added in the order of their rank, best first; an earlier one of the same pair stays.
  void add(std::int32_t left, std::int32_t right, std::int32_t result);
  bool empty() const { return table_.empty(); }

  // Merges the pair of the best rank, the leftmost of equals first, until none is left. Takes
  // n log n steps.
  void apply(std::vector<Piece>& pieces) const;

 private:
  struct Merge {
    std::int32_t rank, result;
  };
  const Merge* find(std::int32_t left, std::int32_t right) const;

  std::unordered_map<std::uint64_t, Merge> table_;
};

}  // namespace attnscope
