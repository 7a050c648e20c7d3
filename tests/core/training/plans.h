// A tiny training, for tests.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/file.h"
#include "core/training/train.h"
#include "tests/support/small_config.h"

namespace attnscope::testing {

inline TrainingPlan tiny_plan(const std::filesystem::path& folder) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "the cat sat on the mat. ";
  write_file(folder / "text.txt", text);
  TrainingPlan plan;
  plan.model = small_config({.layers = 2, .heads = 4, .hidden = 64});
  plan.text = {folder / "text.txt"};
  plan.folder = folder / "model";
  plan.held_out_share = 0.1;
  plan.steps = 120;
  plan.batch = 8;
  plan.rate = 1e-2;
  plan.warm_up = 10;
  plan.evaluate_every = 0;
  plan.half = false;
  return plan;
}

}  // namespace attnscope::testing
