// FlashAttention: softmax attention computed by tiles of the score matrix, which is never stored
// (Dao et al., 2022, arXiv:2205.14135, algorithms 0 and 1).
//
// Each query i keeps a running maximum m, a running sum l and its output o, normalised for the keys
// seen so far. For each key block, and for each query block, a tile with scores s updates
//   m' = max(m, max_j s_ij)
//   l' = e^(m − m') l + Σ_j e^(s_ij − m')
//   o' = (e^(m − m') l o + Σ_j e^(s_ij − m') v_j) / l'
// After the last tile, o is the softmax attention over all allowed keys. Tiles without an allowed
// pair are skipped.
#pragma once

#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Queries [query, query + queries) and keys [key, key + keys).
struct FlashTile {
  Index query = 0, queries = 0, key = 0, keys = 0;
};

struct FlashBlocks {
  Index queries = 1, keys = 1;  // B_r, B_c
};

// Largest blocks for a fast memory of `memory` numbers and heads of size d:
// B_c = ⌈M / 4d⌉ and B_r = min(B_c, d).
FlashBlocks flash_blocks(double memory, Index d);

// Reason why tiles of a head cannot be shown; empty if they can.
std::string flash_refusal(const AttentionTap& tap);

// Scores of a head whose tap has no refusal.  [L_q, L_k]; −∞: not allowed
Tensor flash_scores(const AttentionTap& tap, Index head);

struct FlashOperands {
  Tensor scores;   // flash_scores()
  Tensor values;   // [L_k, d_v]
  Index d = 0;     // d_k
  float sink = 0;  // exp(sink) is part of l from the start; −∞: no sink
};
FlashOperands flash_operands(const AttentionTap& tap, Index head, Tensor scores);

// Tiles in the order of the computation, without skipped ones.
std::vector<FlashTile> flash_tiles(const Pattern& pattern, const FlashBlocks& blocks);

struct FlashState {
  std::vector<float> m, l;       // by query; -∞ and 0 before its first key
  std::vector<float> rescaling;  // by query: e^(m − m') of the last tile; NaN for other queries
  Tensor output;                 // [L_q, d_v]
};
// State after the first `count` tiles, in single precision.
FlashState flash_state(const FlashOperands& operands, const std::vector<FlashTile>& tiles,
                       std::size_t count);

// Largest difference of the outputs from plain softmax attention in double precision.
double flash_error(const FlashOperands& operands, const FlashState& final_state);

// Numbers moved between slow and fast memory by one head.
struct FlashTraffic {
  double plain = 0;  // algorithm 0: S and P are written and read: Θ(L d + L²)
  double tiled = 0;  // algorithm 1: Θ(L² d² / M)
};
// `causal`: tiles above the diagonal are skipped. Values have the size d, too.
FlashTraffic flash_traffic(Index tokens, Index d, const FlashBlocks& blocks, bool causal);
// Numbers that these tiles move.
double numbers_moved(const std::vector<FlashTile>& tiles, Index queries, Index d);

}  // namespace attnscope
