// Inverse of reversible layers: their inputs, recomputed from their outputs, and the memory that
// this saves in training (Gomez et al., 2017; Kitaev et al., 2020, section 3).
#include <algorithm>
#include <cmath>

#include "core/experiment/finding.h"
#include "core/experiment/inverse_study.h"
#include "core/figure/plain_text.h"
#include "core/model/config.h"
#include "core/model/residual_connection.h"
#include "core/view/block/block_picture.h"
#include "core/view/mechanism/steps.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/shapes.h"

namespace attnscope {
namespace {

constexpr double kFloat = 4;                          // bytes
constexpr double kBoxHeight = 2, kFlowHeight = 11;    // em
constexpr double kMinFlowWidth = 24;                  // em
constexpr double kInverseRow = 1.6, kErrorWidth = 9;  // em

std::shared_ptr<const InverseStudy> inverse_of(const BlockInput& in) {
  return in.input.findings.get(Findings::inverse);
}

Refusal inverse_refusal(const BlockInput& in) {
  const ModelConfig& config = *in.input.trace.config;
  if (!residual_connection(config.residual_connection.id).run_layers) {
    return {"Not reversible",
            "The inputs of these layers cannot be computed from their outputs. Choose the residual "
            "connection Reversible."};
  }
  return study_refusal(inverse_of(in), "No inverse");
}

// The two streams through a layer. is_inverse: right to left, with differences.
class ReversibleLayer {
 public:
  ReversibleLayer(Page& page, const Box& box, bool is_inverse)
      : page_(page), box_(box), is_inverse_(is_inverse), em_(page.em()) {}

  void draw() const {
    const double left = box_.x + 2.6 * em_, right = box_.right() - 2.6 * em_;
    name({box_.x + 1.1 * em_, top()}, "x₁");
    name({box_.x + 1.1 * em_, low()}, "x₂");
    name({box_.right() - 1.1 * em_, top()}, "y₁");
    name({box_.right() - 1.1 * em_, low()}, "y₂");
    rail(left, right, top());
    rail(left, right, low());
    function(left + 0.3 * (right - left), low(), top(), "attention", key_colour(page_.theme()));
    function(left + 0.7 * (right - left), top(), low(), "feed-forward", page_.theme().accent);
  }

 private:
  double top() const { return box_.y + 1.6 * em_; }
  double low() const { return box_.y + box_.height - 1.6 * em_; }

  void name(Point at, const std::string& text) const {
    page_.add(Text{at, text, page_.theme().text, 1.15 * em_, Align::Middle, 0, true});
  }
  void rail(double left, double right, double y) const {
    const Point from{is_inverse_ ? right : left, y}, to{is_inverse_ ? left : right, y};
    for (const Line& part : arrow(from, to, page_.theme().text, 1.6)) page_.add(part);
  }
  // A function of the stream at `from` that is added to (or subtracted from) the stream at `to`.
  void function(double x, double from, double to, const std::string& text, Colour colour) const {
    const double middle = (from + to) / 2, half = kBoxHeight / 2 * em_;
    const double direction = to > from ? 1 : -1;
    page_.add(Line{{{x, from}, {x, middle - direction * half}}, colour, 1.6});
    for (const Line& part :
         arrow({x, middle + direction * half}, {x, to - direction * 0.7 * em_}, colour, 1.6)) {
      page_.add(part);
    }
    const double width = page_.width_of(text, em_) + 1.2 * em_;
    const Box box{x - width / 2, middle - half, width, 2 * half};
    page_.add(FilledBox{box, blend(page_.theme().background, colour, 0.25), 0.3 * em_});
    page_.add(OutlinedBox{box, colour, 1});
    page_.text({x, middle}, text, em_, Align::Middle);
    page_.add(disc({x, to}, 0.6 * em_, page_.theme().background));
    page_.add(circle({x, to}, 0.6 * em_, page_.theme().text, 1.4));
    page_.text({x, to}, is_inverse_ ? "−" : "+", em_, Align::Middle);
  }

  Page& page_;
  Box box_;
  bool is_inverse_;
  double em_;
};

struct InverseMemory {
  double kept = 0, reversible = 0;  // bytes of states for backpropagation
};

InverseMemory inverse_memory(const InverseStudy& study) {
  const double state = kFloat * static_cast<double>(study.tokens * study.width);
  const auto layers = static_cast<double>(study.rows.size());
  return {2 * layers * state, 2 * state};
}

// Bars of the relative errors on a logarithmic scale, one per layer.
double draw_errors(Page& page, const Box& box, const InverseStudy& study) {
  const double em = page.em();
  const auto exponent = [](double error) { return error > 0 ? std::log10(error) : -16.0; };
  double least = 0;
  for (const InverseRow& row : study.rows) least = std::min(least, exponent(row.relative()));
  least = std::floor(least) - 1;
  const double label = page.width_of("layer 00", em) + 0.6 * em;
  const double bar = box.width - label - kErrorWidth * em;
  const auto count = static_cast<Index>(study.rows.size());
  const auto fits = static_cast<Index>(box.height / (kInverseRow * em));
  if (bar < 3 * em || fits < 1) return box.y;
  const Index step = (count + fits - 1) / fits;
  double y = box.y;
  for (Index n = 0; n < count; n += step) {
    const InverseRow& row = study.rows[static_cast<std::size_t>(n)];
    const double middle = y + kInverseRow / 2 * em, error = row.relative();
    page.text({box.x, middle}, "layer " + std::to_string(row.layer), em);
    const double length = std::isfinite(error) ? bar * (exponent(error) / least - 1) * -1 : bar;
    page.add(FilledBox{{box.x + label, middle - 0.4 * em, std::max(1.0, length), 0.8 * em},
                       page.theme().accent});
    page.faint_text({box.x + label + std::max(1.0, length) + 0.5 * em, middle},
                    error == 0 ? "exact" : brief(error, 2), page.small());
    y += kInverseRow * em;
  }
  return y;
}

BlockLayout draw_inverse(Page& page, const Box& inside, const BlockInput& in) {
  const auto study = inverse_of(in);
  const double em = page.em(), step = step_height(page);
  auto [left, right] = split(page, {inside.x, inside.y, inside.width, (kFlowHeight + 2) * em});
  const bool is_wide = right.x > left.x;
  if (!is_wide) {
    left.height = step + kFlowHeight * em;
    right = {inside.x, left.bottom() + 0.8 * em, inside.width, left.height};
  }
  if (left.width < kMinFlowWidth * em || right.bottom() + step + 3 * em > inside.bottom())
    return {.is_too_small = true};
  const Box forward = draw_step(page, left, 1,
                                {"Forward: y₁ = x₁ + attention(x₂), y₂ = x₂ + feed-forward(y₁)",
                                 "Forward: each stream adds to the other", "Forward"});
  ReversibleLayer(page, {forward.x, forward.y, forward.width, kFlowHeight * em - 0.5 * em}, false)
      .draw();
  const Box backward = draw_step(page, right, 2,
                                 {"Inverse: x₂ = y₂ − feed-forward(y₁), x₁ = y₁ − attention(x₂)",
                                  "Inverse: the same, subtracted", "Inverse"});
  ReversibleLayer(page, {backward.x, backward.y, backward.width, kFlowHeight * em - 0.5 * em}, true)
      .draw();
  const InverseMemory memory = inverse_memory(*study);
  const Box rest = draw_step(
      page, below(inside, right.bottom() - inside.y + 0.6 * em), 3,
      {"Inputs of the layers, recomputed from the last layer's output: largest error, relative to "
       "the largest number",
       "Recomputed inputs: largest relative error", "Relative error"});
  double bottom = draw_errors(page, {rest.x, rest.y, rest.width, rest.height - 1.6 * em}, *study);
  const std::string saved = "States for backpropagation: " + bytes_text(memory.reversible) +
                            " instead of " + bytes_text(memory.kept);
  page.faint_text(
      {rest.x, bottom + 0.8 * em},
      page.fitting({saved + " (two streams of " + grouped(study->tokens) + " × " +
                        grouped(study->width) + " numbers, once instead of for each of " +
                        count_text(static_cast<long long>(study->rows.size()), "layer") + ")",
                    saved},
                   page.small(), rest.width),
      page.small());
  return {.bottom = bottom + 1.6 * em};
}

std::vector<ViewData::Matrix> inverse_data(const BlockInput& in) {
  const auto study = inverse_of(in);
  ViewData::Matrix matrix{"inverse",
                          Tensor({static_cast<Index>(study->rows.size()), 4}),
                          {},
                          {"error of x1", "error of x2", "largest x1", "largest x2"},
                          {"layer"}};
  for (std::size_t n = 0; n < study->rows.size(); ++n) {
    const InverseRow& row = study->rows[n];
    matrix.rows.push_back(std::to_string(row.layer));
    const double numbers[] = {row.error1, row.error2, row.largest1, row.largest2};
    for (Index c = 0; c < 4; ++c)
      matrix.values(static_cast<Index>(n), c) = static_cast<float>(numbers[c]);
  }
  return {matrix};
}

std::optional<FindingSettings> inverse_settings(const RunView&) {
  return FindingSettings();
}

}  // namespace

BlockPicture inverse_picture() {
  BlockPicture p{"inverse",
                 "Reversible layers",
                 "inputs of reversible layers, recomputed from their outputs",
                 inverse_refusal,
                 draw_inverse,
                 inverse_data};
  p.finding = {Findings::inverse.id, inverse_settings};
  return p;
}

}  // namespace attnscope
