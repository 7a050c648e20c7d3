// Approximation error of a head's weights, by number of features or rows.
#include <algorithm>
#include <cmath>

#include "core/analysis/error_study.h"
#include "core/figure/plain_text.h"
#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/steps.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/shapes.h"

namespace attnscope {
namespace {

constexpr double kErrorsFraction = 0.58;  // fraction of the width
constexpr double kMinErrorChart = 10;     // em: width and height
constexpr double kMaxError = 2;           // upper limit of the axis
constexpr double kCurveOffset = 0.06;  // offset of neighbouring curves, in steps of the size axis
constexpr double kMaxRanks = 64;       // maximum number of singular values on their axis

bool shows_errors(const AttentionTap& tap) {
  return error_study_refusal(tap).empty();
}

ChartAxis sizes_axis(const ErrorStudy& study) {
  ChartAxis x;
  x.least = -0.3;
  x.most = static_cast<double>(study.sizes.size()) - 0.7;
  x.titles = {study.size};
  for (std::size_t n = 0; n < study.sizes.size(); ++n) {
    x.names.emplace_back(static_cast<double>(n), std::to_string(study.sizes[n]));
  }
  return x;
}

// Position of a size on the axis of measured sizes.
double size_position(const ErrorStudy& study, Index size) {
  return std::log2(static_cast<double>(size) / static_cast<double>(study.sizes.front()));
}

double axis_end(const ErrorStudy& study) {
  double max_error = 0;
  for (const ErrorCurve& curve : study.curves) {
    for (const ErrorSpread& error : curve.errors) {
      if (std::isfinite(error.median)) max_error = std::max(max_error, error.median);
    }
  }
  return std::min(kMaxError, 1.1 * max_error);
}

void draw_spread(Page& page, const Chart& chart, double x, const ErrorSpread& error,
                 Colour colour) {
  if (!std::isfinite(error.median)) return;
  page.add(Clip{chart.plot});
  const double px = chart.at_x(x);
  if (error.max > error.min) {
    page.add(Line{{{px, chart.at_y(error.min)}, {px, chart.at_y(std::min(error.max, 1e3))}},
                  translucent(colour, 0.55),
                  2});
  }
  page.add(disc({px, chart.at_y(error.median)}, 0.3 * page.em(), colour));
  page.add(Clip{});
}

std::vector<LegendEntry> curve_legend(const ErrorStudy& study) {
  std::vector<LegendEntry> names;
  for (std::size_t n = 0; n < study.curves.size(); ++n) {
    const ErrorCurve& curve = study.curves[n];
    names.push_back(
        {head_colour(static_cast<Index>(n)), curve.label + (curve.is_own ? " (this head)" : "")});
  }
  return names;
}

std::vector<std::string> errors_texts(const ErrorStudy& study) {
  const std::string seeds = std::to_string(study.seeds);
  if (!std::ranges::any_of(study.curves, &ErrorCurve::is_random)) {
    return {"Other numbers of rows: window means compared with the optimum",
            "Fewer or more rows, compared with the optimum", "Errors by rows", "Errors"};
  }
  return {"Estimate again with other sizes: points are medians of " + seeds +
              " draws, lines span best to worst",
          "Estimate again: medians of " + seeds + " draws, best to worst",
          "Errors, medians of " + seeds, "Errors"};
}

void draw_errors_chart(Page& page, const Box& outer, const ErrorStudy& study) {
  const double em = page.em();
  Box box = draw_step(page, outer, 1, errors_texts(study));
  const std::vector<LegendEntry> names = curve_legend(study);
  const double legend = legend_height(page, names, box.width);
  draw_legend(page, names, {box.x, box.y + 0.3 * em, box.width, legend});
  box = below(box, legend + 0.6 * em);
  ChartAxis y = padded_axis(0, axis_end(study), true);
  y.titles = {"error: 0 equals softmax, 1 equals zero weights", "error of the weights", "error"};
  const Chart chart = place_chart(page, box, sizes_axis(study), std::move(y));
  if (chart.empty()) return;
  draw_chart(page, chart);
  const double head_x = size_position(study, study.used_size);
  if (head_x > chart.x.least && head_x < chart.x.most) {
    const double px = chart.at_x(head_x);
    page.add(Line{{{px, chart.plot.y}, {px, chart.plot.bottom()}}, page.theme().accent, 1});
    page.tag({px, chart.plot.y + em}, "this head: " + std::to_string(study.used_size), chart.plot);
  }
  for (std::size_t n = 0; n < study.curves.size(); ++n) {
    const ErrorCurve& curve = study.curves[n];
    const Colour colour = head_colour(static_cast<Index>(n));
    const double offset =
        kCurveOffset * (static_cast<double>(n) - static_cast<double>(study.curves.size() - 1) / 2);
    std::vector<Point> points;
    for (std::size_t k = 0; k < curve.errors.size(); ++k) {
      points.push_back({static_cast<double>(k) + offset, curve.errors[k].median});
    }
    draw_curve(page, chart, points, colour, curve.is_own ? 3 : 1.5);
    for (std::size_t k = 0; k < points.size(); ++k) {
      draw_spread(page, chart, points[k].x, curve.errors[k], colour);
    }
  }
}

void draw_singular_values(Page& page, const Box& outer, const ErrorStudy& study) {
  const bool has_rows = study.size.starts_with("rows");
  const auto count = static_cast<Index>(study.singular_values.size());
  const Index mark = std::min(count, has_rows ? study.used_size : std::max<Index>(1, count / 4));
  const std::string explained = percent(study.explained_by(mark), 3), ranks = std::to_string(mark);
  const Box box =
      draw_step(page, outer, 2,
                {"Effective rank: " + ranks + " of " + std::to_string(count) +
                     " singular values explain " + explained + " of the softmax map",
                 ranks + " of " + std::to_string(count) + " singular values explain " + explained,
                 ranks + " explain " + explained, "Rank"});
  ChartAxis x = padded_axis(0, std::min(kMaxRanks, static_cast<double>(count)), true);
  x.titles = {"singular values of the softmax map, descending", "singular values"};
  x.whole = true;
  ChartAxis y = padded_axis(0, 1, true);
  y.titles = {"cumulative share", "share"};
  const Chart chart = place_chart(page, box, std::move(x), std::move(y));
  if (chart.empty()) return;
  draw_chart(page, chart);
  std::vector<Point> points;
  for (Index rank = 0; rank <= std::min(count, static_cast<Index>(chart.x.most)); ++rank) {
    points.push_back({static_cast<double>(rank), study.explained_by(rank)});
  }
  draw_curve(page, chart, points, page.theme().accent, 2);
  if (static_cast<double>(mark) <= chart.x.most) {
    draw_value(page, chart, {static_cast<double>(mark), study.explained_by(mark)}, explained);
  }
}

MechanismLayout draw_errors(Page& page, const Box& inside, const HeadInput& in) {
  const double em = page.em();
  const std::shared_ptr<const ErrorStudy> study = in.input.findings.get(Findings::errors);
  MechanismLayout layout;
  layout.bottom = inside.bottom();
  if (study == nullptr) {
    page.text({inside.x, inside.y + em},
              page.fitting(
                  {"Re-estimating the head with other feature counts and seeds …", "Estimating …"},
                  em, inside.width),
              em);
    layout.bottom = inside.y + 2 * em;
    layout.pending = "errors";
    return layout;
  }
  const auto [errors, singular] = split(page, inside, kErrorsFraction);
  const double min_side = kMinErrorChart * em;
  if (std::min(errors.width, singular.width) < min_side ||
      std::min(errors.height, singular.height) < min_side) {
    return {.is_too_small = true};
  }
  draw_errors_chart(page, errors, *study);
  draw_singular_values(page, singular, *study);
  return layout;
}

std::vector<ViewData::Matrix> error_numbers(const HeadInput& in) {
  const std::shared_ptr<const ErrorStudy> study = in.input.findings.get(Findings::errors);
  if (study == nullptr) return {};
  std::vector<std::string> sizes;
  for (const Index size : study->sizes) sizes.push_back(std::to_string(size));
  std::vector<ViewData::Matrix> matrices;
  for (const ErrorCurve& curve : study->curves) {
    Tensor numbers({3, static_cast<Index>(sizes.size())});
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const ErrorSpread& error = curve.errors[i];
      const auto column = static_cast<Index>(i);
      numbers(0, column) = static_cast<float>(error.min);
      numbers(1, column) = static_cast<float>(error.median);
      numbers(2, column) = static_cast<float>(error.max);
    }
    matrices.push_back(
        {"error, " + curve.label, numbers, {"least", "median", "most"}, sizes, {"of the draws"}});
  }
  Tensor singular({1, static_cast<Index>(study->singular_values.size())});
  std::ranges::transform(study->singular_values, singular.data(),
                         [](double x) { return static_cast<float>(x); });
  matrices.push_back({"singular values", singular, {"softmax"}, {}, {"weights of"}});
  return matrices;
}

}  // namespace

Mechanism errors_mechanism() {
  Mechanism m{"errors", "estimates that improve with their size", shows_errors, draw_errors,
              error_numbers};
  m.label = "Errors by size";
  m.finding = {Findings::errors.id, [](const RunView& viewed) {
                 const ViewSettings& view = viewed.view;
                 return ErrorStudySettings{view.layer, view.head, view.part};
               }};
  m.objection = error_study_refusal;
  return m;
}

}  // namespace attnscope
