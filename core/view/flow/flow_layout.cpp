#include "core/view/flow/flow_layout.h"

#include <algorithm>
#include <cmath>

#include "core/view/parts/tracks.h"

namespace attnscope {
namespace {

// Lengths in units (FlowPlaces::unit).
constexpr double kPanelGap = 0.9;
constexpr double kPanelHead = 2.1, kFormula = 1.9, kFoot = 0.5;
constexpr double kHeadRows = kPanelHead + kFormula + kFoot;  // height around the key rows
constexpr double kMinRow = 1.65, kMaxRow = 2.3;
constexpr double kLargestUnit = 1.6, kSmallestUnit = 0.74;  // em
constexpr double kNames = 0.95;                             // font size of names
constexpr double kComfortableUnit = 1.1;                    // em
constexpr double kSmallestLarge = 0.9;    // em; replaces kSmallestUnit if FlowShape::has_large_text
constexpr double kEmbeddingWidth = 0.36;  // fraction of the row's width
constexpr Index kMinKeys = 2, kUsualKeys = 6;  // number of key rows

// Page format, for wide or narrow pages.
struct Format {
  double min_width;
  double narration;         // height of the narration: two or three lines
  double top;               // height of the tokens
  double between;           // gap between the three rows of panels
  double min_low, max_low;  // height of the last row
};
constexpr Format kWide{50, 3.4, 5.2, 1.3, 13.2, 19}, kNarrow{30, 5, 3.8, 1, 8, 14},
    kNarrowHeads{30, 5, 3.8, 1, 13.2, 17};  // for stages Heads to FeedForward

// Column of a row of panels. A column without a panel belongs to the panel of the next column.
struct Column {
  FlowPanel FlowPlaces::*panel;
  FlowStage stage;
  double min_width, weight;  // weight: share of the remaining width
};
using Columns = std::vector<Column>;
constexpr FlowPanel FlowPlaces::*kNone = nullptr;
using P = FlowPlaces;
using S = FlowStage;
const Columns kHead{{kNone, S::Vectors, 6.8, 1.2},      {&P::keys, S::Vectors, 5.8, 1.5},
                    {&P::scores, S::Scores, 6.1, 0.3},  {&P::softmax, S::Softmax, 7.2, 1.2},
                    {&P::values, S::Vectors, 7.8, 1.8}, {&P::weighted, S::Weighted, 10.7, 2.5}};
// A message replaces the scores and uses the space of the keys.
const Columns kHeadWithoutScores{{&P::keys, S::Vectors, 6.8, 1.2},
                                 {&P::scores, S::Scores, 11.9, 1.8},
                                 {&P::softmax, S::Softmax, 7.2, 1.2},
                                 {&P::values, S::Vectors, 7.8, 1.8},
                                 {&P::weighted, S::Weighted, 10.7, 2.5}};
const Columns kLower{{&P::heads, S::Heads, 12.3, 2.8},
                     {&P::residual, S::Residual, 11.3, 2.6},
                     {&P::layers, S::Layers, 12.9, 3},
                     {&P::next, S::Next, 9.5, 1.6}};
// Upper and lower rows of panels on narrow pages.
const Columns kNarrowHead{{&P::keys, S::Vectors, 8.0, 1.5},
                          {&P::softmax, S::Softmax, 7.5, 1},
                          {&P::weighted, S::Weighted, 11.9, 3}};
const Columns kVectorsHead{{kNone, S::Vectors, 6.8, 1.2},
                           {&P::keys, S::Vectors, 5.8, 1.5},
                           {&P::scores, S::Scores, 6.1, 0.3},
                           {&P::values, S::Vectors, 7.8, 1.8}};
const Columns kNarrowLower{{&P::layers, S::Layers, 16, 2}, {&P::next, S::Next, 11, 1}};
const Columns kHeadsThenNext{{&P::heads, S::Heads, 14, 2}, {&P::next, S::Next, 13.5, 1.5}};
const Columns kHeadsLower{{&P::heads, S::Heads, 14, 2}, {&P::residual, S::Residual, 13.5, 1.5}};

bool is_about_heads(FlowStage stage) {
  return stage == FlowStage::Heads || stage == FlowStage::Residual ||
         stage == FlowStage::FeedForward;
}

class FlowPlacer {
 public:
  FlowPlacer(const Format& format, const FlowShape& shape, const Box& inside)
      : format_(format), shape_(shape), inside_(inside) {}

  // Chooses the largest font that fits kUsualKeys keys, else the smallest font. A font larger than
  // kComfortableUnit must also leave space for the rows of the lower panels, so that a larger page
  // does not show fewer layers. Returns false if even the smallest font is too large.
  bool find_unit(const Page& page) {
    const double smallest =
        std::max((shape_.has_large_text ? kSmallestLarge : kSmallestUnit) * page.em(),
                 page.legible(0) / kNames);
    const double height = inside_.height;
    const double least_height = min_height(kUsualKeys);
    const double full_height = least_height - format_.min_low + max_low_height();
    const double unit =
        shape_.has_large_text
            ? height / least_height
            : std::max(height / full_height,
                       std::min(height / least_height, kComfortableUnit * page.em()));
    u_ = std::min({inside_.width / format_.min_width, kLargestUnit * page.em(),
                   std::max(unit, std::min(smallest, height / min_height(kMinKeys)))});
    return u_ >= smallest;
  }

  FlowPlaces place(const Page& page) {
    p_.unit = u_;
    const Tracks tracks = choose_rows();
    const double y = inside_.y + page.top_margin(inside_.height, extent(tracks) * u_);
    const std::vector<Box> boxes = rows({inside_.x, y, inside_.width, 0}, tracks, u_);
    const Box &head = boxes[2], &lower = boxes[3];
    p_.narration = boxes[0];
    p_.row = (head.height - kHeadRows * u_) / count(p_.shown);
    p_.formula_y = head.y + (kPanelHead + kFormula / 2 - 0.1) * u_;
    p_.first_y = head.y + (kPanelHead + kFormula) * u_ + p_.row / 2;
    p_.bottom = lower.bottom();
    if (&format_ == &kWide) {
      place_tokens(boxes[1]);
      place_panels(head, shape_.compares ? kHead : kHeadWithoutScores, kPanelGap);
      place_panels(lower, kLower, format_.between);
    } else {
      p_.tokens = {FlowStage::Tokens, boxes[1]};
      place_panels(head, narrow_head(), kPanelGap);
      place_panels(lower, narrow_lower(), format_.between);
    }
    if (p_.residual.is_present()) place_feed_forward();
    return p_;
  }

 private:
  double fixed_height() const {
    return format_.narration + format_.top + 2 * format_.between + kHeadRows;
  }
  double count(Index keys) const { return static_cast<double>(keys + shape_.extra_rows); }
  double min_height(Index keys) const {
    return fixed_height() + count(std::min(keys, shape_.keys)) * kMinRow + format_.min_low;
  }

  // Maximum height of the lower panels: the height of their rows, within the format's limits.
  double max_low_height() const {
    constexpr double kLine = 1.95;
    const double filled = kPanelHead + kFoot + kLine * static_cast<double>(shape_.low_rows);
    return std::clamp(filled, format_.min_low, format_.max_low);
  }

  // Heights, in units, of narration, tokens, head panels and layer panels. Spare space goes to key
  // rows first, then to spacing.
  Tracks choose_rows() {
    const double height = inside_.height / u_, spare = height - fixed_height() - format_.min_low;
    const auto fitting = static_cast<Index>(std::floor(spare / kMinRow + 1e-6) - count(0));
    p_.shown = std::clamp<Index>(fitting, 1, std::max<Index>(1, shape_.keys));
    Tracks tracks{{.size = format_.narration},
                  {.size = format_.top, .gap = format_.between},
                  {.size = kHeadRows + count(p_.shown) * kMinRow,
                   .most = kHeadRows + count(p_.shown) * kMaxRow,
                   .weight = 0.55,
                   .gap = format_.between},
                  {.size = format_.min_low, .most = max_low_height(), .weight = 0.45}};
    fit(tracks, height);
    return tracks;
  }

  void place_tokens(const Box& row) {
    const double width = row.width / u_;
    Tracks tracks{{.most = Track::kUnlimited, .gap = format_.between},
                  {.size = kEmbeddingWidth * width}};
    fit(tracks, width);
    const std::vector<Box> boxes = columns(row, tracks, u_);
    p_.tokens = {FlowStage::Tokens, boxes[0]};
    p_.embedding = {FlowStage::Embedding, boxes[1]};
  }

  void place_panels(const Box& row, const Columns& panels, double gap) {
    Tracks tracks;
    for (const Column& c : panels) {
      tracks.push_back({.size = c.min_width,
                        .most = Track::kUnlimited,
                        .weight = c.weight,
                        .gap = c.panel == kNone ? 0 : gap});
    }
    fit(tracks, row.width / u_);
    const std::vector<Box> boxes = columns(row, tracks, u_);
    for (std::size_t n = 0; n < panels.size(); ++n) {
      if (panels[n].panel == kNone) continue;
      const Box& from = n > 0 && panels[n - 1].panel == kNone ? boxes[n - 1] : boxes[n];
      p_.*panels[n].panel = {panels[n].stage,
                             {from.x, row.y, boxes[n].right() - from.x, row.height}};
    }
    if (panels.front().panel == kNone || panels.front().panel == &FlowPlaces::keys) {
      p_.label_width = boxes.front().width;
    }
  }

  const Columns& narrow_head() const {
    const bool vectors = shape_.stage == FlowStage::Vectors || shape_.stage == FlowStage::Scores;
    return vectors && shape_.compares ? kVectorsHead : kNarrowHead;
  }
  const Columns& narrow_lower() const {
    if (&format_ == &kNarrowHeads) return kHeadsLower;
    return shape_.stage == FlowStage::Heads ? kHeadsThenNext : kNarrowLower;
  }

  // Splits the space between the residual and feed-forward panels by their numbers of rows.
  void place_feed_forward() {
    constexpr double kLine = 1.6, kFeedForwardRows = 2;  // feed-forward and sum
    const double residual = kPanelHead + kLine * static_cast<double>(shape_.residual_rows);
    const double feed_forward = kPanelHead + kLine * kFeedForwardRows;
    Tracks tracks{{.most = Track::kUnlimited, .weight = residual, .gap = 0.8},
                  {.most = Track::kUnlimited, .weight = feed_forward}};
    fit(tracks, p_.residual.box.height / u_);
    const std::vector<Box> boxes = rows(p_.residual.box, tracks, u_);
    p_.residual.box = boxes[0];
    p_.feed_forward = {FlowStage::FeedForward, boxes[1]};
  }

  const Format& format_;
  const FlowShape& shape_;
  const Box inside_;
  double u_ = 0;
  FlowPlaces p_;
};

}  // namespace

std::vector<const FlowPanel*> FlowPlaces::panels() const {
  std::vector<const FlowPanel*> list{&tokens,   &embedding,    &keys,     &scores,
                                     &softmax,  &values,       &weighted, &heads,
                                     &residual, &feed_forward, &layers,   &next};
  std::erase_if(list, [](const FlowPanel* p) { return !p->is_present(); });
  return list;
}

std::optional<FlowPlaces> place_flow(const Page& page, const Box& inside, const FlowShape& shape) {
  const Format& narrow = is_about_heads(shape.stage) ? kNarrowHeads : kNarrow;
  for (const Format* format : {&kWide, &narrow, &kNarrow}) {
    FlowPlacer placer(*format, shape, inside);
    if (placer.find_unit(page)) return placer.place(page);
  }
  return std::nullopt;
}

}  // namespace attnscope
