// Compares word merging with sums from its definition.
#include "core/analysis/words.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/compare.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::differs;

const std::vector<std::string> kTokens = {"The", " sa", "il", "or", " sings", ".", " La", "nd"};

void set_tokens(Trace& trace, const std::vector<std::string>& tokens) {
  trace.tokenizer = byte_tokenizer();
  for (std::size_t n = 0; n < trace.tokens.size(); ++n) {
    trace.tokens[n].bytes = tokens[n % tokens.size()];
    trace.tokens[n].label = visible(trace.tokens[n].bytes);
    trace.tokens[n].id = static_cast<std::int32_t>(n);
  }
}

Trace trace_with_words(Pattern pattern) {
  Trace trace = testing::synthetic_trace(std::move(pattern));
  set_tokens(trace, kTokens);
  return trace;
}

// Merged map of one head: for each pair of words, the sum over the key's columns, averaged over the
// query's rows that see any key.
Tensor merge_by_definition(const Tensor& weights, const std::vector<std::vector<Index>>& queries,
                           const std::vector<std::vector<Index>>& keys, const ByteTensor& mask) {
  Tensor words({static_cast<Index>(queries.size()), static_cast<Index>(keys.size())});
  for (std::size_t a = 0; a < queries.size(); ++a) {
    for (std::size_t b = 0; b < keys.size(); ++b) {
      double sum = 0;
      int rows = 0;
      for (const Index i : queries[a]) {
        bool has_keys = false;
        for (Index c = 0; c < weights.dim(1); ++c) has_keys |= mask(0, i, c) != 0;
        if (!has_keys) continue;
        ++rows;
        for (const Index c : keys[b]) sum += static_cast<double>(weights(i, c));
      }
      words(static_cast<Index>(a), static_cast<Index>(b)) =
          static_cast<float>(rows > 0 ? sum / rows : 0);
    }
  }
  return words;
}

const std::vector<std::vector<Index>> kWords = {{0}, {1, 2, 3}, {4}, {5}, {6, 7}};

TEST(Words, SumsOverKeysAndAveragesOverQueries) {
  const Trace trace = trace_with_words(Pattern::causal(8, 8));
  const auto words = merge_words(trace);
  const AttentionTap &tap = trace.attention[0], &merged = words->trace.attention[0];
  EXPECT_EQ(words->of(tap).queries.first, (std::vector<Index>{0, 1, 4, 5, 6}));
  EXPECT_EQ(words->of(tap).keys.first, (std::vector<Index>{0, 1, 4, 5, 6}));
  for (Index head = 0; head < static_cast<Index>(tap.heads.size()); ++head) {
    const Tensor expected =
        merge_by_definition(tap.attention(head), kWords, kWords, tap.result.pattern->mask(1));
    EXPECT_TRUE(close(merged.attention(head), expected));
    EXPECT_TRUE(differs(merged.attention(head), Tensor::full({5, 5}, 0.2F), 1e-3));
    for (Index row = 0; row < 5; ++row) {  // rows still sum to 1
      double sum = 0;
      for (Index c = 0; c < 5; ++c) sum += static_cast<double>(merged.attention(head)(row, c));
      EXPECT_TRUE(std::abs(sum - 1) <= 1e-5) << row;
    }
  }
}

TEST(Words, AllowsPairsWithAnyAllowedTokenPair) {
  const Trace trace = trace_with_words(testing::window_and_global(8, 1, 1));
  const auto words = merge_words(trace);
  const Pattern &pattern = *trace.attention[0].result.pattern,
                &merged = *words->trace.attention[0].result.pattern;
  ASSERT_EQ(merged.queries(), 5);
  for (Index a = 0; a < 5; ++a) {
    for (Index b = 0; b < 5; ++b) {
      bool is_allowed = false;
      for (const Index i : kWords[static_cast<std::size_t>(a)]) {
        for (const Index c : kWords[static_cast<std::size_t>(b)])
          is_allowed |= pattern.allowed(0, i, c);
      }
      EXPECT_EQ(merged.allowed(0, a, b), is_allowed) << a << " " << b;
    }
  }
  EXPECT_EQ(merged.rules(), pattern.rules());
  EXPECT_FALSE(merged.allowed(0, 4, 1));
}

TEST(Words, ExcludesFullyMaskedRowsFromTheMean) {
  PatternBuilder builder(1, 8, 8, {"window"});
  for (Index i = 0; i < 8; ++i) {
    if (i != 2) builder.add(0, 0, i + 1);
    builder.next_row();
  }
  const Trace trace = trace_with_words(builder.finish());
  const AttentionTap& tap = trace.attention[0];
  const Tensor merged = merge_words(trace)->trace.attention[0].attention(0);
  EXPECT_TRUE(close(
      merged, merge_by_definition(tap.attention(0), kWords, kWords, tap.result.pattern->mask(1))));
  double sum = 0;
  for (Index c = 0; c < 5; ++c) sum += static_cast<double>(merged(1, c));
  EXPECT_TRUE(std::abs(sum - 1) <= 1e-5) << sum;
}

TEST(Words, KeepsMemorySeparate) {
  const Trace trace = trace_with_words(Pattern::causal(8, 11, 3));
  const auto words = merge_words(trace);
  const AttentionTap& merged = words->trace.attention[0];
  EXPECT_EQ(words->pairs[0].keys.first, (std::vector<Index>{0, 1, 2, 3, 4, 7, 8, 9}));
  ASSERT_EQ(merged.result.columns.size(), 2u);
  EXPECT_EQ(merged.result.columns[0], (std::pair<KeyKind, Index>{KeyKind::Memory, 3}));
  EXPECT_EQ(merged.result.columns[1], (std::pair<KeyKind, Index>{KeyKind::Token, 5}));
  const std::vector<std::vector<Index>> keys = {{0}, {1}, {2}, {3}, {4, 5, 6}, {7}, {8}, {9, 10}};
  const AttentionTap& tap = trace.attention[0];
  EXPECT_TRUE(close(merged.attention(0), merge_by_definition(tap.attention(0), kWords, keys,
                                                             tap.result.pattern->mask(1))));
}

// Maps that are not stored are merged on request, at any resolution.
TEST(Words, TilesMatchTheWholeMap) {
  Trace trace = testing::run_model({.length = 70, .causal = true});
  set_tokens(trace, kTokens);
  Trace tiled_trace = trace;
  for (AttentionTap& tap : tiled_trace.attention) {
    ASSERT_TRUE(tap.part() != nullptr && tap.result.log_sum_exp.defined());
    tap.result.tiles = cpu_tiles(*tap.part(), tap.result.log_sum_exp);
    tap.result.attention = {};
    tap.result.device = nullptr;
  }
  const auto stored_trace = merge_words(trace), tiled = merge_words(tiled_trace);
  const AttentionTap& tap = tiled->trace.attention[1];
  ASSERT_FALSE(tap.stores_map());
  const Tensor full_map = stored_trace->trace.attention[1].attention(1);
  EXPECT_TRUE(close(tap.attention(1), full_map));
  const Index words = full_map.dim(0);
  for (const Pooling pooling : {Pooling::Max, Pooling::Mean}) {
    const TileRequest request{.head = 1,
                              .row = 5,
                              .column = 3,
                              .height = words - 7,
                              .width = words - 3,
                              .step = 4,
                              .pooling = pooling};
    const Tensor tile = tap.result.tiles->tile(request);
    Tensor expected = Tensor::zeros({request.cell_rows(), request.cell_columns()});
    for (Index r = 0; r < expected.dim(0); ++r) {
      for (Index c = 0; c < expected.dim(1); ++c) {
        double sum = 0, largest = 0;
        Index count = 0;
        for (Index i = 5 + 4 * r; i < std::min<Index>(9 + 4 * r, words - 2); ++i) {
          for (Index j = 3 + 4 * c; j < std::min<Index>(7 + 4 * c, words); ++j) {
            sum += static_cast<double>(full_map(i, j));
            largest = std::max(largest, static_cast<double>(full_map(i, j)));
            ++count;
          }
        }
        const double value = pooling == Pooling::Max ? largest : sum / static_cast<double>(count);
        expected(r, c) = static_cast<float>(value);
      }
    }
    EXPECT_TRUE(close(tile, expected));
  }
}

TEST(Words, ReplacesTokensByWords) {
  Trace trace = trace_with_words(Pattern::causal(8, 8));
  trace.tokens[0].begin = 0;
  for (std::size_t n = 1; n < 8; ++n) trace.tokens[n].begin = trace.tokens[n - 1].end = 10 * n;
  trace.tokens[7].end = 80;
  trace.tokens[6].bytes = " the", trace.tokens[7].bytes = " The";
  const Trace words = merge_words(trace)->trace;
  ASSERT_EQ(words.tokens.size(), 6u);
  EXPECT_EQ(words.tokens[1].label, "␣sailor");
  EXPECT_EQ(words.tokens[1].begin, 10u);
  EXPECT_EQ(words.tokens[1].end, 40u);
  EXPECT_EQ(words.tokens[0].id, words.tokens[5].id);  // "The" with and without a space
  EXPECT_NE(words.tokens[4].id, words.tokens[5].id);
  EXPECT_TRUE(has_merged_words(words));
  EXPECT_FALSE(has_merged_words(trace));
  EXPECT_FALSE(words.logits.defined());
}

TEST(Words, OmitsTheLeadingSpaceOfWordPieces) {
  Trace trace = trace_with_words(Pattern::causal(8, 8));
  set_tokens(trace, {"[CLS]", " un", "able", "s", " the", ",", " ca", "fe"});
  const std::vector<std::string> labels = {"[CLS]", "un", "##able", "##s",
                                           "the",   ",",  "ca",     "##fe"};
  for (std::size_t n = 0; n < labels.size(); ++n) trace.tokens[n].label = labels[n];
  trace.tokens[0].special = true;
  const Trace words = merge_words(trace)->trace;
  ASSERT_EQ(words.tokens.size(), 5u);
  EXPECT_EQ(words.tokens[1].label, "unables");
  EXPECT_EQ(words.tokens[2].label, "the");
  EXPECT_EQ(words.tokens[4].label, "cafe");
}

// Rows of a segment, and rows with gaps.
TEST(Words, MergesRowsOfPartOfTheText) {
  Trace trace = trace_with_words(Pattern::causal(8, 8));
  AttentionTap tap = testing::synthetic_tap(0, 1, Pattern::causal(4, 4));
  tap.query_rows.first = tap.key_rows.first = 2;
  trace.attention = {tap};
  EXPECT_EQ(merge_words(trace)->pairs[0].queries.first, (std::vector<Index>{0, 2, 3}));
  tap.query_rows = {.indices = {1, 3, 6, 7}};
  trace.attention = {tap};
  const auto words = merge_words(trace);
  EXPECT_EQ(words->pairs[0].queries.first, (std::vector<Index>{0, 1, 2}));
  const AttentionTap& merged = words->trace.attention[0];
  EXPECT_EQ(words->trace.token_index(merged.query_rows, 3, 2), 4);  // "Land"
}

// An encoder-decoder has words of both texts.
TEST(Words, MergesSourceAndTargetSeparately) {
  Trace trace = trace_with_words(Pattern::causal(8, 8));
  trace.streams = {{kSourceStream, {}}};
  for (const char* bytes : {"Le", " ma", "rin"}) {
    TraceToken token;
    token.id = 1;
    token.bytes = bytes;
    trace.streams[0].tokens.push_back(token);
  }
  AttentionTap cross = testing::synthetic_tap(0, 1, Pattern::all(8, 3));
  cross.address.kind = AttentionKind::Cross;
  cross.key_rows.stream = kSourceStream;
  trace.attention.push_back(cross);
  const auto words = merge_words(trace);
  EXPECT_EQ(words->pairs[1].queries.first, (std::vector<Index>{0, 1, 4, 5, 6}));
  EXPECT_EQ(words->pairs[1].keys.first, (std::vector<Index>{0, 1}));
  EXPECT_EQ(words->trace.tokens_of({kSourceStream})[1].label, "␣marin");
  EXPECT_TRUE(close(words->trace.attention[1].attention(0),
                    merge_by_definition(cross.attention(0), kWords, {{0}, {1, 2}},
                                        cross.result.pattern->mask(1))));
}

TEST(Words, ReportsRefusals) {
  Trace trace = trace_with_words(Pattern::causal(8, 8));
  EXPECT_EQ(words_refusal(trace), "");
  set_tokens(trace, {" a", " b"});
  EXPECT_EQ(words_refusal(trace), "no word of this text has several tokens");
  trace.tokenizer = nullptr;  // imported tokens
  set_tokens(trace, {"The", "sail"});
  trace.tokenizer = nullptr;
  EXPECT_NE(words_refusal(trace).find("no word boundary marks"), std::string::npos);
  set_tokens(trace, {"The", "sail", "##or"});
  trace.tokenizer = nullptr;
  EXPECT_EQ(words_refusal(trace), "");
  EXPECT_EQ(merge_words(trace)->trace.tokens[1].label, "sailor");
  set_tokens(trace, {"ĠThe", "Ġsail", "or"});
  trace.tokenizer = nullptr;
  EXPECT_EQ(words_refusal(trace), "");
  EXPECT_EQ(merge_words(trace)->trace.tokens[1].label, "␣sailor");
  for (TraceToken& token : trace.tokens) token.bytes.clear();
  EXPECT_EQ(words_refusal(trace), "its tokens have no text");
}

TEST(Words, ConvertsPositionsBetweenTokensAndWords) {
  const WordGroups groups{{0, 1, 4, 5}, {1, 4, 5, 8}, 8};
  EXPECT_EQ(groups.of(-1), -1);
  EXPECT_EQ(groups.of(3), 1);
  EXPECT_EQ(groups.of(8), -1);
  EXPECT_DOUBLE_EQ(groups.to_words(2.5), 1.5);
  EXPECT_DOUBLE_EQ(groups.to_words(8), 4);
  for (double position = 0; position <= 8; position += 0.25) {
    EXPECT_NEAR(groups.to_rows(groups.to_words(position)), position, 1e-12);
  }
}

// Removal of special tokens leaves the other weights and the pattern unchanged.
TEST(Words, RemovesSpecialTokens) {
  Trace trace = trace_with_words(Pattern::causal(8, 8));
  EXPECT_EQ(special_refusal(trace), "this text has no special tokens");
  for (const std::size_t n : {0, 3, 7}) trace.tokens[n].special = true;
  EXPECT_EQ(special_refusal(trace), "");
  const auto reduced = merge_words(trace, {.merged = false, .without_special = true});
  const std::vector<Index> remaining = {1, 2, 4, 5, 6};
  const AttentionTap &tap = trace.attention[0], &filtered = reduced->trace.attention[0];
  EXPECT_EQ(reduced->of(tap).queries.first, remaining);
  EXPECT_FALSE(has_merged_words(reduced->trace));
  EXPECT_EQ(reduced->trace.counts.at(kRemovedTokens)[0], 3);
  ASSERT_EQ(filtered.queries(), 5);
  ASSERT_EQ(filtered.keys(), 5);
  Tensor expected({5, 5});
  for (Index i = 0; i < 5; ++i) {
    EXPECT_EQ(reduced->trace.token_index(filtered.query_rows, 5, i),
              remaining[static_cast<std::size_t>(i)]);
    for (Index c = 0; c < 5; ++c) {
      const Index row = remaining[static_cast<std::size_t>(i)],
                  column = remaining[static_cast<std::size_t>(c)];
      expected(i, c) = tap.attention(0)(row, column);
      EXPECT_EQ(filtered.result.pattern->allowed(0, i, c),
                tap.result.pattern->allowed(0, row, column));
    }
  }
  EXPECT_TRUE(close(filtered.attention(0), expected, 0));
}

TEST(Words, ConvertsPositionsWithRemovedTokens) {
  const WordGroups groups{{1, 2, 5}, {2, 4, 7}, 9};
  EXPECT_EQ(groups.of(0), -1);
  EXPECT_EQ(groups.of(1), 0);
  EXPECT_EQ(groups.of(3), 1);
  EXPECT_EQ(groups.of(4), -1);
  EXPECT_EQ(groups.of(6), 2);
  EXPECT_EQ(groups.of(7), -1);
  EXPECT_EQ(groups.of(-1), -1);
  EXPECT_EQ(groups.to_words(0), 0);
  EXPECT_EQ(groups.to_words(3), 1.5);
  EXPECT_EQ(groups.to_words(4), 2);
  EXPECT_EQ(groups.to_words(9), 3);
  EXPECT_EQ(groups.to_rows(1.5), 3);
  EXPECT_EQ((WordGroups{{0}, {3}, 3}.to_rows(0.5)), 1.5);  // a single word
}

// Words are merged from the remaining tokens.
TEST(Words, MergesAndRemovesSpecialTokens) {
  Trace trace = trace_with_words(Pattern::causal(8, 8));
  trace.tokens[0].special = true;
  const auto reduced = merge_words(trace, {.merged = true, .without_special = true});
  const std::vector<std::vector<Index>> words = {{1, 2, 3}, {4}, {5}, {6, 7}};
  const AttentionTap& tap = trace.attention[0];
  EXPECT_TRUE(
      close(reduced->trace.attention[0].attention(0),
            merge_by_definition(tap.attention(0), words, words, tap.result.pattern->mask(1))));
}

// Heads with different columns, some with steps, and rows that are fully masked in one head only.
TEST(Words, HasPairsPerHead) {
  PatternBuilder builder(2, 8, 8, {"some", "more"});
  for (Index head = 0; head < 2; ++head) {
    for (Index i = 0; i < 8; ++i) {
      if (head == 0) builder.add(0, i % 2, i + 1, 2);
      if (head == 1 && i != 2 && i != 5) builder.add(1, std::max<Index>(i - 3, 0), i);
      if (head == 1 && i == 0) builder.add(0, 0, 1);
      builder.next_row();
    }
  }
  const Trace trace = trace_with_words(builder.finish());
  const AttentionTap& tap = trace.attention[0];
  ASSERT_EQ(tap.heads.size(), 2u);
  const auto words = merge_words(trace);
  const AttentionTap& merged = words->trace.attention[0];
  const ByteTensor mask = tap.result.pattern->mask(2);
  for (Index head = 0; head < 2; ++head) {
    ByteTensor head_mask({1, 8, 8});
    std::copy_n(mask.data() + head * 64, 64, head_mask.data());
    EXPECT_TRUE(close(merged.attention(head),
                      merge_by_definition(tap.attention(head), kWords, kWords, head_mask)));
    for (Index a = 0; a < 5; ++a) {
      for (Index b = 0; b < 5; ++b) {
        bool is_allowed = false;
        for (const Index i : kWords[static_cast<std::size_t>(a)]) {
          for (const Index c : kWords[static_cast<std::size_t>(b)]) {
            is_allowed |= tap.result.pattern->allowed(head, i, c);
          }
        }
        EXPECT_EQ(merged.result.pattern->allowed(head, a, b), is_allowed) << head << a << b;
      }
    }
  }
}

// Masks per head replace patterns that do not determine the pairs.
TEST(Words, MergesMasks) {
  Trace trace = trace_with_words(Pattern::all(8, 10));
  AttentionTap& tap = trace.attention[0];
  tap.result.mask = ByteTensor::zeros({2, 8, 10});
  for (Index head = 0; head < 2; ++head) {
    for (Index i = 0; i < 8; ++i) tap.result.mask(head, i, (i * 3 + head * 5) % 10) = 1;
  }
  const std::vector<std::vector<Index>> keys = {{0}, {1}, {2}, {3, 4, 5}, {6}, {7}, {8, 9}};
  const ByteTensor merged = merge_words(trace)->trace.attention[0].result.mask;
  ASSERT_EQ(merged.shape(), (Shape{2, 5, 7}));
  for (Index head = 0; head < 2; ++head) {
    for (std::size_t a = 0; a < 5; ++a) {
      for (std::size_t b = 0; b < 7; ++b) {
        int is_allowed = 0;
        for (const Index i : kWords[a]) {
          for (const Index c : keys[b]) is_allowed |= tap.result.mask(head, i, c);
        }
        EXPECT_EQ(merged(head, static_cast<Index>(a), static_cast<Index>(b)), is_allowed);
      }
    }
  }
}

// Sampled tiles use the middle word of each step. Signed maps are pooled by largest magnitude.
TEST(Words, TilesSupportSamplingAndSigns) {
  struct MapTiles : AttentionTiles {
    explicit MapTiles(Tensor map) : map_(std::move(map)) {}
    std::string note() const override { return "whole"; }
    Tensor tile(const TileRequest& request) const override {
      Tensor part({request.height, request.width});
      for (Index r = 0; r < request.height; ++r) {
        for (Index c = 0; c < request.width; ++c) {
          part(r, c) = map_(request.head, request.row + r, request.column + c);
        }
      }
      return part;
    }
    Tensor map_;
  };
  Trace trace = trace_with_words(Pattern::all(24, 24));
  AttentionTap& tap = trace.attention[0];
  Trace stored_trace = trace;
  const Tensor weights = testing::random_tensor({2, 24, 24}, 7);
  stored_trace.attention[0].result.attention = weights;
  tap.result.attention = {};
  tap.result.tiles = std::make_shared<MapTiles>(weights);
  const AttentionTap merged = merge_words(trace)->trace.attention[0];
  const Tensor full_map = merge_words(stored_trace)->trace.attention[0].attention(1);
  const Index words = full_map.dim(0);
  ASSERT_EQ(words, 13);
  EXPECT_EQ(merged.result.tiles->note(), "whole");
  for (const bool sampled : {false, true}) {
    for (const Pooling pooling : {Pooling::Max, Pooling::Mean}) {
      const TileRequest request{.head = 1,
                                .row = 1,
                                .column = 2,
                                .height = 11,
                                .width = 11,
                                .step = 3,
                                .pooling = pooling,
                                .sampled = sampled};
      const Tensor tile = merged.result.tiles->tile(request);
      ASSERT_EQ(tile.shape(), (Shape{4, 4}));
      for (Index r = 0; r < 4; ++r) {
        Index first = 1 + 3 * r, end = std::min<Index>(first + 3, 12);
        if (sampled) {
          first = (first + end) / 2;
          end = first + 1;
        }
        for (Index c = 0; c < 4; ++c) {
          double sum = 0, largest = 0, count = 0;
          for (Index i = first; i < end; ++i) {
            for (Index j = 2 + 3 * c; j < std::min<Index>(5 + 3 * c, words); ++j) {
              const auto w = static_cast<double>(full_map(i, j));
              sum += w;
              ++count;
              if (std::abs(w) > std::abs(largest)) largest = w;
            }
          }
          EXPECT_NEAR(tile(r, c), pooling == Pooling::Max ? largest : sum / count, 1e-5)
              << r << " " << c << " " << sampled;
        }
      }
    }
  }
  // The positive weight wins a tie between opposite signs.
  Tensor equal = Tensor::zeros({2, 24, 24});
  for (Index i = 0; i < 24; ++i) {
    equal(0, i, 0) = -0.5F;
    equal(0, i, 4) = 0.5F;
  }
  tap.result.tiles = std::make_shared<MapTiles>(equal);
  const Tensor tile = merge_words(trace)->trace.attention[0].result.tiles->tile(
      {.height = 2, .width = 13, .step = 13});
  EXPECT_EQ(tile(Index{0}, Index{0}), 0.5F);
}

TEST(Words, AssignsEqualIdsToEqualTextsInAllStreams) {
  Trace trace = trace_with_words(Pattern::causal(8, 8));
  trace.tokens[5].id = -1;  // unknown
  trace.streams = {{kSourceStream, {}}};
  for (const char* bytes : {" The", " sail", "or", " other"}) {
    TraceToken token;
    token.id = 7;
    token.bytes = bytes;
    trace.streams[0].tokens.push_back(token);
  }
  const Trace words = merge_words(trace)->trace;
  const std::vector<TraceToken>& source = words.tokens_of({kSourceStream});
  ASSERT_EQ(source.size(), 3u);
  EXPECT_EQ(source[0].id, words.tokens[0].id);
  EXPECT_EQ(source[1].id, words.tokens[1].id);
  for (std::size_t n = 0; n < 5; ++n) {
    EXPECT_NE(source[2].id, words.tokens[n].id);
    EXPECT_EQ(words.tokens[n].id == -1, n == 3);
  }
  const IntTensor& starts = words.counts.at(kWordStarts);
  EXPECT_EQ(std::vector<std::int32_t>(starts.begin(), starts.end()),
            (std::vector<std::int32_t>{0, 1, 4, 5, 6, 8}));
}

TEST(Words, ReportsWhyNothingCanBeRemoved) {
  Trace trace = trace_with_words(Pattern::causal(8, 8));
  for (TraceToken& token : trace.tokens) token.special = true;
  EXPECT_EQ(special_refusal(trace), "this text has only special tokens");
  TraceToken ordinary_token;
  ordinary_token.bytes = "x";
  trace.streams = {{kSourceStream, {ordinary_token}}};
  EXPECT_EQ(special_refusal(trace), "");
  trace.streams[0].tokens[0].special = true;
  const auto reduced = merge_words(trace, {.merged = false, .without_special = true});
  EXPECT_EQ(reduced->trace.counts.at(kRemovedTokens)[0], 9);
  // A mask token is not special: the model predicts it.
  ModelConfig config;
  config.architecture = {"decoder", {}};
  config.architecture.values.set("masked", 0.2);
  config.architecture.values.set("mask", Index{2});
  trace.config = std::make_shared<const ModelConfig>(config);
  EXPECT_EQ(special_refusal(trace), "");
  EXPECT_EQ(merge_words(trace, {.merged = false, .without_special = true})
                ->trace.counts.at(kRemovedTokens)[0],
            8);
  trace.attention.clear();
  EXPECT_EQ(special_refusal(trace), "there is no attention");
  EXPECT_EQ(words_refusal(trace), "there is no attention");
}

TEST(Words, ConvertsPositionsBeyondTheLastWord) {
  const WordGroups groups{{0, 1, 4}, {1, 4, 8}, 8};
  EXPECT_DOUBLE_EQ(groups.to_rows(3), 8);
  EXPECT_DOUBLE_EQ(groups.to_rows(-1), -1);
  EXPECT_DOUBLE_EQ(groups.to_rows(2.25), 5);
  EXPECT_EQ(groups.words_ending_by(4), 2);
  EXPECT_EQ(groups.words_ending_by(3), 1);
  EXPECT_EQ(groups.words_starting_before(4), 2);
  EXPECT_EQ(groups.words_starting_before(5), 3);
  const WordGroups no_words{{}, {}, 3};
  EXPECT_EQ(no_words.to_words(2), 2);
  EXPECT_EQ(no_words.to_rows(2), 2);
  EXPECT_EQ(no_words.of(1), -1);
}

// Tokens that are not consecutive are never merged.
TEST(Words, KeepsSeparatedRowsApart) {
  Trace trace = trace_with_words(Pattern::causal(8, 8));
  AttentionTap tap = testing::synthetic_tap(0, 1, Pattern::causal(5, 5));
  tap.query_rows = {.indices = {1, 3, 4, 6, 7}};
  tap.key_rows = {.indices = {0, 1, 2, 3, 3}};
  trace.attention = {tap};
  const WordPairs pairs = merge_words(trace)->pairs[0];
  EXPECT_EQ(pairs.queries.first, (std::vector<Index>{0, 1, 2, 3}));
  EXPECT_EQ(pairs.queries.last, (std::vector<Index>{1, 2, 3, 5}));
  EXPECT_EQ(pairs.keys.first, (std::vector<Index>{0, 1, 4}));
  EXPECT_EQ(pairs.keys.last, (std::vector<Index>{1, 4, 5}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
