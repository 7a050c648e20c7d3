// Queries, keys, values and outputs of an attention operation.
#pragma once

#include <functional>
#include <memory>

#include "core/part/part.h"

namespace attnscope {

struct AttentionVectors {
  HeadTensors<Tensor> input{};         // projections before rotation; v may be undefined
  std::shared_ptr<const Part> part{};  // contains q, k, v; null for operations of several parts
  Tensor output{};                     // [h, L_q, d_v]
};

// Vectors that are kept in memory, or computed again when they are read. Both give the same
// numbers. Thread-safe.
class RecordedVectors {
 public:
  using Compute = std::function<std::shared_ptr<const AttentionVectors>()>;
  // Shapes of the vectors; empty for undefined ones.
  struct Shapes {
    HeadTensors<Shape> input{}, part{};
    Shape output{};
  };

  RecordedVectors();  // all undefined
  RecordedVectors(AttentionVectors kept);
  // Vectors of the same shapes and settings that are computed when they are read.
  RecordedVectors computed_by(Compute compute) const;
  // The part without input and output, for another trace: source_of() distinguishes traces by the
  // address of the settings.
  RecordedVectors part_only() const;

  std::shared_ptr<const AttentionVectors> get() const { return kept_ ? kept_ : compute_(); }
  const AttentionVectors* kept() const { return kept_.get(); }  // null if they are computed
  const Shapes& shapes() const { return shapes_; }
  // Settings of the part; null for operations of several parts.
  const std::shared_ptr<const PartSettings>& settings() const { return settings_; }

 private:
  std::shared_ptr<const AttentionVectors> kept_;  // null: computed
  Compute compute_;
  Shapes shapes_;
  std::shared_ptr<const PartSettings> settings_;
};

}  // namespace attnscope
