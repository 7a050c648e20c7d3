// Training log: loss.csv and loss.png in the training folder.
#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "core/training/expected_map.h"
#include "core/training/train.h"

namespace attnscope {

struct LossRow {
  Index step = 0;
  double loss = 0;  // nats per token
  double learning_rate = 0;
  double tokens_per_second = 0;
  Score held_out;          // NaN unless an evaluation followed the step
  ExpectedMatch expected;  // of the best head; NaN unless an evaluation followed the step
  double gradient_norm = std::numeric_limits<double>::quiet_NaN();  // before clipping
  std::vector<double> gradients;                                    // norms by LossLog::layers()
};

// First row whose expected map is found (kFoundContrast); null if there is none.
const LossRow* found_row(const std::vector<LossRow>& rows);

// "Expected map: DESCRIPTION. Best head: layer 1, head 0, 93% of its weight there (uniform
// attention: 8.4%). Found at step 220." The newest measured row counts.
std::string describe_match(const std::string& description, const std::vector<LossRow>& rows);

// Rows stay in memory; saving rewrites the files.
class LossLog {
 public:
  explicit LossLog(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Loads the rows of the first `steps` steps of an earlier run from loss.csv. Throws InputError,
  // with the line, for a file that was not written by a LossLog.
  void load_steps(Index steps);
  void add(const LossRow& row);
  // Adds a score to the last row; no effect without rows.
  void add_score(const Score& score, const ExpectedMatch& expected = {});
  // Names of the groups of weights whose gradient norms the rows have: "layers.0".
  void set_layers(std::vector<std::string> layers) { layers_ = std::move(layers); }
  const std::vector<std::string>& layers() const { return layers_; }
  const std::vector<LossRow>& rows() const { return rows_; }
  void save() const;
  void save_rows() const;  // loss.csv only

 private:
  std::filesystem::path folder_;
  std::vector<LossRow> rows_;
  std::vector<std::string> layers_;
};

}  // namespace attnscope
