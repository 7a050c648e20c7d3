#include "core/view/map_raster.h"

#include <algorithm>

namespace attnscope {
namespace {

constexpr double kMapTitle = 1.5;  // em above a map
constexpr double kMapGap = 0.9;    // em between maps
constexpr double kLeastMap = 4;    // em
constexpr double kMostMap = 22;    // em
constexpr double kMostLabels = 7;  // em beside and above the maps

}  // namespace

MapRaster place_maps(const Page& page, const Box& box, const AttentionTap& tap, Index count) {
  const ViewSettings& settings = page.input().experiment.view;
  const double em = page.em();
  const bool zoomed = settings.width > 0 && settings.height > 0;
  MapRaster m;
  m.queries = query_axis(page.input().trace, tap);
  m.keys = key_axis(page.input().trace, tap);
  m.rows = visible_span(settings.row, zoomed ? settings.height : 0, tap.queries());
  m.columns = visible_span(settings.column, zoomed ? settings.width : 0, tap.keys());
  m.gap = kMapGap * em;
  m.title = kMapTitle * em;
  const double most = std::min({kMostLabels * em, 0.2 * box.width, 0.25 * box.height});
  // Where labels thin out they begin with their index.
  const double index = page.width_of(std::to_string(tap.keys()) + " ", em);
  const double crowded = 1.2 * em;
  const bool thin_rows = box.height < crowded * static_cast<double>(tap.queries());
  m.left = axis_depth_left(page, m.queries, most) + (thin_rows ? index : 0);
  const double aspect = std::clamp(
      static_cast<double>(tap.keys()) / static_cast<double>(tap.queries()), 1 / 3.0, 3.0);
  const double room = box.width - m.left - colour_bar_width(page);
  for (Index across = 1; across <= count; ++across) {
    const auto columns = static_cast<double>(across);
    const auto rows = static_cast<double>((count + across - 1) / across);
    double width =
        std::min((room + m.gap) / columns - m.gap, kMostMap * em * std::max(1.0, aspect));
    const bool thin = width < crowded * static_cast<double>(tap.keys());
    const double top =
        axis_depth_top(page, m.keys, std::max(1.0, width), most) + (thin ? index : 0);
    width = std::min(width, aspect * ((box.height - top + m.gap) / rows - m.gap - m.title));
    if (width <= m.width) continue;
    m.across = across;
    m.width = width;
    m.height = width / aspect;
    m.top = top;
  }
  if (m.width < kLeastMap * em || m.height < 1.5 * em) m.width = m.height = 0;
  const auto columns = static_cast<double>(m.across);
  const auto rows = static_cast<double>((count + m.across - 1) / m.across);
  const double all = columns * (m.width + m.gap) - m.gap;
  m.box = {box.x + m.left + std::max(0.0, (room - all) / 2), box.y + m.top, all,
           rows * (m.height + m.title + m.gap) - m.gap};
  return m;
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

std::function<std::optional<Hit>(Point)> hits_of(const MapPairAt& at,
                                                 const ViewSettings& settings) {
  return [at, layer = settings.layer, head = settings.head](Point p) -> std::optional<Hit> {
    const std::optional<Pair> pair = at(p);
    if (!pair) return std::nullopt;
    return Hit{layer, head, pair->query, pair->key};
  };
}

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
  const Box last = m.map(std::min(m.across, count) - 1);
  draw_colour_bar(page,
                  {last.right(), m.map(0).y, colour_bar_width(page), m.box.bottom() - m.map(0).y},
                  range, bar_titles);
}

}  // namespace attnscope
