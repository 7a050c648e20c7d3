// Where the parts of the view Flow stand on the page.
#pragma once

#include <optional>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

// The way of a token, as the view steps through it.
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
  Whole  // all of it
};
inline constexpr Index kFlowSteps = static_cast<Index>(FlowStage::Whole);

struct FlowPanel {
  FlowStage stage = FlowStage::Whole;
  Box box{};
  bool there() const { return box.width > 0; }
};

// What the places hang on.
struct FlowShape {
  Index keys = 0;           // as many rows as there could be
  Index extra_rows = 0;     // below them: the others, the sum ...
  bool compares = true;     // there are keys to draw, and scores
  Index residual_rows = 2;  // what stands before the feed-forward
  Index low_rows = 8;       // of the fullest panel of the last row: heads, layers, next tokens
  FlowStage stage = FlowStage::Whole;  // what a narrow page is to have
};

struct FlowPlaces {
  double unit = 0;  // the size of letters: panels are so many units wide
  Box narration;
  FlowPanel tokens, embedding, keys, scores, softmax, values, weighted;
  FlowPanel heads, residual, feed_forward, layers, next;  // on a narrow page some are not there
  double words = 0;                            // the width of the keys' words in their panel
  Index shown = 0;                             // keys that have a row
  double formula_y = 0, first_y = 0, row = 0;  // in the five panels of the head; middles of rows
  double bottom = 0;

  double row_y(Index n) const { return first_y + static_cast<double>(n) * row; }
  std::vector<const FlowPanel*> all() const;
};

// A narrow page has the weights, what they add up to, and what comes of it; where the stage is
// about queries, keys and scores these and the values, where it is about heads and the residual
// those. Nothing where there is no space for that either.
std::optional<FlowPlaces> place_flow(const Page& page, const Box& inside, const FlowShape& shape);

}  // namespace attnscope
