// Figure and table of predictions by source length, of one or more models.
#pragma once

#include <string>
#include <vector>

#include "core/figure/display_list.h"
#include "core/training/text_pairs.h"

namespace attnscope {

struct ModelTallies {
  std::string model;
  TallyByLength tallies;
};

// Share of sources whose whole target is right, over the number of source tokens, with one curve
// for each model.
DisplayList length_picture(const std::vector<ModelTallies>& models, double width, double height,
                           const Theme& theme, const TextMeasure& measure);

// Columns: model, source tokens, pairs, exact matches (share), token accuracy, loss (nats per
// token).
std::string to_csv(const std::vector<ModelTallies>& models);
// The same numbers as aligned text, with one row for each length. For two or more models, only
// their shares of exact matches, side by side.
std::string to_table(const std::vector<ModelTallies>& models);

}  // namespace attnscope
