#include "core/view/flow/flow_places.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace attnscope {
namespace {

// In units.
constexpr double kBesides = 0.9;
constexpr double kPanelHead = 2.1, kFormula = 1.9, kFoot = 0.5;
constexpr double kMinRow = 1.65, kMaxRow = 2.3;
constexpr double kLargestUnit = 1.6, kSmallestUnit = 0.74;  // em
// On stage the font is large, and legible when smaller in proportion.
constexpr double kSmallestOnStage = 0.6;  // em
constexpr double kReadable = 13;          // pixels
constexpr double kEmbeddingShare = 0.36;
constexpr Index kMinKeys = 2, kUsualKeys = 6;  // key rows: minimum, and before the font grows

// Sizes of the full page, and of narrow pages.
struct Format {
  double across;               // minimum width
  double narration;            // height of the narration: two or three lines
  double top;                  // height of the tokens
  double between;              // gap between the three rows of panels
  double least_low, most_low;  // height of the last row
};
constexpr Format kWide{50, 3.4, 5.2, 1.3, 13.2, 19}, kNarrow{30, 5, 3.8, 1, 8, 14},
    kNarrowHeads{30, 5, 3.8, 1, 13.2, 17};  // narrow page with the residual

struct Column {
  double least, share;  // minimum, and share of the remaining width
};
// Words, keys, scores, softmax, values, weighted values.
constexpr std::array<Column, 6> kHead{
    {{6.8, 1.2}, {5.8, 1.5}, {6.1, 0.3}, {7.2, 1.2}, {7.8, 1.8}, {10.7, 2.5}}};
// Heads, residual and feed-forward, layers, next token.
constexpr std::array<Column, 4> kLower{{{12.3, 2.8}, {12.1, 2.6}, {12.9, 3}, {8.7, 1.6}}};
// Words, softmax, weighted values; layers, next token.
constexpr std::array<Column, 3> kNarrowHead{{{8.0, 1.5}, {7.5, 1}, {11.9, 3}}};
constexpr std::array<Column, 2> kNarrowLower{{{16, 2}, {11, 1}}};
// Words, keys, scores, values; heads, residual and feed-forward.
constexpr std::array<Column, 4> kVectorsHead{{{6.8, 1.2}, {5.8, 1.5}, {6.1, 0.3}, {7.8, 1.8}}};
constexpr std::array<Column, 2> kHeadsLower{{{14, 2}, {13.5, 1.5}}};

bool is_about_heads(FlowStage stage) {
  return stage == FlowStage::Heads || stage == FlowStage::Residual ||
         stage == FlowStage::FeedForward;
}

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

class Placing {
 public:
  Placing(const Format& format, const FlowShape& shape, const Box& inside)
      : format_(format), shape_(shape), inside_(inside) {}

  // The largest font with the usual number of keys; low pages show fewer keys.
  bool find_unit(const Page& page) {
    const double smallest =
        std::min(kSmallestUnit * page.em(), std::max(kReadable, kSmallestOnStage * page.em()));
    const double down = inside_.height;
    u_ = std::min({inside_.width / format_.across, kLargestUnit * page.em(),
                   std::max(down / least_height(kUsualKeys),
                            std::min(smallest, down / least_height(kMinKeys)))});
    return u_ >= smallest;
  }

  FlowPlaces place(const Page& page) {
    p_.unit = u_;
    share_height();
    const double height =
        (format_.narration + format_.top + 2 * format_.between + low_) * u_ + upper_height();
    const double y = inside_.y + page.top_margin(inside_.height, height);
    p_.narration = {inside_.x, y, inside_.width, format_.narration * u_};
    const double head = p_.narration.bottom() + (format_.top + format_.between) * u_;
    const double lower = head + upper_height() + format_.between * u_;
    p_.formula_y = head + (kPanelHead + kFormula / 2 - 0.1) * u_;
    p_.first_y = head + (kPanelHead + kFormula) * u_ + p_.row / 2;
    p_.bottom = lower + low_ * u_;
    if (&format_ == &kWide) {
      place_wide(head, lower);
    } else {
      place_narrow(head, lower);
    }
    return p_;
  }

 private:
  double fixed_height() const {
    return format_.narration + format_.top + 2 * format_.between + kPanelHead + kFormula + kFoot;
  }
  double least_height(Index keys) const {
    const double rows = static_cast<double>(std::min(keys, shape_.keys) + shape_.extra_rows);
    return fixed_height() + rows * kMinRow + format_.least_low;
  }
  double upper_height() const {
    return (kPanelHead + kFormula + kFoot) * u_ +
           static_cast<double>(p_.shown + shape_.extra_rows) * p_.row;
  }

  // Limited to the content.
  double most_low() const {
    constexpr double kLine = 1.95;
    const double filled = kPanelHead + kFoot + kLine * static_cast<double>(shape_.low_rows);
    return std::clamp(filled, format_.least_low, format_.most_low);
  }

  // Key rows first, then spacing.
  void share_height() {
    const double units = inside_.height / u_, free = units - fixed_height() - format_.least_low;
    const auto extra = static_cast<double>(shape_.extra_rows);
    const auto fit = static_cast<Index>(std::floor(free / kMinRow + 1e-6) - extra);
    p_.shown = std::clamp<Index>(fit, 1, std::max<Index>(1, shape_.keys));
    const double count = static_cast<double>(p_.shown) + extra;
    const double left = std::max(0.0, free - count * kMinRow);
    const double row = std::min(kMaxRow, kMinRow + 0.55 * left / count);
    low_ = std::clamp(units - fixed_height() - count * row, format_.least_low, most_low());
    p_.row = row * u_;
  }

  // Places panels side by side from `x_`; widths and gap in units.
  FlowPanel next_panel(FlowStage stage, double y, double width, double height, double gap) {
    const FlowPanel panel{stage, {x_, y, width * u_, height}};
    x_ += (width + gap) * u_;
    return panel;
  }

  void place_wide(double head, double lower) {
    const double top = p_.narration.bottom(), embedding = kEmbeddingShare * inside_.width;
    const double tokens = inside_.width - embedding - format_.between * u_;
    p_.tokens = {FlowStage::Tokens, {inside_.x, top, tokens, format_.top * u_}};
    p_.embedding = {FlowStage::Embedding,
                    {inside_.right() - embedding, top, embedding, format_.top * u_}};
    std::vector<double> across = widths(kHead, inside_.width / u_ - 4 * kBesides);
    if (!shape_.compares) {  // the message in place of scores needs space
      across[2] += across[1];
      across[1] = 0;
    }
    p_.words = across[0] * u_;
    x_ = inside_.x;
    const double high = upper_height();
    p_.keys = next_panel(FlowStage::Vectors, head, across[0] + across[1], high, kBesides);
    p_.scores = next_panel(FlowStage::Scores, head, across[2], high, kBesides);
    p_.softmax = next_panel(FlowStage::Softmax, head, across[3], high, kBesides);
    p_.values = next_panel(FlowStage::Vectors, head, across[4], high, kBesides);
    p_.weighted = next_panel(FlowStage::Weighted, head, across[5], high, 0);
    const double gap = format_.between, low = low_ * u_;
    across = widths(kLower, inside_.width / u_ - 3 * gap);
    x_ = inside_.x;
    p_.heads = next_panel(FlowStage::Heads, lower, across[0], low, gap);
    p_.residual = next_panel(FlowStage::Residual, lower, across[1], low, gap);
    p_.layers = next_panel(FlowStage::Layers, lower, across[2], low, gap);
    p_.next = next_panel(FlowStage::Next, lower, across[3], low, 0);
    place_feed_forward();
  }

  // Splits the space by the number of rows of residual and feed-forward.
  void place_feed_forward() {
    constexpr double kGap = 0.8, kLine = 1.6, kOwnRows = 2;  // feed-forward and sum
    Box &above = p_.residual.box, below = above;
    const double rows = kPanelHead + kLine * static_cast<double>(shape_.residual_rows);
    const double bottom = above.bottom();
    above.height = (above.height - kGap * u_) * rows / (rows + kPanelHead + kLine * kOwnRows);
    below.y = above.bottom() + kGap * u_;
    below.height = bottom - below.y;
    p_.feed_forward = {FlowStage::FeedForward, below};
  }

  void place_narrow(double head, double lower) {
    p_.tokens = {FlowStage::Tokens,
                 {inside_.x, p_.narration.bottom(), inside_.width, format_.top * u_}};
    x_ = inside_.x;
    const bool vectors = shape_.stage == FlowStage::Vectors || shape_.stage == FlowStage::Scores;
    if (vectors && shape_.compares) {
      place_vectors(head);
    } else {
      place_sum(head);
    }
    x_ = inside_.x;
    const double low = low_ * u_, gap = format_.between;
    const bool residual = &format_ == &kNarrowHeads, heads = shape_.stage == FlowStage::Heads;
    const std::vector<double> across =
        widths(residual || heads ? kHeadsLower : kNarrowLower, inside_.width / u_ - gap);
    if (residual || heads) {
      p_.heads = next_panel(FlowStage::Heads, lower, across[0], low, gap);
    } else {
      p_.layers = next_panel(FlowStage::Layers, lower, across[0], low, gap);
    }
    if (residual) {
      p_.residual = next_panel(FlowStage::Residual, lower, across[1], low, 0);
      place_feed_forward();
    } else {
      p_.next = next_panel(FlowStage::Next, lower, across[1], low, 0);
    }
  }

  void place_vectors(double head) {
    const std::vector<double> across = widths(kVectorsHead, inside_.width / u_ - 2 * kBesides);
    const double high = upper_height();
    p_.words = across[0] * u_;
    p_.keys = next_panel(FlowStage::Vectors, head, across[0] + across[1], high, kBesides);
    p_.scores = next_panel(FlowStage::Scores, head, across[2], high, kBesides);
    p_.values = next_panel(FlowStage::Vectors, head, across[3], high, 0);
  }

  void place_sum(double head) {
    const std::vector<double> across = widths(kNarrowHead, inside_.width / u_ - 2 * kBesides);
    const double high = upper_height();
    p_.words = across[0] * u_;
    p_.keys = next_panel(FlowStage::Vectors, head, across[0], high, kBesides);
    p_.softmax = next_panel(FlowStage::Softmax, head, across[1], high, kBesides);
    p_.weighted = next_panel(FlowStage::Weighted, head, across[2], high, 0);
  }

  const Format& format_;
  const FlowShape& shape_;
  const Box inside_;
  double u_ = 0, low_ = 0, x_ = 0;
  FlowPlaces p_;
};

}  // namespace

std::vector<const FlowPanel*> FlowPlaces::all() const {
  std::vector<const FlowPanel*> list{&tokens,   &embedding,    &keys,     &scores,
                                     &softmax,  &values,       &weighted, &heads,
                                     &residual, &feed_forward, &layers,   &next};
  std::erase_if(list, [](const FlowPanel* p) { return !p->there(); });
  return list;
}

std::optional<FlowPlaces> place_flow(const Page& page, const Box& inside, const FlowShape& shape) {
  const Format& narrow = is_about_heads(shape.stage) ? kNarrowHeads : kNarrow;
  for (const Format* format : {&kWide, &narrow, &kNarrow}) {
    Placing placing(*format, shape, inside);
    if (placing.find_unit(page)) return placing.place(page);
  }
  return std::nullopt;
}

}  // namespace attnscope
