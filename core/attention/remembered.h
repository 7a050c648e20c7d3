// State of a head group from earlier segments (spec-models.md, section 4).
//
// No gradient flows to earlier segments. Positions count from the beginning of the text. B: items
// of the batch; m: rows, c: compressed rows, ordered from the oldest to the newest.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/part/info.h"
#include "core/part/part.h"

namespace attnscope {

// Positions in the text from which a remembered row was computed.
struct RowSource {
  Index first = 0, count = 1, step = 1;
  Index last() const { return first + (count - 1) * step; }
  bool operator==(const RowSource&) const = default;
};

struct Remembered {
  Tensor rows;        // [B, m, d] layer inputs; the last row precedes the next segment
  Tensor compressed;  // [B, c, d]
  std::vector<std::int32_t> compressed_positions;  // [B c]
  std::vector<RowSource> compressed_sources;       // [B c]
  Tensor keys, values;                // [B h_kv, m, d_k]; projected rows, stored instead of `rows`
  std::vector<double> usage;          // [B m] attention to each row, summed over heads and queries
  std::vector<Index> segment_counts;  // [m] number of segments that could attend to each row

  Index row_count() const { return rows.defined() ? rows.dim(1) : 0; }
  Index compressed_count() const { return compressed.defined() ? compressed.dim(1) : 0; }
  Index stored_count() const { return keys.defined() ? keys.dim(1) : 0; }
  bool empty() const { return row_count() + compressed_count() + stored_count() == 0; }
};

// Projects rows [B, n, d] of a layer's input to keys and values [B h_kv, n, d_k].
using Projection = std::function<std::pair<Var, Var>(const Var& rows)>;

// A completed segment of S tokens, for VariantMemory::remember.
struct CompletedSegment {
  const Values& values;
  const NamedVars& weights;
  Index batch = 1, heads = 1, kv_heads = 1;
  Index first = 0;              // position of the segment's first row
  Index segment_length = 0;     // configured length; at least S
  Tensor x{};                   // [B, S, d] layer inputs
  HeadTensors<Tensor> input{};  // q, k and v before any encoding
  Tensor attention{};           // [B h, S, c + m + S]; only if VariantMemory::needs_attention
  Projection project{};         // uses constant weights
  // Adds a loss term: "auto_encoding".
  std::function<void(const std::string& name, const Var& value)> add_loss{};
};

// Sources of the attention map's memory columns, for the first item of the batch: compressed rows,
// then rows or stored keys. first: position of the segment's first row.
std::vector<RowSource> memory_sources(const Remembered& remembered, Index first);

// Adds remembered keys and values to `weights` as "mem.k" and "mem.v". Adds compressed rows as
// "compressed.k", "compressed.v" and "compressed.position" (positions relative to `first`).
void recall(const Remembered& remembered, Index first, const Projection& project,
            NamedVars& weights);

}  // namespace attnscope
