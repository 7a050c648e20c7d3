#include "core/view/depth/loss_table.h"

#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/model/config.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/number_table.h"
#include "core/view/view_values.h"

namespace attnscope {
namespace {

constexpr double kLossLine = 1.5;     // em, height of a line of text
constexpr double kLossRow = 1.45;     // em, height of a row
constexpr double kMinLossRow = 1.05;  // em, lower rows have no numbers
constexpr Index kMinLossRows = 4;
constexpr float kMaxLoss = 126;  // bits: probabilities of 2^-126 and less

// Losses in bits: columns of layers, then of further targets.
struct Losses {
  Tensor bits;                // [L, columns]
  std::vector<double> means;  // [columns]
  Index layers = 0, later = 0;

  Index columns() const { return layers + later; }
  // Share of the training in which the layer predicts; the last layer and further targets always.
  double trained_until(Index column) const {
    if (column + 1 >= layers) return 1;
    return static_cast<double>(column + 1) / static_cast<double>(2 * layers);
  }
  std::vector<std::string> labels(Index column) const {
    if (column >= layers) {
      const std::string distance = "+" + std::to_string(column - layers + 2);
      return {"target " + distance, distance};
    }
    return {"layer " + std::to_string(column), std::to_string(column)};
  }
};

// Reason for missing losses; empty if there are any.
std::string missing_losses(const LogitLens* lens) {
  if (lens != nullptr && lens->target_probability.defined()) return "";
  return "The losses of the layers need the logit lens of a model that predicts next tokens.";
}

Losses losses_of(const LogitLens& lens) {
  Losses losses;
  losses.layers = lens.target_probability.dim(0);
  if (lens.later_target_probability.defined()) {
    losses.later = lens.later_target_probability.dim(0);
  }
  const Index length = lens.target_probability.dim(1);
  losses.bits = Tensor({length, losses.columns()});
  for (Index i = 0; i < length; ++i) {
    for (Index c = 0; c < losses.columns(); ++c) {
      const float p = c < losses.layers ? lens.target_probability(c, i)
                                        : lens.later_target_probability(c - losses.layers, i);
      losses.bits(i, c) = -std::log2(p);
    }
  }
  losses.means = mean_bits(lens.target_probability);
  if (losses.later > 0) {
    for (const double mean : mean_bits(lens.later_target_probability)) losses.means.push_back(mean);
  }
  return losses;
}

class LossPicture {
 public:
  explicit LossPicture(const ViewInput& input)
      : input_(input), page_(input), lens_(input.findings.get(Findings::lens)) {}

  ViewLayout lay_out() {
    if (!lens_) return page_.message("Computing", "The logit lens is being computed.");
    if (const std::string missing = missing_losses(lens_.get()); !missing.empty()) {
      return page_.message("No losses", missing);
    }
    losses_ = losses_of(*lens_);
    const Box inside =
        page_.frame(input_.trace.model + " · losses of layers and positions", caption_text());
    const Box box{inside.x, inside.y + 2 * kLossLine * em(), inside.width,
                  inside.height - 3.2 * kLossLine * em()};
    // The last position has no next token; the row of means follows a gap.
    const Index positions = losses_.bits.dim(0) - 1;
    const auto fitting = static_cast<Index>((box.height - 3 * em()) / (kMinLossRow * em()));
    shown_ = std::min(positions, fitting - 1);
    if (positions < 1) return page_.message("No losses", "Type a text of at least two tokens.");
    if (shown_ < std::min(positions, kMinLossRows)) return no_space(page_);
    first_ = positions - shown_;
    const PlacedTable placed(page_, box, table());
    if (!placed.fits()) return no_space(page_);
    draw_summary(inside);
    placed.draw(page_);
    draw_schedule(placed, inside.right());
    return finish(placed);
  }

 private:
  double em() const { return page_.em(); }
  const Auxiliary* auxiliary() const {
    return input_.trace.config ? &input_.trace.config->auxiliary : nullptr;
  }

  std::string caption_text() const {
    std::string text =
        "Loss −log₂ p of the next token in bits, at each position, of the prediction of each "
        "layer's state through the final norm and the output projection. Al-Rfou et al. (2018) "
        "train the sum over all positions and layers: layer n of N with weight ½ during the first "
        "n/2N of the training";
    if (losses_.later > 0) {
      text +=
          "; target +m: the token m positions later, predicted from the last layer by a matrix "
          "of its own, with weight ½";
    }
    const float* end = losses_.bits.data() + losses_.bits.size();
    if (std::any_of(losses_.bits.data(), end, [](float bits) { return bits >= kMaxLoss; })) {
      text += ". Losses above 126 bits are drawn as 126";
    }
    const bool has_layers = auxiliary() != nullptr && auxiliary()->layers;
    return caption(input_.trace,
                   text + (has_layers ? ". This model was trained with these losses."
                                      : ". This model's configuration has no auxiliary losses of "
                                        "layers."));
  }

  NumberTable table() const {
    NumberTable table;
    table.values = Tensor({shown_ + 1, losses_.columns()});
    double most = 0;
    for (Index row = 0; row < shown_; ++row) {
      table.rows.push_back("after " +
                           input_.trace.tokens[static_cast<std::size_t>(first_ + row)].label);
      for (Index c = 0; c < losses_.columns(); ++c) {
        const float bits = losses_.bits(first_ + row, c);
        table.values(row, c) = bits;
        if (std::isfinite(bits)) most = std::max(most, static_cast<double>(bits));
      }
    }
    table.rows.emplace_back("mean of the text");
    for (Index c = 0; c < losses_.columns(); ++c) {
      table.values(shown_, c) = static_cast<float>(losses_.means[static_cast<std::size_t>(c)]);
      table.columns.push_back(losses_.labels(c));
    }
    table.row_gaps = {shown_};
    if (losses_.later > 0) table.column_gaps = {losses_.layers};
    table.max_row = kLossRow;
    table.range.most = most > 0 ? most : 1;
    table.range.colour_map = input_.session.view.colour_map;
    if (colour_map(table.range.colour_map).diverging()) table.range.colour_map = "viridis";
    table.bar_titles = {"loss in bits", "bits"};
    table.format = [](double bits) { return fixed(bits, 1); };
    return table;
  }

  void draw_summary(const Box& inside) {
    const double first = losses_.means.front(),
                 last = losses_.means[static_cast<std::size_t>(losses_.layers - 1)];
    const std::string text = "Mean loss of the next token: " + fixed(first, 2) +
                             " bits after layer 0, " + fixed(last, 2) + " after the last layer";
    page_.text({inside.x, inside.y + 0.6 * em()},
               page_.fitting({text + ".",
                              "Mean loss: " + fixed(first, 2) + " to " + fixed(last, 2) + " bits."},
                             em(), inside.width),
               em());
    if (first_ == 0) return;
    page_.faint_text({inside.x, inside.y + (0.6 + kLossLine) * em()},
                     page_.fitting({"Positions of the last " + std::to_string(shown_) +
                                        " predicted tokens; the means are over all " +
                                        std::to_string(first_ + shown_) + ".",
                                    "the last " + std::to_string(shown_)},
                                   page_.small(), inside.width),
                     page_.small());
  }

  // Draws below each layer the part of the training in which its loss counts, as a bar.
  void draw_schedule(const PlacedTable& placed, double right) {
    const double left = placed.cell(0, 0).x;
    const double y = placed.bottom() + 0.3 * em(), height = 0.8 * em();
    for (Index c = 0; c < losses_.columns(); ++c) {
      const Box cell = placed.cell(0, c);
      const double width = cell.width - (cell.width > 8 ? 4 : 0),
                   x = cell.x + (cell.width - width) / 2;
      page_.add(FilledBox{{x, y, width, height},
                          blend(page_.theme().background, page_.theme().line, 0.4)});
      page_.add(FilledBox{{x, y, width * losses_.trained_until(c), height}, page_.theme().accent});
    }
    page_.faint_text(
        {left, y + height + 0.75 * em()},
        page_.fitting({"bars: part of a training with auxiliary losses, start to end, in which the "
                       "layer's loss counts",
                       "bars: part of the training in which the layer's loss counts",
                       "bars: part of the training with this loss", ""},
                      page_.small(), right - left),
        page_.small());
  }

  ViewLayout finish(const PlacedTable& placed) {
    ViewLayout layout;
    layout.list = page_.take(placed.bottom() + 2.6 * em());
    layout.hit = [placed, first = first_, shown = shown_, layers = losses_.layers,
                  head = input_.session.view.head](Point p) -> std::optional<Hit> {
      const auto [row, column] = placed.at(p);
      if (row < 0 || row >= shown || column < 0) return std::nullopt;
      return Hit{std::min(column, layers - 1), head, first + row, -1};
    };
    return layout;
  }

  const ViewInput& input_;
  Page page_;
  const std::shared_ptr<const LogitLens> lens_;
  Losses losses_;
  Index first_ = 0, shown_ = 0;  // positions that are drawn
};

}  // namespace

bool shows_losses(const ViewSettings& settings) {
  return view_values(settings, "depth").choice("show") == "losses";
}

ViewLayout lay_out_losses(const ViewInput& input) {
  return LossPicture(input).lay_out();
}

ViewData losses_data(const ViewInput& input) {
  const std::shared_ptr<const LogitLens> lens = input.findings.get(Findings::lens);
  if (const std::string missing = missing_losses(lens.get()); !missing.empty()) {
    throw InputError("depth: " + missing);
  }
  const Losses losses = losses_of(*lens);
  ViewData::Matrix bits{"losses", losses.bits, {}, {}},
      means{"means",
            Tensor({losses.columns(), 2}),
            {},
            {"mean loss in bits", "share of the training with this loss"}};
  for (const TraceToken& token : input.trace.tokens) bits.rows.push_back(token.label);
  for (Index c = 0; c < losses.columns(); ++c) {
    bits.columns.push_back(losses.labels(c).front());
    means.rows.push_back(losses.labels(c).front());
    means.values(c, 0) = static_cast<float>(losses.means[static_cast<std::size_t>(c)]);
    means.values(c, 1) = static_cast<float>(losses.trained_until(c));
  }
  return {{std::move(bits), std::move(means)}};
}

}  // namespace attnscope
