#include "core/analysis/flash_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/analysis/pair.h"

namespace attnscope {
namespace {

constexpr Index kMaxFlashTokens = 512;  // every pair has a score
constexpr float kNever = -std::numeric_limits<float>::infinity();

// True if each query may attend to all keys, or to all keys up to itself.
bool is_dense(const Pattern& pattern) {
  const Index before = pattern.keys() - pattern.queries();
  bool is_full = true, is_causal = before >= 0;
  for (Index head = 0; head < pattern.heads(); ++head) {
    for (Index i = 0; i < pattern.queries(); ++i) {
      is_full = is_full && pattern.row_size(head, i) == pattern.keys();
      is_causal = is_causal && pattern.row_size(head, i) == before + i + 1;
    }
  }
  return is_full || is_causal;
}

std::vector<FlashTile> all_tiles(Index queries, Index keys, const FlashBlocks& blocks) {
  std::vector<FlashTile> tiles;
  for (Index key = 0; key < keys; key += blocks.keys) {
    for (Index query = 0; query < queries; query += blocks.queries) {
      tiles.push_back({query, std::min(blocks.queries, queries - query), key,
                       std::min(blocks.keys, keys - key)});
    }
  }
  return tiles;
}

// Updates one query with the keys of a tile.
void update_query(const FlashOperands& in, const FlashTile& tile, Index i, FlashState& state) {
  const auto row = static_cast<std::size_t>(i);
  float largest = kNever;
  for (Index j = tile.key; j < tile.key + tile.keys; ++j) {
    largest = std::max(largest, in.scores(i, j));
  }
  if (!(largest > kNever)) return;
  const float m = std::max(state.m[row], largest);
  const float rescaling = std::exp(state.m[row] - m);
  const Index size = in.values.dim(1);
  std::vector<float> sum(static_cast<std::size_t>(size));
  float l = rescaling * state.l[row];
  for (Index c = 0; c < size; ++c) sum[static_cast<std::size_t>(c)] = l * state.output(i, c);
  for (Index j = tile.key; j < tile.key + tile.keys; ++j) {
    const float p = std::exp(in.scores(i, j) - m);
    l += p;
    for (Index c = 0; c < size; ++c) sum[static_cast<std::size_t>(c)] += p * in.values(j, c);
  }
  for (Index c = 0; c < size; ++c) state.output(i, c) = sum[static_cast<std::size_t>(c)] / l;
  state.m[row] = m;
  state.l[row] = l;
  state.rescaling[row] = rescaling;
}

}  // namespace

FlashBlocks flash_blocks(double memory, Index d) {
  const auto keys = static_cast<Index>(std::ceil(memory / (4 * static_cast<double>(d))));
  return {std::max<Index>(1, std::min(keys, d)), std::max<Index>(1, keys)};
}

std::string flash_refusal(const AttentionTap& tap) {
  const PartSettings* settings = tap.settings();
  const HeadTensors<Shape>& shapes = tap.shapes().part;
  if (settings == nullptr || settings->normaliser != Normaliser::Softmax ||
      settings->source != Source::Product || settings->value_rows || shapes.q.empty() ||
      shapes.k.empty() || shapes.v.empty()) {
    return "FlashAttention needs a softmax over products of queries and keys.";
  }
  if (tap.queries() > kMaxFlashTokens || tap.keys() > kMaxFlashTokens) {
    return "Tiles are shown for up to " + std::to_string(kMaxFlashTokens) + " tokens.";
  }
  if (tap.queries() == 0 || tap.keys() == 0 || tap.result.mask.defined() ||
      !is_dense(*tap.result.pattern)) {
    return "FlashAttention computes full attention, where queries see all keys or all earlier "
           "ones.";
  }
  return {};
}

Tensor flash_scores(const AttentionTap& tap, Index head) {
  const std::shared_ptr<const Part> part = tap.part();
  const Index pattern_head = part->pattern->heads() == 1 ? 0 : head;
  Tensor scores = Tensor::full({tap.queries(), tap.keys()}, kNever);
  for (Index i = 0; i < tap.queries(); ++i) {
    for (const Run& run : part->pattern->row(pattern_head, i)) {
      for (Index j = run.begin; j < run.end; j += run.step) {
        scores(i, j) = static_cast<float>(pair_score(*part, head, i, j)->score);
      }
    }
  }
  return scores;
}

FlashOperands flash_operands(const AttentionTap& tap, Index head, Tensor scores) {
  const std::shared_ptr<const Part> part = tap.part();
  const Tensor& values = part->v.value();  // [h_kv, L_k, d_v]
  const Index kv = head / (part->heads / values.dim(0));
  return {.scores = std::move(scores),
          .values = values.slice(kv, 1).reshaped({values.dim(1), values.dim(2)}),
          .d = part->q.dim(2),
          .sink = part->sinks.defined() ? part->sinks.value()[head] : kNever};
}

std::vector<FlashTile> flash_tiles(const Pattern& pattern, const FlashBlocks& blocks) {
  std::vector<FlashTile> tiles = all_tiles(pattern.queries(), pattern.keys(), blocks);
  // Rows are dense: the last query of a tile sees the most keys.
  std::erase_if(tiles, [&](const FlashTile& tile) {
    return pattern.row_size(0, tile.query + tile.queries - 1) <= tile.key;
  });
  return tiles;
}

FlashState flash_state(const FlashOperands& operands, const std::vector<FlashTile>& tiles,
                       std::size_t count) {
  const Index queries = operands.scores.dim(0);
  const auto rows = static_cast<std::size_t>(queries);
  const bool has_sink = operands.sink > kNever;
  const float none = std::numeric_limits<float>::quiet_NaN();
  FlashState state{.m = std::vector<float>(rows, operands.sink),
                   .l = std::vector<float>(rows, has_sink ? 1.0F : 0.0F),
                   .rescaling = std::vector<float>(rows, none),
                   .output = Tensor::zeros({queries, operands.values.dim(1)})};
  for (std::size_t n = 0; n < std::min(count, tiles.size()); ++n) {
    std::ranges::fill(state.rescaling, none);
    for (Index i = tiles[n].query; i < tiles[n].query + tiles[n].queries; ++i) {
      update_query(operands, tiles[n], i, state);
    }
  }
  return state;
}

double flash_error(const FlashOperands& operands, const FlashState& final_state) {
  const Tensor& scores = operands.scores;
  double error = 0;
  for (Index i = 0; i < scores.dim(0); ++i) {
    double largest = static_cast<double>(operands.sink);
    for (Index j = 0; j < scores.dim(1); ++j) {
      largest = std::max(largest, static_cast<double>(scores(i, j)));
    }
    double sum = std::exp(static_cast<double>(operands.sink) - largest);
    std::vector<double> output(static_cast<std::size_t>(operands.values.dim(1)));
    for (Index j = 0; j < scores.dim(1); ++j) {
      const double p = std::exp(static_cast<double>(scores(i, j)) - largest);
      sum += p;
      for (std::size_t c = 0; c < output.size(); ++c) {
        output[c] += p * static_cast<double>(operands.values(j, static_cast<Index>(c)));
      }
    }
    for (std::size_t c = 0; c < output.size(); ++c) {
      const auto tiled = static_cast<double>(final_state.output(i, static_cast<Index>(c)));
      error = std::max(error, std::abs(output[c] / sum - tiled));
    }
  }
  return error;
}

double numbers_moved(const std::vector<FlashTile>& tiles, Index queries, Index d) {
  const auto size = static_cast<double>(d);
  double moved = static_cast<double>(queries) * (size + 2);  // o, l and m are initialised
  Index key = -1;
  for (const FlashTile& tile : tiles) {
    // A key block is loaded once.
    if (tile.key != key) moved += 2 * size * static_cast<double>(tile.keys);
    key = tile.key;
    // q, o, l and m are loaded; o, l and m are written.
    moved += static_cast<double>(tile.queries) * (size + 2 * (size + 2));
  }
  return moved;
}

FlashTraffic flash_traffic(Index tokens, Index d, const FlashBlocks& blocks, bool causal) {
  const auto n = static_cast<double>(tokens), size = static_cast<double>(d);
  std::vector<FlashTile> tiles = all_tiles(tokens, tokens, blocks);
  if (causal) {
    std::erase_if(tiles,
                  [](const FlashTile& tile) { return tile.key >= tile.query + tile.queries; });
  }
  // q, k and v are read, o is written; S is written and read, and so is P.
  return {4 * n * size + 4 * n * n, numbers_moved(tiles, tokens, d)};
}

}  // namespace attnscope
