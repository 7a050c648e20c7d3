// Properties of position vectors p(t) that are added to the input: shifts as linear maps, and the
// subspaces of positions and words.
#pragma once

#include "core/analysis/encoded.h"
#include "core/analysis/matrices.h"

namespace attnscope {

// The map M with p(t + k) ≈ M p(t) + b, and its predictions of p(t + k) for t = 0 .. n - 1.
struct PositionShift {
  RowMatrix map;          // [d, d]
  RowMatrix from, to;     // p(t), p(t + k)  [n, d]
  RowMatrix predicted;    // [n, d]; of a fitted map, by the fit on the other half of the t
  bool is_exact = false;  // M follows from the encoding; false: fitted to its vectors, with b
};
// A shift of sinusoids is exact: it rotates each pair of sine and cosine by the angle k ω (Vaswani
// et al., 2017, section 3.5), so that b = 0. `vectors`: p(0), p(1), ... [n + k, d], n >= 4.
PositionShift position_shift(const EncodingUse& use, const RowMatrix& vectors, Index shift);

// Rows of orthonormal directions that span `vectors` [n, d], by decreasing share of their squared
// length; directions without length are omitted.  [r, d]
RowMatrix leading_directions(const RowMatrix& vectors);

// Share of the squared length of `vectors` within the first k of the orthonormal `directions`, for
// k = 0 .. r.
std::vector<double> cumulative_shares(const RowMatrix& vectors, const RowMatrix& directions);

// Principal angles between the subspaces of two sets of orthonormal rows, ascending, in degrees
// (Golub and Van Loan, 2013, section 6.4.3).
std::vector<double> principal_angles(const RowMatrix& a, const RowMatrix& b);

// `count` orthonormal rows in a random direction, [count, d]; deterministic in the seed.
RowMatrix random_directions(Index count, Index d, std::uint64_t seed);

}  // namespace attnscope
