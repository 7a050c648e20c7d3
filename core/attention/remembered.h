// What a head group remembers of the segments before (SPEC-MODELS section 4).
//
// Numbers only: no gradient flows to earlier segments. Positions count from the beginning of the
// text. B items of a batch, oldest rows first.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/part/info.h"

namespace attnscope {

// The rows of the text, by position, that a remembered row was made of.
struct RowSource {
  Index first = 0, count = 1, step = 1;
  Index last() const { return first + (count - 1) * step; }
  bool operator==(const RowSource&) const = default;
};

struct Remembered {
  Tensor rows;        // [B, m, d] that entered the layer; the last one before the segment to come
  Tensor compressed;  // [B, c, d]
  std::vector<std::int32_t> compressed_positions;  // [B c]
  std::vector<RowSource> compressed_from;          // [B c]
  Tensor keys, values;                             // [B h_kv, m, d_k] stored as they were
  // Of each of `rows`: attention that it got, summed over heads and queries [B m], and the number
  // of segments that saw it [m].
  std::vector<double> usage;
  std::vector<Index> seen;

  Index row_count() const { return rows.defined() ? rows.dim(1) : 0; }
  Index compressed_count() const { return compressed.defined() ? compressed.dim(1) : 0; }
  Index stored_count() const { return keys.defined() ? keys.dim(1) : 0; }
  bool empty() const { return row_count() + compressed_count() + stored_count() == 0; }
};

// Keys and values [B h_kv, n, d_k] that rows [B, n, d] of a layer's input give.
using Projection = std::function<std::pair<Var, Var>(const Var& rows)>;

// A segment that was just read, for Variant::remember.
struct SegmentRead {
  const Values& values;
  const NamedVars& weights;
  Index batch = 1, heads = 1, kv_heads = 1;
  Index first = 0;       // the position of the segment's first row
  Index usual = 0;       // S: how long segments are, also where this one is shorter
  Tensor x{};            // [B, S, d] rows that entered the layer
  Tensor q{}, k{}, v{};  // [B h, S, d_k], [B h_kv, S, d_k] twice, before any encoding
  Tensor attention{};    // [B h, S, c + m + S], where Variant::remembers_attention
  Projection project{};  // with constant weights
  // Takes the terms of losses: "auto_encoding".
  std::function<void(const std::string& name, const Var& value)> add_loss{};
};

// What the columns before those of the segment hold, oldest first, of the first sequence:
// compressed rows, then rows or stored keys. first: the position of the segment to come.
std::vector<RowSource> sources_of(const Remembered& remembered, Index first);

// The weights by which a variant finds what is remembered: "mem.k", "mem.v", and of compressed rows
// "compressed.k", "compressed.v", "compressed.position", relative to position `first`.
void recall(const Remembered& remembered, Index first, const Projection& project,
            NamedVars& weights);

}  // namespace attnscope
