// Matrix shapes of multi-head attention: projections, heads, scores, weighted values, concatenation
// (Vaswani et al., 2017, section 3.2.2), with the layer's multiplications.
#include <algorithm>

#include "core/figure/plain_text.h"
#include "core/model/architecture.h"
#include "core/model/config.h"
#include "core/view/block/attention_cost.h"
#include "core/view/block/block_picture.h"
#include "core/view/block/shape_diagram.h"
#include "core/view/mechanism/steps.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/legend.h"

namespace attnscope {
namespace {

constexpr double kCostRow = 1.5;     // em: height of a row of costs
constexpr double kMinCostBar = 8;    // em
constexpr double kNumberWidth = 8;   // em: number after a bar
constexpr double kMinWithCost = 18;  // em: height of the picture below which costs are omitted

Refusal shapes_refusal(const BlockInput& in) {
  const ModelConfig& config = *in.input.trace.config;
  const AttentionTap& tap = *find_tap(in.input).tap;
  if (!architecture(config.architecture.id).has_self_attention) {
    return {"No projections",
            "The attention of this model has one head without W_Q, W_K, W_V and W_O."};
  }
  const PartSettings* settings = tap.settings();
  const bool compares = settings != nullptr && settings->source == Source::Product &&
                        settings->normaliser == Normaliser::Softmax && !tap.shapes().part.k.empty();
  if (!compares) {
    return {"No matrix of scores",
            variant(tap.variant.id).label +
                " does not form its weights as softmax(Q Kᵀ). Select a variant that does."};
  }
  return {};
}

Colour value_colour(const Theme& theme) {
  return theme.is_dark() ? Colour{190, 160, 255, 255} : Colour{96, 60, 180, 255};
}

std::vector<MatrixColumn> shape_columns(const Theme& theme, const AttentionSizes& n,
                                        bool is_cross) {
  const Colour x = theme.faint_text, q = query_colour(theme), k = key_colour(theme),
               v = value_colour(theme), a = theme.text;
  const Index all = n.heads * n.head_size, keys = n.key_heads * n.head_size;
  std::vector<MatrixColumn> columns;
  MatrixColumn input{{}, {{"X", 1, n.queries, n.width, x}}};
  if (is_cross) input.boxes.push_back({"X source", 1, n.projected_keys, n.width, x});
  columns.push_back(std::move(input));
  columns.push_back(
      {{"×"},
       {{"W_Q", 1, n.width, all, q}, {"W_K", 1, n.width, keys, k}, {"W_V", 1, n.width, keys, v}}});
  columns.push_back({{"="},
                     {{"Q", 1, n.queries, all, q},
                      {"K", 1, n.projected_keys, keys, k},
                      {"V", 1, n.projected_keys, keys, v}}});
  const bool has_groups = n.key_heads < n.heads;
  columns.push_back({{"split into", has_groups ? "heads" : count_text(n.heads, "head")},
                     {{"Q by head", n.heads, n.queries, n.head_size, q},
                      {"K by head", n.key_heads, n.keys, n.head_size, k},
                      {"V by head", n.key_heads, n.keys, n.head_size, v}}});
  columns.push_back({{"Q Kᵀ / √d"}, {{"scores", n.heads, n.queries, n.keys, a}}});
  columns.push_back({{"softmax"}, {{"weights A", n.heads, n.queries, n.keys, a}}});
  columns.push_back({{"× V"}, {{"A V by head", n.heads, n.queries, n.head_size, v}}});
  columns.push_back({{"concate-", "nate"}, {{"heads", 1, n.queries, all, v}}});
  columns.push_back({{"×"}, {{"W_O", 1, all, n.width, x}}});
  columns.push_back({{"="}, {{"output", 1, n.queries, n.width, x}}});
  return columns;
}

struct CostRow {
  std::string label;
  AttentionCost cost;
};

std::vector<CostRow> cost_rows(const AttentionSizes& sizes) {
  const AttentionSizes all = with_all_key_heads(sizes), one = with_one_head(sizes);
  const auto heads = [](const AttentionSizes& n) {
    return count_text(n.heads, "head") + " of " + grouped(n.head_size);
  };
  std::vector<CostRow> rows;
  const bool has_groups = sizes.key_heads < sizes.heads;
  if (has_groups) {
    rows.push_back(
        {heads(sizes) + ", " + count_text(sizes.key_heads, "key head"), attention_cost(sizes)});
  }
  if (sizes.heads > 1) rows.push_back({heads(all), attention_cost(all)});
  rows.push_back({heads(one), attention_cost(one)});
  return rows;
}

// Bars of the multiplications; false if there is no space.
class CostBars {
 public:
  CostBars(Page& page, const AttentionSizes& sizes) : page_(page), rows_(cost_rows(sizes)) {
    for (const CostRow& row : rows_) {
      label_ = std::max(label_, page.width_of(row.label, page.em()) + page.em());
      most_ = std::max(most_, row.cost.total());
    }
    entries_ = {{query_colour(page.theme()), "projections"},
                {key_colour(page.theme()), "scores"},
                {value_colour(page.theme()), "weighted values"}};
  }

  double height(double width) const {
    return step_height(page_) + legend_height(page_, entries_, width) +
           static_cast<double>(rows_.size()) * kCostRow * page_.em();
  }
  bool fits(double width) const {
    return width >= label_ + (kMinCostBar + kNumberWidth) * page_.em();
  }

  void draw(const Box& box) const {
    const double em = page_.em();
    const std::string same =
        rows_.size() > 1 && rows_.back().cost.total() == rows_[rows_.size() - 2].cost.total()
            ? ": several heads cost no more than one"
            : "";
    const std::string title = "Multiplications in this layer, over the pairs of this run";
    page_.text({box.x, box.y + 0.45 * step_height(page_)},
               page_.fitting({title + same, "Multiplications in this layer" + same,
                              "Multiplications in this layer", "Multiplications"},
                             em, box.width),
               em);
    double y = box.y + step_height(page_);
    const double legend = legend_height(page_, entries_, box.width);
    draw_legend(page_, entries_, {box.x, y, box.width, legend});
    y += legend;
    const double bar = box.width - label_ - kNumberWidth * em;
    for (const CostRow& row : rows_) {
      draw_row(row, {box.x, y, box.width, kCostRow * em}, bar);
      y += kCostRow * em;
    }
  }

 private:
  void draw_row(const CostRow& row, const Box& box, double bar) const {
    const double em = page_.em(), middle = box.y + box.height / 2;
    page_.text({box.x, middle}, row.label, em);
    double x = box.x + label_;
    const double parts[] = {row.cost.projections, row.cost.scores, row.cost.sums};
    for (std::size_t n = 0; n < std::size(parts); ++n) {
      const double width = bar * parts[n] / most_;
      page_.add(FilledBox{{x, middle - 0.45 * em, width, 0.9 * em}, entries_[n].colour});
      x += width;
    }
    page_.add(Text{{x + 0.4 * em, middle},
                   grouped(static_cast<long long>(row.cost.total())),
                   page_.theme().text,
                   page_.small()});
  }

  Page& page_;
  std::vector<CostRow> rows_;
  std::vector<LegendEntry> entries_;
  double label_ = 0, most_ = 1;
};

BlockLayout draw_shapes(Page& page, const Box& inside, const BlockInput& in) {
  const AttentionTap& tap = *find_tap(in.input).tap;
  const AttentionSizes sizes = attention_sizes(in.input.trace, tap);
  const bool is_cross = tap.address.kind == AttentionKind::Cross;
  const double em = page.em();
  const std::string name = "Layer " + std::to_string(in.layer);
  const std::string tokens = count_text(sizes.queries, "token");
  const std::string heads = count_text(sizes.heads, "head");
  page.text({inside.x, inside.y + 0.45 * step_height(page)},
            page.fitting({name + ": " + tokens + ", vectors of " + grouped(sizes.width) +
                              " numbers, " + heads + " of size " + grouped(sizes.head_size) +
                              "; rows × columns, boxes to scale except very short sides",
                          name + ": " + tokens + ", vectors of " + grouped(sizes.width) + ", " +
                              heads + " of size " + grouped(sizes.head_size),
                          name + ": " + tokens + ", " + heads, name},
                         em, inside.width),
            em);
  const CostBars bars(page, sizes);
  const Box diagram = below(inside, step_height(page) + 0.4 * em);
  const double cost = bars.height(inside.width) + 0.8 * em;
  const auto columns = shape_columns(page.theme(), sizes, is_cross);
  const bool can_have_cost =
      bars.fits(inside.width) && diagram.height >= kMinWithCost * em && diagram.height > cost;
  std::optional<double> bottom;
  if (can_have_cost) {
    bottom = draw_shape_diagram(page, {diagram.x, diagram.y, diagram.width, diagram.height - cost},
                                columns);
  }
  if (!bottom) {
    bottom = draw_shape_diagram(page, diagram, columns);
    return {.bottom = bottom.value_or(0), .is_too_small = !bottom};
  }
  bars.draw({inside.x, *bottom + 0.8 * em, inside.width, cost});
  return {.bottom = *bottom + cost};
}

std::vector<ViewData::Matrix> shapes_data(const BlockInput& in) {
  const AttentionTap& tap = *find_tap(in.input).tap;
  const AttentionSizes sizes = attention_sizes(in.input.trace, tap);
  const bool is_cross = tap.address.kind == AttentionKind::Cross;
  std::vector<const MatrixBox*> boxes;
  const auto columns = shape_columns(Theme::light(), sizes, is_cross);
  for (const MatrixColumn& column : columns) {
    for (const MatrixBox& box : column.boxes) boxes.push_back(&box);
  }
  ViewData::Matrix shapes{"shapes",
                          Tensor({static_cast<Index>(boxes.size()), 3}),
                          {},
                          {"matrices", "rows", "columns"},
                          {"matrix"}};
  for (std::size_t n = 0; n < boxes.size(); ++n) {
    shapes.rows.push_back(boxes[n]->name);
    const auto row = static_cast<Index>(n);
    shapes.values(row, 0) = static_cast<float>(boxes[n]->sheets);
    shapes.values(row, 1) = static_cast<float>(boxes[n]->rows);
    shapes.values(row, 2) = static_cast<float>(boxes[n]->columns);
  }
  const std::vector<CostRow> rows = cost_rows(sizes);
  ViewData::Matrix costs{"multiplications",
                         Tensor({static_cast<Index>(rows.size()), 3}),
                         {},
                         {"projections", "scores", "weighted values"},
                         {"heads"}};
  for (std::size_t n = 0; n < rows.size(); ++n) {
    costs.rows.push_back(rows[n].label);
    const auto row = static_cast<Index>(n);
    costs.values(row, 0) = static_cast<float>(rows[n].cost.projections);
    costs.values(row, 1) = static_cast<float>(rows[n].cost.scores);
    costs.values(row, 2) = static_cast<float>(rows[n].cost.sums);
  }
  return {shapes, costs};
}

}  // namespace

BlockPicture shapes_picture() {
  BlockPicture p{"shapes",
                 "Matrix shapes",
                 "shapes of the matrices of multi-head attention, with their multiplications",
                 shapes_refusal,
                 draw_shapes,
                 shapes_data};
  return p;
}

}  // namespace attnscope
