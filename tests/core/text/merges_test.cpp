#include "core/text/model/merges.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace attnscope {
namespace ATTNSCOPE_FILE {

std::vector<Piece> pieces_of(const std::vector<std::int32_t>& ids) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < ids.size(); ++i) pieces.push_back({ids[i], i, i + 1});
  return pieces;
}

std::vector<std::int32_t> ids_of(const std::vector<Piece>& pieces) {
  std::vector<std::int32_t> ids;
  for (const Piece& p : pieces) ids.push_back(p.id);
  return ids;
}

TEST(Merges, ApplyBestRankThenLeftmost) {
  Merges merges;
  merges.add(2, 3, 5);
  merges.add(1, 2, 4);
  merges.add(1, 1, 6);
  auto pieces = pieces_of({1, 2, 3, 1, 2, 1, 1, 1});
  merges.apply(pieces);
  EXPECT_EQ(ids_of(pieces), (std::vector<std::int32_t>{1, 5, 4, 6, 1}));
  EXPECT_EQ(pieces[3].begin, 5u);
  EXPECT_EQ(pieces[3].end, 7u);
}

// Reference implementation, which repeatedly merges the leftmost pair of the best rank.
std::vector<std::int32_t> merge_by_definition(
    std::vector<std::int32_t> ids,
    const std::map<std::pair<std::int32_t, std::int32_t>, std::pair<int, std::int32_t>>& table) {
  while (true) {
    std::size_t at = ids.size();
    int rank = 1 << 30;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto found = table.find({ids[i], ids[i + 1]});
      if (found != table.end() && found->second.first < rank) {
        rank = found->second.first;
        at = i;
      }
    }
    if (at == ids.size()) return ids;
    ids[at] = table.at({ids[at], ids[at + 1]}).second;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

TEST(Merges, MatchDefinition) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    Merges merges;
    std::map<std::pair<std::int32_t, std::int32_t>, std::pair<int, std::int32_t>> table;
    for (std::int32_t id = 4; id < 30; ++id) {
      const auto draw = [&] { return static_cast<std::int32_t>(random()) & 0x7fffffff; };
      const std::int32_t left = draw() % id, right = draw() % id;
      const int rank = static_cast<int>(table.size());
      if (table.try_emplace({left, right}, rank, id).second) merges.add(left, right, id);
    }
    std::vector<std::int32_t> ids;
    for (int i = 0; i < 60; ++i) ids.push_back(static_cast<std::int32_t>(random() % 4));
    auto pieces = pieces_of(ids);
    merges.apply(pieces);
    EXPECT_EQ(ids_of(pieces), merge_by_definition(ids, table));
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      EXPECT_EQ(pieces[i].begin, i == 0 ? 0 : pieces[i - 1].end);
    }
    EXPECT_EQ(pieces.back().end, ids.size());
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
