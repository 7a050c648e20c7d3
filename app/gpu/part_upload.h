// GPU representation of a Part: padded rows, two buffers of tables, sizes, and shader defines.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "app/gpu/shader.h"
#include "app/gpu/tile_layout.h"
#include "core/part/part.h"

namespace attnscope {

inline constexpr int kMaxTables = 16;
inline constexpr int kMaxProducts = 8;

// Uniform block of shaders/attention.glsl (std140), which documents the members.
struct Sizes {
  using Quad = std::array<std::int32_t, 4>;
  std::int32_t heads, kv_heads, queries, keys;
  std::int32_t key_width, value_width, tile_first, tile_end;
  std::int32_t head_first, head_step;
  std::uint32_t origin, copy_stride;
  std::int32_t tiles, columns, words, starts;
  std::int32_t runs, pattern_heads, sinks, pos_q;
  std::int32_t pos_k, pos_k_stride, additive_v, logits;
  std::int32_t logits_heads, logits_width, span, span_rows;
  float span_ramp, scale, product_scale, score_cap;
  std::array<Quad, 2 * kMaxTables> table;
  std::array<Quad, kMaxProducts> product;
};
static_assert(sizeof(Sizes) == 32 * 4 + (2 * kMaxTables + kMaxProducts) * 16);

struct PartUpload {
  Tensor queries, keys, values;  // [.., rows, 4 x width in vec4s]; undefined if unused
  std::vector<float> numbers;    // tables, extra products, spans, logits
  std::vector<std::int32_t> integers;
  Sizes sizes{};  // without the members that describe a chunk
  Defines defines;

  explicit PartUpload(const Part& part);
  // Call one: add_tiles() for the tiled passes, add_runs() for random access (pooled_tile.comp).
  void add_tiles(const TileLayout& layout);
  void add_runs(const Pattern& pattern);
};

// Reason why a device with buffers of `max_bytes` cannot run this part; empty if it can. Ignores
// the size of tiles, which integers_refusal() checks.
std::string upload_refusal(const Part& part, std::int64_t max_bytes);

// Reason why a buffer of `max_bytes` cannot contain `count` integers; empty if it can.
std::string integers_refusal(std::int64_t count, std::int64_t max_bytes);

Index padded_key_width(const Part& part);    // vec4s per row of q and k
Index padded_value_width(const Part& part);  // vec4s per row of v; even, 0 without v

}  // namespace attnscope
