#include "core/view/grid/grid_raster.h"

#include "core/view/parts/colour_bar.h"

namespace attnscope {
namespace {

constexpr double kMaxAspect = 3;          // maximum aspect ratio of a thumbnail
constexpr double kLargestThumbnail = 16;  // em
constexpr double kLabel = 1.3;            // em: label line

double aspect_of(const std::vector<Thumbnail>& list) {
  const AttentionTap& tap = *list.front().tap;
  return std::clamp(static_cast<double>(tap.keys()) / static_cast<double>(tap.queries()),
                    1 / kMaxAspect, kMaxAspect);
}

// Enlarges thumbnails to fill `width` x `height`. The gap is a tenth of a slot, 2 to 10 pixels.
void resize(const Page& page, double width, double height, double aspect, double rows,
            double columns, GridRaster& raster) {
  const double slot = std::min(width / columns, height / rows);
  raster.gap = std::clamp(0.1 * slot, 2.0, 10.0);
  raster.width = std::min({(width + raster.gap) / columns - raster.gap,
                           ((height + raster.gap) / rows - raster.gap - raster.label) * aspect,
                           kLargestThumbnail * page.em() * std::max(1.0, aspect)});
  raster.height = raster.width / aspect;
}

void centre(const Page& page, const Box& space, GridRaster& raster) {
  const Box area = raster.area();
  raster.x = space.x + std::max(0.0, (space.width - area.width) / 2);
  raster.y = space.y + page.top_margin(space.height, area.height);
}

}  // namespace

GridRaster place_layers(const Page& page, const Box& inside, const std::vector<Thumbnail>& list) {
  GridRaster raster;
  const Trace& trace = page.input().trace;
  const TracePart part = page.input().part();
  for (Index layer = 0; layer < trace.layer_count(part); ++layer) {
    raster.rows.emplace_back();
    for (Index head = 0; head < trace.head_count(part, layer); ++head) {
      raster.rows.back().emplace_back(layer, head);
    }
  }
  const double header = kGridHeader * page.em(), right = colour_bar_width(page);
  const Box space{inside.x + header, inside.y + header, inside.width - header - right,
                  inside.height - header};
  const auto place = [&] {
    resize(page, space.width, space.height, aspect_of(list),
           static_cast<double>(raster.rows.size()), static_cast<double>(raster.columns()), raster);
  };
  const bool has_names =
      std::ranges::any_of(list, [](const Thumbnail& t) { return !t.name.badge.empty(); });
  raster.label = has_names ? kLabel * page.em() : 0;
  place();
  if (has_names && raster.width < kMinFontScale * page.width_of("previous token", page.small())) {
    raster.label = 0;
    place();
  }
  centre(page, space, raster);
  return raster;
}

GridRaster place_sorted(const Page& page, const Box& inside, const std::vector<Thumbnail>& list) {
  const double note = kGridSortNote * page.em(), right = colour_bar_width(page);
  const Box space{inside.x, inside.y + note, inside.width - right, inside.height - note};
  const double aspect = aspect_of(list);
  const std::size_t count = list.size();
  const double one_line = page.width_of("0·00  0.00", page.small());
  const double narrowest = kMinFontScale * page.width_of("0·00", page.small());
  GridRaster best;
  std::size_t best_columns = 1;
  for (std::size_t columns = 1; columns <= count; ++columns) {
    GridRaster raster;
    raster.label = kLabel * page.em();
    const auto rows = static_cast<double>((count + columns - 1) / columns);
    resize(page, space.width, space.height, aspect, rows, static_cast<double>(columns), raster);
    if (raster.width < one_line) {  // the name is above the number
      raster.two_lines = true;
      raster.label = 2 * kLabel * page.em();
      resize(page, space.width, space.height, aspect, rows, static_cast<double>(columns), raster);
    }
    if (raster.width < narrowest) {  // no label fits
      raster.label = 0;
      resize(page, space.width, space.height, aspect, rows, static_cast<double>(columns), raster);
    }
    if (raster.width <= best.width) continue;
    best = raster;
    best_columns = columns;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (i % best_columns == 0) best.rows.emplace_back();
    best.rows.back().emplace_back(list[i].layer, list[i].head);
  }
  centre(page, space, best);
  return best;
}

}  // namespace attnscope
