// What the heads of a model do, in numbers, over one text or many.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/analysis/statistics.h"
#include "core/base/stop.h"
#include "core/experiment/experiment.h"
#include "core/trace/trace.h"

namespace attnscope {

class ExperimentRun;

// The statistics by name, in the order in which they are listed.
struct HeadMeasure {
  std::string id;     // "previous_token": on the command line and in CSV files
  std::string label;  // "share on the previous token"
  std::string help;   // one sentence
  double HeadStatistics::*value;
};
const std::vector<HeadMeasure>& head_measures();

struct HeadTable {
  struct Row {
    Index layer = 0, head = 0;
    HeadStatistics statistics;
  };
  std::vector<Row> rows;                                      // by layer and head
  Index texts = 0, tokens = 0;                                // that were measured
  const HeadStatistics* find(Index layer, Index head) const;  // null when there is none
};

// Of one run. Tokens that are not known (id -1) have no same-token and induction scores.
HeadTable head_table(const Trace& trace);

// Over a file's texts: blank lines part them, and what is longer than the model's context goes on
// as a further text. Each is run as `experiment` says (its own text aside); those of a single token
// say nothing. `progress` is told the bytes that are done. InputError where no text is left.
using TextProgress = std::function<void(std::size_t done, std::size_t all)>;
HeadTable head_table(const Experiment& experiment, const std::string& texts, ExperimentRun& run,
                     const TextProgress& progress, const Stop& stop);

// "layer,head,entropy,distance,...": a line a head; what no row says is empty.
std::string to_csv(const HeadTable& table);

// The key column of the text's first token: those before it are memory. -1: there is none.
Index first_token_column(const AttentionTap& tap);

}  // namespace attnscope
