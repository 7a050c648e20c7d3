// Diagram of a model: the boxes that its config describes, without positions on a page.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/view/view.h"

namespace attnscope {

struct DiagramPart {
  enum class Kind {
    Words,  // input or output: text without a box
    Embedding,
    Position,
    Norm,
    Attention,
    FeedForward,
    Sum,   // residual addition: a circle with a plus
    Gate,  // residual connection with weights
    Cell,  // recurrent cell
    Output,
    Memory,
    Exit,
    Layers,  // summary of layers that are not drawn in full
  };
  Kind kind = Kind::Words;
  std::string title;
  std::vector<std::string> notes{};  // smaller text below the title: sizes, choices
  std::string help{};                // one sentence about the computation
  std::string view{};                // id of the view that shows this part; empty: none
  // Selects the part (layer, head) on a click; may be empty.
  std::function<void(Session&)> select{};
  Index parameters = 0;
  bool loops = false;  // recurrent: the part's output is its next input
  // Head group whose weights a thumbnail shows in the box; null: no thumbnail.
  const AttentionTap* tap = nullptr;
};

struct DiagramRow {
  std::vector<DiagramPart> parts;  // side by side
  // Sum or Gate: index of the first bypassed row, whose input this row also reads; -1: none.
  int bypass_start = -1;
  int stream = -1;  // reversible layers: updated stream, 0 left or 1 right; -1: one stream only
  // Parts next to the row. Arrows: from `left` to the first part, from the last part to `right`.
  std::optional<DiagramPart> left{}, right{};
};

// A frame around repeated rows.
struct DiagramFrame {
  std::size_t first = 0, last = 0;
  std::vector<std::string> labels{};  // labels next to the frame: "× 4", "layers 0–3", "shown: 2"
  bool is_selected = false;           // contains the selected layer
  bool has_streams = false;           // reversible: two streams
  bool loops = false;                 // the frame's rows are applied repeatedly
  std::string loop{};                 // number of applications: "up to T = 6 times"
};

// A stack of rows, from bottom to top.
struct DiagramColumn {
  std::string title{};  // "Encoder"; empty for a single column
  std::vector<DiagramRow> rows;
  std::vector<DiagramFrame> frames;
};

// An arrow from a row of the first column to a row of the second column.
struct DiagramLink {
  std::size_t from = 0, to = 0;
  bool from_top = true;  // false: from the side of the row
};

struct Diagram {
  std::vector<DiagramColumn> columns;
  std::vector<DiagramLink> links;
  Index parameters = 0;  // number of trained parameters
};

// Diagram of the run's model; the selected layer is shown in full. Requires Trace::config with
// layers.
Diagram model_diagram(const Trace& trace, const Session& session);

}  // namespace attnscope
