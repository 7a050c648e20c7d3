#include "core/view/span_charts.h"

#include <algorithm>
#include <cmath>

#include "core/attention/span.h"
#include "core/figure/plain_text.h"
#include "core/view/legend.h"
#include "core/view/shapes.h"
#include "core/view/span_effect.h"

namespace attnscope {
namespace {

std::vector<Point> mask_curve(double z, double ramp, double far) {
  const auto m = [&](double x) { return Point{x, span_mask(z, ramp, x)}; };
  return {m(0), m(std::clamp(z, 0.0, far)), m(std::clamp(z + ramp, 0.0, far)), m(far)};
}

struct Bar {
  Index layer, head;
  double value;
};

// For each head of each layer its own span, or what the shown one keeps of its weight.
std::vector<Bar> bars_of(const ViewInput& input, const AttentionTap& shown, const ShownSpan& s) {
  const Trace& trace = input.trace;
  const bool spans = s.learned && !s.changed;
  std::vector<Bar> bars;
  std::vector<std::pair<const AttentionTap*, Index>> heads;
  for (Index layer = 0; layer < trace.layer_count(); ++layer) {
    for (Index head = 0; head < trace.head_count(layer); ++head) {
      Index own = 0;
      const AttentionTap* tap = trace.find(layer, head, &own);
      if (tap == nullptr || !tap->causal || tap->queries() == 0) continue;
      const bool has = tap->result.part && tap->result.part->normaliser == Normaliser::SpanSoftmax;
      if (spans && !has) continue;
      bars.push_back({layer, head, 0});
      heads.emplace_back(tap, own);
    }
  }
  const Tensor values = kept_for(input, shown, spans ? "spans" : "kept by span", s, [&] {
    Tensor numbers({static_cast<Index>(heads.size())});
    for (Index n = 0; n < numbers.size(); ++n) {
      const auto& [tap, own] = heads[static_cast<std::size_t>(n)];
      numbers[n] = static_cast<float>(spans ? span_of_head(*tap->result.part, own, -1)
                                            : share_kept(*tap, own, s.z, s.ramp));
    }
    return numbers;
  });
  for (std::size_t n = 0; n < bars.size(); ++n) {
    bars[n].value = static_cast<double>(values[static_cast<Index>(n)]);
  }
  return bars;
}

}  // namespace

Tensor kept_for(const ViewInput& input, const AttentionTap& tap, const std::string& name,
                const ShownSpan& s, const std::function<Tensor()>& make) {
  if (input.cache == nullptr) return make();
  const std::string of = " " + std::to_string(s.z) + " " + std::to_string(s.ramp);
  return input.cache->matrix(tap.result.pattern, name + of, make);
}

Colour span_colour(const Theme& theme, const AttentionTap& tap, Index head, const ShownSpan& s) {
  if (s.changed || !s.learned) return theme.accent;
  return head_colour(tap.heads[static_cast<std::size_t>(head)]);
}

Chart draw_span_masks(Page& page, const Box& box, const AttentionTap& tap, Index head,
                      const ShownSpan& s, double far) {
  const double em = page.em();
  const Chart chart = place_chart(
      page, box,
      {.least = 0, .most = far, .titles = {"distance, query − key", "distance"}, .whole = true},
      {.least = -0.09, .most = 1.09, .titles = {"mask m_z", "m_z"}});
  if (chart.empty()) return chart;
  draw_chart(page, chart);
  const Part& part = *tap.result.part;
  if (s.learned) {
    for (Index a = 0; a < part.heads; ++a) {
      draw_curve(page, chart, mask_curve(span_of_head(part, a, -1), part.span_ramp, far),
                 head_colour(tap.heads[static_cast<std::size_t>(a)]), 1.5);
    }
  }
  draw_curve(page, chart, mask_curve(s.z, s.ramp, far), span_colour(page.theme(), tap, head, s),
             3.5);
  page.add(Clip{chart.plot});
  const auto knob = [&](double x, double y) {
    if (x < 0 || x > far) return;
    page.add(disc({chart.at_x(x), chart.at_y(y)}, 0.45 * em, page.theme().background));
    page.add(circle({chart.at_x(x), chart.at_y(y)}, 0.45 * em, page.theme().accent, 2));
  };
  knob(s.z, 1);
  knob(s.z + s.ramp, 0);
  page.add(Clip{});
  if (const std::optional<Point>& p = page.input().pointer; p && chart.plot.contains(*p)) {
    const double x = std::round(chart.value_x(p->x)), m = span_mask(s.z, s.ramp, x);
    draw_value(page, chart, {x, m}, "distance " + fixed(x, 0) + ": " + brief(m));
  }
  return chart;
}

void draw_span_bars(Page& page, const Box& box, const ViewInput& input, const AttentionTap& tap,
                    const ShownSpan& s) {
  const std::vector<Bar> bars = bars_of(input, tap, s);
  const bool spans = s.learned && !s.changed;
  double most = 1;
  for (const Bar& bar : bars) most = std::max(most, bar.value);
  ChartAxis up{.least = 0,
               .most = 1.05 * most,
               .titles = {spans ? "span z" : "share of weight kept", spans ? "z" : "kept"}};
  // A gap of one bar between layers.
  const auto x_of = [](std::size_t n, Index layer) {
    return static_cast<double>(n) + static_cast<double>(layer);
  };
  const double right = bars.empty() ? 1 : x_of(bars.size() - 1, bars.back().layer) + 1;
  ChartAxis across{
      .least = -0.75, .most = right - 0.25, .titles = {"layer; a bar for each head", "layer"}};
  for (std::size_t n = 0; n < bars.size();) {
    std::size_t end = n;
    while (end < bars.size() && bars[end].layer == bars[n].layer) ++end;
    across.names.emplace_back((x_of(n, bars[n].layer) + x_of(end - 1, bars[n].layer)) / 2,
                              std::to_string(bars[n].layer));
    n = end;
  }
  const Chart chart = place_chart(page, box, std::move(across), std::move(up));
  if (chart.empty()) return;
  draw_chart(page, chart);
  const ViewSettings& settings = input.experiment.view;
  for (std::size_t n = 0; n < bars.size(); ++n) {
    const Bar& bar = bars[n];
    const bool marked = bar.layer == settings.layer && bar.head == settings.head;
    draw_bar(page, chart, x_of(n, bar.layer), 0.8, bar.value,
             marked ? page.theme().text : translucent(head_colour(bar.head), 0.8));
  }
  const std::optional<Point>& p = input.pointer;
  for (std::size_t n = 0; p && chart.plot.contains(*p) && n < bars.size(); ++n) {
    const double x = x_of(n, bars[n].layer);
    if (std::abs(chart.value_x(p->x) - x) > 0.5) continue;
    draw_value(page, chart, {x, bars[n].value},
               "layer " + std::to_string(bars[n].layer) + ", head " + std::to_string(bars[n].head) +
                   ": " + brief(bars[n].value));
  }
}

}  // namespace attnscope
