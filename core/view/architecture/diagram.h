// A model as the boxes of a figure: what its config says, without places on a page.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/view/view.h"

namespace attnscope {

// One box.
struct DiagramPart {
  enum class Kind {
    Words,  // what goes in or comes out: no box
    Embedding,
    Position,
    Norm,
    Attention,
    FeedForward,
    Sum,   // residual: a circle with a plus
    Gate,  // a join with weights of its own
    Cell,  // of a recurrent network
    Output,
    Memory,
    Exit,
    Layers,  // others than those that are drawn
  };
  Kind kind = Kind::Words;
  std::string title;
  std::vector<std::string> notes{};  // smaller, below it: sizes, what was chosen
  std::string help{};                // in one sentence what it computes
  std::string view{};                // where it is shown; empty: nowhere
  // What else a click sets, beside the view.
  std::function<void(Experiment&)> aim{};
  Index parameters = 0;
  bool loops = false;  // its output is its next input
  // Heads whose weights a small map in the box shows; null: none.
  const AttentionTap* tap = nullptr;
};

struct DiagramRow {
  std::vector<DiagramPart> parts;  // side by side
  // Of a Sum or a Gate: the row whose input also comes here, around what is between; -1: none.
  int skips = -1;
  int stream = -1;  // reversible: 0 joins the left stream, 1 the right one; -1: there are none
  // Beside it, tied to its first part; an arrow leads from `left` to it, and from it to `right`.
  std::optional<DiagramPart> left{}, right{};
};

// Rows that repeat.
struct DiagramFrame {
  std::size_t first = 0, last = 0;
  std::vector<std::string> labels{};  // "× 4", "layers 0–3", "shown: 2": beside it
  bool chosen = false;                // the layer that is looked at is one of them
  bool streams = false;               // two of them run through it
  bool loops = false;                 // it is applied again and again
  std::string loop{};                 // "up to 6 times"
};

// From below to above.
struct DiagramColumn {
  std::string title{};  // "Encoder"; empty where there is one column
  std::vector<DiagramRow> rows;
  std::vector<DiagramFrame> frames;
};

// An arrow from a row of the first column to one of the second.
struct DiagramLink {
  std::size_t from = 0, to = 0;
  bool from_top = true;  // else from its side
};

struct Diagram {
  std::vector<DiagramColumn> columns;
  std::vector<DiagramLink> links;
  Index parameters = 0;  // of all that is trained
};

// Of the model that the run went through, and the layer that is looked at. Trace::config must be
// there and have layers.
Diagram model_diagram(const Trace& trace, const Experiment& experiment);

}  // namespace attnscope
