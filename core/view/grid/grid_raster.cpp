#include "core/view/grid/grid_raster.h"

#include "core/view/parts/colour_bar.h"

namespace attnscope {
namespace {

constexpr double kMaxAspect = 3;          // maximum aspect ratio of a thumbnail
constexpr double kLargestThumbnail = 16;  // em
constexpr double kLabelPad = 0.2;         // em: space above a label
constexpr double kStrip = 0.3;            // em: strip in the colour of a head's name
constexpr double kStripShare = 0.12;      // maximum height of the strip / width of a thumbnail
constexpr double kMinShrinkage = 0.7;     // minimum width with labels / width without labels
constexpr double kMinNameScale = 0.9;     // minimum font size of names, relative to Page::small()
constexpr double kMinNumbered = 0.5;      // kMinShrinkage for GridLabel::HeadNumbers
constexpr double kLabelOverhang = 0.6;    // overhang of centred labels / gap
constexpr double kMinGain = 1.15;         // minimum growth by blocks or by layers as columns
constexpr double kBlockGap = 2.6;         // em: space for numbers between blocks

double aspect_of(const std::vector<Thumbnail>& list) {
  const AttentionTap& tap = *list.front().tap;
  return std::clamp(static_cast<double>(tap.keys()) / static_cast<double>(tap.queries()),
                    1 / kMaxAspect, kMaxAspect);
}

// Numbers of rows and columns, and the total space between blocks.
struct Extent2d {
  Index rows = 1, columns = 1;
  double width_between = 0, height_between = 0;
};

// Enlarges thumbnails to fill `space`. The gap is a tenth of a slot, 2 to 10 pixels.
void resize(const Page& page, const Box& space, double aspect, const Extent2d& extent,
            GridRaster& raster) {
  const auto rows = static_cast<double>(extent.rows), columns = static_cast<double>(extent.columns);
  const double width = space.width - extent.width_between,
               height = space.height - extent.height_between;
  raster.gap = std::clamp(0.1 * std::min(width / columns, height / rows), 2.0, 10.0);
  const double label = raster.label + raster.strip;
  raster.width = std::min({(width + raster.gap) / columns - raster.gap,
                           ((height + raster.gap) / rows - raster.gap - label) * aspect,
                           kLargestThumbnail * page.em() * std::max(1.0, aspect)});
  raster.height = raster.width / aspect;
}

void centre(const Page& page, const Box& space, GridRaster& raster) {
  const Box area = raster.area();
  raster.x = space.x + std::max(0.0, (space.width - area.width) / 2);
  raster.y = space.y + page.top_margin(space.height, area.height);
}

// Arrangement of the thumbnails by layer and head.
struct LayerArrangement {
  bool has_layers_across = false;
  Index blocks = 1, layers = 0, heads = 0;  // heads: of the layer with the most heads
  Index layers_per_block() const { return (layers + blocks - 1) / blocks; }
  Extent2d extent(double block_gap) const {
    const double between = static_cast<double>(blocks - 1) * block_gap;
    if (has_layers_across) return {blocks * heads, layers_per_block(), 0, between};
    return {layers_per_block(), blocks * heads, between, 0};
  }
};

// The arrangement with the largest thumbnails. Prefers `plain`, one block of layers from top to
// bottom, unless another arrangement makes them clearly larger.
LayerArrangement best_arrangement(const Page& page, const Box& space, double aspect,
                                  const LayerArrangement& plain, GridRaster raster) {
  constexpr Index kMaxBlocks = 8;
  LayerArrangement best = plain;
  resize(page, space, aspect, plain.extent(0), raster);
  double size = kMinGain * raster.width;
  for (const bool across : {false, true}) {
    for (Index blocks = 1; blocks <= std::min(kMaxBlocks, plain.layers); ++blocks) {
      LayerArrangement next = plain;
      next.has_layers_across = across;
      next.blocks = blocks;
      // No empty block.
      if ((blocks - 1) * next.layers_per_block() >= plain.layers) continue;
      resize(page, space, aspect, next.extent(kBlockGap * page.em()), raster);
      if (raster.width <= size) continue;
      size = raster.width;
      best = next;
    }
  }
  return best;
}

// heads_of: number of heads by layer.
void set_rows(const std::vector<Index>& heads_of, const LayerArrangement& arrangement,
              GridRaster& raster) {
  const Extent2d extent = arrangement.extent(0);
  const Index per_block = arrangement.layers_per_block(), heads = arrangement.heads;
  raster.rows.assign(static_cast<std::size_t>(extent.rows), {});
  for (Index row = 0; row < extent.rows; ++row) {
    for (Index column = 0; column < extent.columns; ++column) {
      const Index block = arrangement.has_layers_across ? row / heads : column / heads;
      const Index layer = block * per_block + (arrangement.has_layers_across ? column : row);
      const Index head = (arrangement.has_layers_across ? row : column) % heads;
      const bool exists =
          layer < arrangement.layers && head < heads_of[static_cast<std::size_t>(layer)];
      raster.rows[static_cast<std::size_t>(row)].push_back(
          exists ? std::pair{layer, head} : std::pair<Index, Index>{-1, -1});
    }
  }
  raster.has_layers_across = arrangement.has_layers_across;
  if (arrangement.blocks == 1) return;
  (arrangement.has_layers_across ? raster.block_rows : raster.block_columns) = heads;
}

double strip_height(const Page& page, double thumbnail_width) {
  return std::min(kStrip * page.em(), std::max(2.0, kStripShare * thumbnail_width));
}

double widest_name(const Page& page, const std::vector<Thumbnail>& list,
                   std::string HeadName::*text) {
  double widest = 0;
  for (const HeadName& name : head_names()) {
    const bool is_used =
        std::ranges::any_of(list, [&](const Thumbnail& t) { return t.name.badge == name.badge; });
    if (is_used) widest = std::max(widest, page.width_of(name.*text, page.small()));
  }
  return widest;
}

// Sets the kind of the labels and the largest font size at which they fit above the thumbnails,
// which `place` places. `text_width`: width of the widest label in the small font. Sets no label
// and returns false if labels of this kind do not fit or would shrink the thumbnails too much.
template <class Place>
bool set_label(const Page& page, GridLabel kind, double text_width, double unlabelled_width,
               GridRaster& raster, const Place& place) {
  const double lines = kind == GridLabel::TwoLines ? 2 : 1;
  raster.label_kind = kind;
  const bool is_name = kind == GridLabel::Badge || kind == GridLabel::Word;
  for (const double scale : {1.0, 0.9, 0.8, kMinFontScale}) {
    if (is_name && scale < kMinNameScale) break;  // strips are more legible
    raster.label_size = scale * page.small();
    if (!page.is_legible(raster.label_size)) break;
    raster.label = lines * kLabelLine * raster.label_size + kLabelPad * page.em();
    place();
    const double least = kind == GridLabel::HeadNumbers ? kMinNumbered : kMinShrinkage;
    if (raster.width < least * unlabelled_width) continue;
    const double overhang = kind == GridLabel::OneLine ? 0 : kLabelOverhang * raster.gap;
    if (scale * text_width <= raster.width + overhang) return true;
  }
  raster.label_kind = GridLabel::None;
  raster.label = raster.label_size = 0;
  place();
  return false;
}

}  // namespace

GridRaster place_layers(const Page& page, const Box& inside, const std::vector<Thumbnail>& list) {
  const Trace& trace = page.input().trace;
  const TracePart part = page.input().part();
  LayerArrangement plain;
  plain.layers = trace.layer_count(part);
  std::vector<Index> heads_of;
  for (Index layer = 0; layer < plain.layers; ++layer) {
    heads_of.push_back(trace.head_count(part, layer));
    plain.heads = std::max(plain.heads, heads_of.back());
  }
  const double header = kGridHeader * page.em(), right = colour_bar_width(page);
  const Box space{inside.x + header, inside.y + header, inside.width - header - right,
                  inside.height - header};
  const double aspect = aspect_of(list);
  const bool has_names =
      std::ranges::any_of(list, [](const Thumbnail& t) { return !t.name.badge.empty(); });
  GridRaster raster;
  const auto place = [&] {
    const LayerArrangement arrangement = best_arrangement(page, space, aspect, plain, raster);
    raster.block_rows = raster.block_columns = 0;
    raster.block_gap = arrangement.blocks > 1 ? kBlockGap * page.em() : 0;
    set_rows(heads_of, arrangement, raster);
    resize(page, space, aspect, arrangement.extent(raster.block_gap), raster);
  };
  place();
  const double unlabelled = raster.width;
  if (has_names &&
      !set_label(page, GridLabel::Badge, widest_name(page, list, &HeadName::badge), unlabelled,
                 raster, place) &&
      !set_label(page, GridLabel::Word, widest_name(page, list, &HeadName::word), unlabelled,
                 raster, place)) {
    raster.strip = strip_height(page, unlabelled);
    place();
  }
  centre(page, space, raster);
  return raster;
}

GridRaster place_list(const Page& page, const Box& inside, const std::vector<Thumbnail>& list,
                      bool has_numbers) {
  const double note = kGridSortNote * page.em(), right = colour_bar_width(page);
  const Box space{inside.x, inside.y + note, inside.width - right, inside.height - note};
  const double aspect = aspect_of(list);
  const auto count = static_cast<Index>(list.size());
  GridRaster raster;
  const bool has_names =
      std::ranges::any_of(list, [](const Thumbnail& t) { return !t.name.badge.empty(); });
  Index best_columns = 1;
  const auto place = [&] {
    double best = -1;
    for (Index columns = 1; columns <= count; ++columns) {
      resize(page, space, aspect, {(count + columns - 1) / columns, columns}, raster);
      if (raster.width <= best) continue;
      best = raster.width;
      best_columns = columns;
    }
    resize(page, space, aspect, {(count + best_columns - 1) / best_columns, best_columns}, raster);
  };
  place();
  if (has_names) {
    raster.strip = strip_height(page, raster.width);
    place();
  }
  const double unlabelled = raster.width;
  std::size_t layer_digits = 1, head_digits = 1;
  for (const Thumbnail& t : list) {
    layer_digits = std::max(layer_digits, std::to_string(t.layer).size());
    head_digits = std::max(head_digits, std::to_string(t.head).size());
  }
  const std::string name = std::string(layer_digits, '0') + "·" + std::string(head_digits, '0');
  for (const GridLabel kind : {GridLabel::OneLine, GridLabel::TwoLines, GridLabel::HeadNumbers}) {
    if (!has_numbers && kind != GridLabel::HeadNumbers) continue;
    const std::string text = kind == GridLabel::OneLine ? name + "  0.00" : name;
    const double width = std::max(page.width_of(text, page.small()),
                                  has_numbers ? page.width_of("0.00", page.small()) : 0);
    if (set_label(page, kind, width, unlabelled, raster, place)) break;
  }
  for (Index i = 0; i < count; ++i) {
    const Thumbnail& thumbnail = list[static_cast<std::size_t>(i)];
    if (i % best_columns == 0) raster.rows.emplace_back();
    raster.rows.back().emplace_back(thumbnail.layer, thumbnail.head);
  }
  centre(page, space, raster);
  return raster;
}

}  // namespace attnscope
