#include "core/training/length_figure.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/figure/colour_map.h"
#include "core/figure/line_chart.h"
#include "core/figure/plain_text.h"
#include "core/figure/text_table.h"

namespace attnscope {

DisplayList length_picture(const std::vector<ModelTallies>& models, double width, double height,
                           const Theme& theme, const TextMeasure& measure) {
  const auto& colours = colour_map(kCategories).colours;
  LineChart chart;
  chart.title = "Exact matches by source length";
  chart.x_label = "source tokens";
  chart.y_label = "share of sources whose whole target is right";
  chart.width = width;
  chart.height = height;
  // Numbers of tokens are whole; other ticks have no label.
  chart.x.text = [](double x) {
    return x == std::floor(x) ? std::to_string(static_cast<Index>(x)) : std::string();
  };
  chart.y.least = 0;
  chart.y.most = 1;
  for (std::size_t n = 0; n < models.size(); ++n) {
    Curve curve{.label = models[n].model,
                .points = {},
                .colour = colours[n % colours.size()],
                .thickness = 2.2,
                .dots = true};
    for (const auto& [length, tally] : models[n].tallies) {
      curve.points.push_back({static_cast<double>(length), tally.match_share()});
    }
    chart.curves.push_back(std::move(curve));
  }
  return draw(chart, theme, measure);
}

std::string to_csv(const std::vector<ModelTallies>& models) {
  std::string csv = "model,source_tokens,pairs,exact_matches,token_accuracy,loss\n";
  for (const auto& [model, tallies] : models) {
    for (const auto& [length, tally] : tallies) {
      const Score score = tally.tokens.score();
      csv += model + "," + std::to_string(length) + "," + std::to_string(tally.pairs) + "," +
             fixed(tally.match_share(), 6) + "," + fixed(score.accuracy, 6) + "," +
             fixed(score.loss, 6) + "\n";
    }
  }
  return csv;
}

std::string to_table(const std::vector<ModelTallies>& models) {
  constexpr std::size_t kLength = 13, kNumber = 9;
  std::set<Index> lengths;
  for (const ModelTallies& model : models) {
    for (const auto& [length, tally] : model.tallies) lengths.insert(length);
  }
  std::string table = right_aligned("source tokens", kLength) + right_aligned("pairs", kNumber);
  const bool is_single = models.size() == 1;
  std::vector<std::size_t> widths;
  for (const ModelTallies& model : models) {
    const std::string title = is_single ? "exact match" : model.model;
    widths.push_back(std::max(kNumber, title.size() + 2));
    table += right_aligned(title, widths.back());
  }
  table += is_single ? "  accuracy     loss\n" : "   (exact match)\n";
  for (const Index length : lengths) {
    table += right_aligned(std::to_string(length), kLength);
    const auto first = models.front().tallies.find(length);
    const bool has_pairs = first != models.front().tallies.end();
    table += right_aligned(has_pairs ? std::to_string(first->second.pairs) : "-", kNumber);
    for (std::size_t n = 0; n < models.size(); ++n) {
      const auto tally = models[n].tallies.find(length);
      table += right_aligned(
          tally == models[n].tallies.end() ? "-" : fixed(tally->second.match_share(), 4),
          widths[n]);
    }
    if (is_single && has_pairs) {
      const Score score = first->second.tokens.score();
      table += right_aligned(fixed(score.accuracy, 4), 10) +
               right_aligned(fixed(score.loss, 4), kNumber);
    }
    table += "\n";
  }
  return table;
}

}  // namespace attnscope
