// loss.csv and loss.png of a training's folder: how the loss went, step by step.
#pragma once

#include <filesystem>
#include <vector>

#include "core/training/train.h"

namespace attnscope {

struct LossRow {
  Index step = 0;
  double loss = 0;  // nats per token
  double rate = 0;
  double tokens_per_second = 0;
  Score held_out;  // where the step was followed by an evaluation
};

// Kept whole in memory and written anew at every save.
class LossLog {
 public:
  explicit LossLog(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Keeps what an earlier run wrote about the first `steps` steps. InputError names the line of a
  // file that was not written by a LossLog.
  void keep(Index steps);
  void add(const LossRow& row);
  // Adds a score to the last row, where there is one.
  void add_score(const Score& score);
  const std::vector<LossRow>& rows() const { return rows_; }
  void save() const;

 private:
  std::filesystem::path folder_;
  std::vector<LossRow> rows_;
};

}  // namespace attnscope
