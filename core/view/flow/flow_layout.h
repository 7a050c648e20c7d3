// Layout of the flow view.
#pragma once

#include <optional>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

// Stages of a token's path.
enum class FlowStage {
  Tokens = 1,
  Embedding,
  Vectors,  // queries, keys and values
  Scores,
  Softmax,
  Weighted,
  Heads,
  Residual,
  FeedForward,
  Layers,
  Next,
  Whole  // all stages
};
inline constexpr Index kFlowSteps = static_cast<Index>(FlowStage::Whole);

struct FlowPanel {
  FlowStage stage = FlowStage::Whole;
  Box box{};
  bool is_present() const { return box.width > 0; }
};

// Quantities that determine the layout.
struct FlowShape {
  Index keys = 0;                      // maximum number of key rows
  Index extra_rows = 0;                // rows below the keys: other keys, sum
  bool compares = true;                // the head compares queries with keys
  Index residual_rows = 2;             // rows of the residual panel
  Index low_rows = 8;                  // maximum number of rows of heads, layers or next tokens
  FlowStage stage = FlowStage::Whole;  // stage that a narrow page must show
  bool has_large_text = false;         // fewer panels rather than small text
};

struct FlowPlaces {
  double unit = 0;  // font size, and unit of all lengths
  Box narration;
  FlowPanel tokens, embedding, keys, scores, softmax, values, weighted;
  FlowPanel heads, residual, feed_forward, layers, next;  // absent panels are empty
  double label_width = 0;                                 // width of the key labels
  Index shown = 0;                                        // number of keys with a row
  double formula_y = 0, first_y = 0, row = 0;  // head panels: y of formula and row 0; row height
  double bottom = 0;

  double row_y(Index n) const { return first_y + static_cast<double>(n) * row; }
  std::vector<const FlowPanel*> panels() const;  // the present panels
};

// Narrow pages show fewer panels: weights, weighted values and the result. In stages Vectors and
// Scores, panels of keys, scores and values replace the weights. In stages Heads to FeedForward,
// panels of heads and residual replace the layers. Returns nullopt if there is no space.
std::optional<FlowPlaces> place_flow(const Page& page, const Box& inside, const FlowShape& shape);

}  // namespace attnscope
