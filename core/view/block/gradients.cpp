// Backward pass: gradient of one output with respect to the states before every layer, with
// attention and without it (Vaswani et al., 2017, section 4: paths between positions).
#include <algorithm>
#include <cmath>

#include "core/experiment/finding.h"
#include "core/experiment/gradient_study.h"
#include "core/figure/plain_text.h"
#include "core/model/architecture.h"
#include "core/model/config.h"
#include "core/view/block/block_picture.h"
#include "core/view/block/stacked_maps.h"
#include "core/view/mechanism/steps.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/legend.h"
#include "core/view/view_values.h"

namespace attnscope {
namespace {

constexpr double kGradientMaps = 0.58;                           // of the height
constexpr double kMinGradientChart = 8, kMaxGradientChart = 16;  // em

std::shared_ptr<const GradientStudy> gradients_of(const BlockInput& in) {
  return in.input.findings.get(Findings::gradients);
}

// Models without self-attention: the source if there is one, else the only stack.
Stack shown_stack(const BlockInput& in) {
  const Architecture& a = architecture(in.input.trace.config->architecture.id);
  if (a.has_self_attention) return in.part.stack;
  return a.reads == Reads::SourceAndTarget ? Stack::Encoder : Stack::Decoder;
}

std::vector<const GradientRow*> shown_rows(const BlockInput& in, const GradientStudy& study) {
  std::vector<const GradientRow*> rows;
  for (const GradientRow& row : study.rows) {
    if (row.stack == shown_stack(in)) rows.push_back(&row);
  }
  return rows;
}

Refusal gradient_refusal(const BlockInput& in) {
  if (!predicts_next_tokens(in.input.trace)) return {"No logits of tokens", kPredictsActions};
  const auto study = gradients_of(in);
  if (const Refusal refusal = study_refusal(study, "No gradients")) return refusal;
  if (shown_rows(in, *study).empty())
    return {"No gradients", "This stack has no layers with states."};
  return {};
}

const std::vector<TraceToken>& shown_tokens(const BlockInput& in) {
  return shown_stack(in) == Stack::Encoder ? in.input.trace.text_tokens() : in.input.trace.tokens;
}

std::string row_label(const BlockInput& in, const GradientRow& row, bool is_last) {
  const Architecture& a = architecture(in.input.trace.config->architecture.id);
  if (!a.has_self_attention) return row.layer == 0 ? "inputs" : "states";
  if (is_last && row.layer > 0) return "end";
  return (row.step > 0 ? std::to_string(row.step) + "." : "") + std::to_string(row.layer);
}

TokenAxis gradient_rows_axis(const BlockInput& in, const std::vector<const GradientRow*>& rows) {
  const Architecture& a = architecture(in.input.trace.config->architecture.id);
  TokenAxis axis;
  if (a.has_self_attention) axis.titles = {"before layer", "layer", ""};
  for (std::size_t n = 0; n < rows.size(); ++n)
    axis.labels.push_back(row_label(in, *rows[n], n + 1 == rows.size()));
  return axis;
}

TokenAxis gradient_tokens_axis(const BlockInput& in) {
  TokenAxis axis{{"position", ""}, {}, {}};
  for (const TraceToken& token : shown_tokens(in)) axis.labels.push_back(token.label);
  return axis;
}

Tensor gradient_map(const std::vector<const GradientRow*>& rows, Tensor GradientRow::*sizes) {
  const Index length = (rows.front()->*sizes).size();
  Tensor map({static_cast<Index>(rows.size()), length});
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const Tensor& row = rows[n]->*sizes;
    for (Index i = 0; i < length; ++i)
      map(static_cast<Index>(n), i) = i < row.size() ? row[i] : NAN;
  }
  return map;
}

std::vector<TitledMap> gradient_maps(const std::vector<const GradientRow*>& rows,
                                     const GradientStudy& study) {
  std::vector<TitledMap> maps{{{study.has_attention ? "With attention" : "Gradient"},
                               gradient_map(rows, &GradientRow::full)}};
  if (study.has_attention) {
    maps.push_back(
        {{"Not through attention (its output held constant)", "Not through attention", "Without"},
         gradient_map(rows, &GradientRow::without_attention)});
  }
  return maps;
}

// Share of the gradient at the first row's positions other than the output's.
double share_elsewhere(const GradientRow& row, Tensor GradientRow::*sizes, Index position) {
  double sum = 0, elsewhere = 0;
  const Tensor& numbers = row.*sizes;
  for (Index i = 0; i < numbers.size(); ++i) {
    sum += static_cast<double>(numbers[i]);
    if (i != position) elsewhere += static_cast<double>(numbers[i]);
  }
  return sum > 0 ? elsewhere / sum : 0;
}

std::vector<std::string> describe_gradients(const BlockInput& in, const GradientStudy& study,
                                            const GradientRow& first) {
  const std::vector<TraceToken>& targets = in.input.trace.tokens;
  const std::string at = study.position < static_cast<Index>(targets.size())
                             ? "“" + targets[static_cast<std::size_t>(study.position)].label + "”"
                             : std::to_string(study.position);
  const std::string output = "Gradient of the logit of “" + token_label(in.input.trace, study.id) +
                             "” " + (predicts_masked_tokens(in.input.trace) ? "at " : "after ") +
                             at;
  const bool is_source = shown_stack(in) == Stack::Encoder;
  if (is_source || !study.has_attention) return {output + ", by position of the state", output};
  const std::string share =
      percent(share_elsewhere(first, &GradientRow::full, study.position)) +
      " of it reaches other positions of the first layer with attention, " +
      percent(share_elsewhere(first, &GradientRow::without_attention, study.position)) + " without";
  return {output + ": " + share, output, at};
}

// Curves of the first row, each relative to its largest number.
void draw_first_row(Page& page, const Box& box, const GradientRow& row,
                    const GradientStudy& study) {
  std::vector<LegendEntry> entries{
      {page.theme().accent, study.has_attention ? "with attention" : "gradient"}};
  if (study.has_attention) entries.push_back({key_colour(page.theme()), "not through attention"});
  const double legend = legend_height(page, entries, box.width);
  draw_legend(page, entries, {box.x, box.y, box.width, legend});
  double most = 0;
  for (const Tensor* sizes : {&row.full, &row.without_attention}) {
    for (const float x : *sizes) most = std::max(most, static_cast<double>(x));
  }
  const ChartAxis x{.least = -0.5,
                    .most = static_cast<double>(row.full.size()) - 0.5,
                    .titles = {"position of the state before the first layer", "position", ""},
                    .whole = true};
  const ChartAxis y{.least = 0, .most = most > 0 ? 1.05 * most : 1, .titles = {"gradient", ""}};
  const Chart chart = place_chart(page, below(box, legend + 0.4 * page.em()), x, y);
  if (chart.empty()) return;
  draw_chart(page, chart);
  const auto draw = [&](const Tensor& sizes, Colour colour, double shift) {
    for (Index i = 0; i < sizes.size(); ++i) {
      draw_bar(page, chart, static_cast<double>(i) + shift, study.has_attention ? 0.38 : 0.7,
               static_cast<double>(sizes[i]), colour);
    }
  };
  draw(row.full, entries[0].colour, study.has_attention ? -0.2 : 0);
  if (study.has_attention) draw(row.without_attention, entries[1].colour, 0.2);
}

BlockLayout draw_gradients(Page& page, const Box& inside, const BlockInput& in) {
  const auto study = gradients_of(in);
  const double em = page.em();
  const std::vector<const GradientRow*> rows = shown_rows(in, *study);
  const std::vector<TitledMap> maps = gradient_maps(rows, *study);
  const Box area = below(inside, step_height(page));
  Box top = area;
  const double chart = std::clamp((1 - kGradientMaps) * area.height, 0.0, kMaxGradientChart * em);
  const bool has_chart = chart >= kMinGradientChart * em;
  if (has_chart) top.height -= chart + 0.8 * em;
  const auto placed = place_stacked_maps(page, top, gradient_rows_axis(in, rows),
                                         gradient_tokens_axis(in), maps.size());
  if (!placed) return {.is_too_small = true};
  page.text({inside.x, inside.y + 0.45 * step_height(page)},
            page.fitting(describe_gradients(in, *study, *rows.front()), em, inside.width), em);
  const bool is_own = shown_stack(in) == Stack::Decoder;
  draw_stacked_maps(page, *placed, maps, magnitude_range(page, maps),
                    {"Euclidean norm of the gradient", "gradient", ""}, -1,
                    is_own ? study->position : -1);
  BlockLayout layout{.bottom = placed->bottom + 0.5 * em};
  if (has_chart) {
    const Box box{inside.x, placed->bottom + 0.8 * em, inside.width, chart};
    draw_first_row(page, box, *rows.front(), *study);
    layout.bottom = box.bottom();
  }
  if (is_own) {
    layout.token_at = [pair = pair_at(placed->plots.front())](Point p) { return pair(p).second; };
  }
  return layout;
}

std::vector<ViewData::Matrix> gradient_data(const BlockInput& in) {
  const auto study = gradients_of(in);
  const std::vector<const GradientRow*> rows = shown_rows(in, *study);
  const TokenAxis labels = gradient_rows_axis(in, rows), tokens = gradient_tokens_axis(in);
  std::vector<ViewData::Matrix> data{{"with attention",
                                      gradient_map(rows, &GradientRow::full),
                                      labels.labels,
                                      tokens.labels,
                                      {"layer", "position"}}};
  if (study->has_attention) {
    data.push_back({"without attention",
                    gradient_map(rows, &GradientRow::without_attention),
                    labels.labels,
                    tokens.labels,
                    {"layer", "position"}});
  }
  return data;
}

std::optional<FindingSettings> gradient_settings(const RunView& viewed) {
  const Values values = view_values(viewed.view, "block");
  GradientSettings settings;
  if (values.has("token")) {
    settings.position = values.integer("token");
  } else if (viewed.view.pinned_query >= 0) {
    settings.position = viewed.view.pinned_query;
  }
  return FindingSettings(settings);
}

}  // namespace

BlockPicture gradient_picture() {
  BlockPicture p{"gradient",
                 "Gradients",
                 "gradient of one output with respect to the states before every layer",
                 gradient_refusal,
                 draw_gradients,
                 gradient_data};
  p.parameters = {"token"};
  p.has_colours = true;
  p.finding = {Findings::gradients.id, gradient_settings};
  return p;
}

}  // namespace attnscope
