// The two heads of a comparison: what tells them apart, the facts of each, how far they are apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/analysis/divergence.h"
#include "core/view/parts/fact_table.h"

namespace attnscope {

// A head that takes part in a comparison.
struct Side {
  const char* letter;
  Colour colour;
  const Trace* trace;
  const AttentionTap* tap;
  Index head;  // within the tap's group
  ViewSettings view;
  Tensor weights;  // [L_q, L_k]
  bool with_signs;
};

enum class Show { First, Second, Difference };

struct Sides {
  Side a, b;
  std::string no_difference;  // why the two maps have none; empty when they do
  bool same_tokens;
  bool flipped;  // each stands in the place of the other

  bool has_difference() const { return no_difference.empty(); }
  bool has_divergence() const { return !a.with_signs && !b.with_signs; }
  // The side in whose place a map stands.
  const Side& of(Show show) const;
};

// The sides that the settings ask for; otherwise the message to show instead.
struct FoundSides {
  std::optional<Sides> sides{};
  std::string headline{}, advice{};
};
FoundSides find_sides(const ViewInput& input);

std::string place_name(const Side& side);  // "layer 1, head 0"
// What tells a side from the other, in words, then in fewer: by names alone where these tell the
// two apart, by the parameters that differ where they do not; then with "L1 H0" for its layer and
// head. Where nothing tells them apart, layer and head.
std::vector<std::string> headings(const Side& side, const Side& other);
std::vector<Fact> facts(const Sides& sides);

// A's weights less B's, NaN where neither allows the pair; kept in the cache where there is one.
// [L_q, L_k]
Tensor difference_of(const Sides& sides, ViewCache* cache);
// How far each row of A is from B's.  [L_q]
Tensor divergence_of(const Sides& sides, Divergence divergence, ViewCache* cache);

}  // namespace attnscope
