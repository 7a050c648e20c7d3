// A part prepared for the CPU kernels: sizes, positions and packed matrices.
#pragma once

#include <atomic>
#include <limits>
#include <memory>
#include <vector>

#include "core/attention/cpu/packed.h"
#include "core/part/arrangement.h"
#include "core/part/part.h"
#include "core/tensor/row_kernels.h"

namespace attnscope::cpu {

inline constexpr float infinity = std::numeric_limits<float>::infinity();

// Number of queries computed together.
inline constexpr Index block_rows = Arrangement::block_rows;
// Number of consecutive rows of a block that share an Extent (columns.h).
inline constexpr Index group_rows = Arrangement::group_rows;
// Number of columns of scores computed together.
inline constexpr Index tile_columns = 128;

// Accessor for an array whose first axis is B * h (or B * h_kv), h, or 1.
class PerHead {
 public:
  PerHead() = default;
  PerHead(const Var& var, Index heads)
      : data_(var.value().data()),
        count_(var.dim(0)),
        stride_(var.value().size() / var.dim(0)),
        heads_(heads) {}
  Index index(Index pair) const {
    return count_ == 1 ? 0 : count_ == heads_ ? pair % heads_ : pair;
  }
  const float* at(Index pair) const { return data_ + index(pair) * stride_; }

 private:
  const float* data_ = nullptr;
  Index count_ = 1, stride_ = 0, heads_ = 1;
};

// Use of a prepared part: a pass, a pass that writes whole maps, tiles of maps, or gradients. Pass
// and Gradients compute rows as an Arrangement divides them, Maps and Tiles in the order of the
// queries. Values are packed for Gradients. Keys are packed unless the columns of all blocks have
// gaps, or each block of a pass needs few keys (key_panels.h packs them on demand).
enum class Purpose { Pass, Maps, Tiles, Gradients };

struct Prepared {
  Prepared(const Part& part, Purpose purpose);  // throws Stopped
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  struct Product {
    PerHead q, k;
    Index size;
    Packed packed_k;
  };
  struct Rows {  // prepared RelativeRows
    PerHead rows;
    Index count, size;
    Packed packed;
    const OffsetIndex* index;
  };
  struct Table {  // prepared OffsetTable
    PerHead table;
    Index count;
    const OffsetIndex* index;
  };

  Index key_head(Index pair) const {  // index of the pair's keys and values, in [0, B h_kv)
    return pair / heads * kv_heads + pair % heads / (heads / kv_heads);
  }
  const float* q(Index pair, Index row) const {
    return part.q.value().data() + (pair * queries + row) * key_size;
  }
  const float* keys_of(Index key_head) const {  // [keys, key_size]
    return part.k.value().data() + key_head * part.k.dim(1) * key_size;
  }
  const float* k(Index pair) const { return keys_of(key_head(pair)); }
  const float* v(Index pair) const {
    return part.v.value().data() + key_head(pair) * part.v.dim(1) * value_size;
  }
  // True if scores are products of queries and keys alone, followed by a softmax.
  bool is_plain_softmax() const {
    return has_product && part.normaliser == Normaliser::Softmax && !part.relu &&
           part.score_cap == 0 && !part.sinks.defined() && products.empty() && query_rows.empty() &&
           key_rows.empty() && value_rows.empty() && scaled_biases.empty() && bias.empty() &&
           factor.empty();
  }
  const std::int32_t* key_positions(Index head) const {
    return pos_k.data() + (key_positions_per_head ? head * keys : 0);
  }

  const Part part;  // an independent copy
  const RowKernels& kernels;
  Index batch, heads, kv_heads, pairs;  // pairs = B h
  Index queries, keys, key_size = 0, value_size = 0, additive_size = 0;
  bool has_product;
  std::vector<std::int32_t> pos_q, pos_k;
  bool key_positions_per_head, has_unit_steps;  // has_unit_steps: positions increase by 1

  // True: products that overflow float32 are computed in double precision and clamped to the range
  // of float32. This is slow, so it is enabled only after an infinite score in the forward pass.
  mutable std::atomic<bool> clamps_overflow = false;

  std::shared_ptr<const Arrangement> arrangement;  // null for Maps and Tiles

  Packed packed_k, packed_v;     // may be undefined, see Purpose
  std::vector<float> key_norms;  // largest |k_j| of each head of packed_k, if is_plain_softmax()
  std::vector<Product> products;
  std::vector<Rows> query_rows, key_rows, value_rows;  // query_rows, value_rows: at most 1 entry
  std::vector<Table> scaled_biases, bias, factor;      // bias, factor: at most 1 entry
  PerHead logits;
  Tensor additive_q, additive_k;  // q add_wq [B h, L_q, a], k add_wk [B h, L_k, a]
};

}  // namespace attnscope::cpu
