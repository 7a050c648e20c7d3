// What the heads of a model do, in numbers, over one text or many.
#pragma once

#include <functional>
#include <optional>
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
  // Where the map is one of words (core/analysis/words.h).
  std::string word_id;              // "previous_word"
  std::string word_label;           // "share on the previous word"
  std::string unit{}, word_unit{};  // "tokens", "words"; empty: it is a share
  std::string requires_text{};      // what a text must have for it to be known; empty: nothing
};
const std::vector<HeadMeasure>& head_measures();

struct HeadTable {
  struct Row {
    HeadRef at;
    HeadStatistics statistics{};
  };
  std::vector<Row> rows;           // by layer and head
  AddressParts parts{};            // what of their places tells rows apart, beside these
  bool segments_together = false;  // a row is over all segments: theirs are 0
  bool words = false;              // of words, which `tokens` counts
  Index texts = 0, tokens = 0;     // that were measured
  const HeadStatistics* find(const HeadRef& at) const;  // null when there is none
};

// Of one head of a run.
HeadStatistics head_statistics(const Trace& trace, const AttentionTap& tap, Index head_in_group);

// Of one run, all of it or one part; also of one of words (core/analysis/words.h). Tokens that are
// not known (id -1) have no same-token and induction scores.
HeadTable head_table(const Trace& trace, const std::optional<TracePart>& only = std::nullopt);

// Over a file's texts: blank lines part them, and what is longer than the model's context goes on
// as a further text. Each is run as `experiment` says (its own text aside), and measured between
// words where its view merges them (ViewSettings::words); those of a single token say nothing.
// `progress` is told the bytes that are done. InputError where no text is left, or no text has a
// word to merge.
using TextProgress = std::function<void(std::size_t done, std::size_t all)>;
HeadTable head_table(const Experiment& experiment, const std::string& texts, ExperimentRun& run,
                     const TextProgress& progress, const Stop& stop);

// "layer,head,entropy,distance,...": a line a head; what no row says is empty. Before these stack,
// kind, step and segment where the model has several. Of words the columns are
// HeadMeasure::word_id.
std::string to_csv(const HeadTable& table);

// The key column of the text's first token: those before it are memory. -1: there is none.
Index first_token_column(const AttentionTap& tap);

}  // namespace attnscope
