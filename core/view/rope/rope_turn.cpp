#include "core/view/rope/rope_turn.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/encoded.h"
#include "core/position/rope_scaling.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/focus.h"

namespace attnscope {
namespace {

constexpr Index kDefaultSize = 32;  // size of vectors if the run has none

const Encoding& rope_entry() {
  return encoding("rope");
}

// Rotates row i of `rows` [n, d_k] to positions[i] + shift by means of the encoding.
Tensor rotated_rows(const RopeTurn& turn, const Tensor& rows,
                    const std::vector<std::int32_t>& positions, double shift) {
  EncodingUse use;
  use.encoding = {rope_entry().id, turn.rope};
  use.encoding.values.set("offset", turn.rope.real("offset") + shift);
  const Tensor x = rows.reshaped({1, rows.dim(0), rows.dim(1)});
  return encoded_part(use, x, x, positions, positions).q.value().reshaped(rows.shape());
}

double dot(const float* a, const float* b, Index n) {
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

Tensor row_of(const Tensor& x, Index head, Index heads, Index row) {
  const Index plane = head / (heads / x.dim(0));
  return x.slice(plane, 1).reshaped({x.dim(1), x.dim(2)}).slice(row, 1).reshaped({x.dim(2)});
}

// The vector with 1 in the first component of each pair, and 0 elsewhere.
Tensor unit_vector(const RopeTurn& turn) {
  Tensor v = Tensor::zeros({turn.head_size});
  for (const RotaryPair& pair : turn.pairs) v[pair.first] = 1;
  return v;
}

void set_parameters(RopeTurn& turn, const Values& view, const AttentionTap* tap) {
  const Encoding& rope = rope_entry();
  const bool run_uses_rope = tap != nullptr && tap->encoding.id == rope.id;
  turn.rope = run_uses_rope ? tap->encoding.values : default_values(rope.parameters);
  if (!run_uses_rope) turn.rope.erase("dims");
  if (view.has("base")) turn.rope.set("base", view.real("base"));
  if (view.has("pairs")) {
    turn.rope.set("dims", 2 * std::min(view.integer("pairs"), turn.head_size / 2));
  }
  // Odd head sizes leave the last component unrotated.
  if (!turn.rope.has("dims")) turn.rope.set("dims", turn.head_size / 2 * 2);
  turn.pairs = rotary_pairs(turn.rope, turn.head_size, run_uses_rope ? tap->keys() : 0);
  if (!run_uses_rope && tap != nullptr && !turn.is_example) {
    turn.run_encoding = encoding(tap->encoding.id).label;
    turn.origin += " The run's encoding is " + turn.run_encoding +
                   "; this is the effect of RoPE on the same vectors.";
  } else if (run_uses_rope && (view.has("base") || view.has("pairs"))) {
    turn.origin += " Base and rotated size are set in this view.";
  }
}

}  // namespace

RopeTurn rope_turn(const ViewInput& input, const Values& view) {
  RopeTurn turn;
  const SelectedTap selected = find_tap(input);
  const AttentionTap* tap = selected.tap;
  // Global rows use separate projections, which the tap does not record.
  const bool is_global_row = tap != nullptr && tap->settings() != nullptr &&
                             tap->settings()->is_global(focus_of(input, *tap, selected.head).query);
  const HeadTensors<Shape> shapes = tap != nullptr ? tap->shapes().input : HeadTensors<Shape>{};
  const bool has_vectors = !is_global_row && !shapes.q.empty() && !shapes.k.empty() &&
                           shapes.q[1] == tap->queries() && shapes.k[1] == tap->keys() &&
                           shapes.q[2] == shapes.k[2] && shapes.q[2] >= 2;
  turn.head_size = has_vectors ? shapes.q[2] : kDefaultSize;
  turn.scale = 1 / std::sqrt(static_cast<double>(turn.head_size));
  const std::string& vectors = view.choice("vectors");
  const bool uses_tokens = has_vectors && vectors != "unit";
  if (!uses_tokens) {
    turn.is_example = !has_vectors && tap != nullptr;
    const std::string lengths = "query and key have length 1 in every pair and the same direction.";
    if (!turn.is_example) {
      turn.origin = "Q" + lengths.substr(1);
    } else if (input.trace.is_imported) {
      turn.origin = "An example, not from the file, which has no q and k: " + lengths;
    } else {
      turn.origin = "An example, as this run records no q and k: " + lengths;
    }
  }
  set_parameters(turn, view, tap);
  const bool run_uses_rope = tap != nullptr && tap->encoding.id == rope_entry().id;
  if (run_uses_rope && tap->settings()) turn.scale = static_cast<double>(tap->settings()->scale);
  turn.scale *= rope_gain(turn.rope) * rope_gain(turn.rope);
  if (tap != nullptr) {
    const Pair pair = focus_of(input, *tap, selected.head);
    turn.query_position = static_cast<double>(query_position(*tap, pair.query));
    turn.key_position = static_cast<double>(key_position(*tap, selected.head, pair.key));
    if (uses_tokens) {
      const Index heads = static_cast<Index>(tap->heads.size());
      turn.pair_query = pair.query;
      turn.pair_key = pair.key;
      turn.query = row_of(tap->input().q, selected.head, heads, pair.query);
      turn.key =
          vectors == "equal" ? turn.query : row_of(tap->input().k, selected.head, heads, pair.key);
      turn.query_name = query_label(input.trace, *tap, pair.query);
      turn.key_name = vectors == "equal" ? turn.query_name : key_label(input.trace, *tap, pair.key);
      const ViewSettings& settings = input.session.view;
      turn.origin = (vectors == "equal" ? "The query is its own key" : "Query and key of tokens") +
                    std::string(" of ") + describe_head(input.trace, settings) + "." + turn.origin;
    }
  }
  if (!uses_tokens) turn.query = turn.key = unit_vector(turn);
  if (view.has("query")) turn.query_position = view.real("query");
  if (view.has("key")) turn.key_position = view.real("key");
  return turn;
}

Tensor rotated(const RopeTurn& turn, const Tensor& vector, double position) {
  return rotated_rows(turn, vector.reshaped({1, turn.head_size}), {0}, position)
      .reshaped({turn.head_size});
}

double rotated_score(const RopeTurn& turn, double offset) {
  return turn.scale * dot(rotated(turn, turn.query, offset).data(),
                          rotated(turn, turn.key, 0).data(), turn.head_size);
}

std::vector<Point> score_by_offset(const RopeTurn& turn, Index reach, Index per_position) {
  const Index count = 2 * reach + 1;
  std::vector<std::int32_t> offsets;
  Tensor rows({count, turn.head_size});
  for (Index n = 0; n < count; ++n) {
    offsets.push_back(static_cast<std::int32_t>(n - reach));
    std::copy(turn.query.begin(), turn.query.end(), rows.data() + n * turn.head_size);
  }
  const Tensor key = rotated(turn, turn.key, 0);
  std::vector<Point> points(static_cast<std::size_t>((count - 1) * per_position + 1));
  for (Index step = 0; step < per_position; ++step) {
    const double shift = static_cast<double>(step) / static_cast<double>(per_position);
    const Tensor queries = rotated_rows(turn, rows, offsets, shift);
    for (Index n = 0; n < count; ++n) {
      const auto index = static_cast<std::size_t>(n * per_position + step);
      if (index >= points.size()) break;
      points[index] = {
          static_cast<double>(n - reach) + shift,
          turn.scale * dot(queries.data() + n * turn.head_size, key.data(), turn.head_size)};
    }
  }
  return points;
}

}  // namespace attnscope
