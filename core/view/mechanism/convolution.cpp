// Convolution: without query-key products and with a bias by distance, a head's weights are a
// kernel that slides along the text. Cordonnier, Loukas and Jaggi, 2020, arXiv:1911.03584.
#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/rule_line.h"
#include "core/view/mechanism/sorted_map.h"
#include "core/view/mechanism/steps.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/shapes.h"

namespace attnscope {
namespace {

constexpr Index kMaxReach = 8;            // maximum distance to each side in the kernel table
constexpr double kSlideHeight = 5.5;      // em from keys to queries
constexpr double kSlideLabels = 0.14;     // fraction of the height for token labels
constexpr double kSlideNames = 5;         // em: names left of the tokens
constexpr double kMinLine = 0.02;         // minimum weight of a line
constexpr double kKernelFraction = 0.42;  // fraction of the lower part for the kernel table
constexpr double kMinKernelMap = 9;       // em
constexpr double kNamedSlide = 30;        // em: minimum height of a map with token labels
constexpr std::size_t kMaxLines = 4000;

bool all_zero(const Tensor& numbers) {
  return std::ranges::all_of(numbers, [](float x) { return x == 0; });
}

bool is_kernel_of_distances(const AttentionTap& tap) {
  const PartSettings* settings = tap.settings();
  if (settings == nullptr || settings->source != Source::Product || !settings->bias ||
      settings->normaliser != Normaliser::Softmax || tap.queries() != tap.keys() ||
      !tap.result.columns.empty() || settings->query_rows || !settings->key_rows.empty() ||
      !settings->scaled_biases.empty() || settings->factor) {
    return false;
  }
  const std::shared_ptr<const Part> part = tap.part();
  if (!part->products.empty()) return false;
  return !part->q.defined() || !part->k.defined() || all_zero(part->q.value()) ||
         all_zero(part->k.value());
}

// Largest distance that has a column in the kernel table.
Index max_distance(const AttentionTap& tap) {
  const Index columns = tap.settings()->bias->table.value().dim(1);
  return std::min({kMaxReach, std::max<Index>(1, columns / 2), tap.keys() - 1});
}

// Weights of a query in the middle of the text, by distance.  [heads of the group, 2 reach + 1]
Tensor kernels(const HeadInput& in) {
  const Index reach = max_distance(in.tap), middle = in.tap.queries() / 2;
  const auto heads = static_cast<Index>(in.tap.heads.size());
  Tensor table = Tensor::zeros({heads, 2 * reach + 1});
  for (Index head = 0; head < heads; ++head) {
    const Tensor row = attention_row(in.tap, head, middle);
    for (Index offset = -reach; offset <= reach; ++offset) {
      const Index key = middle + offset;
      if (key >= 0 && key < in.tap.keys()) table(head, offset + reach) = row[key];
    }
  }
  return table;
}

std::string signed_number(Index offset) {
  return (offset > 0 ? "+" : "") + std::to_string(offset);
}

// "the token 2 before it"; empty for kernels without a single peak.
std::string describe_shift(const Tensor& table, Index head) {
  const Index reach = table.dim(1) / 2;
  constexpr float kMinPeak = 0.99F;
  for (Index offset = -reach; offset <= reach; ++offset) {
    if (table(head, offset + reach) < kMinPeak) continue;
    if (offset == 0) return "itself";
    return "the token " + std::to_string(std::abs(offset)) +
           (offset < 0 ? " before it" : " after it");
  }
  return {};
}

struct SlidePlan {
  Box sentence, slide, left, right;  // left and right include their sentences
  TokenColumns columns;
  MatrixPlot kernel, map;
};

std::optional<SlidePlan> plan_slide(const Page& page, const Box& inside, const HeadInput& in,
                                    const Tensor& table) {
  const double em = page.em(), step = step_height(page);
  SlidePlan plan;
  plan.sentence = {inside.x, inside.y, inside.width, step};
  TokenAxis tokens = key_axis(in.input.trace, in.tap);
  tokens.titles = {};
  plan.columns = place_columns(
      page, {inside.x + kSlideNames * em, inside.y + step, inside.width - kSlideNames * em, 0},
      tokens, kSlideLabels * inside.height);
  plan.slide = {plan.columns.left, plan.columns.bottom(), plan.columns.width, kSlideHeight * em};
  const Box area = below(inside, plan.slide.bottom() - inside.y + 0.8 * em);
  std::tie(plan.left, plan.right) = split(page, area, kKernelFraction);
  const Box map_box = below(plan.right, step), kernel_box = below(plan.left, step);
  if (map_box.height < kMinKernelMap * em || kernel_box.height < kMinKernelMap * em) return {};
  TokenAxis heads{{"head"}, {}, {}}, distances{{"distance of the key", "distance"}, {}, {}};
  for (const Index head : in.tap.heads) heads.labels.push_back(std::to_string(head));
  for (Index offset = -(table.dim(1) / 2); offset <= table.dim(1) / 2; ++offset) {
    distances.labels.push_back(signed_number(offset));
  }
  plan.kernel = place_matrix(page, kernel_box, std::move(heads), std::move(distances), 0);
  TokenAxis rows = query_axis(in.input.trace, in.tap), keys = key_axis(in.input.trace, in.tap);
  if (map_box.height < kNamedSlide * em) {
    rows = with_index_labels(std::move(rows));
    keys = with_index_labels(std::move(keys));
  }
  plan.map = place_matrix(page, map_box, std::move(rows), std::move(keys), colour_bar_width(page));
  if (!(plan.map.plot.width > 0) || !(plan.kernel.plot.width > 0)) return {};
  return plan;
}

// Draws lines from keys (top) to queries (bottom), as wide as the weights.
void draw_slide(Page& page, const SlidePlan& plan, const Tensor& weights, Pair pair) {
  const double em = page.em();
  const double top = plan.slide.y + 0.7 * em, bottom = plan.slide.bottom() - 0.7 * em;
  std::vector<Line> lines;
  for (Index i = 0; i < weights.dim(0); ++i) {
    for (Index j = 0; j < weights.dim(1); ++j) {
      const double weight = weights(i, j);
      if (!(weight >= kMinLine)) continue;
      const bool is_selected = i == pair.query;
      const Colour colour = is_selected ? query_colour(page.theme()) : page.theme().text;
      lines.push_back({{{plan.columns.centre(j), top}, {plan.columns.centre(i), bottom}},
                       translucent(colour, std::min(1.0, 0.08 + 0.72 * weight)),
                       is_selected ? 3.0 : 1.5});
    }
  }
  if (lines.size() <= kMaxLines) {
    for (Line& line : lines) page.add(std::move(line));
  }
  const double radius = std::min(0.36 * em, 0.4 * plan.columns.cell());
  for (Index n = 0; n < plan.columns.tokens.count(); ++n) {
    page.add(disc({plan.columns.centre(n), top}, radius, key_colour(page.theme())));
    page.add(disc({plan.columns.centre(n), bottom}, radius, query_colour(page.theme())));
  }
  draw_columns(page, plan.columns, pair.key);
  const double right = plan.columns.left - 0.8 * em;
  page.add(Text{{right, top}, "keys", key_colour(page.theme()), page.small(), Align::End});
  page.add(Text{{right, bottom}, "queries", query_colour(page.theme()), page.small(), Align::End});
}

void draw_kernels(Page& page, SlidePlan& plan, const HeadInput& in, const Tensor& table) {
  draw_step(
      page, plan.left, 2,
      {"The kernel of each head: its weight by distance", "The kernel of each head", "Kernels"});
  HeatMap cells = matrix_cells(plan.kernel);
  cells.values = table;
  cells.colour_map = in.input.session.view.colour_map;
  if (colour_map(cells.colour_map).diverging()) cells.colour_map = "viridis";
  page.add(cells);
  const double width = plan.kernel.plot.width / plan.kernel.width;
  const double height = plan.kernel.plot.height / plan.kernel.height;
  const double size = page.small();
  for (Index row = 0; row < table.dim(0) && height > 1.2 * size && width > 2 * size; ++row) {
    for (Index column = 0; column < table.dim(1); ++column) {
      const double value = table(row, column);
      page.add(Text{{plan.kernel.plot.x + (static_cast<double>(column) + 0.5) * width,
                     plan.kernel.plot.y + (static_cast<double>(row) + 0.5) * height},
                    value < 5e-4 ? "0" : brief(value, 2),
                    ink_on(colour_map(cells.colour_map).at(value)),
                    size,
                    Align::Middle});
    }
  }
  plan.kernel.pinned_row = in.head;
  draw_matrix_frame(page, plan.kernel, {});
}

MechanismLayout draw_convolution(Page& page, const Box& inside, const HeadInput& in) {
  const Tensor table = cached_numbers(in, CacheKey("kernels"), [&] { return kernels(in); });
  std::optional<SlidePlan> plan = plan_slide(page, inside, in, table);
  if (!plan) return {.is_too_small = true};
  MechanismLayout layout;
  layout.pair_at = [map_pair_at = pair_at(plan->map), columns = plan->columns,
                    slide = plan->slide](Point p) -> std::optional<Pair> {
    const auto [query, key] = map_pair_at(p);
    if (query >= 0 && key >= 0) return Pair{query, key};
    if (p.y >= slide.y + slide.height / 2 && p.y < slide.bottom()) {
      if (const Index n = columns.at(p.x); n >= 0) return Pair{n, -1};
    }
    return std::nullopt;
  };
  std::optional<Pair> hovered;
  if (in.input.interaction.pointer) hovered = layout.pair_at(*in.input.interaction.pointer);
  const ViewSettings& settings = in.input.session.view;
  // Shifts are invisible at the ends of the text: use the middle.
  if (!hovered && settings.pinned_query < 0 && settings.pinned_key < 0) {
    hovered = Pair{in.tap.queries() / 2, -1};
  }
  const Pair pair = focus_of(in.input, in.tap, in.head, hovered);
  const std::string number = std::to_string(in.tap.heads[static_cast<std::size_t>(in.head)]);
  const std::string shift = describe_shift(table, in.head);
  draw_step(page, plan->sentence, 1,
            {shift.empty() ? "No comparisons: head " + number +
                                 " weights keys by distance only, along the whole text"
                           : "No comparisons: in head " + number + " every token gets " + shift +
                                 ", a shift of the text",
             shift.empty() ? "Weights by distance only" : "Every token gets " + shift, "A shift"});
  draw_slide(page, *plan, in.tap.attention(in.head), pair);
  draw_kernels(page, *plan, in, table);
  draw_step(
      page, plan->right, 3,
      {"The weights of head " + number + ": the kernel in every row", "The weights", "Weights"});
  plan->map.pinned_row = pair.query;
  plan->map.pinned_column = pair.key;
  const ColourRange range =
      draw_sorted_weights(page, in, plan->map, in_text_order(in.tap.queries()),
                          in_text_order(in.tap.keys()), CacheKey("slid weights"));
  draw_matrix_frame(page, plan->map, {"more pairs than pixels", "pooled"});
  draw_colour_bar(page, plan->map.right, range, {"weight", ""});
  layout.bottom = std::max(plan->map.bottom(page), plan->kernel.bottom(page));
  return layout;
}

std::vector<ViewData::Matrix> convolution_numbers(const HeadInput& in) {
  const Tensor table = kernels(in);
  std::vector<std::string> heads, distances;
  for (const Index head : in.tap.heads) heads.push_back(std::to_string(head));
  for (Index offset = -(table.dim(1) / 2); offset <= table.dim(1) / 2; ++offset) {
    distances.push_back(std::to_string(offset));
  }
  return {{"kernel", table, heads, distances, {"head"}},
          {"weight", in.tap.attention(in.head), query_axis(in.input.trace, in.tap).labels,
           key_axis(in.input.trace, in.tap).labels}};
}

}  // namespace

Mechanism convolution_mechanism() {
  Mechanism m{"convolution", "a kernel that slides along the text", is_kernel_of_distances,
              draw_convolution, convolution_numbers};
  m.label = "Convolution";
  m.shows_weights = true;
  return m;
}

}  // namespace attnscope
