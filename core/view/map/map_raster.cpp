#include "core/view/map/map_raster.h"

#include <cmath>

#include "core/figure/plain_text.h"
#include "core/view/parts/not_allowed.h"

namespace attnscope {
namespace {

constexpr double kMapTitle = 1.3;  // em: title line above a map
constexpr double kMapGap = 0.8;    // em between maps
constexpr double kMinMap = 4;      // em
constexpr double kMaxMap = 44;     // em
constexpr double kMaxLabels = 7;   // em: depth of the labels next to and above the maps
constexpr double kMinLabels = 4;   // em: labels with less space are replaced by numbers

constexpr double kCrowded = 1.2;  // em: labels of smaller cells are thinned

// Width in pixels of the widest label of an axis, at most `max_width`. `total_width`: width of all
// cells. Thinned labels begin with their index.
double widest_label(const Page& page, const TokenAxis& axis, double total_width, double max_width) {
  const double cell = total_width / static_cast<double>(std::max<Index>(1, axis.count()));
  const Index step = label_step(cell, kCrowded * page.em());
  double widest = page.em();
  for (Index i = 0; i < axis.count() && widest < max_width; i += step) {
    const std::string& label = axis.labels[static_cast<std::size_t>(i)];
    const std::string index = std::to_string(i);
    const bool has_index = step > 1 && label != index;
    widest = std::max(widest, page.width_of(has_index ? index + " " + label : label, page.em()));
  }
  return std::min(widest, max_width);
}

void use_index_labels(TokenAxis& axis) {
  for (std::size_t i = 0; i < axis.labels.size(); ++i) axis.labels[i] = std::to_string(i);
}

MapRaster complete_raster(const Page& page, const Box& box, MapRaster grid, Index count) {
  const double em = page.em();
  grid.queries.titles = grid.keys.titles = {};
  grid.left_edge = box.x;
  grid.gap = kMapGap * em;
  grid.title_height = kMapTitle * em;
  const double max_depth = std::min({kMaxLabels * em, 0.2 * box.width, 0.32 * box.height});
  if (grid.keys.bands.empty() && max_depth < kMinLabels * em &&
      widest_label(page, grid.keys, box.width, box.width) > max_depth) {
    use_index_labels(grid.queries);
    use_index_labels(grid.keys);
  }
  grid.queries = measured(page, std::move(grid.queries));
  grid.keys = measured(page, std::move(grid.keys));
  const double aspect =
      std::clamp(static_cast<double>(grid.keys.count()) / static_cast<double>(grid.queries.count()),
                 1 / 3.0, 3.0);
  const auto space_for_maps = [&](double left) {
    return box.width - std::max(left, axis_titles_width(page)) - colour_bar_width(page);
  };
  for (Index per_row = 1; per_row <= count; ++per_row) {
    const auto columns = static_cast<double>(per_row);
    const auto rows = static_cast<double>((count + per_row - 1) / per_row);
    const auto map_size = [&](const AxisDepths& depths) {
      const double width = std::min(
          {(space_for_maps(depths.left) + grid.gap) / columns - grid.gap,
           kMaxMap * em * std::max(1.0, aspect),
           aspect * ((box.height - depths.top + grid.gap) / rows - grid.gap - grid.title_height)});
      return PlotSize{std::max(1.0, width), std::max(1.0, width) / aspect};
    };
    const AxisDepths depths =
        settled_depths(page, grid.queries, grid.keys, {max_depth, max_depth}, map_size);
    const auto [width, height] = map_size(depths);
    if (width <= grid.width) continue;
    grid.per_row = per_row;
    grid.width = width;
    grid.height = height;
    grid.top = depths.top;
    grid.left = std::max(depths.left, axis_titles_width(page));
  }
  if (grid.width < kMinMap * em || grid.height < 1.5 * em) grid.width = grid.height = 0;
  const auto columns = static_cast<double>(grid.per_row);
  const auto rows = static_cast<double>((count + grid.per_row - 1) / grid.per_row);
  const double total_width = columns * (grid.width + grid.gap) - grid.gap;
  grid.box = {box.x + grid.left + std::max(0.0, (space_for_maps(grid.left) - total_width) / 2),
              box.y + grid.top, total_width,
              rows * (grid.height + grid.title_height + grid.gap) - grid.gap};
  return grid;
}

}  // namespace

MapRaster place_maps(const Page& page, const Box& box, const AttentionTap& tap, Index count) {
  const ViewSettings& settings = page.input().session.view;
  const bool is_zoomed = settings.width > 0 && settings.height > 0;
  MapRaster grid;
  grid.queries = query_axis(page.input().trace, tap);
  grid.keys = key_axis(page.input().trace, tap);
  grid.rows = visible_span(settings.row, is_zoomed ? settings.height : 0, tap.queries());
  grid.columns = visible_span(settings.column, is_zoomed ? settings.width : 0, tap.keys());
  return complete_raster(page, box, std::move(grid), count);
}

MapRaster place_maps(const Page& page, const Box& box, TokenAxis queries, TokenAxis keys,
                     Index count) {
  MapRaster grid;
  grid.rows = visible_span(0, 0, queries.count());
  grid.columns = visible_span(0, 0, keys.count());
  grid.queries = std::move(queries);
  grid.keys = std::move(keys);
  return complete_raster(page, box, std::move(grid), count);
}

void set_plot(ViewLayout& layout, const MapPairAt& at, const std::optional<Point>& pointer) {
  const MapRaster& grid = at.raster;
  const Index hovered_map = pointer ? at.map_at(*pointer) : -1;
  layout.plot = grid.map(std::max<Index>(0, hovered_map));
  layout.row = grid.rows.first;
  layout.height = grid.rows.extent;
  layout.column = grid.columns.first;
  layout.width = grid.columns.extent;
}

std::function<std::optional<Hit>(Point)> hit_test(const MapPairAt& at, const ViewSettings& settings,
                                                  std::vector<Tensor> displayed) {
  return [at, displayed = std::move(displayed), layer = settings.layer,
          head = settings.head](Point p) -> std::optional<Hit> {
    const std::optional<Pair> pair = at(p);
    if (!pair) return std::nullopt;
    Hit hit{layer, head, pair->query, pair->key};
    const auto n = static_cast<std::size_t>(at.map_at(p));
    if (n < displayed.size() && displayed[n].defined()) {
      const float number = displayed[n](pair->query, pair->key);
      if (std::isfinite(number)) hit.shown = brief(static_cast<double>(number));
    }
    return hit;
  };
}

namespace {

// Candidate titles of the colour bar; they mention max-pooling if maps are pooled.
std::vector<std::string> colour_bar_titles(const Page& page, const MapRaster& grid,
                                           const std::vector<std::string>& titles) {
  const double scale = page.input().canvas.scale;
  if (grid.rows.extent <= grid.height * scale && grid.columns.extent <= grid.width * scale)
    return titles;
  std::vector<std::string> pooled;
  for (const std::string& title : titles) pooled.push_back(title + ", max-pooled");
  pooled.push_back(titles.back() + ", pooled");
  pooled.emplace_back("pooled");
  return pooled;
}

}  // namespace

void draw_maps(Page& page, const MapRaster& grid, const std::vector<NamedCells>& maps,
               const ColourRange& range, const std::vector<std::string>& bar_titles, Index query,
               const std::optional<Pair>& hovered) {
  const auto count = static_cast<Index>(maps.size());
  const Index marked_row = hovered ? hovered->query : -1;
  for (Index n = 0; n < count; ++n) {
    const Box box = grid.map(n);
    const NamedCells& map = maps[static_cast<std::size_t>(n)];
    HeatMap cells;
    cells.box = box;
    cells.values = map.cells;
    cells.row = grid.rows.first;
    cells.height = grid.rows.extent;
    cells.column = grid.columns.first;
    cells.width = grid.columns.extent;
    cells.least = range.least;
    cells.most = range.most;
    cells.colour_map = range.colour_map;
    cells.missing = excluded_colour(page.theme());
    page.add(std::move(cells));
    page.text({box.x + box.width / 2, box.y - kMapTitle / 2 * page.em()},
              page.fitting(map.titles, page.small(), box.width), page.small(), Align::Middle);
    page.add(Clip{box});
    const double dy = box.height / grid.rows.extent, dx = box.width / grid.columns.extent;
    const double y = box.y + (static_cast<double>(query) - grid.rows.first) * dy;
    if (query >= 0) page.add(OutlinedBox{{box.x, y, box.width, dy}, page.theme().accent, 1});
    if (hovered) {
      const double x = box.x + (static_cast<double>(hovered->key) - grid.columns.first) * dx;
      page.add(OutlinedBox{{x, y, dx, dy}, page.theme().accent, 2});
    }
    page.add(Clip{});
    page.add(OutlinedBox{box, page.theme().line, 1});
    if (n % grid.per_row == 0) {
      draw_axis_left(page, grid.queries, {grid.rows.first, grid.rows.extent, box.y, box.height},
                     box.x, grid.left, marked_row);
    }
    if (n < grid.per_row) {
      draw_axis_top(page, grid.keys, {grid.columns.first, grid.columns.extent, box.x, box.width},
                    box.y - grid.title_height, grid.top, hovered ? hovered->key : -1);
    }
  }
  draw_axis_titles(page, {grid.map(0).x, grid.map(0).y}, grid.left_edge);
  const Box last = grid.map(std::min(grid.per_row, count) - 1);
  draw_colour_bar(
      page,
      {last.right(), grid.map(0).y, colour_bar_width(page), grid.box.bottom() - grid.map(0).y},
      range, colour_bar_titles(page, grid, bar_titles));
}

}  // namespace attnscope
