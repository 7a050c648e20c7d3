#include "core/view/flow/flow_places.h"

#include <algorithm>
#include <numeric>

namespace attnscope {
namespace {

// In units.
constexpr double kLeastAcross = 50;
constexpr Index kLeastKeys = 2, kUsualKeys = 6;  // rows of keys: at least, and before letters grow
constexpr double kLargestUnit = 1.6, kSmallestUnit = 0.74;  // em
constexpr double kNarration = 3.4, kTop = 5.2, kBetween = 1.3, kBesides = 0.9;
constexpr double kPanelHead = 2.1, kFormula = 1.9, kFoot = 0.5;
constexpr double kLeastRow = 1.65, kMostRow = 2.3;
constexpr double kLeastLower = 13.2, kMostLower = 19;
constexpr double kEmbeddingShare = 0.36;

struct Column {
  double least, share;  // of what is left
};
// Words, keys, scores, softmax, values, weighted values.
constexpr std::array<Column, 6> kHead{
    {{6.8, 1.2}, {5.8, 1.5}, {6.1, 0.3}, {7.2, 1.2}, {7.8, 1.8}, {10.7, 2.5}}};
// Heads, residual and feed-forward, layers, next token.
constexpr std::array<Column, 4> kLower{{{12.6, 3}, {12.8, 3}, {11.9, 2.5}, {8.8, 1.5}}};

template <std::size_t n>
std::vector<double> widths(const std::array<Column, n>& columns, double space) {
  double least = 0, shares = 0;
  for (const Column& c : columns) {
    least += c.least;
    shares += c.share;
  }
  std::vector<double> result;
  for (const Column& c : columns) {
    result.push_back(c.least + std::max(0.0, space - least) * c.share / shares);
  }
  return result;
}

// With so many rows of keys.
double least_height(const FlowShape& shape, Index keys) {
  const double rows = static_cast<double>(std::min(keys, shape.keys) + shape.extra_rows);
  return kNarration + kTop + 2 * kBetween + kPanelHead + kFormula + kFoot + rows * kLeastRow +
         kLeastLower;
}

struct Rows {
  Index keys = 0;
  double row = 0, lower = 0;
};

// How the height is shared: first as many keys as wanted, then room.
Rows share_height(double units, const FlowShape& shape) {
  const double fixed = kNarration + kTop + 2 * kBetween + kPanelHead + kFormula + kFoot;
  const double free = units - fixed - kLeastLower;
  const auto extra = static_cast<double>(shape.extra_rows);
  Rows rows;
  const double fit = std::floor(free / kLeastRow) - extra;
  rows.keys = std::clamp<Index>(static_cast<Index>(fit), 1, std::max<Index>(1, shape.keys));
  const double count = static_cast<double>(rows.keys) + extra;
  const double left = std::max(0.0, free - count * kLeastRow);
  rows.row = std::min(kMostRow, kLeastRow + 0.55 * left / count);
  rows.lower = std::clamp(units - fixed - count * rows.row, kLeastLower, kMostLower);
  return rows;
}

}  // namespace

std::vector<const FlowPanel*> FlowPlaces::all() const {
  std::vector<const FlowPanel*> list{&tokens,   &embedding,    &keys,     &scores,
                                     &softmax,  &values,       &weighted, &heads,
                                     &residual, &feed_forward, &layers,   &next};
  std::erase_if(list, [](const FlowPanel* p) { return !(p->box.width > 0); });
  return list;
}

std::optional<FlowPlaces> place_flow(const Page& page, const Box& inside, const FlowShape& shape) {
  FlowPlaces p;
  const double down = inside.height, smallest = kSmallestUnit * page.em();
  // Letters are as large as they can be with the usual keys; of a low page there are fewer.
  const double u = std::min({inside.width / kLeastAcross, kLargestUnit * page.em(),
                             std::max(down / least_height(shape, kUsualKeys),
                                      std::min(smallest, down / least_height(shape, kLeastKeys)))});
  if (!(u >= smallest)) return std::nullopt;
  p.unit = u;
  const Rows rows = share_height(inside.height / u, shape);
  p.shown = rows.keys;
  p.row = rows.row * u;
  const double upper = (kPanelHead + kFormula + kFoot) * u +
                       static_cast<double>(rows.keys + shape.extra_rows) * p.row;
  const double height = (kNarration + kTop + 2 * kBetween + rows.lower) * u + upper;
  const double y = inside.y + page.spare_above(inside.height, height);
  p.narration = {inside.x, y, inside.width, kNarration * u};
  const double top = p.narration.bottom();
  const double embedding = kEmbeddingShare * inside.width;
  p.tokens = {FlowStage::Tokens,
              {inside.x, top, inside.width - embedding - kBetween * u, kTop * u}};
  p.embedding = {FlowStage::Embedding, {inside.right() - embedding, top, embedding, kTop * u}};
  const double head = top + (kTop + kBetween) * u;
  std::vector<double> across = widths(kHead, inside.width / u - 4 * kBesides);
  if (!shape.compares) {  // what is said in the place of scores needs room
    across[2] += across[1];
    across[1] = 0;
  }
  p.words = across[0] * u;
  double x = inside.x;
  const auto next_panel = [&](FlowStage stage, double width, double gap) {
    const FlowPanel panel{stage, {x, head, width * u, upper}};
    x += (width + gap) * u;
    return panel;
  };
  p.keys = next_panel(FlowStage::Vectors, across[0] + across[1], kBesides);
  p.scores = next_panel(FlowStage::Scores, across[2], kBesides);
  p.softmax = next_panel(FlowStage::Softmax, across[3], kBesides);
  p.values = next_panel(FlowStage::Vectors, across[4], kBesides);
  p.weighted = next_panel(FlowStage::Weighted, across[5], 0);
  p.formula_y = head + (kPanelHead + kFormula / 2 - 0.1) * u;
  p.first_y = head + (kPanelHead + kFormula) * u + p.row / 2;
  const double lower = head + upper + kBetween * u;
  const std::vector<double> below = widths(kLower, inside.width / u - 3 * kBetween);
  x = inside.x;
  const auto next_below = [&](FlowStage stage, double width) {
    const FlowPanel panel{stage, {x, lower, width * u, rows.lower * u}};
    x += (width + kBetween) * u;
    return panel;
  };
  p.heads = next_below(FlowStage::Heads, below[0]);
  p.residual = next_below(FlowStage::Residual, below[1]);
  p.layers = next_below(FlowStage::Layers, below[2]);
  p.next = next_below(FlowStage::Next, below[3]);
  p.feed_forward = {FlowStage::FeedForward, p.residual.box};
  const double gap = 0.8 * u;
  constexpr double kLine = 1.6, kOwnRows = 2;  // of the feed-forward: it, and the sum
  const double above = kPanelHead + kLine * static_cast<double>(shape.residual_rows);
  const double share = above / (above + kPanelHead + kLine * kOwnRows);
  p.residual.box.height = (p.residual.box.height - gap) * share;
  p.feed_forward.box.y = p.residual.box.bottom() + gap;
  p.feed_forward.box.height = p.heads.box.bottom() - p.feed_forward.box.y;
  p.bottom = p.heads.box.bottom();
  return p;
}

}  // namespace attnscope
