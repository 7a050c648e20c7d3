// Plot of cost against sequence length. Both axes are logarithmic: a power law is a straight line.
#pragma once

#include <string>
#include <string_view>

#include "core/analysis/cost_curve.h"
#include "core/figure/display_list.h"

namespace attnscope {

enum class CostQuantity { Time, Operations, Bytes };
CostQuantity cost_quantity(std::string_view name);  // "time", ...; else throws InputError
std::string name_of(CostQuantity quantity);

struct CostPlotOptions {
  CostQuantity quantity = CostQuantity::Time;
  // Measured values (dots) and formula values (dashed next to dots). Operations are always counted.
  bool measured = true, formula = false;
  bool guides = true;  // published growth, through the last point of each variant
  double width = 900, height = 560;
};

// Value of a quantity at a point, by formula unless `measured`; NaN if unknown.
double cost_number(const CostCurves& curves, const CostPoint& point, CostQuantity quantity,
                   bool measured);

DisplayList cost_plot(const CostCurves& curves, const CostPlotOptions& options, const Theme& theme,
                      const TextMeasure& measure);

// "1.5 ms", "2 G", "64 MiB": a value with its unit, for axes and tables.
std::string cost_text(CostQuantity quantity, double number);

}  // namespace attnscope
