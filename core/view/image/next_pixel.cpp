#include "core/view/image/next_pixel.h"

#include <algorithm>

#include "core/experiment/completion.h"
#include "core/figure/plain_text.h"
#include "core/model/config.h"
#include "core/model/input_kind.h"
#include "core/model/sample.h"
#include "core/view/image/pixel_row.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/fact_table.h"

namespace attnscope {
namespace {

// Level of the pixel in the run's tokens or, beyond them, in the completion's image; -1: unknown.
Index find_true_level(const ViewInput& input, Index pixel) {
  const auto token = static_cast<std::size_t>(pixel) + 1;  // the start token is first
  if (token < input.trace.tokens.size()) return input.trace.tokens[token].id;
  const auto completion = input.findings.get(Findings::completion);
  const auto index = static_cast<std::size_t>(pixel);
  return completion != nullptr && index < completion->whole.size() ? completion->whole[index] : -1;
}

}  // namespace

NextPixel next_pixel(const ViewInput& input, Index pixel) {
  const ModelConfig& config = *input.trace.config;
  const Index levels = input_kind(config.input.id).levels(config.input.values);
  NextPixel next;
  next.pixel = pixel;
  // Excludes the start token, which cannot occur within an image.
  next.probabilities = probabilities(input.trace.logits.row(pixel).slice(0, levels), {});
  for (Index level = 0; level < levels; ++level) {
    next.expected +=
        static_cast<double>(level) * next.probabilities[static_cast<std::size_t>(level)];
  }
  next.likeliest = std::ranges::max_element(next.probabilities) - next.probabilities.begin();
  next.true_level = find_true_level(input, pixel);
  return next;
}

void draw_next_pixel(Page& page, const Box& panel, const PixelGrid& grid, const NextPixel& next) {
  const double em = page.em();
  page.text(
      {panel.x, panel.y - 0.75 * em},
      page.fitting({"The next pixel: " + describe_pixel(grid, next.pixel), "The next pixel", ""},
                   em, panel.width),
      em);
  const auto levels = static_cast<double>(next.probabilities.size());
  const double maximum = *std::ranges::max_element(next.probabilities);
  ChartAxis x{-0.5, levels - 0.5, {"level, from black to white", "level"}};
  x.whole = true;
  ChartAxis y = padded_axis(0, maximum, true);
  y.titles = {"probability", ""};
  Box box = panel;
  box.height += 1.6 * em;  // tick labels and axis title use the panel's foot
  const Chart chart = place_chart(page, box, x, y);
  if (chart.empty()) return;
  draw_chart(page, chart);
  for (std::size_t level = 0; level < next.probabilities.size(); ++level) {
    const bool is_true_level = static_cast<Index>(level) == next.true_level;
    draw_bar(page, chart, static_cast<double>(level), 0.8, next.probabilities[level],
             is_true_level ? page.theme().accent : first_colour());
  }
  const double mean_x = chart.at_x(next.expected);
  page.add(Line{{{mean_x, chart.plot.y}, {mean_x, chart.plot.bottom()}}, second_colour(), 2});
  std::string text = "expected " + brief(next.expected);
  if (next.true_level >= 0) {
    text = "true " + std::to_string(next.true_level) + " (" +
           percent(next.probabilities[static_cast<std::size_t>(next.true_level)]) + ", filled), " +
           text + " (line)";
  }
  page.faint_text({panel.x, box.bottom() + 0.9 * em},
                  page.fitting({text, "true " + std::to_string(next.true_level), ""}, page.small(),
                               panel.width),
                  page.small());
}

}  // namespace attnscope
