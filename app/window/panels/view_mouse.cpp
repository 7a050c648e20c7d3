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

// Converts cells of words to the cells of their tokens, which view settings refer to.
Cells token_cells(const Cells& cells, const WordPairs& words) {
  const double row = words.queries.to_rows(cells.row), column = words.keys.to_rows(cells.column);
  return {row, column, words.queries.to_rows(cells.row + cells.height) - row,
          words.keys.to_rows(cells.column + cells.width) - column};
}

// Rows and columns of the matrix in a layout.
Index row_count(const ViewLayout& layout, const AttentionTap& tap) {
  if (layout.words) return layout.words->queries.count();
  return layout.rows > 0 ? layout.rows : tap.queries();
}
Index column_count(const ViewLayout& layout, const AttentionTap& tap) {
  if (layout.words) return layout.words->keys.count();
  return layout.columns > 0 ? layout.columns : tap.keys();
}

// Like show(), for the cells of the layout.
void show_cells(ViewSettings& view, const ViewLayout& layout, const Cells& seen, Index rows,
                Index columns) {
  show(view, seen, rows, columns);
  const bool part = view.width > 0 && view.height > 0;
  if (part && layout.words) {
    show(view, token_cells(seen, *layout.words), layout.words->queries.rows,
         layout.words->keys.rows);
  }
}

// Panning and zooming of a matrix.
void pan_and_zoom(State& state, const ViewLayout& layout, double scale, bool hovered, bool held) {
  const AttentionTap* tap = state.tap();
  if (tap == nullptr || !has_cells(layout)) return;
  const Cells seen{layout.row, layout.column, layout.height, layout.width};
  const Index rows = row_count(layout, *tap), columns = column_count(layout, *tap);
  const ImGuiIO& io = ImGui::GetIO();
  if (state.view.actual_size) {
    const double factor = seen.width / (layout.plot.width / kCellSize);
    Cells cells = zoom_cells(seen, factor, seen.row, seen.column, rows, columns);
    // Whole cells: a cut cell would lose its label.
    cells = {std::round(cells.row), std::round(cells.column),
             std::max(std::floor(cells.height), 1.0), std::max(std::floor(cells.width), 1.0)};
    show_cells(state.session.edit().view, layout, cells, rows, columns);
    state.view.actual_size = false;
  }
  const std::optional<Point>& p = state.view.pointer;
  if (hovered && p && io.MouseWheel != 0 && layout.plot.contains(*p)) {
    const double across = (p->x - layout.plot.x) / layout.plot.width;
    const double down = (p->y - layout.plot.y) / layout.plot.height;
    const double row = seen.row + seen.height * (layout.rows_run_down ? down : across);
    const double column = seen.column + seen.width * (layout.columns_run_across ? across : down);
    const double factor = std::pow(kWheelStep, static_cast<double>(io.MouseWheel));
    show_cells(state.session.edit().view, layout,
               zoom_cells(seen, factor, row, column, rows, columns), rows, columns);
  }
  if (held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, kClickPixels)) {
    state.view.panning = true;
    const double down = -static_cast<double>(io.MouseDelta.y) / scale / layout.plot.height;
    const double across = -static_cast<double>(io.MouseDelta.x) / scale / layout.plot.width;
    show_cells(state.session.edit().view, layout,
               pan_cells(seen, seen.height * (layout.rows_run_down ? down : across),
                         seen.width * (layout.columns_run_across ? across : down), rows, columns),
               rows, columns);
  }
}

// Opens the map that was clicked in a picture of many maps.
void open_clicked(State& state) {
  const std::optional<Hit>& hit = state.view.hit;
  if (!hit || hit->query >= 0 || hit->key >= 0) return;
  ViewSettings& view = state.session.edit().view;
  state.look_at(hit->layer, hit->head);
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

// Use of the mouse by a handle: clicks leave panning and zooming free, drags do not.
enum class HandleUse { None, Click, Drag };

// A stroke that has not started leaves clicks and the wheel free.
HandleUse handle_use(const Handle& handle) {
  return handle.drag ? HandleUse::Drag : HandleUse::Click;
}

// Applies the stroke to the session and the picture from before the stroke.
HandleUse draw_stroke(State& state, bool held) {
  ViewPanel& panel = state.view;
  if (!held) {
    panel.held_handle = -1;
    return HandleUse::Drag;
  }
  std::vector<Point>& path = panel.stroke;
  const std::optional<Point>& p = panel.pointer;
  const bool moved = p && (path.empty() || path.back().x != p->x || path.back().y != p->y);
  if (!moved) return HandleUse::Drag;
  path.push_back(*p);
  Session next = *panel.before_stroke;
  panel.draw(path, next);
  state.session = std::move(next);
  return HandleUse::Drag;
}

// Drags and clicks on the handles of the view.
HandleUse use_handles(const Ui& ui, State& state, const ViewLayout& layout, bool hovered,
                      bool held) {
  ViewPanel& panel = state.view;
  const int under = hovered ? handle_at(layout, panel.pointer) : -1;
  if (panel.held_handle < 0 && under >= 0 && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    panel.held_handle = under;
    panel.handle_moved = false;
    panel.stroke.clear();
    panel.draw = layout.handles[static_cast<std::size_t>(under)].stroke;
    panel.before_stroke = state.session.snapshot();
  }
  if (panel.held_handle >= static_cast<int>(layout.handles.size())) panel.held_handle = -1;
  if (panel.held_handle < 0) {
    if (under >= 0) {
      if (!layout.handles[static_cast<std::size_t>(under)].stroke) {
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
      }
      hint(ui, layout.handles[static_cast<std::size_t>(under)].help);
    }
    if (under < 0) return HandleUse::None;
    return handle_use(layout.handles[static_cast<std::size_t>(under)]);
  }
  const Handle& handle = layout.handles[static_cast<std::size_t>(panel.held_handle)];
  if (panel.draw) return draw_stroke(state, held);
  panel.handle_moved |= ImGui::IsMouseDragging(ImGuiMouseButton_Left, kClickPixels);
  if (held && panel.handle_moved && handle.drag && panel.pointer) {
    handle.drag(*panel.pointer, state.session.edit());
  }
  const HandleUse use = handle_use(handle);
  if (!held) {
    if (!panel.handle_moved && handle.click) handle.click(state.session.edit());
    panel.held_handle = -1;
  }
  return use;
}

// Object under the pointer: a pair, or the label of a row or a column.
std::optional<Hit> hit_at(const State& state, const ViewLayout& layout, Point p) {
  std::optional<Hit> hit = layout.hit(p);
  const AttentionTap* tap = state.tap();
  // Only queries and keys can be pinned.
  if (hit || tap == nullptr || state.shows_other()) return hit;
  const auto label = label_at(layout, p, layout.rows > 0 ? 0 : row_count(layout, *tap),
                              layout.columns > 0 ? 0 : column_count(layout, *tap));
  if (!label) return hit;
  const ViewSettings& view = state.session->view;
  const Hit of_label{view.layer, view.head, label->row, label->column};
  return layout.of_words ? layout.of_words(of_label) : of_label;
}

// A right-click pins the pair, row or column under the pointer, or removes the pin.
void use_pin(State& state, bool hovered) {
  if (!hovered || !state.view.pointer || !ImGui::IsMouseClicked(ImGuiMouseButton_Right)) return;
  ViewSettings& view = state.session.edit().view;
  const Hit hit = state.view.hit.value_or(Hit{});
  if (hit.of_reference && state.run.reference()->tokens.size() != state.run.trace->tokens.size())
    return;
  const std::optional<Point> before = std::exchange(state.view.pinned_at, state.view.pointer);
  // A pin changes the layout, so that something else may be under an unmoved pointer.
  const bool still = before && std::hypot(before->x - state.view.pointer->x,
                                          before->y - state.view.pointer->y) < kClickPixels;
  const bool pinned = view.pinned_query >= 0 || view.pinned_key >= 0;
  const bool same = hit.query == view.pinned_query && hit.key == view.pinned_key;
  const bool lets_go = same || (still && pinned);
  view.pinned_query = lets_go ? -1 : hit.query;
  view.pinned_key = lets_go ? -1 : hit.key;
}

}  // namespace

void use_mouse(Ui& ui, State& state, const ViewLayout& layout, const View& view) {
  const bool hovered = ImGui::IsItemHovered(), held = ImGui::IsItemActive();
  state.view.hit.reset();
  if (hovered && state.view.pointer && layout.hit) {
    state.view.hit = hit_at(state, layout, *state.view.pointer);
  }
  if (state.shows_other()) {  // B is shown temporarily; edits would apply to A
    if (state.view.hit) state.view.hit->of_reference = true;
    return;
  }
  use_pin(state, hovered);
  const HandleUse use = use_handles(ui, state, layout, hovered, held);
  if (use == HandleUse::Drag) return;
  if (view.cells.zoom) pan_and_zoom(state, layout, ui.scale, hovered, held);
  if (!held) state.view.panning = false;
  if (use == HandleUse::Click) return;
  if (hovered && view.cells.zoom && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    action("fit").run(state);
  }
  if (hovered && !view.cells.zoom && !has_cells(layout) &&
      ImGui::IsMouseReleased(ImGuiMouseButton_Left) && !state.view.panning) {
    open_clicked(state);
  }
  if (!held) state.view.panning = false;
  if (state.view.panning) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
}

}  // namespace attnscope::window
