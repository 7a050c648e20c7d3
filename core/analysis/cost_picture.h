// What variants take against the length, as a picture: both axes logarithmic, so that a growth is
// a slope.
#pragma once

#include <string>
#include <string_view>

#include "core/analysis/cost_curve.h"
#include "core/figure/display_list.h"

namespace attnscope {

enum class CostQuantity { Time, Operations, Bytes };
CostQuantity cost_quantity(std::string_view name);  // "time", "operations", "bytes"; InputError
std::string name_of(CostQuantity quantity);

struct CostLook {
  CostQuantity quantity = CostQuantity::Time;
  // Which numbers are drawn: those measured, with dots, and those by formula, dashed where both
  // are. Operations are counted, whatever these say.
  bool measured = true, formula = false;
  bool guides = true;  // the paper's growth, through the longest length of each variant
  double width = 900, height = 560;
};

// One number of a point, NaN where there is none.
double cost_number(const CostCurves& curves, const CostPoint& point, CostQuantity quantity,
                   bool measured);

DisplayList cost_picture(const CostCurves& curves, const CostLook& look, const Theme& theme,
                         const TextMeasure& measure);

// "1.5 ms", "2 G", "64 MiB": a number of the quantity, for axes and tables.
std::string cost_text(CostQuantity quantity, double number);

}  // namespace attnscope
