// rope: queries and keys rotated by their position. Su et al., 2021.
#include "core/position/rope.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/autodiff/operations_shape.h"
#include "core/position/list.h"
#include "core/position/offsets.h"
#include "core/position/rope_scaling.h"
#include "core/position/sinusoid.h"

namespace attnscope {
namespace {

Index rotated_dims(const Values& values, Index head_size) {
  return values.has("dims") ? values.integer("dims") : head_size;
}

// Last position plus one.
Index text_length(const std::vector<std::int32_t>& positions, Index rows) {
  return positions.empty() ? rows : Index{*std::ranges::max_element(positions)} + 1;
}

// Cosines and sines of the angles of positions and pairs, times the gain: [rows, pairs].
struct RotationTable {
  std::vector<std::int32_t> positions;  // empty: 0, 1, ...
  std::vector<RotaryPair> pairs;
  double offset = 0, gain = 1;
  Tensor cosine, sine;

  bool is_for(const std::vector<std::int32_t>& other_positions, Index rows,
              const std::vector<RotaryPair>& other_pairs, double other_offset,
              double other_gain) const {
    return cosine.defined() && cosine.dim(0) == rows && positions == other_positions &&
           pairs == other_pairs && offset == other_offset && gain == other_gain;
  }
};

RotationTable make_table(const std::vector<std::int32_t>& positions, Index rows,
                         const std::vector<RotaryPair>& pairs, double offset, double gain) {
  const Index count = static_cast<Index>(pairs.size());
  RotationTable table{positions, pairs, offset, gain, Tensor({rows, count}), Tensor({rows, count})};
  Index entry = 0;
  for (Index n = 0; n < rows; ++n) {
    const double position = static_cast<double>(position_at(positions, n)) + offset;
    for (const RotaryPair& pair : pairs) {
      const double angle = finite_angle(position, pair.frequency);
      table.cosine[entry] = static_cast<float>(gain * std::cos(angle));
      table.sine[entry++] = static_cast<float>(gain * std::sin(angle));
    }
  }
  return table;
}

// The table of these angles. All layers of a pass rotate by the same angles: a thread keeps its
// last tables, of queries and keys, if they are small.
RotationTable rotation_table(const std::vector<std::int32_t>& positions, Index rows,
                             const std::vector<RotaryPair>& pairs, double offset, double gain) {
  constexpr Index kMaxKept = 1 << 17;  // numbers of a table
  thread_local std::array<RotationTable, 4> kept;
  thread_local std::size_t oldest = 0;
  for (const RotationTable& table : kept) {
    if (table.is_for(positions, rows, pairs, offset, gain)) return table;
  }
  RotationTable table = make_table(positions, rows, pairs, offset, gain);
  if (table.cosine.size() > kMaxKept) return table;
  kept[oldest] = table;
  oldest = (oldest + 1) % kept.size();
  return table;
}

// Rotates x [N, L, d_k]. positions: [L], or [heads * L] if they differ by head. length: number of
// tokens of the text.
Var rotate_by_position(const Var& x, const std::vector<std::int32_t>& positions, Index length,
                       const Values& values) {
  const std::vector<RotaryPair> pairs = rotary_pairs(values, x.dim(2), length);
  const Index rows = positions.empty() ? x.dim(1) : static_cast<Index>(positions.size());
  const auto table =
      rotation_table(positions, rows, pairs, values.real("offset"), rope_gain(values));
  const bool is_interleaved = values.choice("style") == "interleaved";
  if (rows == x.dim(1)) return rotate(x, table.cosine, table.sine, is_interleaved);
  const Index batch = x.dim(0) * x.dim(1) / rows;
  return reshape(
      rotate(reshape(x, {batch, rows, x.dim(2)}), table.cosine, table.sine, is_interleaved),
      x.shape());
}

// Positions of the rows of k, [L_k], or [h_kv * L_k] if they differ by head. Query heads that share
// a key-value head have equal positions.
std::vector<std::int32_t> key_positions(const Part& part) {
  const Index keys = part.k.dim(1), group_size = part.heads / part.kv_heads();
  if (static_cast<Index>(part.pos_k.size()) <= keys || group_size == 1) return part.pos_k;
  std::vector<std::int32_t> result;
  for (Index head = 0; head < part.heads; head += group_size) {
    const auto first = part.pos_k.begin() + head * keys;
    result.insert(result.end(), first, first + keys);
  }
  return result;
}

}  // namespace

std::vector<RotaryPair> rotary_pairs(const Values& values, Index head_size, Index length) {
  const Index dims = rotated_dims(values, head_size);
  const bool is_interleaved = values.choice("style") == "interleaved";
  std::vector<RotaryPair> pairs;
  for (const double frequency : rope_frequencies(values, dims, length)) {
    const Index t = static_cast<Index>(pairs.size());
    pairs.push_back(
        {is_interleaved ? 2 * t : t, is_interleaved ? 2 * t + 1 : t + dims / 2, frequency});
  }
  return pairs;
}

Encoding rope_encoding() {
  Encoding e;
  e.id = "rope";
  e.label = "RoPE, rotary";
  e.group = "Rotation";
  e.equation = "sᵢⱼ = (R(i·θ) qᵢ)·(R(j·θ) kⱼ) / √d_k,   θ_t = base^(−2t/dims)";
  e.summary =
      "Queries and keys are split into pairs of components, points in a plane, and each pair is "
      "rotated by an angle proportional to the position, some pairs fast, others slowly. In the "
      "dot product of a query and a key only the difference of their angles remains, so the score "
      "depends on the relative position alone. A factor above 1 compresses positions to extend the "
      "context.";
  e.source = "Su et al., 2021, RoFormer, arXiv:2104.09864";
  e.complexity = "O(L·d)";
  e.parameters = {
      base_parameter(10000.0),
      {.key = "dims",
       .symbol = "dims",
       .label = "Rotated size",
       .help = "Number of rotated components per head, even; all by default.",
       .optional = true,
       .unset_label = "all",
       .initial = Index{16},
       .limits = {.min = 1},
       .slider = {.min = 2, .max = 128}},
      {.key = "style",
       .symbol = "",
       .label = "Pairs",
       .help = "Components of a pair: adjacent ones, or one from each half.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("interleaved"),
       .choices = {"interleaved", "half"}},
      {.key = "factor",
       .symbol = "f",
       .label = "Scaling",
       .help = "Divides the positions, to extend the trained context.",
       .kind = Parameter::Kind::Real,
       .initial = 1.0,
       .limits = {.min = 0, .max = Parameter::kMaxReal, .min_excluded = true},
       .slider = {.min = 0.25, .max = 16, .logarithmic = true}},
      {.key = "offset",
       .symbol = "o",
       .label = "Offset",
       .help = "Added to every position. Scores do not change, since only differences matter.",
       .kind = Parameter::Kind::Real,
       .initial = 0.0,
       .limits = {.min = -Parameter::kMaxReal, .max = Parameter::kMaxReal},
       .slider = {.min = 0, .max = 1000}}};
  for (Parameter& parameter : rope_scaling_parameters()) e.parameters.push_back(parameter);
  e.objection = [](const Values& values, const Situation& situation) -> std::string {
    const Index head_size = situation.dimensions.key;
    const Index dims = rotated_dims(values, head_size > 0 ? head_size : 2);
    const bool has_dims = values.has("dims");
    if (dims % 2 == 1) {
      return std::string("dims: expected an even number, found ") + std::to_string(dims) +
             (has_dims ? "" : ", the head size");
    }
    if (head_size > 0 && dims > head_size) {
      return "dims: expected at most the head size " + std::to_string(head_size) + ", found " +
             std::to_string(dims);
    }
    return head_size > 0 || has_dims ? rope_scaling_objection(values, dims) : "";
  };
  e.rotate = [](const Var& x, const std::vector<std::int32_t>& positions,
                const EncodingContext& context) {
    return rotate_by_position(x, positions, text_length(positions, x.dim(1)), context.values);
  };
  e.planes = [](const Values& values, Index head_size) { return rotary_pairs(values, head_size); };
  e.depends_on_length = rope_depends_on_length;
  e.apply = [](Part& part, const EncodingContext& context) {
    const std::vector<std::int32_t> pos_k = key_positions(part);
    const Index length =
        std::max(text_length(part.pos_q, part.q.dim(1)), text_length(pos_k, part.k.dim(1)));
    part.q = rotate_by_position(part.q, part.pos_q, length, context.values);  // [B h, L_q, d_k]
    part.k = rotate_by_position(part.k, pos_k, length, context.values);       // [B h_kv, L_k, d_k]
  };
  return e;
}

}  // namespace attnscope
