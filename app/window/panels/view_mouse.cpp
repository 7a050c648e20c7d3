#include "app/window/panels/view_mouse.h"

#include <algorithm>
#include <cmath>

#include "app/window/actions/actions.h"
#include "app/window/actions/navigation.h"
#include "core/analysis/words.h"

namespace attnscope::window {
namespace {

constexpr double kWheelStep = 1.15;
constexpr double kCellSize = 24;   // units, at "actual size"
constexpr float kClickPixels = 4;  // a press that moves less is a click

bool has_cells(const ViewLayout& layout) {
  return layout.width > 0 && layout.height > 0 && layout.plot.width > 0 && layout.plot.height > 0;
}

// Converts cells of words to cells of their tokens, the unit of view settings.
Cells token_cells(const Cells& cells, const WordPairs& words) {
  const double row = words.queries.to_rows(cells.row), column = words.keys.to_rows(cells.column);
  return {row, column, words.queries.to_rows(cells.row + cells.height) - row,
          words.keys.to_rows(cells.column + cells.width) - column};
}

// Rows and columns of the complete matrix, in cells of the layout.
Index row_count(const ViewLayout& layout, const AttentionTap& tap) {
  if (layout.words) return layout.words->queries.count();
  return layout.rows > 0 ? layout.rows : tap.queries();
}
Index column_count(const ViewLayout& layout, const AttentionTap& tap) {
  if (layout.words) return layout.words->keys.count();
  return layout.columns > 0 ? layout.columns : tap.keys();
}

// Like show(), but `area` is in cells of the layout, which may be words instead of tokens.
void show_cells(ViewSettings& view, const ViewLayout& layout, const Cells& area, Index rows,
                Index columns) {
  show(view, area, rows, columns);
  const bool is_part = view.width > 0 && view.height > 0;
  if (is_part && layout.words) {
    show(view, token_cells(area, *layout.words), layout.words->queries.rows,
         layout.words->keys.rows);
  }
}

void pan_and_zoom(State& state, const ViewLayout& layout, double scale, bool is_hovered,
                  bool is_held) {
  const AttentionTap* tap = state.tap();
  if (tap == nullptr || !has_cells(layout)) return;
  const Cells area{layout.row, layout.column, layout.height, layout.width};
  const Index rows = row_count(layout, *tap), columns = column_count(layout, *tap);
  const ImGuiIO& io = ImGui::GetIO();
  if (state.view.actual_size) {
    const double factor = area.width / (layout.plot.width / kCellSize);
    Cells cells = zoom_cells(area, factor, area.row, area.column, rows, columns);
    // Whole cells: a cut cell would lose its label.
    cells = {std::round(cells.row), std::round(cells.column),
             std::max(std::floor(cells.height), 1.0), std::max(std::floor(cells.width), 1.0)};
    show_cells(state.session.edit().view, layout, cells, rows, columns);
    state.view.actual_size = false;
  }
  const std::optional<Point>& p = state.view.pointer;
  if (is_hovered && p && io.MouseWheel != 0 && layout.plot.contains(*p)) {
    const double across = (p->x - layout.plot.x) / layout.plot.width;
    const double down = (p->y - layout.plot.y) / layout.plot.height;
    const double row = area.row + area.height * (layout.rows_run_down ? down : across);
    const double column = area.column + area.width * (layout.columns_run_across ? across : down);
    const double factor = std::pow(kWheelStep, static_cast<double>(io.MouseWheel));
    show_cells(state.session.edit().view, layout,
               zoom_cells(area, factor, row, column, rows, columns), rows, columns);
  }
  if (is_held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, kClickPixels)) {
    state.view.is_panning = true;
    const double down = -static_cast<double>(io.MouseDelta.y) / scale / layout.plot.height;
    const double across = -static_cast<double>(io.MouseDelta.x) / scale / layout.plot.width;
    show_cells(state.session.edit().view, layout,
               pan_cells(area, area.height * (layout.rows_run_down ? down : across),
                         area.width * (layout.columns_run_across ? across : down), rows, columns),
               rows, columns);
  }
}

// Opens the map that was clicked in a picture of many maps.
void open_clicked_map(State& state) {
  const std::optional<Hit>& hit = state.view.hit;
  if (!hit || hit->query >= 0 || hit->key >= 0) return;
  ViewSettings& view = state.session.edit().view;
  state.select_head(hit->layer, hit->head);
  view.id = views().front().id;
  show_all(view);
}

// Index of the handle under the pointer; -1: none.
int handle_at(const ViewLayout& layout, const std::optional<Point>& pointer) {
  if (!pointer) return -1;
  for (int i = static_cast<int>(layout.handles.size()) - 1; i >= 0; --i) {
    if (layout.handles[static_cast<std::size_t>(i)].area.contains(*pointer)) return i;
  }
  return -1;
}

// Mouse input that a handle uses. Drags pan the picture unless the handle uses Drag.
enum class HandleUse { None, Click, Drag };

// A handle for strokes counts as Click until the stroke starts.
HandleUse handle_use(const Handle& handle) {
  return handle.drag ? HandleUse::Drag : HandleUse::Click;
}

// Extends the stroke to the pointer and applies it to the session from before the stroke.
HandleUse draw_stroke(State& state, bool is_held) {
  ViewPanel& panel = state.view;
  if (!is_held) {
    panel.held_handle = -1;
    return HandleUse::Drag;
  }
  std::vector<Point>& path = panel.stroke;
  const std::optional<Point>& p = panel.pointer;
  const bool is_new = p && (path.empty() || path.back().x != p->x || path.back().y != p->y);
  if (!is_new) return HandleUse::Drag;
  path.push_back(*p);
  Session next = *panel.before_stroke;
  panel.draw(path, next);
  state.session = std::move(next);
  return HandleUse::Drag;
}

HandleUse use_handles(const Ui& ui, State& state, const ViewLayout& layout, bool is_hovered,
                      bool is_held) {
  ViewPanel& panel = state.view;
  const int index = is_hovered ? handle_at(layout, panel.pointer) : -1;
  if (panel.held_handle < 0 && index >= 0 && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    panel.held_handle = index;
    panel.has_handle_moved = false;
    panel.stroke.clear();
    panel.draw = layout.handles[static_cast<std::size_t>(index)].stroke;
    panel.before_stroke = state.session.snapshot();
  }
  if (panel.held_handle >= static_cast<int>(layout.handles.size())) panel.held_handle = -1;
  if (panel.held_handle < 0) {
    if (index >= 0) {
      if (!layout.handles[static_cast<std::size_t>(index)].stroke) {
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
      }
      hint(ui, ui.shown_label(layout.handles[static_cast<std::size_t>(index)].help));
    }
    if (index < 0) return HandleUse::None;
    return handle_use(layout.handles[static_cast<std::size_t>(index)]);
  }
  const Handle& handle = layout.handles[static_cast<std::size_t>(panel.held_handle)];
  if (panel.draw) return draw_stroke(state, is_held);
  panel.has_handle_moved |= ImGui::IsMouseDragging(ImGuiMouseButton_Left, kClickPixels);
  if (is_held && panel.has_handle_moved && handle.drag && panel.pointer) {
    handle.drag(*panel.pointer, state.session.edit());
  }
  const HandleUse use = handle_use(handle);
  if (!is_held) {
    if (!panel.has_handle_moved && handle.click) handle.click(state.session.edit());
    panel.held_handle = -1;
  }
  return use;
}

// Object under the pointer: a pair, or the label of a row or a column.
std::optional<Hit> hit_at(const State& state, const ViewLayout& layout, Point p) {
  std::optional<Hit> hit = layout.hit(p);
  const AttentionTap* tap = state.tap();
  // Only queries and keys can be pinned.
  if (hit || tap == nullptr || state.shows_b()) return hit;
  const auto label = label_at(layout, p, layout.rows > 0 ? 0 : row_count(layout, *tap),
                              layout.columns > 0 ? 0 : column_count(layout, *tap));
  if (!label) return hit;
  const ViewSettings& view = state.session->view;
  const Hit label_hit{view.layer, view.head, label->row, label->column};
  return layout.to_token_hit ? layout.to_token_hit(label_hit) : label_hit;
}

// A right-click pins the pair, row or column under the pointer, or removes the pin.
void update_pin(State& state, bool is_hovered) {
  if (!is_hovered || !state.view.pointer || !ImGui::IsMouseClicked(ImGuiMouseButton_Right)) return;
  ViewSettings& view = state.session.edit().view;
  const Hit hit = state.view.hit.value_or(Hit{});
  if (hit.of_reference && state.run.reference()->tokens.size() != state.run.trace->tokens.size())
    return;
  const std::optional<Point> last = std::exchange(state.view.pinned_at, state.view.pointer);
  // A pin changes the layout, so that another pair may now be under an unmoved pointer.
  const bool is_unmoved = last && std::hypot(last->x - state.view.pointer->x,
                                             last->y - state.view.pointer->y) < kClickPixels;
  const bool is_pinned = view.pinned_query >= 0 || view.pinned_key >= 0;
  const bool is_same = hit.query == view.pinned_query && hit.key == view.pinned_key;
  const bool unpins = is_same || (is_unmoved && is_pinned);
  view.pinned_query = unpins ? -1 : hit.query;
  view.pinned_key = unpins ? -1 : hit.key;
}

}  // namespace

void use_mouse(Ui& ui, State& state, const ViewLayout& layout, const View& view) {
  const bool is_hovered = ImGui::IsItemHovered(), held = ImGui::IsItemActive();
  state.view.hit.reset();
  if (is_hovered && state.view.pointer && layout.hit) {
    state.view.hit = hit_at(state, layout, *state.view.pointer);
  }
  if (state.shows_b()) {  // B is shown temporarily; edits would apply to A
    if (state.view.hit) state.view.hit->of_reference = true;
    return;
  }
  update_pin(state, is_hovered);
  const HandleUse use = use_handles(ui, state, layout, is_hovered, held);
  if (use == HandleUse::Drag) return;
  if (view.cells.zoom) pan_and_zoom(state, layout, ui.scale, is_hovered, held);
  if (!held) state.view.is_panning = false;
  if (use == HandleUse::Click) return;
  if (is_hovered && view.cells.zoom && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    action("fit").run(state);
  }
  if (is_hovered && !view.cells.zoom && !has_cells(layout) &&
      ImGui::IsMouseReleased(ImGuiMouseButton_Left) && !state.view.is_panning) {
    open_clicked_map(state);
  }
  if (!held) state.view.is_panning = false;
  if (state.view.is_panning) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
}

}  // namespace attnscope::window
