// Studies of the Position view: shifts as linear maps, regression of positions, and the subspaces
// of words and positions (Prince, 2021, Transformers II: Extensions).
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/analysis/linear_fit.h"
#include "core/analysis/position_study.h"
#include "core/base/random.h"
#include "core/figure/plain_text.h"
#include "core/model/config.h"
#include "core/view/flow/flow_numbers.h"
#include "core/view/parts/cached_numbers.h"
#include "core/view/parts/focus.h"
#include "core/view/position/position_panels.h"

namespace attnscope {
namespace {

constexpr Index kMinRows = 8;          // smallest number of positions to fit
constexpr Index kMinStudyTokens = 24;  // shortest text whose states are fitted
constexpr Index kMaxStudyTokens = 512;
constexpr double kSpanned = 0.95;       // share of the squared length that "the" subspace holds
constexpr Index kShownComponents = 32;  // of the matrix of a shift of sinusoids
constexpr int kRandomDraws = 10;
constexpr double kMinShownR2 = -1;  // R² has no lower limit

bool adds_vectors(const AttentionTap& tap) {
  return static_cast<bool>(encoding(tap.encoding.id).embed);
}

PositionPanels no_vectors(const AttentionTap& tap, const std::string& what) {
  PositionPanels result;
  result.headline = "No " + what;
  result.advice = "The encoding " + encoding(tap.encoding.id).label +
                  " adds no vectors to the input. Choose Sinusoidal or Learned.";
  return result;
}

PositionPanel::Curve curve_of(std::string name, const std::vector<double>& numbers,
                              double first = 0) {
  PositionPanel::Curve curve;
  curve.name = std::move(name);
  for (const double y : numbers) {
    curve.points.push_back({first + static_cast<double>(curve.points.size()), y});
  }
  return curve;
}

// Euclidean distance of each pair of rows, divided by the length of the row of `to`.
std::vector<double> relative_distances(const RowMatrix& from, const RowMatrix& to) {
  std::vector<double> result;
  for (Index i = 0; i < to.rows(); ++i) {
    const double length = to.row(i).norm();
    result.push_back(length > 0 ? (from.row(i) - to.row(i)).norm() / length : 0);
  }
  return result;
}

PositionPanels shift_panels(const EncodingUse& use, Index reach, Index shift) {
  PositionPanels result;
  result.reach = reach;
  if (reach + 1 - shift < kMinRows) {
    result.headline = "The shift is too large";
    result.advice = "shift: expected at most " + std::to_string(reach + 1 - kMinRows) +
                    " for a reach of " + std::to_string(reach) + ", found " +
                    std::to_string(shift) + ".";
    return result;
  }
  const PositionShift s = position_shift(use, matrix_of(position_vectors(use, reach + 1)), shift);
  const std::string k = std::to_string(shift), map = "Mₖ";
  // The blocks of pairs are legible in a part of the matrix.
  const Index size = s.is_exact ? std::min(kShownComponents, s.map.rows()) : s.map.rows();
  const std::string part =
      size < s.map.rows() ? ", first " + std::to_string(size) + " components" : "";
  PositionPanel matrix = matrix_panel(
      map + " for k = " + k + (s.is_exact ? ": a rotation of each pair" : ": a linear fit") + part,
      "component of p(t)", 0, tensor_of(s.map.topLeftCorner(size, size)), "component of p(t + k)",
      "entry");
  matrix.is_square = true;
  matrix.is_sparse = s.is_exact;
  const auto last = static_cast<double>(s.to.rows() - 1);
  const std::vector<double> errors = relative_distances(s.predicted, s.to);
  const double largest = *std::ranges::max_element(errors);
  const std::string target = map + " p(t)";
  PositionPanel curves = curve_panel((s.is_exact ? "Error of " : "Held-out error of ") + target +
                                         ": at most " + brief(largest, 2) + " of the length",
                                     "position t", 0, last, "distance / length");
  curves.curves.push_back(curve_of(target + " to p(t + k)", errors));
  curves.curves.push_back(curve_of("p(t) to p(t + k)", relative_distances(s.from, s.to)));
  result.panels.push_back(std::move(matrix));
  result.panels.push_back(std::move(curves));
  result.panels.push_back(matrix_panel(target + ", for every position t", "position t", 0,
                                       transposed(tensor_of(s.predicted)), "component", "value"));
  result.panels.push_back(matrix_panel("p(t + k), the vector to be reached", "position t", 0,
                                       transposed(tensor_of(s.to)), "component", "value"));
  result.subject = s.is_exact
                       ? "p(t + k) = Mₖ p(t), where Mₖ turns sin(ωt), cos(ωt) by the angle kω"
                       : "p(t + k) ≈ Mₖ p(t) + b, fitted to half of the positions and judged on "
                         "the others";
  return result;
}

RowMatrix positions_column(Index count) {
  RowMatrix column(count, 1);
  for (Index i = 0; i < count; ++i) column(i, 0) = static_cast<double>(i);
  return column;
}

double mean_error(const RowMatrix& a, const RowMatrix& b) {
  return (a - b).cwiseAbs().mean();
}

// Regression of each pair's distance i − j from both vectors: mean error on pairs of positions of
// odd number, by a fit on pairs of even positions.
double distance_error(const RowMatrix& vectors) {
  const Index half = vectors.rows() / 2, d = vectors.cols();
  const auto pairs = [&](Index parity, RowMatrix& inputs, RowMatrix& distances) {
    inputs.resize(half * half, 2 * d);
    distances.resize(half * half, 1);
    for (Index a = 0; a < half; ++a) {
      for (Index b = 0; b < half; ++b) {
        inputs.row(a * half + b) << vectors.row(2 * a + parity), vectors.row(2 * b + parity);
        distances(a * half + b, 0) = static_cast<double>(2 * (a - b));
      }
    }
  };
  RowMatrix inputs, distances, other_inputs, other_distances;
  pairs(0, inputs, distances);
  pairs(1, other_inputs, other_distances);
  return mean_error(fit_linear(inputs, distances).predict(other_inputs), other_distances);
}

void add_vector_regression(PositionPanels& result, const EncodingUse& use, Index reach) {
  const RowMatrix vectors = matrix_of(position_vectors(use, reach + 1));
  if (vectors.rows() < kMinRows) return;
  const RowMatrix positions = positions_column(vectors.rows());
  const RowMatrix predicted = held_out_predictions(vectors, positions);
  constexpr Index kMaxPairPositions = 48;  // pairs grow with the square
  const double distances =
      distance_error(vectors.topRows(std::min(vectors.rows(), kMaxPairPositions)));
  PositionPanel panel = curve_panel(
      "From a position's vector: mean error " + brief(mean_error(predicted, positions), 2) +
          ", of distances " + brief(distances, 2),
      "position", 0, static_cast<double>(reach), "predicted position");
  const auto numbers = [](const RowMatrix& column) {
    return std::vector<double>(column.data(), column.data() + column.size());
  };
  panel.curves.push_back(curve_of("predicted", numbers(predicted)));
  panel.curves.push_back(curve_of("exact", numbers(positions)));
  result.panels.push_back(std::move(panel));
}

// Names and values of the states of a stack, from the embedding on. Empty: not recorded.
std::vector<RowMatrix> states_by_layer(const Trace& trace, const TracePart& part) {
  std::vector<std::string> names{embedding_tap(part)};
  for (const HeadRef& layer : layers_of(trace, part))
    names.push_back(layer_tap(layer) + "residual");
  std::vector<RowMatrix> states;
  for (const std::string& name : names) {
    const auto found = trace.taps.find(name);
    if (found == trace.taps.end() || found->second.rank() != 2) return {};
    const Index rows = std::min(found->second.dim(0), kMaxStudyTokens);
    states.push_back(matrix_of(found->second.rows(0, rows)));
  }
  return states;
}

double clipped_r2(const RowMatrix& states, const RowMatrix& positions) {
  const double r2 = explained_variance(positions, held_out_predictions(states, positions));
  return std::max(r2, kMinShownR2);
}

void add_state_regression(PositionPanels& result, const Trace& trace, const TracePart& part) {
  const std::vector<RowMatrix> states = states_by_layer(trace, part);
  if (states.empty() || states.front().rows() < kMinStudyTokens) return;
  const RowMatrix positions = positions_column(states.front().rows());
  RowMatrix shuffled = positions;
  Random random(1);
  for (Index i = shuffled.rows(); i-- > 1;) {
    std::swap(shuffled(i, 0),
              shuffled(static_cast<Index>(random.below(static_cast<std::uint64_t>(i + 1))), 0));
  }
  std::vector<double> own, contrast;
  for (const RowMatrix& state : states) {
    own.push_back(clipped_r2(state, positions));
    contrast.push_back(clipped_r2(state, shuffled));
  }
  PositionPanel panel = curve_panel("From a token's state: R² of held-out tokens",
                                    "layers passed: 0 is the embedding", 0,
                                    static_cast<double>(states.size() - 1), "R²");
  panel.curves.push_back(curve_of("position", own));
  panel.curves.push_back(curve_of("shuffled positions", contrast));
  result.panels.push_back(std::move(panel));
}

PositionPanels regression_panels(const ViewInput& input, const AttentionTap& tap, Index reach) {
  PositionPanels result;
  result.reach = reach;
  if (adds_vectors(tap)) {
    add_vector_regression(result, encoding_use(tap, *input.trace.config), reach);
  }
  add_state_regression(result, input.trace, part_of(tap.address));
  result.subject = "position ≈ w · x + b, fitted to half of the positions and judged on the others";
  if (!result.panels.empty()) return result;
  result.headline = "Too few positions";
  result.advice = "A regression needs a text of at least " + std::to_string(kMinStudyTokens) +
                  " tokens whose states are recorded.";
  return result;
}

// Vectors of the text's distinct words, without positions.  [n, d]
RowMatrix word_vectors(const ViewInput& input, const AttentionTap& tap, const Tensor& embedded,
                       const EncodingUse& use) {
  RowMatrix rows = matrix_of(embedded);
  if (is_added_to_input(tap.encoding)) rows -= matrix_of(position_vectors(use, rows.rows()));
  const std::vector<TraceToken>& tokens = input.trace.tokens_of(tap.query_rows);
  std::set<std::int32_t> seen;
  RowMatrix words(rows.rows(), rows.cols());
  Index count = 0;
  for (Index i = 0; i < rows.rows(); ++i) {
    const auto n = static_cast<std::size_t>(i);
    if (n < tokens.size() && seen.insert(tokens[n].id).second) words.row(count++) = rows.row(i);
  }
  return words.topRows(count);
}

// Number of leading directions that hold kSpanned of the squared length.
Index spanning_directions(const std::vector<double>& shares) {
  const auto found = std::ranges::find_if(shares, [](double s) { return s >= kSpanned; });
  return std::min<Index>(found - shares.begin(), static_cast<Index>(shares.size()) - 1);
}

PositionPanel share_panel(const RowMatrix& positions, const RowMatrix& words,
                          const RowMatrix& directions) {
  const Index count = directions.rows();
  PositionPanel panel = curve_panel("Share of squared length within the positions' directions",
                                    "leading directions of the position vectors", 0,
                                    static_cast<double>(count), "share");
  std::vector<double> by_chance;
  for (Index k = 0; k <= count; ++k) {
    by_chance.push_back(static_cast<double>(k) / static_cast<double>(words.cols()));
  }
  panel.curves.push_back(curve_of("positions", cumulative_shares(positions, directions)));
  panel.curves.push_back(curve_of("words", cumulative_shares(words, directions)));
  panel.curves.push_back(curve_of("by chance", by_chance));
  return panel;
}

PositionPanel angle_panel(const RowMatrix& positions, const RowMatrix& words, Index d) {
  const std::vector<double> angles = principal_angles(positions, words);
  std::vector<double> by_chance(angles.size());
  for (int draw = 0; draw < kRandomDraws; ++draw) {
    const std::vector<double> drawn = principal_angles(
        positions, random_directions(words.rows(), d, static_cast<std::uint64_t>(draw + 1)));
    for (std::size_t n = 0; n < angles.size(); ++n) by_chance[n] += drawn[n] / kRandomDraws;
  }
  PositionPanel panel =
      curve_panel("Principal angles of " + count_text(positions.rows(), "direction") +
                      " of positions and " + std::to_string(words.rows()) + " of words",
                  "principal angle, by size", 1, static_cast<double>(angles.size()), "degrees");
  panel.curves.push_back(curve_of("words", angles, 1));
  panel.curves.push_back(curve_of("random directions", by_chance, 1));
  return panel;
}

// Recovery of both summands of x + p by the projection onto k directions of the positions.
PositionPanel recovery_panel(const RowMatrix& words, const RowMatrix& positions,
                             const RowMatrix& directions) {
  const Index rows = std::min(words.rows(), positions.rows());
  const RowMatrix x = words.topRows(rows), p = positions.topRows(rows);
  std::vector<double> word_errors{p.norm() / x.norm()}, position_errors{1};
  RowMatrix inside = RowMatrix::Zero(rows, x.cols());  // x + p, projected
  for (Index k = 0; k < directions.rows(); ++k) {
    inside += ((x + p) * directions.row(k).transpose()) * directions.row(k);
    word_errors.push_back((p - inside).norm() / x.norm());
    position_errors.push_back((inside - p).norm() / p.norm());
  }
  PositionPanel panel = curve_panel("Recovery of both from word + position",
                                    "directions kept for the position, removed for the word", 0,
                                    static_cast<double>(directions.rows()), "error / length");
  panel.curves.push_back(curve_of("word, outside of them", word_errors));
  panel.curves.push_back(curve_of("position, within them", position_errors));
  return panel;
}

PositionPanels subspace_panels(const ViewInput& input, const AttentionTap& tap, Index reach) {
  PositionPanels result;
  result.reach = reach;
  const auto refuse = [&](const char* headline, const char* advice) {
    result.headline = headline;
    result.advice = advice;
    return result;
  };
  const ModelConfig& config = *input.trace.config;
  if (config.embedding.norm || config.embedding.width > 0) {
    return refuse("Words and positions are already mixed",
                  "This model normalises or projects their sum, so that the word's part of it is "
                  "not known. Choose a model that adds them, such as one of GPT-2's kind.");
  }
  const auto embedded = input.trace.taps.find(embedding_tap(part_of(tap.address)));
  if (embedded == input.trace.taps.end() || embedded->second.rank() != 2) {
    return refuse("No token vectors", "The run did not record the vectors that its layers read.");
  }
  const EncodingUse use = encoding_use(tap, config);
  const Index rows = std::min(embedded->second.dim(0), kMaxStudyTokens);
  const RowMatrix words = word_vectors(input, tap, embedded->second.rows(0, rows), use);
  const RowMatrix positions = matrix_of(position_vectors(use, reach + 1));
  const RowMatrix directions = leading_directions(positions);
  const RowMatrix word_directions = leading_directions(words);
  if (words.rows() < 2 || directions.rows() == 0 || word_directions.rows() == 0) {
    return refuse("Too few words", "The subspaces need a text of several words.");
  }
  const Index spanned = spanning_directions(cumulative_shares(positions, directions));
  const Index word_count =
      std::min(spanned, spanning_directions(cumulative_shares(words, word_directions)));
  result.panels.push_back(recovery_panel(words, positions, directions));
  result.panels.push_back(share_panel(positions, words, directions));
  result.panels.push_back(
      angle_panel(directions.topRows(spanned), word_directions.topRows(word_count), config.width));
  result.subject = "The directions are the right singular vectors of p(0) to p(" +
                   std::to_string(reach) + "); " + std::to_string(spanned) + " of them hold " +
                   percent(kSpanned) + " of the squared length. Words: the " +
                   count_text(words.rows(), "distinct token") + " of this text";
  return result;
}

}  // namespace

PositionPanels position_study_panels(const ViewInput& input, const AttentionTap& tap,
                                     const std::string& show, Index reach, Index shift) {
  if (input.trace.is_imported || input.trace.config == nullptr) {
    PositionPanels result;
    result.headline = "The encoding of these tensors is unknown";
    result.advice = kImportedAttentionAdvice;
    return result;
  }
  const Index limit = position_limit(input, tap, reach);
  const CacheKey key("position study", show, limit, shift, tap.address.layer, part_of(tap.address));
  return *cached_numbers(input, source_of(input.trace), key, [&]() -> PositionPanels {
    if (show == kShowRegression) return regression_panels(input, tap, limit);
    if (!adds_vectors(tap)) {
      return no_vectors(tap, show == kShowShift ? "shift of position vectors" : "position vectors");
    }
    return show == kShowShift ? shift_panels(encoding_use(tap, *input.trace.config), limit, shift)
                              : subspace_panels(input, tap, limit);
  });
}

}  // namespace attnscope
