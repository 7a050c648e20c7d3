// Figure and tables of bits per byte by window length.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/figure/display_list.h"
#include "core/training/extrapolation.h"

namespace attnscope {

// One curve for each model, dashed for absolute positions. Dotted vertical lines mark the lengths
// of training.
DisplayList extrapolation_picture(const LengthCurves& curves, double width, double height,
                                  const Theme& theme, const TextMeasure& measure);

// Columns: model, position, kind, trained_length, length, bits_per_byte, loss (nats per token),
// note. Unknown numbers are empty.
std::string to_csv(const LengthCurves& curves);
// {"bytes", "models": [{"model", "position", "kind", "trained_length", "points": [{"length",
// "bits_per_byte", "loss"} or {"length", "missing"}]}]}.
Json to_json(const LengthCurves& curves);
// Bits per byte as aligned text: a row for each length, a column for each model. An asterisk marks
// lengths beyond the model's training.
std::string to_table(const LengthCurves& curves);

}  // namespace attnscope
