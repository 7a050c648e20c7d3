// The two sides of a comparison: their labels, facts and divergence.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/analysis/divergence.h"
#include "core/view/parts/fact_table.h"

namespace attnscope {

// A head in a comparison.
struct Side {
  const char* letter;
  Colour colour;
  const Trace* trace;
  const AttentionTap* tap;
  Index head;  // index within the tap's group
  ViewSettings view;
  Tensor weights;  // [L_q, L_k]
  bool with_signs;
};

enum class Show { First, Second, Difference };

struct Sides {
  Side a, b;
  std::string no_difference;  // reason why the maps cannot be subtracted; empty if they can
  bool have_same_labels;
  bool flipped;  // A and B have swapped their places

  bool has_difference() const { return no_difference.empty(); }
  bool has_divergence() const { return !a.with_signs && !b.with_signs; }
  // The side whose weights a map shows; A for the difference.
  const Side& of(Show show) const;
};

// The selected sides, or the message to show instead.
struct FoundSides {
  std::optional<Sides> sides{};
  std::string headline{}, advice{};
};
FoundSides find_sides(const ViewInput& input);

std::string place_name(const Side& side);  // "layer 1, head 0"
// Headings that distinguish `side` from `other`, longest first. A heading lists differences in
// model, variant, encoding, head and text, or names layer and head if nothing differs. Short
// headings omit names that both sides share, and write "L1 H0" for layer and head.
std::vector<std::string> headings(const Side& side, const Side& other);
std::vector<Fact> facts(const Sides& sides);

// Weights of A minus B, [L_q, L_k]; NaN for pairs that neither side allows. `cache` may be null.
Tensor difference_of(const Sides& sides, ViewCache* cache);
// Divergence of each row of A from the corresponding row of B: [L_q].
Tensor divergence_of(const Sides& sides, Divergence divergence, ViewCache* cache);

}  // namespace attnscope
