#include "core/view/intervene/switch_board.h"

#include <algorithm>

#include "core/view/parts/fact_table.h"
#include "core/view/parts/token_axis.h"

namespace attnscope {
namespace {

constexpr double kCell = 1.9;           // em: desired distance of switches
constexpr double kMinCell = 0.5;        // em
constexpr double kMinWindowCell = 0.7;  // em: switches of a board that omits layers
constexpr Index kMinWindow = 5;         // layers
constexpr double kTop = 3.0;            // em: title and numbers of the columns
constexpr double kLeft = 6.4;           // em: "layer 11" and its switch
constexpr double kLayerSwitch = 1.4;    // em: largest switch of a whole layer
constexpr double kLayerGap = 0.5;       // em between the switches of layers and heads

// The part whose heads have switches. A switch applies to its head in all steps and segments.
TracePart switched_part(const Trace& trace) {
  return trace.part({Stack::Decoder, AttentionKind::Self});
}

Index max_head_count(const Trace& trace) {
  Index heads = 0;
  for (const HeadRef& ref : trace.heads(switched_part(trace)))
    heads = std::max(heads, ref.head + 1);
  return heads;
}

void toggle_switch(Session& session, Index layer, Index head) {
  Intervention off;
  off.layer = layer;
  off.head = head;
  auto& list = session.run.interventions;
  if (std::erase(list, off) == 0) list.push_back(off);
}

void draw_switch(Page& page, const Box& box, bool is_on, bool is_layer_off) {
  const double gap = std::min(0.12 * box.width, 2.0);
  const Box inner{box.x + gap, box.y + gap, box.width - 2 * gap, box.height - 2 * gap};
  const Theme& theme = page.theme();
  if (is_on) {
    const Colour fill = blend(theme.background, first_colour(), is_layer_off ? 0.25 : 0.8);
    page.add(FilledBox{inner, fill, 0.15 * inner.width});
    return;
  }
  page.add(OutlinedBox{inner, theme.accent, 1});
  page.add(Line{{{inner.x, inner.y}, {inner.right(), inner.bottom()}}, theme.accent, 1.5});
  page.add(Line{{{inner.x, inner.bottom()}, {inner.right(), inner.y}}, theme.accent, 1.5});
}

std::string describe_toggle(const std::string& target, bool is_on) {
  return is_on ? "Switch " + target + " off." : "Switch " + target + " on again.";
}

// Size of a board for numbers of rows and columns. Does not set the shown layers.
BoardSize board_of(double em, double cell, double rows, double columns) {
  BoardSize size;
  size.cell = cell;
  size.width = kLeft * em + columns * cell;
  size.height = kTop * em + rows * cell;
  return size;
}

class Board {
 public:
  Board(Page& page, Point corner, const BoardSize& size, const Trace& trace)
      : page_(page),
        corner_(corner),
        size_(size),
        trace_(trace),
        part_(switched_part(trace)),
        interventions_(page.input().session.run.interventions),
        origin_{corner.x + kLeft * page.em(), corner.y + kTop * page.em() + layers_above()} {}

  std::vector<Handle> draw() {
    draw_titles();
    for (Index n = 0; n < size_.layers; ++n) draw_layer(size_.first_layer + n);
    return std::move(handles_);
  }

 private:
  double em() const { return page_.em(); }
  double side() const { return std::min(size_.cell, kLayerSwitch * em()); }
  // Height of the row of layer switches above the heads.
  double layers_above() const { return size_.has_layers_across ? side() + kLayerGap * em() : 0; }

  // Box of a head's switch; if head is -1, box of the layer's switch.
  Box box_of(Index layer, Index head) const {
    const double cell = size_.cell, along = static_cast<double>(layer - size_.first_layer) * cell;
    if (head < 0) {
      const double across = -kLayerGap * em() - side(), inset = (cell - side()) / 2;
      return size_.has_layers_across
                 ? Box{origin_.x + along + inset, origin_.y + across, side(), side()}
                 : Box{origin_.x + across, origin_.y + along + inset, side(), side()};
    }
    const double across = static_cast<double>(head) * cell;
    return size_.has_layers_across ? Box{origin_.x + along, origin_.y + across, cell, cell}
                                   : Box{origin_.x + across, origin_.y + along, cell, cell};
  }

  void draw_titles() {
    const double y = corner_.y + 0.6 * em(), right = corner_.x + size_.width;
    const bool across = size_.has_layers_across;
    page_.text({corner_.x, y}, "Switches", em());
    std::vector<std::string> columns{across ? "layer" : "head"};
    if (size_.is_partial) {
      const std::string range = std::to_string(size_.first_layer) + " to " +
                                std::to_string(size_.first_layer + size_.layers - 1);
      const std::string count = std::to_string(trace_.layer_count(part_));
      columns = {"layers " + range + " of " + count, range + " of " + count};
    }
    const double x = std::max(origin_.x, corner_.x + page_.width_of("Switches", em()) + 0.6 * em());
    page_.faint_text({x, y}, page_.fitting(columns, page_.small(), right - x), page_.small());
    const Index heads = max_head_count(trace_);
    draw_layer_switch_name();
    draw_column_numbers(across ? size_.first_layer : 0, across ? size_.layers : heads);
    draw_row_names(across ? "head " : "layer ", across ? 0 : size_.first_layer,
                   across ? heads : size_.layers);
  }

  // Names the switches of whole layers: above their column, or to the left of their row.
  void draw_layer_switch_name() {
    const Box first = box_of(size_.first_layer, -1);
    if (size_.has_layers_across) {
      page_.faint_text({corner_.x, first.y + first.height / 2}, "all heads", page_.small());
    } else {
      page_.faint_text({first.x + first.width / 2, corner_.y + (kTop - 0.7) * em()}, "all",
                       page_.small(), Align::Middle);
    }
  }

  void draw_column_numbers(Index first, Index count) {
    const Index step = label_step(size_.cell, page_.width_of("00", page_.small()) + 0.4 * em());
    const double y = corner_.y + (kTop - 0.7) * em();
    for (Index n = 0; n < count; ++n) {
      if ((first + n) % step != 0) continue;
      page_.faint_text({origin_.x + (static_cast<double>(n) + 0.5) * size_.cell, y},
                       std::to_string(first + n), page_.small(), Align::Middle);
    }
  }

  void draw_row_names(const std::string& name, Index first, Index count) {
    const Index step = label_step(size_.cell, 1.2 * em());
    for (Index n = 0; n < count; ++n) {
      if ((first + n) % step != 0) continue;
      page_.faint_text({corner_.x, origin_.y + (static_cast<double>(n) + 0.5) * size_.cell},
                       name + std::to_string(first + n), page_.small());
    }
  }

  void draw_layer(Index layer) {
    const bool is_layer_on = !is_off(interventions_, layer);
    const std::string name = "layer " + std::to_string(layer);
    draw_switch(page_, box_of(layer, -1), is_layer_on, false);
    add_handle(layer, -1, describe_toggle("all of " + name, is_layer_on));
    const ViewInput& input = page_.input();
    const ViewSettings& view = input.session.view;
    for (Index head = 0; head < trace_.head_count(part_, layer); ++head) {
      const Box box = box_of(layer, head);
      const bool is_on = !is_off(interventions_, layer, head);
      draw_switch(page_, box, is_on, !is_layer_on);
      if (!input.figure.framed && view.layer == layer && view.head == head) {
        page_.add(OutlinedBox{box, page_.theme().text, 1});
      }
      add_handle(layer, head,
                 describe_toggle("head " + std::to_string(head) + " of " + name, is_on));
    }
  }

  void add_handle(Index layer, Index head, const std::string& help) {
    handles_.push_back({box_of(layer, head), help, {}, [layer, head](Session& session) {
                          toggle_switch(session, layer, head);
                        }});
  }

  Page& page_;
  const Point corner_;
  const BoardSize& size_;
  const Trace& trace_;
  const TracePart part_;
  const Interventions& interventions_;
  const Point origin_;  // top left of the heads' switches
  std::vector<Handle> handles_;
};

}  // namespace

BoardSize switch_board_size(const Page& page, const Trace& trace, double max_width,
                            double max_height) {
  const double em = page.em();
  const Index layer_count = std::max<Index>(1, trace.layer_count(switched_part(trace)));
  const auto heads = static_cast<double>(std::max<Index>(1, max_head_count(trace)));
  const auto layers = static_cast<double>(layer_count);
  const double width = max_width - kLeft * em, height = max_height - kTop * em;
  const double down = std::min({kCell * em, width / heads, height / layers});
  // If layers are columns, the switches of whole layers are in a row above the heads.
  const double above = kLayerGap * em;
  const double across = std::min({kCell * em, width / layers, (height - above) / (heads + 1)});
  BoardSize size;
  if (std::max(down, across) >= kMinCell * em) {
    size = down >= across ? board_of(em, down, layers, heads)
                          : board_of(em, across, heads + 1, layers);
    size.has_layers_across = down < across;
    if (size.has_layers_across) size.height += above;
    size.layers = layer_count;
    return size;
  }
  const double cell = std::min(kMinWindowCell * em, width / heads);
  if (cell < kMinCell * em || height < static_cast<double>(kMinWindow) * cell) return {};
  const auto shown = static_cast<Index>(height / cell);
  size = board_of(em, cell, static_cast<double>(shown), heads);
  size.layers = shown;
  size.first_layer = std::clamp<Index>(page.input().session.view.layer - shown / 2, 0,
                                       std::max<Index>(0, layer_count - shown));
  size.is_partial = true;
  return size;
}

std::vector<Handle> draw_switch_board(Page& page, Point corner, const BoardSize& size,
                                      const Trace& trace) {
  return Board(page, corner, size, trace).draw();
}

}  // namespace attnscope
