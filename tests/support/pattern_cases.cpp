#include "tests/support/pattern_cases.h"

#include "core/base/random.h"

namespace attnscope::testing {

Pattern build_pattern(Index heads, Index queries, Index keys, int rules,
                      const std::function<void(PatternBuilder&, Index, Index)>& add) {
  PatternBuilder builder(heads, queries, keys,
                         std::vector<std::string>(static_cast<std::size_t>(rules), "rule"));
  for (Index head = 0; head < heads; ++head) {
    for (Index i = 0; i < queries; ++i) {
      add(builder, head, i);
      builder.next_row();
    }
  }
  return builder.finish();
}

Pattern strided_pattern(Index queries, Index keys, Index step, Index window) {
  return build_pattern(1, queries, keys, 2, [=](PatternBuilder& rows, Index, Index i) {
    rows.set_causal_limit(i + 1);
    rows.add(0, i - window, i + 1);
    rows.add(1, i % step, keys, step);
  });
}

Pattern hashed_pattern(Index heads, Index queries, Index keys, Index buckets) {
  const auto bucket = [=](Index head, Index round, Index i) {
    Random random(static_cast<std::uint64_t>((head * 2 + round) * (queries + keys) + i));
    return random.below(static_cast<std::uint64_t>(buckets));
  };
  return build_pattern(heads, queries, keys, 2, [=](PatternBuilder& rows, Index head, Index i) {
    for (Index round = 0; round < 2; ++round) {
      for (Index c = 0; c < keys; ++c) {
        if (c != i && bucket(head, round, c) == bucket(head, round, i)) {
          rows.add_column(static_cast<int>(round), c);
        }
      }
    }
  });
}

Pattern random_pattern(Index heads, Index queries, Index keys, std::uint64_t seed) {
  Random random(seed);
  const auto below = [&](Index n) {
    return static_cast<Index>(random.below(static_cast<std::uint64_t>(n)));
  };
  const Index kinds = 1 + below(6), max_runs = 1 + below(9), max_step = 1 + below(9);
  std::uint64_t row_seed = 0;
  return build_pattern(heads, queries, keys, 3, [&](PatternBuilder& rows, Index, Index) {
    if (below(kinds) != 0 || row_seed == 0) row_seed = random.below(std::uint64_t{1} << 40) + 1;
    Random row(row_seed);
    const auto row_below = [&](Index n) {
      return static_cast<Index>(row.below(static_cast<std::uint64_t>(n)));
    };
    const Index kind = row_below(20);
    if (kind == 0) return;
    if (kind == 1) rows.add(0, 0, keys);
    for (Index n = row_below(max_runs); n >= 0; --n) {
      const Index begin = row_below(keys), step = 1 + row_below(max_step);
      rows.add(static_cast<int>(row_below(3)), begin, begin + 1 + row_below(keys / 2 + 1), step);
    }
  });
}

Pattern scattered_pattern(Index heads, Index queries, Index keys, Index count) {
  Random random(5);
  return build_pattern(heads, queries, keys, 1, [&](PatternBuilder& rows, Index, Index) {
    for (Index n = 0; n < count; ++n) {
      rows.add_column(0, static_cast<Index>(random.below(static_cast<std::uint64_t>(keys))));
    }
  });
}

}  // namespace attnscope::testing
