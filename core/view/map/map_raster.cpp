#include "core/view/map/map_raster.h"

#include <cmath>

#include "core/figure/plain_text.h"
#include "core/view/parts/not_allowed.h"

namespace attnscope {
namespace {

constexpr double kMapTitle = 1.3;  // em above a map
constexpr double kMapGap = 0.8;    // em between maps
constexpr double kMinMap = 4;      // em
constexpr double kMaxMap = 44;     // em
constexpr double kMaxLabels = 7;   // em of labels next to and above the maps
constexpr double kFewLetters = 4;  // em: shorter labels are replaced by numbers

constexpr double kCrowded = 1.2;  // em: labels of smaller cells are thinned

// Widest label without zoom, when all cells have `whole` pixels. Thinned labels begin with their
// index.
double widest_label(const Page& page, const TokenAxis& axis, double whole, double most) {
  const double cell = whole / static_cast<double>(std::max<Index>(1, axis.count()));
  const Index step = label_step(cell, kCrowded * page.em());
  double widest = page.em();
  for (Index i = 0; i < axis.count() && widest < most; i += step) {
    const std::string& label = axis.labels[static_cast<std::size_t>(i)];
    const std::string index = std::to_string(i);
    const bool both = step > 1 && label != index;
    widest = std::max(widest, page.width_of(both ? index + " " + label : label, page.em()));
  }
  return std::min(widest, most);
}

void number(TokenAxis& axis) {
  for (std::size_t i = 0; i < axis.labels.size(); ++i) axis.labels[i] = std::to_string(i);
}

// Completes a raster with given axes and visible region.
MapRaster placed(const Page& page, const Box& box, MapRaster m, Index count) {
  const double em = page.em();
  m.queries.titles = m.keys.titles = {};
  m.left_end = box.x;
  m.gap = kMapGap * em;
  m.title = kMapTitle * em;
  const double most = std::min({kMaxLabels * em, 0.2 * box.width, 0.25 * box.height});
  if (m.keys.bands.empty() && most < kFewLetters * em &&
      widest_label(page, m.keys, box.width, box.width) > most) {
    number(m.queries);
    number(m.keys);
  }
  m.queries = measured(page, std::move(m.queries));
  m.keys = measured(page, std::move(m.keys));
  const double aspect = std::clamp(
      static_cast<double>(m.keys.count()) / static_cast<double>(m.queries.count()), 1 / 3.0, 3.0);
  const auto room = [&](double left) {
    return box.width - std::max(left, axis_titles_width(page)) - colour_bar_width(page);
  };
  for (Index across = 1; across <= count; ++across) {
    const auto columns = static_cast<double>(across);
    const auto rows = static_cast<double>((count + across - 1) / across);
    const auto map_between = [&](const AxisDepths& depths) {
      const double width = std::min(
          {(room(depths.left) + m.gap) / columns - m.gap, kMaxMap * em * std::max(1.0, aspect),
           aspect * ((box.height - depths.top + m.gap) / rows - m.gap - m.title)});
      return PlotSize{std::max(1.0, width), std::max(1.0, width) / aspect};
    };
    const AxisDepths depths = settled_depths(page, m.queries, m.keys, {most, most}, map_between);
    const auto [width, height] = map_between(depths);
    if (width <= m.width) continue;
    m.across = across;
    m.width = width;
    m.height = height;
    m.top = depths.top;
    m.left = std::max(depths.left, axis_titles_width(page));
  }
  if (m.width < kMinMap * em || m.height < 1.5 * em) m.width = m.height = 0;
  const auto columns = static_cast<double>(m.across);
  const auto rows = static_cast<double>((count + m.across - 1) / m.across);
  const double all = columns * (m.width + m.gap) - m.gap;
  m.box = {box.x + m.left + std::max(0.0, (room(m.left) - all) / 2), box.y + m.top, all,
           rows * (m.height + m.title + m.gap) - m.gap};
  return m;
}

}  // namespace

MapRaster place_maps(const Page& page, const Box& box, const AttentionTap& tap, Index count) {
  const ViewSettings& settings = page.input().session.view;
  const bool zoomed = settings.width > 0 && settings.height > 0;
  MapRaster m;
  m.queries = query_axis(page.input().trace, tap);
  m.keys = key_axis(page.input().trace, tap);
  m.rows = visible_span(settings.row, zoomed ? settings.height : 0, tap.queries());
  m.columns = visible_span(settings.column, zoomed ? settings.width : 0, tap.keys());
  return placed(page, box, std::move(m), count);
}

MapRaster place_maps(const Page& page, const Box& box, TokenAxis queries, TokenAxis keys,
                     Index count) {
  MapRaster m;
  m.rows = visible_span(0, 0, queries.count());
  m.columns = visible_span(0, 0, keys.count());
  m.queries = std::move(queries);
  m.keys = std::move(keys);
  return placed(page, box, std::move(m), count);
}

void set_plot(ViewLayout& layout, const MapPairAt& at, const std::optional<Point>& pointer) {
  const MapRaster& m = at.raster;
  const Index under = pointer ? at.map_at(*pointer) : -1;
  layout.plot = m.map(std::max<Index>(0, under));
  layout.row = m.rows.first;
  layout.height = m.rows.extent;
  layout.column = m.columns.first;
  layout.width = m.columns.extent;
}

std::function<std::optional<Hit>(Point)> hit_test(const MapPairAt& at, const ViewSettings& settings,
                                                  std::vector<Tensor> shown) {
  return [at, shown = std::move(shown), layer = settings.layer,
          head = settings.head](Point p) -> std::optional<Hit> {
    const std::optional<Pair> pair = at(p);
    if (!pair) return std::nullopt;
    Hit hit{layer, head, pair->query, pair->key};
    const auto n = static_cast<std::size_t>(at.map_at(p));
    if (n < shown.size() && shown[n].defined()) {
      const float number = shown[n](pair->query, pair->key);
      if (std::isfinite(number)) hit.shown = brief(static_cast<double>(number));
    }
    return hit;
  };
}

namespace {

// Titles of the colour bar; mentions max-pooling.
std::vector<std::string> titles_of(const Page& page, const MapRaster& m,
                                   const std::vector<std::string>& titles) {
  const double scale = page.input().canvas.scale;
  if (m.rows.extent <= m.height * scale && m.columns.extent <= m.width * scale) return titles;
  std::vector<std::string> pooled;
  for (const std::string& title : titles) pooled.push_back(title + ", max-pooled");
  pooled.push_back(titles.back() + ", pooled");
  pooled.emplace_back("pooled");
  return pooled;
}

}  // namespace

void draw_maps(Page& page, const MapRaster& m, const std::vector<NamedCells>& maps,
               const ColourRange& range, const std::vector<std::string>& bar_titles, Index query,
               const std::optional<Pair>& hovered) {
  const auto count = static_cast<Index>(maps.size());
  const Index marked_row = hovered ? hovered->query : -1;
  for (Index n = 0; n < count; ++n) {
    const Box box = m.map(n);
    const NamedCells& map = maps[static_cast<std::size_t>(n)];
    HeatMap cells;
    cells.box = box;
    cells.values = map.cells;
    cells.row = m.rows.first;
    cells.height = m.rows.extent;
    cells.column = m.columns.first;
    cells.width = m.columns.extent;
    cells.least = range.least;
    cells.most = range.most;
    cells.colour_map = range.colour_map;
    cells.missing = not_allowed_colour(page.theme());
    page.add(std::move(cells));
    page.text({box.x + box.width / 2, box.y - kMapTitle / 2 * page.em()},
              page.fitting(map.titles, page.small(), box.width), page.small(), Align::Middle);
    page.add(Clip{box});
    const double cell = box.height / m.rows.extent, column = box.width / m.columns.extent;
    const double y = box.y + (static_cast<double>(query) - m.rows.first) * cell;
    if (query >= 0) page.add(OutlinedBox{{box.x, y, box.width, cell}, page.theme().accent, 1});
    if (hovered) {
      const double x = box.x + (static_cast<double>(hovered->key) - m.columns.first) * column;
      page.add(OutlinedBox{{x, y, column, cell}, page.theme().accent, 2});
    }
    page.add(Clip{});
    page.add(OutlinedBox{box, page.theme().line, 1});
    if (n % m.across == 0) {
      draw_axis_left(page, m.queries, {m.rows.first, m.rows.extent, box.y, box.height}, box.x,
                     m.left, marked_row);
    }
    if (n < m.across) {
      draw_axis_top(page, m.keys, {m.columns.first, m.columns.extent, box.x, box.width},
                    box.y - m.title, m.top, hovered ? hovered->key : -1);
    }
  }
  draw_axis_titles(page, {m.map(0).x, m.map(0).y}, m.left_end);
  const Box last = m.map(std::min(m.across, count) - 1);
  draw_colour_bar(page,
                  {last.right(), m.map(0).y, colour_bar_width(page), m.box.bottom() - m.map(0).y},
                  range, titles_of(page, m, bar_titles));
}

}  // namespace attnscope
