#include "core/view/grid/grid_labels.h"

#include <cmath>

#include "core/figure/plain_text.h"
#include "core/view/map/map_values.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/fact_table.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/token_axis.h"
#include "core/view/parts/token_flow.h"

namespace attnscope {
namespace {

// em from the pointer: middles of labels that its tag can cover.
constexpr double kTagStart = 0.3, kTagEnd = 3.2;
constexpr double kSelectedVeil = 0.18;  // opacity of the colour over selected heads
constexpr double kStripFill = 0.7;      // fraction of the strip's height; the rest is a gap

// Number of decimals, up to a limit, at which different measures of adjacent heads look different.
int decimals_of(const std::vector<Thumbnail>& list) {
  constexpr int kMinDecimals = 2, kMaxDecimals = 4;
  for (int decimals = kMinDecimals; decimals < kMaxDecimals; ++decimals) {
    const bool are_distinct =
        std::adjacent_find(list.begin(), list.end(), [&](const auto& a, const auto& b) {
          if (std::isnan(a.measure) || std::isnan(b.measure)) return false;
          return a.measure != b.measure && fixed(a.measure, decimals) == fixed(b.measure, decimals);
        }) == list.end();
    if (are_distinct) return decimals;
  }
  return kMaxDecimals;
}

Colour name_colour(const HeadName& name) {
  const auto& names = head_names();
  const auto at = std::ranges::find(names, name.badge, &HeadName::badge);
  return head_colour(at - names.begin());
}

// True if the tag of the hovered head can cover a label at this height.
bool is_under_tag(const Page& page, const GridRaster& raster, double y) {
  const std::optional<Point>& pointer = page.input().interaction.pointer;
  if (!page.input().figure.framed || !pointer || !raster.hit(*pointer)) return false;
  const double end = kTagEnd * page.em();
  const bool is_above = pointer->y + end > raster.area().bottom();
  const double distance = is_above ? pointer->y - y : y - pointer->y;
  return distance > kTagStart * page.em() && distance < end;
}

// {layer, head} of the first head in a range of rows and columns; {-1, -1}: none.
std::pair<Index, Index> first_head(const GridRaster& raster, Index row, Index last_row,
                                   Index column, Index last_column) {
  for (Index r = row; r < last_row; ++r) {
    for (Index c = column; c < last_column; ++c) {
      const std::pair<Index, Index> at =
          raster.rows[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)];
      if (at.second >= 0) return at;
    }
  }
  return {-1, -1};
}

}  // namespace

void draw_list_labels(Page& page, const GridRaster& raster, const std::vector<Thumbnail>& list) {
  if (raster.label_kind == GridLabel::None) return;
  const int digits = decimals_of(list);
  const double size = raster.label_size;
  for (const Thumbnail& thumbnail : list) {
    const std::optional<Box> box = raster.box_of(thumbnail.layer, thumbnail.head);
    if (!box) continue;
    const std::string name = std::to_string(thumbnail.layer) + "·" + std::to_string(thumbnail.head);
    const auto number_of = [&](int decimals) {
      return std::isnan(thumbnail.measure) ? "–" : fixed(thumbnail.measure, decimals);
    };
    const double line = kLabelLine * raster.label_size;
    const double y = box->y - raster.strip - line / 2, middle = box->x + box->width / 2;
    if (raster.label_kind == GridLabel::HeadNumbers) {
      page.faint_text({middle, y}, name, size, Align::Middle);
    } else if (raster.label_kind == GridLabel::TwoLines) {
      page.faint_text({middle, y - line}, name, size, Align::Middle);
      page.text({middle, y}, number_of(2), size, Align::Middle);
    } else {
      const double needed = page.width_of(name + "  " + number_of(digits), size);
      page.faint_text({box->x, y}, name, size);
      // The head's name has priority over further digits.
      page.text({box->right(), y}, number_of(needed <= box->width ? digits : 2), size, Align::End);
    }
  }
}

void draw_head_names(Page& page, const GridRaster& raster, const std::vector<Thumbnail>& list) {
  for (const Thumbnail& thumbnail : list) {
    const std::optional<Box> box = raster.box_of(thumbnail.layer, thumbnail.head);
    if (!box || thumbnail.name.badge.empty()) continue;
    if (raster.strip > 0) {
      page.add(FilledBox{{box->x, box->y - raster.strip, box->width, kStripFill * raster.strip},
                         name_colour(thumbnail.name)});
    }
    const bool is_badge = raster.label_kind == GridLabel::Badge;
    if (!is_badge && raster.label_kind != GridLabel::Word) continue;
    const Point at{box->x + box->width / 2, box->y - kLabelLine * raster.label_size / 2};
    if (is_under_tag(page, raster, at.y)) continue;
    page.faint_text(at, is_badge ? thumbnail.name.badge : thumbnail.name.word, raster.label_size,
                    Align::Middle);
  }
}

void draw_first_token_bars(Page& page, const GridRaster& raster,
                           const std::vector<Thumbnail>& list) {
  constexpr double kBarWidth = 0.1, kMinBarWidth = 2, kMaxBarWidth = 6;  // of the width; units
  const auto name = std::ranges::find(head_names(), "first token", &HeadName::badge);
  const Colour colour = name != head_names().end() ? name_colour(*name) : page.theme().accent;
  for (const Thumbnail& thumbnail : list) {
    const std::optional<Box> box = raster.box_of(thumbnail.layer, thumbnail.head);
    if (!box || std::isnan(thumbnail.first_token)) continue;
    const double width =
        std::min(std::clamp(kBarWidth * box->width, kMinBarWidth, kMaxBarWidth), box->width);
    const double height = std::clamp(thumbnail.first_token, 0.0, 1.0) * box->height;
    page.add(FilledBox{{box->x, box->bottom() - height, width, height}, colour});
  }
}

void draw_name_legend(Page& page, const std::vector<Thumbnail>& list, Box line, double left) {
  const auto entries = [&](std::string HeadName::*text) {
    std::vector<Swatch> swatches;
    for (const HeadName& name : head_names()) {
      const auto count = std::ranges::count_if(
          list, [&](const Thumbnail& t) { return t.name.badge == name.badge; });
      if (count == 0) continue;
      swatches.push_back({name_colour(name), name.*text + " (" + std::to_string(count) + ")"});
    }
    return swatches;
  };
  const char* title = "name (heads)";
  std::vector<Swatch> swatches = entries(&HeadName::badge);
  const auto is_too_wide = [&] { return swatches_width(page, title, swatches) > line.width; };
  if (is_too_wide()) line = {left, line.y, line.right() - left, line.height};
  if (is_too_wide()) swatches = entries(&HeadName::word);
  draw_swatches(page, {line.x, line.y}, line.width, title, swatches);
}

void draw_grid_headers(Page& page, const GridRaster& raster, const Box& all) {
  const double em = page.em(), size = em, header = kGridHeader * em;
  const auto rows = static_cast<Index>(raster.rows.size()),
             columns = static_cast<Index>(raster.columns());
  const Index block_rows = raster.block_rows > 0 ? raster.block_rows : rows;
  const Index block_columns = raster.block_columns > 0 ? raster.block_columns : columns;
  const auto number = [&](const std::pair<Index, Index>& at, bool is_row) {
    return raster.has_layers_across == is_row ? at.second : at.first;
  };
  const Index row_step = label_step(raster.step_y(), 1.2 * em);
  const double widest = page.width_of(std::to_string(std::max(rows, columns) - 1), size) + 0.5 * em;
  const Index column_step = label_step(raster.step_x(), widest);
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < columns; c += block_columns) {
      const Index value = number(first_head(raster, r, r + 1, c, c + block_columns), true);
      if (value < 0 || value % row_step != 0) continue;
      const Box box = raster.box(r, c);
      const Point at{box.x - 0.5 * em, box.y + box.height / 2};
      if (c > 0 && is_under_tag(page, raster, at.y)) continue;
      page.text(at, std::to_string(value), size, Align::End);
    }
  }
  for (Index c = 0; c < columns; ++c) {
    for (Index r = 0; r < rows; r += block_rows) {
      const Index value = number(first_head(raster, r, r + block_rows, c, c + 1), false);
      if (value < 0 || value % column_step != 0) continue;
      const Box box = raster.box(r, c);
      const Point at{box.x + box.width / 2, box.y - raster.label - raster.strip - 0.8 * em};
      if (r > 0 && is_under_tag(page, raster, at.y)) continue;
      page.text(at, std::to_string(value), size, Align::Middle);
    }
  }
  const char* row_title = raster.has_layers_across ? "head" : "layer";
  const char* column_title = raster.has_layers_across ? "layer" : "head";
  page.faint_text({all.x - header + 0.6 * em, all.y + all.height / 2}, row_title, size,
                  Align::Middle, 90);
  page.faint_text({all.x + all.width / 2, all.y - header + 0.9 * em}, column_title, size,
                  Align::Middle);
}

void draw_head_marks(Page& page, const GridRaster& raster, const std::vector<Thumbnail>& list,
                     const HeadList& selected) {
  const ViewSettings& view = page.input().session.view;
  const auto outline = [&](Index layer, Index head, const Colour& colour) {
    const std::optional<Box> found = raster.box_of(layer, head);
    if (!found) return;
    const Box box = *found;
    const double out = std::min(1.5, raster.gap / 2);
    page.add(OutlinedBox{
        {box.x - out, box.y - out, box.width + 2 * out, box.height + 2 * out}, colour, 2});
  };
  for (const auto& [layer, head] : selected) {
    outline(layer, head, first_colour());
    if (const std::optional<Box> box = raster.box_of(layer, head)) {
      page.add(FilledBox{*box, translucent(first_colour(), kSelectedVeil)});
    }
  }
  const bool marks_shown = !page.input().figure.framed;  // window only
  if (marks_shown) outline(view.layer, view.head, page.theme().accent);
  if (!page.input().interaction.pointer) return;
  if (const auto hit = raster.hit(*page.input().interaction.pointer)) {
    outline(hit->layer, hit->head, page.theme().text);
    if (page.input().figure.framed) {  // the window names the hovered head in a panel
      std::string text =
          "layer " + std::to_string(hit->layer) + ", head " + std::to_string(hit->head);
      for (const Thumbnail& t : list) {
        const bool is_hovered = t.layer == hit->layer && t.head == hit->head;
        if (is_hovered && !t.name.badge.empty()) text += ": " + t.name.description;
      }
      page.tag(*page.input().interaction.pointer, text, raster.area());
    }
  }
}

std::vector<std::string> grid_bar_titles(const ViewInput& input, bool own_scale) {
  const Values options = view_values(input.session.view, "grid");
  const ColourRange::Scale scale = scale_of(options);
  if (scale == ColourRange::Scale::Rank) {
    return own_scale ? std::vector<std::string>{"rank within the map", "rank"}
                     : std::vector<std::string>{"attention weight by rank", "by rank", "rank"};
  }
  const std::string log = scale == ColourRange::Scale::Log ? " (log)" : "";
  const RowScale rows = row_scale_of(options);
  if (rows == RowScale::Largest) return {unit_of(rows), "share of the row's", "share"};
  if (own_scale) return {"relative to the map's colour range" + log, "share" + log};
  return {unit_of(rows) + log, rows == RowScale::None ? "weight" + log : "× equal"};
}

std::string grid_subject(const ViewInput& input, bool own_scale, bool hides_first, bool has_names) {
  std::string text = capitalised(describe_part(input.trace, input.session.view) +
                                 describe_layers_and_heads(input.trace, input.part())) +
                     "; each map shows how much a query (row) attends to a key (column)";
  if (own_scale) text += ", each on its own scale";
  if (hides_first) {
    text += has_merged_words(input.trace) ? "; the first word's column is hidden"
                                          : "; the first token's column is hidden";
  }
  if (has_names) {
    text +=
        "; heads are named by behaviour on this text that differs from equal attention by at "
        "least " +
        brief(kNameSpreads) + " standard deviations";
  }
  return text + ".";
}

}  // namespace attnscope
