// Achieved return by requested return of Decision Transformers on the grid or in the plane
// (acting.h), with all earlier steps or only the last ones, next to behaviour cloning (Chen et al.,
// 2021, section 5).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/figure/display_list.h"
#include "core/training/acting.h"

namespace attnscope {

struct ReturnCurve {
  std::string model;
  Index context = 0;        // number of last steps that the model sees; 0: all
  bool conditioned = true;  // false: behaviour cloning, which does not see the requested return
  // For 1, 2, ... requested steps, over the starts from which the goal is that near: mean achieved
  // return, and share of rollouts that reach the goal within the requested steps. A rollout that
  // misses the goal has the return of one step more than the maximum, as in training. NaN without
  // such starts.
  std::vector<double> achieved, within;  // [max_steps]
  World world = World::Grid;
};

struct ReturnCurves {
  Index max_steps = 0;
  std::vector<ReturnCurve> curves;
};

// Acts greedily from every start, for every requested return. Throws InputError for models with a
// world_refusal().
ReturnCurve achieved_returns(const Checkpoint& checkpoint, Index context);

// For each model, a curve with all earlier steps and, if it sees returns, one with the last step
// alone. Shorter maximum lengths of models limit all curves. Throws InputError for models of
// different environments.
ReturnCurves return_curves(const std::vector<std::shared_ptr<const Checkpoint>>& models);

// Achieved over requested return, with the diagonal "as requested".
DisplayList returns_picture(const ReturnCurves& curves, double width, double height,
                            const Theme& theme, const TextMeasure& measure);
// Columns: model, context (steps; "all"), conditioned, requested, achieved, within.
std::string to_csv(const ReturnCurves& curves);
std::string to_table(const ReturnCurves& curves);

}  // namespace attnscope
