// Shifted windows on the image: regular and shifted windows, and the cyclic shift with its mask.
#include <algorithm>

#include "core/attention/variants/shared/shifted_windows.h"
#include "core/view/image/pixel_panel.h"
#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/steps.h"
#include "core/view/mechanism/token_line.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/not_allowed.h"
#include "core/view/pattern/rule_cells.h"

namespace attnscope {
namespace {

constexpr double kPanelFoot = 1.8;      // em: sentence below a panel
constexpr double kWindowTint = 0.45;    // opacity of a window's colour over the image
constexpr double kMinPanel = 7;         // em: side of a panel
constexpr double kMinPixelLabel = 2.2;  // em: cells with the labels of tokens
constexpr Index kMaxMask = 1024;        // pixels of a window whose mask is drawn
constexpr Index kMaxPixels = 16384;

bool has_windows(const AttentionTap& tap) {
  return tap.variant.id == "swin" && tap.queries() == tap.keys() && tap.queries() <= kMaxPixels;
}

struct WindowsPanel {
  enum class Kind { Windows, CyclicShift, Mask };
  Kind kind = Kind::Windows;
  ShiftedWindows windows;
  std::vector<std::string> titles, foot;
};

// Windows of the layers with (or without) a shift.
ShiftedWindows windows_of(const HeadInput& in, bool shifted) {
  Values values = in.tap.variant.values;
  values.set("mode", std::string(shifted ? "shifted" : "regular"));
  return shifted_windows(values, 0);
}

// True if the cyclically shifted image consists of whole windows.
bool wraps_evenly(const ShiftedWindows& w) {
  return w.is_shifted() && (w.row_shift == 0 || w.height % w.window == 0) &&
         (w.column_shift == 0 || w.width % w.window == 0);
}

std::string layers_text(const HeadInput& in, bool shifted) {
  if (in.tap.variant.values.choice("mode") != "alternating") return "all layers";
  const bool is_this = (in.tap.address.layer % 2 == 1) == shifted;
  return std::string(shifted ? "layers 1, 3, …" : "layers 0, 2, …") + (is_this ? " (shown)" : "");
}

std::vector<WindowsPanel> windows_panels(const HeadInput& in) {
  using Kind = WindowsPanel::Kind;
  const std::string mode = in.tap.variant.values.choice("mode");
  const ShiftedWindows regular = windows_of(in, false), shifted = windows_of(in, true);
  const std::string side = std::to_string(regular.window);
  const std::string size = side + " × " + side, shift = std::to_string(regular.window / 2);
  std::vector<WindowsPanel> panels;
  if (mode != "shifted") {
    panels.push_back({Kind::Windows,
                      regular,
                      {"Windows of " + size + ": " + layers_text(in, false),
                       "Windows: " + layers_text(in, false), "Windows of " + size, "Windows"},
                      {"each pixel attends to its window", "attention within a window", ""}});
  }
  if (mode == "regular" || !shifted.is_shifted()) return panels;
  panels.push_back(
      {Kind::Windows,
       shifted,
       {"Shifted by " + shift + ": " + layers_text(in, true), "Shifted by " + shift, "Shifted"},
       {"new windows join pixels of four old ones", "windows join old ones", ""}});
  if (!wraps_evenly(shifted)) return panels;
  panels.push_back({Kind::CyclicShift,
                    shifted,
                    {"The same, moved to the upper left: whole windows", "Moved to the upper left",
                     "Cyclic shift"},
                    {"pixels moved out return at the other side", "a cyclic shift", ""}});
  if (regular.window * regular.window > kMaxMask) return panels;
  panels.push_back(
      {Kind::Mask,
       shifted,
       {"Mask of the marked window, pixel by pixel", "Mask of the marked window", "Its mask"},
       {"grey: not adjacent in the image, masked", "grey: masked", ""}});
  return panels;
}

// Pixel at a place of the cyclically shifted image.
Index pixel_at_shifted(const ShiftedWindows& w, Index row, Index column) {
  return (row + w.row_shift) % w.height * w.width + (column + w.column_shift) % w.width;
}
// Place of a pixel in the cyclically shifted image.
Index shifted_place(const ShiftedWindows& w, Index pixel) {
  const Index row = (pixel / w.width + w.height - w.row_shift) % w.height;
  return row * w.width + (pixel % w.width + w.width - w.column_shift) % w.width;
}

// Number of the window that contains a pixel, such that neighbours differ modulo 2.
std::pair<Index, Index> window_number(const ShiftedWindows& w, Index pixel) {
  const auto number = [&](Index at, Index shift) {
    return at < shift ? 0 : (at - shift) / w.window + (shift > 0 ? 1 : 0);
  };
  return {number(pixel / w.width, w.row_shift), number(pixel % w.width, w.column_shift)};
}

std::size_t window_colour(const ShiftedWindows& w, Index pixel) {
  const auto [row, column] = window_number(w, pixel);
  return static_cast<std::size_t>(2 * (row % 2) + column % 2);
}

bool share_window(const ShiftedWindows& w, Index a, Index b) {
  return window_number(w, a) == window_number(w, b);
}

// Pixels of the whole window of the shifted image that contains `pixel`, row by row.
std::vector<Index> whole_window(const ShiftedWindows& w, Index pixel) {
  const Index place = shifted_place(w, pixel);
  const auto first = [&](Index at) { return at / w.window * w.window; };
  const Index first_row = first(place / w.width), first_column = first(place % w.width);
  std::vector<Index> pixels;
  for (Index row = first_row; row < std::min(w.height, first_row + w.window); ++row) {
    for (Index column = first_column; column < std::min(w.width, first_column + w.window);
         ++column) {
      pixels.push_back(pixel_at_shifted(w, row, column));
    }
  }
  return pixels;
}

class WindowsPicture {
 public:
  WindowsPicture(Page& page, const HeadInput& in, std::vector<WindowsPanel> panels,
                 std::vector<PixelPanel> places, Index query)
      : page_(page),
        in_(in),
        panels_(std::move(panels)),
        places_(std::move(places)),
        query_(query) {}

  void draw() {
    for (std::size_t n = 0; n < panels_.size(); ++n) {
      const PixelPanel& place = places_[n];
      const double step = step_height(page_), em = page_.em();
      draw_step(page_, {place.box.x, place.box.y - step, place.box.width, step},
                static_cast<int>(n) + 1, panels_[n].titles);
      if (panels_[n].kind == WindowsPanel::Kind::Mask) {
        draw_mask(panels_[n], place);
      } else {
        draw_pixels(panels_[n], place);
      }
      page_.faint_text({place.box.x, place.box.bottom() + kPanelFoot / 2 * em},
                       page_.fitting(panels_[n].foot, page_.small(), place.box.width),
                       page_.small());
    }
  }

 private:
  // The image's colour, or the background, mixed with the colour of the pixel's window.
  Colour pixel_in_window(const ShiftedWindows& w, Index pixel) const {
    const auto& grid = in_.input.trace.pixels;
    const bool has_image = grid && !grid->picture.defined() && grid->key_shift == 0 &&
                           grid->width == w.width && grid->height == w.height;
    const Colour under = has_image ? pixel_colour(grid->colours, pixel) : page_.theme().background;
    return blend(under, rule_colour(window_colour(w, pixel)), kWindowTint);
  }

  void draw_pixels(const WindowsPanel& panel, const PixelPanel& place) {
    const ShiftedWindows& w = panel.windows;
    const bool moves = panel.kind == WindowsPanel::Kind::CyclicShift;
    const auto pixel_at_place = [&](Index at) {
      return moves ? pixel_at_shifted(w, at / w.width, at % w.width) : at;
    };
    draw_panel(page_, place, {""},
               [&](Index at) { return pixel_in_window(w, pixel_at_place(at)); });
    draw_labels(place, pixel_at_place);
    ShiftedWindows outlines = w;  // of the cyclically shifted image: whole windows
    if (moves) outlines.row_shift = outlines.column_shift = 0;
    draw_outlines(outlines, place);
    if (moves) {  // the marked window
      const Index at = shifted_place(w, query_);
      outline(place, outlines.rows_of(at / w.width), outlines.columns_of(at % w.width),
              page_.theme().accent, 3);
    }
    draw_mark(page_, place, moves ? shifted_place(w, query_) : query_, query_colour(page_.theme()));
  }

  void draw_labels(const PixelPanel& place, const std::function<Index(Index)>& pixel_at_place) {
    if (in_.input.trace.pixels || place.cell() < kMinPixelLabel * page_.em()) return;
    const std::vector<std::string> labels = query_axis(in_.input.trace, in_.tap).labels;
    for (Index at = 0; at < in_.tap.queries(); ++at) {
      const Box cell = place.pixel(at);
      const std::string& label = labels[static_cast<std::size_t>(pixel_at_place(at))];
      page_.text({cell.x + cell.width / 2, cell.y + cell.height / 2},
                 page_.ellipsised(label, page_.small(), cell.width - 4), page_.small(),
                 Align::Middle);
    }
  }

  void draw_outlines(const ShiftedWindows& w, const PixelPanel& place) {
    for (Index row = 0; row < w.height; row = w.rows_of(row).end) {
      for (Index column = 0; column < w.width; column = w.columns_of(column).end) {
        outline(place, w.rows_of(row), w.columns_of(column), page_.theme().text, 1.5);
      }
    }
  }

  void outline(const PixelPanel& place, ShiftedWindows::Range rows, ShiftedWindows::Range columns,
               Colour colour, double thickness) {
    const double side = place.cell();
    page_.add(OutlinedBox{{place.box.x + static_cast<double>(columns.begin) * side,
                           place.box.y + static_cast<double>(rows.begin) * side,
                           static_cast<double>(columns.end - columns.begin) * side,
                           static_cast<double>(rows.end - rows.begin) * side},
                          colour,
                          thickness});
  }

  void draw_mask(const WindowsPanel& panel, const PixelPanel& place) {
    const std::vector<Index> pixels = whole_window(panel.windows, query_);
    const auto count = static_cast<Index>(pixels.size());
    const double side = std::min(place.box.width, place.box.height);
    const Colour masked = excluded_colour(page_.theme());
    const PixelPanel mask{{place.box.x, place.box.y, side, side}, count, count};
    draw_panel(page_, mask, {""}, [&](Index pair) {
      const Index query = pixels[static_cast<std::size_t>(pair / count)];
      const Index key = pixels[static_cast<std::size_t>(pair % count)];
      return share_window(panel.windows, query, key)
                 ? rule_colour(window_colour(panel.windows, query))
                 : masked;
    });
  }

  Page& page_;
  const HeadInput& in_;
  std::vector<WindowsPanel> panels_;
  std::vector<PixelPanel> places_;
  Index query_;
};

MechanismLayout draw_windows(Page& page, const Box& inside, const HeadInput& in) {
  std::vector<WindowsPanel> panels = windows_panels(in);
  const double em = page.em(), titles = step_height(page) - 1.7 * em;
  PixelGrid grid;
  grid.width = panels[0].windows.width;
  grid.height = panels[0].windows.height;
  const std::vector<PixelPanel> places =
      place_panels(page, below(inside, titles), grid, panels.size(), kPanelFoot * em);
  if (places.empty() || places[0].box.width < kMinPanel * em) return {.is_too_small = true};
  MechanismLayout layout;
  layout.pair_at = [panels, places](Point p) -> std::optional<Pair> {
    for (std::size_t n = 0; n < panels.size(); ++n) {
      const WindowsPanel& panel = panels[n];
      const Index at = panel.kind == WindowsPanel::Kind::Mask ? -1 : places[n].at(p);
      if (at < 0) continue;
      const ShiftedWindows& w = panel.windows;
      const bool moves = panel.kind == WindowsPanel::Kind::CyclicShift;
      return Pair{moves ? pixel_at_shifted(w, at / w.width, at % w.width) : at, -1};
    }
    return std::nullopt;
  };
  Index query = illustrated_token(in);
  if (in.input.interaction.pointer) {
    if (const auto pair = layout.pair_at(*in.input.interaction.pointer)) query = pair->query;
  }
  for (const PixelPanel& place : places) {
    layout.bottom = std::max(layout.bottom, place.box.bottom() + kPanelFoot * em);
  }
  WindowsPicture(page, in, std::move(panels), places, query).draw();
  return layout;
}

// Numbers of a quantity for each pixel, as a picture.
ViewData::Matrix pixel_matrix(const std::string& name, const ShiftedWindows& w,
                              const std::function<Index(Index pixel)>& number) {
  ViewData::Matrix matrix{name, Tensor({w.height, w.width}), {}, {}};
  for (Index pixel = 0; pixel < w.height * w.width; ++pixel) {
    matrix.values[pixel] = static_cast<float>(number(pixel));
  }
  return matrix;
}

std::vector<ViewData::Matrix> windows_numbers(const HeadInput& in) {
  std::vector<ViewData::Matrix> matrices;
  const auto number_of = [](const ShiftedWindows& w, Index pixel) {
    const auto [row, column] = window_number(w, pixel);
    return row * (window_number(w, w.width - 1).second + 1) + column;
  };
  for (const WindowsPanel& panel : windows_panels(in)) {
    const ShiftedWindows& w = panel.windows;
    if (panel.kind == WindowsPanel::Kind::Windows) {
      matrices.push_back(pixel_matrix(w.is_shifted() ? "shifted windows" : "windows", w,
                                      [&](Index pixel) { return number_of(w, pixel); }));
    } else if (panel.kind == WindowsPanel::Kind::CyclicShift) {
      matrices.push_back(pixel_matrix("cyclic shift: pixel", w, [&](Index at) {
        return pixel_at_shifted(w, at / w.width, at % w.width);
      }));
    } else {
      const std::vector<Index> pixels = whole_window(w, illustrated_token(in));
      const auto count = static_cast<Index>(pixels.size());
      ViewData::Matrix mask{"mask of the window", Tensor({count, count}), {}, {}};
      for (Index i = 0; i < count * count; ++i) {
        const bool allowed = share_window(w, pixels[static_cast<std::size_t>(i / count)],
                                          pixels[static_cast<std::size_t>(i % count)]);
        mask.values[i] = allowed ? 1.0F : 0.0F;
      }
      for (const Index pixel : pixels) mask.rows.push_back(std::to_string(pixel));
      mask.columns = mask.rows;
      matrices.push_back(std::move(mask));
    }
  }
  return matrices;
}

}  // namespace

Mechanism windows_mechanism() {
  Mechanism m{"windows", "windows of the image, shifted in every other layer", has_windows,
              draw_windows, windows_numbers};
  m.label = "Windows";
  m.steps_through_tokens = true;
  m.parameters = {"token"};
  return m;
}

}  // namespace attnscope
