// Compares patterns of variants with predicates on query and key indices.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "core/attention/variant.h"
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/text/text_structure.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using Allowed = std::function<bool(Index head, Index i, Index j)>;
using Integers = std::vector<Index>;
using Lists = std::vector<Integers>;

constexpr Index kHeads = 3;

Index floor_div(Index a, Index b) {
  return static_cast<Index>(std::floor(static_cast<double>(a) / static_cast<double>(b)));
}
Index mod(Index a, Index b) {
  return a - b * floor_div(a, b);
}

struct Rule {
  Values values;
  Index layer = 0;
  Allowed allowed;
};

void expect_rule(const std::string& id, const Rule& rule, Index length, bool causal) {
  const Variant& v = variant(id);
  Dimensions sizes;
  sizes.heads = kHeads;
  ASSERT_EQ(refusal({id, rule.values}, default_encoding(), causal, sizes, length, length), "");
  const bool is_causal = causal || v.causality.by_definition;
  const NamedVars no_weights;
  const Pattern pattern = v.pattern({.values = rule.values,
                                     .weights = no_weights,
                                     .heads = kHeads,
                                     .queries = length,
                                     .keys = length,
                                     .layer = rule.layer,
                                     .causal = is_causal});
  for (Index head = 0; head < kHeads; ++head) {
    for (Index i = 0; i < length; ++i) {
      for (Index j = 0; j < length; ++j) {
        const bool expected = rule.allowed(head, i, j) && (!is_causal || j <= i);
        ASSERT_EQ(pattern.allowed(head, i, j), expected)
            << id << " head " << head << ", query " << i << ", key " << j << " of " << length;
      }
    }
  }
}

// Checks a rule for random parameters and lengths.
void expect_random_rules(const std::string& id,
                         const std::function<Rule(Random&, Index length)>& make_rule) {
  Random random(7);
  for (int round = 0; round < 60; ++round) {
    const Index length = 1 + static_cast<Index>(random.below(40));
    const Rule rule = make_rule(random, length);
    for (const bool causal : {false, true}) {
      expect_rule(id, rule, length, causal);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

Index random_index(Random& random, Index min, Index max) {
  return min + static_cast<Index>(random.below(static_cast<std::uint64_t>(max - min + 1)));
}

Values make_values(std::initializer_list<std::pair<const char*, Value>> values) {
  Values result;
  for (const auto& [key, value] : values) result.set(key, value);
  return result;
}

bool in_window(Index i, Index j, Index window, Index dilation) {
  return std::abs(i - j) <= window * dilation && mod(i - j, dilation) == 0;
}

TEST(Patterns, LocalMatchesRule) {
  expect_random_rules("local", [](Random& random, Index) {
    const Index w = random_index(random, 0, 6), r = random_index(random, 1, 5);
    return Rule{make_values({{"window", w}, {"dilation", r}}), 0,
                [=](Index, Index i, Index j) { return in_window(i, j, w, r); }};
  });
  const Index huge = 2147483647;
  expect_rule("local",
              {make_values({{"window", huge}, {"dilation", huge}}), 0,
               [](Index, Index i, Index j) { return i == j; }},
              9, false);
}

TEST(Patterns, BlockLocalMatchesRule) {
  expect_random_rules("block_local", [](Random& random, Index) {
    const Index b = random_index(random, 1, 12);
    return Rule{make_values({{"block", b},
                             {"before", Index{0}},
                             {"after", Index{0}},
                             {"circular", false},
                             {"fill", Index{0}}}),
                0, [=](Index, Index i, Index j) { return floor_div(i, b) == floor_div(j, b); }};
  });
}

TEST(Patterns, BlockLocalWithNeighboursMatchesRule) {
  expect_random_rules("block_local", [](Random& random, Index length) {
    const Index b = random_index(random, 1, 7), before = random_index(random, 0, 2),
                after = random_index(random, 0, 2);
    const Index fill = b * random_index(random, 1, 3),
                padded_length = fill * floor_div(length + fill - 1, fill);
    const bool is_circular = random.below(2) == 0;
    return Rule{make_values({{"block", b},
                             {"before", before},
                             {"after", after},
                             {"circular", is_circular},
                             {"fill", fill}}),
                0, [=](Index, Index i, Index j) {
                  const Index query_block = floor_div(i, b), key_block = floor_div(j, b);
                  for (Index d = -before; d <= after; ++d) {
                    if (is_circular ? mod(query_block + d, padded_length / b) == key_block
                                    : query_block + d == key_block)
                      return true;
                  }
                  return query_block == key_block;
                }};
  });
}

TEST(Patterns, Image1dMatchesRule) {
  expect_random_rules("image_1d", [](Random& random, Index) {
    const Index b = random_index(random, 1, 9), m = random_index(random, 0, 9);
    return Rule{make_values({{"block", b}, {"memory", m}}), 0, [=](Index, Index i, Index j) {
                  const Index s = b * floor_div(i, b);
                  return s - m <= j && j < s + b;
                }};
  });
}

TEST(Patterns, Image2dMatchesRule) {
  Random random(3);
  for (int round = 0; round < 60; ++round) {
    const Index width = random_index(random, 1, 7), height = random_index(random, 1, 6);
    const Index bh = random_index(random, 1, 4), bw = random_index(random, 1, 4);
    const Index top = random_index(random, 0, 3), left = random_index(random, 0, 3),
                right = random_index(random, 0, 3);
    const Rule rule{make_values({{"width", width},
                                 {"height", height},
                                 {"block_h", bh},
                                 {"block_w", bw},
                                 {"top", top},
                                 {"left", left},
                                 {"right", right}}),
                    0, [=](Index, Index i, Index j) {
                      const Index row = floor_div(i, width), column = mod(i, width);
                      const Index R = bh * floor_div(row, bh), C = bw * floor_div(column, bw);
                      const Index row_j = floor_div(j, width), column_j = mod(j, width);
                      return R - top <= row_j && row_j < R + bh && C - left <= column_j &&
                             column_j < C + bw + right;
                    }};
    for (const bool causal : {false, true}) expect_rule("image_2d", rule, width * height, causal);
  }
}

Values swin_values(Index width, Index height, Index window, const std::string& mode) {
  return make_values({{"width", width}, {"height", height}, {"window", window}, {"mode", mode}});
}

TEST(Patterns, SwinMatchesRule) {
  Random random(5);
  for (int round = 0; round < 60; ++round) {
    const Index width = random_index(random, 1, 8), height = random_index(random, 1, 7);
    const Index m = random_index(random, 1, 5), layer = random_index(random, 0, 3);
    const char* const modes[] = {"alternating", "regular", "shifted"};
    const std::string mode = modes[random.below(3)];
    const bool shifts = mode == "shifted" || (mode == "alternating" && layer % 2 == 1);
    const auto window = [=](Index at, Index side) {
      const Index shift = shifts && side > m ? m / 2 : 0;
      return floor_div(at - shift, m);
    };
    const Rule rule{swin_values(width, height, m, mode), layer, [=](Index, Index i, Index j) {
                      return window(i / width, height) == window(j / width, height) &&
                             window(i % width, width) == window(j % width, width);
                    }};
    for (const bool causal : {false, true}) expect_rule("swin", rule, width * height, causal);
  }
}

// The paper computes shifted windows as regular windows of the image rolled by -s, with a mask
// between regions that are not adjacent (regions of rows: up to H - M, up to H - s, the rest).
TEST(Patterns, SwinMatchesCyclicShiftWithMask) {
  for (const auto& [width, height, m] :
       {std::tuple<Index, Index, Index>{8, 8, 4}, {12, 6, 3}, {4, 6, 2}, {10, 15, 5}}) {
    const Index s = m / 2;
    const auto place = [=](Index at, Index side) { return mod(at - s, side); };
    const auto region = [=](Index rolled, Index side) {
      return rolled < side - m ? 0 : rolled < side - s ? 1 : 2;
    };
    const auto shares = [=](Index a, Index b, Index side) {
      const Index i = place(a, side), j = place(b, side);
      return i / m == j / m && region(i, side) == region(j, side);
    };
    const Rule rule{swin_values(width, height, m, "alternating"), 1, [=](Index, Index i, Index j) {
                      return shares(i / width, j / width, height) &&
                             shares(i % width, j % width, width);
                    }};
    expect_rule("swin", rule, width * height, false);
  }
}

const char* const kModes[] = {"first", "second", "merged", "per_head", "interleaved"};

bool allowed_by_mode(const std::string& mode, Index head, Index layer, bool in_first,
                     bool in_second) {
  if (mode == "first") return in_first;
  if (mode == "second") return in_second;
  if (mode == "merged") return in_first || in_second;
  return (mode == "per_head" ? head : layer) % 2 == 0 ? in_first : in_second;
}

TEST(Patterns, StridedMatchesRule) {
  expect_random_rules("strided", [](Random& random, Index) {
    const Index l = random_index(random, 1, 9), layer = random_index(random, 0, 3);
    const std::string mode = kModes[random.below(5)];
    return Rule{
        make_values({{"stride", l}, {"mode", mode}}), layer, [=](Index head, Index i, Index j) {
          return allowed_by_mode(mode, head, layer, std::max<Index>(0, i - l) <= j && j <= i,
                                 j <= i && mod(i - j, l) == 0);
        }};
  });
}

TEST(Patterns, FixedMatchesRule) {
  expect_random_rules("fixed", [](Random& random, Index) {
    const Index l = random_index(random, 1, 9), c = random_index(random, 0, l),
                layer = random_index(random, 0, 3);
    const std::string mode = kModes[random.below(5)];
    return Rule{make_values({{"stride", l}, {"summary", c}, {"mode", mode}}), layer,
                [=](Index head, Index i, Index j) {
                  return allowed_by_mode(mode, head, layer,
                                         j <= i && floor_div(j, l) == floor_div(i, l),
                                         j <= i && mod(j, l) >= l - c);
                }};
  });
}

TEST(Patterns, BlockwiseMatchesRule) {
  expect_random_rules("blockwise", [](Random& random, Index length) {
    const Index n = random_index(random, 1, 6), size = (length + n - 1) / n;
    Values values = make_values({{"blocks", n}});
    Lists permutations(kHeads);
    for (Index head = 0; head < kHeads; ++head) {
      auto& permutation = permutations[static_cast<std::size_t>(head)];
      for (Index b = 0; b < n; ++b) permutation.push_back((b + head) % n);
    }
    if (random.below(2) == 0) {
      for (auto& permutation : permutations) {
        for (Index b = n - 1; b > 0; --b) {
          std::swap(permutation[static_cast<std::size_t>(b)],
                    permutation[static_cast<std::size_t>(random_index(random, 0, b))]);
        }
      }
      values.set("permutations", permutations);
    }
    return Rule{
        values, 0, [=](Index head, Index i, Index j) {
          return j / size ==
                 permutations[static_cast<std::size_t>(head)][static_cast<std::size_t>(i / size)];
        }};
  });
}

TEST(Patterns, LongformerMatchesRule) {
  expect_random_rules("longformer", [](Random& random, Index length) {
    const Index w = random_index(random, 0, 4), r = random_index(random, 1, 3);
    Integers global;
    for (Index n = random_index(random, 0, 3); n > 0; --n)
      global.push_back(random_index(random, 0, length - 1));
    const auto is_global = [=](Index j) {
      return std::find(global.begin(), global.end(), j) != global.end();
    };
    return Rule{make_values({{"window", w},
                             {"dilation", r},
                             {"global", global},
                             {"projections", std::string("shared")}}),
                0, [=](Index, Index i, Index j) {
                  return in_window(i, j, w, r) || is_global(j) || is_global(i);
                }};
  });
}

TEST(Patterns, BigBirdWithListedBlocksMatchesRule) {
  expect_random_rules("bigbird", [](Random& random, Index length) {
    const Index b = random_index(random, 1, 6), blocks = (length + b - 1) / b;
    const Index w = 2 * random_index(random, 0, 2) + 1, g = random_index(random, 0, 2);
    Lists random_blocks(static_cast<std::size_t>(blocks));
    for (auto& list : random_blocks) {
      for (Index n = random_index(random, 0, 2); n > 0; --n)
        list.push_back(random_index(random, 0, blocks - 1));
    }
    const Values values = make_values({{"block", b},
                                       {"window_blocks", w},
                                       {"global_blocks", g},
                                       {"random_blocks", Index{1}},
                                       {"last_blocks", Index{0}},
                                       {"by_head", false},
                                       {"seed", Index{0}},
                                       {"random", random_blocks}});
    return Rule{values, 0, [=](Index, Index i, Index j) {
                  const Index I = i / b, J = j / b;
                  const auto& row_blocks = random_blocks[static_cast<std::size_t>(I)];
                  return std::abs(I - J) <= (w - 1) / 2 || J < g || I < g ||
                         std::find(row_blocks.begin(), row_blocks.end(), J) != row_blocks.end();
                }};
  });
}

// Draws the requested number of random blocks, as far as there are blocks outside the window and
// the global blocks. Equal seeds draw equal blocks.
TEST(Patterns, BigBirdDrawsBlocks) {
  const NamedVars no_weights;
  for (const Index r : {0, 1, 3, 50}) {
    const Index blocks = 12, g = 2;
    const auto draw_pattern = [&](Index seed) {
      const Values values = make_values({{"block", Index{2}},
                                         {"window_blocks", Index{3}},
                                         {"global_blocks", g},
                                         {"random_blocks", r},
                                         {"last_blocks", Index{0}},
                                         {"by_head", false},
                                         {"seed", seed}});
      return variant("bigbird").pattern(
          {.values = values, .weights = no_weights, .queries = 2 * blocks, .keys = 2 * blocks});
    };
    const Pattern pattern = draw_pattern(5), same_seed_pattern = draw_pattern(5),
                  other_seed_pattern = draw_pattern(6);
    bool has_difference = false;
    for (Index I = 0; I < blocks; ++I) {
      Index drawn_count = 0, free_count = 0;
      for (Index J = 0; J < blocks; ++J) {
        const bool is_fixed = std::abs(I - J) <= 1 || J < g || I < g;
        const bool is_allowed = pattern.allowed(0, 2 * I, 2 * J);
        EXPECT_TRUE(!is_fixed || is_allowed);
        drawn_count += !is_fixed && is_allowed ? 1 : 0;
        free_count += is_fixed ? 0 : 1;
        EXPECT_EQ(is_allowed, pattern.allowed(0, 2 * I + 1, 2 * J + 1));
        EXPECT_EQ(is_allowed, same_seed_pattern.allowed(0, 2 * I, 2 * J));
        has_difference =
            has_difference || is_allowed != other_seed_pattern.allowed(0, 2 * I, 2 * J);
      }
      EXPECT_EQ(drawn_count, std::min(r, free_count)) << "block row " << I;
    }
    EXPECT_EQ(has_difference, r == 1 || r == 3);
  }
}

TEST(Patterns, EtcMatchesRule) {
  expect_random_rules("etc", [](Random& random, Index length) {
    const Index g = random_index(random, 0, std::min<Index>(4, length)),
                w = random_index(random, 0, 4);
    const char* const directions[] = {"both", "g2l", "l2g"};
    const std::string hard = directions[random.below(3)];
    Values values =
        make_values({{"global", g}, {"radius", w}, {"by", std::string("list")}, {"hard", hard}});
    Integers segments;
    const bool has_segments = g > 0 && random.below(2) == 0;
    if (has_segments) {
      for (Index n = g; n < length; ++n) segments.push_back(random_index(random, 0, g - 1));
      values.set("segments", segments);
    }
    return Rule{values, 0, [=](Index, Index i, Index j) {
                  const auto segment = [&](Index n) {
                    return segments[static_cast<std::size_t>(n - g)];
                  };
                  if (i < g && j < g) return true;
                  if (i < g) return !has_segments || hard == "l2g" || segment(j) == i;
                  if (j < g) return !has_segments || hard == "g2l" || segment(i) == j;
                  return std::abs(i - j) <= w;
                }};
  });
}

TEST(Patterns, CustomAndGraphReadMatrices) {
  Random random(11);
  for (int round = 0; round < 30; ++round) {
    const Index queries = random_index(random, 1, 20), keys = random_index(random, 1, 20);
    const bool is_per_head = random.below(2) == 0;
    Tensor mask(is_per_head ? Shape{kHeads, queries, keys} : Shape{queries, keys});
    for (float& x : mask) x = random.below(3) == 0 ? 1.0f : 0.0f;
    const NamedVars weights = {{"pattern.mask", mask}};
    const Values values;
    const Pattern pattern = variant("custom").pattern(
        {.values = values, .weights = weights, .heads = kHeads, .queries = queries, .keys = keys});
    for (Index head = 0; head < kHeads; ++head) {
      for (Index i = 0; i < queries; ++i) {
        for (Index j = 0; j < keys; ++j) {
          const float cell = is_per_head ? mask(head, i, j) : mask(i, j);
          EXPECT_EQ(pattern.allowed(head, i, j), cell != 0);
        }
      }
    }
  }
  Tensor edges = Tensor::zeros({4, 4});
  edges(0, 2) = 1;
  const NamedVars weights = {{"graph.adjacency", edges}};
  const Values values =
      make_values({{"mode", std::string("dot")}, {"from", std::string("matrix")}});
  const Pattern pattern =
      variant("graph").pattern({.values = values, .weights = weights, .queries = 4, .keys = 4});
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) {
      EXPECT_EQ(pattern.allowed(0, i, j), i == j || (i == 0 && j == 2));
    }
  }
}

// The painted rows of `custom` apply to texts that are shorter or longer than the mask.
TEST(Patterns, PaintedRowsSupportEveryLength) {
  const Lists rows{{0, 1}, {0, 1, 2, 3}, {}, {1, 4}};
  const Values values = make_values({{"rows", rows}});
  const NamedVars no_weights;
  for (const Index length : {1, 2, 4, 7}) {
    for (const bool causal : {false, true}) {
      const Pattern pattern = variant("custom").pattern({.values = values,
                                                         .weights = no_weights,
                                                         .heads = kHeads,
                                                         .queries = length,
                                                         .keys = length,
                                                         .causal = causal});
      for (Index i = 0; i < length; ++i) {
        for (Index j = 0; j < length; ++j) {
          bool is_painted = i >= 4 && i == j;
          if (i < 4) {
            const Integers& row = rows[static_cast<std::size_t>(i)];
            for (std::size_t n = 0; n < row.size(); n += 2) {
              is_painted |= j >= row[n] && j < row[n + 1];
            }
          }
          EXPECT_EQ(pattern.allowed(0, i, j), is_painted && (!causal || j <= i)) << i << ", " << j;
        }
      }
    }
  }
}

Pattern graph_pattern(Values values, Index length) {
  values.set("mode", std::string("dot"));
  const NamedVars no_weights;
  return variant("graph").pattern(
      {.values = values, .weights = no_weights, .queries = length, .keys = length});
}

TEST(Patterns, GraphUsesListsChainsAndBrackets) {
  const Lists edges{{0, 2}, {3, 1}, {4, 9}};
  for (const bool is_directed : {false, true}) {
    const Pattern list_pattern = graph_pattern(
        make_values({{"from", std::string("edges")}, {"edges", edges}, {"one_way", is_directed}}),
        5);
    for (Index i = 0; i < 5; ++i) {
      for (Index j = 0; j < 5; ++j) {
        const bool is_edge = (i == 0 && j == 2) || (i == 3 && j == 1);
        const bool is_reverse_edge = !is_directed && ((i == 2 && j == 0) || (i == 1 && j == 3));
        EXPECT_EQ(list_pattern.allowed(0, i, j), i == j || is_edge || is_reverse_edge)
            << i << ", " << j;
      }
    }
  }
  const Pattern chain_pattern = graph_pattern(make_values({{"from", std::string("chain")}}), 5);
  for (Index i = 0; i < 5; ++i) {
    for (Index j = 0; j < 5; ++j) EXPECT_EQ(chain_pattern.allowed(0, i, j), std::abs(i - j) <= 1);
  }
  // Edges must be pairs for every source, because the user may change the source later.
  for (const char* source : {"edges", "brackets", "chain"}) {
    for (const Lists& invalid_edges : {Lists{{}}, Lists{{0}}, Lists{{0, 1}, {1, 2, 3}}}) {
      const Values values = make_values({{"from", std::string(source)}, {"edges", invalid_edges}});
      EXPECT_NE(variant("graph").objection(values, {}), "") << source;
    }
  }
  Values brackets = make_values({{"from", std::string("brackets")}, {"one_way", true}});
  EXPECT_THROW(graph_pattern(brackets, 5), InputError);  // without a text
  variant("graph").defaults.from_text(brackets, text_structure({"a", "(", "b", "c", ")"}));
  const Pattern bracket_pattern = graph_pattern(brackets, 5);
  const std::set<std::pair<Index, Index>> expected{{0, 1}, {1, 2}, {1, 3}, {1, 4}, {2, 3}, {3, 4}};
  for (Index i = 0; i < 5; ++i) {
    for (Index j = 0; j < 5; ++j) {
      const bool is_edge = expected.contains({std::min(i, j), std::max(i, j)});
      EXPECT_EQ(bracket_pattern.allowed(0, i, j), i == j || is_edge) << i << ", " << j;
    }
  }
}

TEST(Patterns, EtcUsesSentencesAsSegments) {
  const TextStructure structure = text_structure({"a", " b", " c", ".", " d", ".", " e"});
  Values values = make_values(
      {{"by", std::string("sentences")}, {"radius", Index{1}}, {"hard", std::string("both")}});
  const NamedVars no_weights;
  const auto pattern = [&] {
    return variant("etc").pattern(
        {.values = values, .weights = no_weights, .queries = 7, .keys = 7});
  };
  EXPECT_THROW(pattern(), InputError);  // without a text
  variant("etc").defaults.from_text(values, structure);
  EXPECT_EQ(values.integer("global"), 3);
  EXPECT_EQ(values.get<Integers>("segments"), (Integers{0, 1, 1, 2}));
  EXPECT_TRUE(pattern().allowed(0, 4, 1));
  EXPECT_FALSE(pattern().allowed(0, 4, 0));
  values.set("global", Index{2});  // the remaining sentences share the last global token
  variant("etc").defaults.from_text(values, structure);
  EXPECT_EQ(values.get<Integers>("segments"), (Integers{0, 0, 1, 1, 1}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
