// All layers and heads at once, as thumbnails.
#include <algorithm>
#include <cmath>

#include "core/view/colour_bar.h"
#include "core/view/describe.h"
#include "core/view/range.h"
#include "core/view/token_axis.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr double kMostAspect = 3;         // of a thumbnail
constexpr double kLargestThumbnail = 16;  // em
constexpr double kLeastThumbnail = 2;     // pixels
constexpr double kHeader = 3.3;           // em: the title and the numbers beside the thumbnails

// Where thumbnails lie. Small enough to be copied into the hit test.
struct Raster {
  double x = 0, y = 0;           // of the first thumbnail
  double width = 0, height = 0;  // of a thumbnail
  double gap = 0;
  std::vector<Index> heads;  // of each layer

  double step_x() const { return width + gap; }
  double step_y() const { return height + gap; }
  Box box(Index layer, Index head) const {
    return {x + static_cast<double>(head) * step_x(), y + static_cast<double>(layer) * step_y(),
            width, height};
  }
  std::optional<Hit> at(Point p) const {
    const double layer = std::floor((p.y - y) / step_y()), head = std::floor((p.x - x) / step_x());
    if (!(layer >= 0 && layer < static_cast<double>(heads.size()) && head >= 0)) {
      return std::nullopt;
    }
    const auto l = static_cast<Index>(layer);
    if (!(head < static_cast<double>(heads[static_cast<std::size_t>(l)]))) return std::nullopt;
    const auto h = static_cast<Index>(head);
    if (!box(l, h).contains(p)) return std::nullopt;
    return Hit{l, h, -1, -1};
  }
};

struct Thumbnail {
  Index layer, head;
  const AttentionTap* tap;
  Index head_in_group;
};

std::vector<Thumbnail> thumbnails(const Trace& trace) {
  std::vector<Thumbnail> list;
  for (Index layer = 0; layer < trace.layer_count(); ++layer) {
    for (Index head = 0; head < trace.head_count(layer); ++head) {
      Index in_group = 0;
      const AttentionTap* tap = trace.find(layer, head, &in_group);
      if (tap != nullptr && tap->queries() > 0 && tap->keys() > 0) {
        list.push_back({layer, head, tap, in_group});
      }
    }
  }
  return list;
}

Raster place(const Page& page, const Box& inside, const std::vector<Thumbnail>& list) {
  Raster raster;
  const Trace& trace = page.input().trace;
  Index most_heads = 0;
  for (Index layer = 0; layer < trace.layer_count(); ++layer) {
    raster.heads.push_back(trace.head_count(layer));
    most_heads = std::max(most_heads, raster.heads.back());
  }
  const auto columns = static_cast<double>(most_heads);
  const auto rows = static_cast<double>(raster.heads.size());
  const double header = kHeader * page.em(), right = colour_bar_width(page);
  const double width = inside.width - header - right, height = inside.height - header;
  const AttentionTap& tap = *list.front().tap;
  const double aspect =
      std::clamp(static_cast<double>(tap.keys()) / static_cast<double>(tap.queries()),
                 1 / kMostAspect, kMostAspect);
  // Gaps are a tenth of a thumbnail, 2 to 10 pixels.
  const double rough = std::min(width / columns, height / rows);
  raster.gap = std::clamp(0.1 * rough, 2.0, 10.0);
  raster.width = std::min({(width + raster.gap) / columns - raster.gap,
                           ((height + raster.gap) / rows - raster.gap) * aspect,
                           kLargestThumbnail * page.em() * std::max(1.0, aspect)});
  raster.height = raster.width / aspect;
  const double all_width = columns * raster.step_x() - raster.gap;
  const double all_height = rows * raster.step_y() - raster.gap;
  raster.x = inside.x + header + std::max(0.0, (width - all_width) / 2);
  raster.y = inside.y + header + page.spare_above(height, all_height);
  return raster;
}

// "layer" down the left and "head" along the top, with numbers that thin out.
void draw_headers(Page& page, const Raster& raster, const Box& all) {
  const double em = page.em(), size = em;
  const double header = kHeader * em;
  const auto layers = static_cast<Index>(raster.heads.size());
  const Index heads = *std::max_element(raster.heads.begin(), raster.heads.end());
  const Index row_step = label_step(raster.step_y(), 1.2 * em);
  for (Index layer = 0; layer < layers; layer += row_step) {
    const Box box = raster.box(layer, 0);
    page.text({all.x - 0.5 * em, box.y + box.height / 2}, std::to_string(layer), size, Align::End);
  }
  const double widest = page.width_of(std::to_string(heads - 1), size) + 0.5 * em;
  const Index column_step = label_step(raster.step_x(), widest);
  for (Index head = 0; head < heads; head += column_step) {
    const Box box = raster.box(0, head);
    page.text({box.x + box.width / 2, all.y - 0.8 * em}, std::to_string(head), size, Align::Middle);
  }
  page.faint_text({all.x - header + 0.6 * em, all.y + all.height / 2}, "layer", size, Align::Middle,
                  90);
  page.faint_text({all.x + all.width / 2, all.y - header + 0.9 * em}, "head", size, Align::Middle);
}

// Returns the share of the maps that is exact.
double draw_thumbnails(Page& page, const Raster& raster, const std::vector<Thumbnail>& list,
                       const ColourRange& shared, bool own_scale) {
  double exact = 0;
  for (const Thumbnail& thumbnail : list) {
    HeatMap cells;
    cells.box = raster.box(thumbnail.layer, thumbnail.head);
    cells.height = static_cast<double>(thumbnail.tap->queries());
    cells.width = static_cast<double>(thumbnail.tap->keys());
    exact += set_cells(cells, page.input(), *thumbnail.tap, thumbnail.head_in_group).exact;
    cells.colour_map = shared.colour_map;
    cells.least = shared.least;
    cells.most = shared.most;
    if (own_scale) {
      const double largest = largest_visible(cells);
      cells.most = largest > 0 ? largest : 1;
      cells.least = shared.least < 0 ? -cells.most : 0;
    }
    page.add(cells);
    page.add(OutlinedBox{cells.box, page.theme().line, 1});
  }
  return exact / static_cast<double>(list.size());
}

// The head that is looked at, and the one under the pointer.
void draw_marks(Page& page, const Raster& raster) {
  const ViewSettings& view = page.input().experiment.view;
  const auto outline = [&](Index layer, Index head, const Colour& colour) {
    const Box box = raster.box(layer, head);
    const double out = std::min(1.5, raster.gap / 2);
    page.add(OutlinedBox{
        {box.x - out, box.y - out, box.width + 2 * out, box.height + 2 * out}, colour, 2});
  };
  const bool chosen = !page.input().framed;  // of no interest in a file
  if (chosen && view.layer >= 0 && view.layer < static_cast<Index>(raster.heads.size()) &&
      view.head >= 0 && view.head < raster.heads[static_cast<std::size_t>(view.layer)]) {
    outline(view.layer, view.head, page.theme().accent);
  }
  if (!page.input().pointer) return;
  if (const auto hit = raster.at(*page.input().pointer)) {
    outline(hit->layer, hit->head, page.theme().text);
  }
}

// The scale that all maps share. With signs, it is the same to both sides of zero for all.
ColourRange shared_range(const ViewInput& input, const Raster& raster,
                         const std::vector<Thumbnail>& list) {
  ColourRange range;
  range.colour_map = input.experiment.view.colour_map;
  for (const Thumbnail& thumbnail : list) {
    if (!is_signed(*thumbnail.tap, thumbnail.head_in_group)) continue;
    HeatMap cells;
    cells.box = raster.box(thumbnail.layer, thumbnail.head);
    cells.height = static_cast<double>(thumbnail.tap->queries());
    cells.width = static_cast<double>(thumbnail.tap->keys());
    set_cells(cells, input, *thumbnail.tap, thumbnail.head_in_group);
    const ColourRange own = colour_range(input, cells, true);
    range.colour_map = own.colour_map;
    range.most = std::max(range.most, own.most);
    range.least = -range.most;
  }
  return range;
}

ViewLayout lay_out(const ViewInput& input) {
  Page page(input);
  const std::vector<Thumbnail> list = thumbnails(input.trace);
  if (list.empty()) {
    const Found found = find_tap(input);
    return page.message(found.headline, found.advice);
  }
  const bool own_scale = input.experiment.view.normalise;
  const Box inside = page.frame(
      picture_title(input.trace),
      caption(input.trace, layers_and_heads(input.trace) +
                               "; each map shows how much a query (row) attends to a key (column)" +
                               (own_scale ? ", each on a scale of its own." : ".")));
  const Raster raster = place(page, inside, list);
  if (!(raster.width >= kLeastThumbnail && raster.height >= kLeastThumbnail)) {
    return page.message("No space for the picture", "Make it larger, or the text smaller.");
  }
  const auto layers = static_cast<double>(raster.heads.size());
  const auto heads =
      static_cast<double>(*std::max_element(raster.heads.begin(), raster.heads.end()));
  const Box all{raster.x, raster.y, heads * raster.step_x() - raster.gap,
                layers * raster.step_y() - raster.gap};
  ColourRange range = shared_range(input, raster, list);
  const double exact = draw_thumbnails(page, raster, list, range, own_scale);
  draw_headers(page, raster, all);
  draw_marks(page, raster);
  if (own_scale) {
    range.most = 1;
    range.least = range.least < 0 ? -1 : 0;
  }
  draw_colour_bar(page, {all.right(), all.y, colour_bar_width(page), all.height}, range,
                  own_scale ? std::vector<std::string>{"share of the map's largest", "share"}
                            : std::vector<std::string>{"attention weight", "weight"});
  ViewLayout layout;
  layout.list = page.take(all.bottom());
  layout.pending = pending_text(exact);
  layout.hit = [raster](Point p) { return raster.at(p); };
  return layout;
}

}  // namespace

View grid_view() {
  return {"grid", "Grid", "All layers and heads at once; a click opens one.", false, lay_out};
}

}  // namespace attnscope
