#include "core/view/pattern/reach.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/analysis/flow.h"
#include "core/base/error.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/parts/cached_numbers.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/pattern_cells.h"

namespace attnscope {
namespace {

constexpr Index kMaxLength = 4096;  // tokens; the matrix has the square of this number of cells
constexpr double kGap = 1.2;        // em between plot and legend
constexpr double kLine = 1.5;       // em: line of the legend
constexpr double kWidth = 15;       // em: width of legend and curve
constexpr double kMaxWidth = 0.36;  // maximum of kWidth as a fraction of the picture's width
constexpr double kCurve = 9;        // em: height of the curve with its title
constexpr Index kMaxSwatches = 8;

Pattern mask_pattern(const ByteTensor& mask) {
  const Index heads = mask.dim(0), queries = mask.dim(1), keys = mask.dim(2);
  PatternBuilder builder(heads, queries, keys, {"allowed"});
  for (Index row = 0; row < heads * queries; ++row) {
    for (Index c = 0; c < keys; ++c) {
      if (mask[row * keys + c] != 0) builder.add_column(0, c);
    }
    builder.next_row();
  }
  return builder.finish();
}

// Fraction of pairs reached after 0, 1, ... layers.
struct ReachCurve {
  std::vector<double> fractions;
  bool is_causal = true;  // only keys up to the query are counted
};

ReachCurve reach_curve(const Tensor& reach, Index layers) {
  const Index size = reach.dim(0);
  std::vector<Index> counts(static_cast<std::size_t>(layers) + 1, 0);
  ReachCurve curve;
  for (Index i = 0; i < size; ++i) {
    for (Index j = 0; j < size; ++j) {
      const float layer_count = reach(i, j);
      if (std::isnan(layer_count)) continue;
      if (j > i) curve.is_causal = false;
      ++counts[static_cast<std::size_t>(layer_count)];
    }
  }
  const auto n = static_cast<double>(size);
  const double pair_count = curve.is_causal ? n * (n + 1) / 2 : n * n;
  Index sum = 0;
  for (const Index count : counts) {
    sum += count;
    curve.fractions.push_back(static_cast<double>(sum) / pair_count);
  }
  return curve;
}

Colour layer_colour(const ViewInput& input, Index layer, Index layers) {
  const ColourMap& colours = colour_map(input.session.view.colour_map);
  return colours.at(static_cast<double>(layer) / static_cast<double>(std::max<Index>(1, layers)));
}

// Draws swatches of layer counts. Returns the lower edge.
double draw_legend(Page& page, const Box& box, const ReachCurve& curve, const Colour& unreached) {
  const double em = page.em();
  const auto layers = static_cast<Index>(curve.fractions.size()) - 1;
  const Index step = std::max<Index>(1, (layers + kMaxSwatches - 1) / kMaxSwatches);
  double y = box.y + kLine * em / 2;
  const auto draw_line = [&](const Colour& colour, const std::vector<std::string>& texts) {
    if (y + kLine * em / 2 > box.bottom()) return;
    page.add(FilledBox{{box.x, y - em / 2, em, em}, colour, 0.15 * em});
    page.text({box.x + 1.5 * em, y}, page.fitting(texts, em, box.width - 1.5 * em), em);
    y += kLine * em;
  };
  for (Index layer = 0; layer <= layers; layer += step) {
    const std::string count = std::to_string(layer) + (layer == 1 ? " layer" : " layers");
    const std::vector<std::string> reached{"after " + count, count};
    draw_line(layer_colour(page.input(), layer, layers),
              layer == 0 ? std::vector<std::string>{"itself"} : reached);
  }
  if (curve.fractions.back() < 1 || curve.is_causal) draw_line(unreached, {"not reached", "never"});
  return y - kLine * em / 2;
}

// Draws the fraction of reached pairs by number of layers. Returns the lower edge.
double draw_curve(Page& page, const Box& box, const ReachCurve& curve) {
  const double em = page.em(), size = page.small();
  if (box.height < kCurve * em || box.width < 8 * em) return box.y;
  page.faint_text(
      {box.x, box.y + 0.7 * em},
      page.fitting({curve.is_causal ? "earlier pairs reached" : "pairs reached", "reached"}, size,
                   box.width),
      size);
  const double left = page.width_of("100%", size) + 0.5 * em;
  const Box plot{box.x + left, box.y + 2 * em, box.width - left - 0.5 * em, (kCurve - 5) * em};
  page.add(Line{{{plot.x, plot.y}, {plot.x, plot.bottom()}}, page.theme().line, 1});
  page.add(Line{{{plot.x, plot.bottom()}, {plot.right(), plot.bottom()}}, page.theme().line, 1});
  page.text({plot.x - 0.4 * em, plot.y}, "100%", size, Align::End);
  page.text({plot.x - 0.4 * em, plot.bottom()}, "0%", size, Align::End);
  const auto layers = static_cast<double>(curve.fractions.size() - 1);
  const auto point_at = [&](std::size_t n) {
    return Point{plot.x + static_cast<double>(n) / layers * plot.width,
                 plot.bottom() - curve.fractions[n] * plot.height};
  };
  Line line{{}, page.theme().accent, 2};
  for (std::size_t n = 0; n < curve.fractions.size(); ++n) line.points.push_back(point_at(n));
  for (const Point& p : line.points) {
    const double r = 0.22 * em;
    page.add(FilledBox{{p.x - r, p.y - r, 2 * r, 2 * r}, page.theme().accent, r});
  }
  page.add(std::move(line));
  const double widest = page.width_of(std::to_string(curve.fractions.size()), size) + 0.6 * em;
  const Index step = label_step(plot.width / layers, widest);
  for (std::size_t n = 0; n < curve.fractions.size(); n += static_cast<std::size_t>(step)) {
    page.text({point_at(n).x, plot.bottom() + 0.8 * em}, std::to_string(n), size, Align::Middle);
  }
  page.faint_text({plot.x + plot.width / 2, plot.bottom() + 2 * em}, "layers", size, Align::Middle);
  return plot.bottom() + 2.6 * em;
}

// Throws InputError unless queries and keys are the same `size` tokens.
void check_square(const AttentionTap& tap, Index size) {
  if (tap.query_rows.stream != tap.key_rows.stream) {
    throw InputError(
        "receptive field: expected attention within one sequence, found cross-attention");
  }
  if (tap.queries() != size || tap.keys() != size) {
    throw InputError("receptive field: expected as many keys as queries in every layer, " +
                     std::to_string(size) + ", found " + std::to_string(tap.keys()));
  }
  if (size > kMaxLength) {
    throw InputError("receptive field: expected at most " + std::to_string(kMaxLength) +
                     " tokens, found " + std::to_string(size));
  }
}

}  // namespace

Index reach_layers(const ViewInput& input) {
  const Values options = view_values(input.session.view, "pattern");
  if (options.has("layers")) return options.integer("layers");
  return static_cast<Index>(input.trace.layer_sequence(input.part()).size());
}

Tensor reach_matrix(const Trace& trace, const TracePart& part, Index layers) {
  std::vector<Pattern> mask_patterns;  // masks override the patterns of their taps
  mask_patterns.reserve(trace.attention.size());
  std::vector<std::vector<const Pattern*>> layer_patterns;
  std::optional<Index> size;
  for (const HeadRef& ref : trace.layer_sequence(part)) {
    layer_patterns.emplace_back();
    for (const AttentionTap& tap : trace.attention) {
      if (tap.address.layer != ref.layer || part_of(tap.address) != ref.part) continue;
      if (!size) size = tap.queries();
      check_square(tap, *size);
      const Pattern* pattern = tap.result.pattern.get();
      if (tap.result.mask.defined()) {
        mask_patterns.push_back(mask_pattern(tap.result.mask));
        pattern = &mask_patterns.back();
      }
      layer_patterns.back().push_back(pattern);
    }
  }
  std::vector<std::vector<const Pattern*>> chain;
  for (Index layer = 0; layer < layers; ++layer) {
    chain.push_back(layer_patterns[static_cast<std::size_t>(layer) % layer_patterns.size()]);
  }
  const IntTensor layer_counts = reachability(chain);
  Tensor reach(layer_counts.shape());
  for (Index i = 0; i < layer_counts.size(); ++i) {
    reach[i] = layer_counts[i] < 0 ? std::numeric_limits<float>::quiet_NaN()
                                   : static_cast<float>(layer_counts[i]);
  }
  return reach;
}

ViewLayout lay_out_reach(Page& page, const AttentionTap& tap) {
  const ViewInput& input = page.input();
  const TracePart part = input.part();
  const Index layers = reach_layers(input);
  const auto make = [&] { return reach_matrix(input.trace, part, layers); };
  Tensor reach;
  try {
    reach = cached_matrix(input, CacheKey("reach", layers, part), make);
  } catch (const InputError& e) {
    return page.message("No receptive field to show", e.what());
  }
  const ReachCurve curve = reach_curve(reach, layers);
  const std::string count = std::to_string(layers) + (layers == 1 ? " layer" : " layers");
  const Box inside = page.frame(
      title_with_part(input),
      caption(input.trace,
              "After how many layers information of a key (column) first reaches a query (row), "
              "through the pairs that any head allows and the residual connection. After " +
                  count + ", " + percent(curve.fractions.back(), 3) + " of all " +
                  (curve.is_causal ? "earlier pairs" : "pairs") +
                  " are reached: " + describe(input.trace, tap) + "."));
  const double width = std::min(kWidth * page.em(), kMaxWidth * input.canvas.width);
  const MatrixPlot grid = place_matrix(page, inside, tap, width);
  if (!(grid.plot.width > 0)) return no_space(page);
  HeatMap cells = matrix_cells(grid);
  cells.values = reach;
  cells.most = static_cast<double>(std::max<Index>(1, layers));
  cells.colour_map = input.session.view.colour_map;
  cells.missing = blend(input.canvas.theme.background, input.canvas.theme.line, 0.3);
  page.add(cells);
  draw_matrix_frame(page, grid, {"max-pooled: each pixel shows its largest number", "max-pooled"});
  const double gap = kGap * page.em();
  const Box legend{grid.right.x + gap, grid.right.y, width - gap, inside.bottom() - grid.right.y};
  const double legend_bottom = draw_legend(page, legend, curve, cells.missing);
  const double top = legend_bottom + page.em();
  const double bottom =
      draw_curve(page, {legend.x, top, legend.width, inside.bottom() - top}, curve);
  return matrix_layout(page, grid, std::max({grid.bottom(page), legend_bottom, bottom}));
}

}  // namespace attnscope
