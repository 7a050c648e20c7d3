// Learning-rate range test (Smith, 2015, Cyclical learning rates, arXiv:1506.01186): a training
// whose learning rate grows exponentially from step to step. The loss falls fastest at a rate that
// is a good peak; it rises where the rate is too high.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/figure/line_chart.h"
#include "core/training/train.h"

namespace attnscope {

struct RateSearchSettings {
  double min_rate = 1e-6, max_rate = 1;
  Index steps = 120;
};

struct RatePoint {
  double rate = 0, loss = 0;
  double smoothed = 0;  // exponential mean of the losses, without bias
};

struct RateSearch {
  std::vector<RatePoint> points;  // ends where the loss has become much larger than its minimum
  double steepest = 0;  // rate at which the smoothed loss falls fastest; 0: it never falls
};

// Trains a fresh model of the plan from its initial weights; writes no files.
RateSearch find_learning_rate(const TrainingPlan& plan, const RateSearchSettings& settings = {},
                              const std::function<void(const RateSearch&)>& progress = {});

std::string to_csv(const RateSearch& search);
LineChart rate_line_chart(const RateSearch& search);  // without a title
DisplayList rate_picture(const RateSearch& search, const std::string& title, const Theme& theme);

}  // namespace attnscope
