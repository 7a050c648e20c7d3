// Statistics of a model's heads over one or more texts.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/statistics.h"
#include "core/base/stop.h"
#include "core/experiment/run_spec.h"
#include "core/trace/trace.h"

namespace attnscope {

class ExperimentRun;

struct HeadMeasure {
  std::string id;     // "previous_token": name on the command line and in CSV files
  std::string label;  // "share on the previous token"
  std::string help;   // description in one sentence
  double HeadStatistics::*value;
  // Names for statistics between words (core/analysis/words.h).
  std::string word_id;              // "previous_word"
  std::string word_label;           // "share on the previous word"
  std::string unit{}, word_unit{};  // "tokens", "words"; empty for shares
  std::string requires_text{};      // text property that the statistic needs; empty: none
};
const std::vector<HeadMeasure>& head_measures();

struct HeadTable {
  struct Row {
    HeadRef at;
    HeadStatistics statistics{};
  };
  std::vector<Row> rows;             // sorted by part, layer and head
  AddressParts parts{};              // address components besides layer and head that vary
  bool has_merged_segments = false;  // rows are means over all segments; HeadRef has segment 0
  bool words = false;                // statistics between words; `tokens` counts words
  Index texts = 0, tokens = 0;       // number of measured texts and tokens
  const HeadStatistics* find(const HeadRef& at) const;  // null if the table lacks this head
};

HeadStatistics head_statistics(const Trace& trace, const AttentionTap& tap, Index head_in_group);
HeadBaseline head_baseline(const Trace& trace, const AttentionTap& tap, Index head_in_group);

// Statistics of a run, whose words may be merged (core/analysis/words.h), or of its part `only`.
// Same-token and induction scores are undefined (NaN) if a token is unknown (id -1), and for
// cross-attention.
HeadTable head_table(const Trace& trace, const std::optional<TracePart>& only = std::nullopt);

// Statistics over `texts`, which are separated by blank lines. Each text is run with the settings
// of `spec`. Texts longer than the model's context are split; texts of a single token are skipped.
// in_words: measures between words. `progress` counts bytes of `texts`. Throws InputError if all
// texts are skipped, or if in_words is set and no word has several tokens.
using TextProgress = std::function<void(std::size_t done, std::size_t total)>;
HeadTable head_table(const RunSpec& spec, const std::string& texts, bool in_words,
                     ExperimentRun& run, const TextProgress& progress);

// CSV: "layer,head,entropy,distance,...", one line per head; undefined values are empty. If the
// model has several stacks, kinds, steps or segments, columns for them come first. Statistics
// between words have the columns HeadMeasure::word_id.
std::string to_csv(const HeadTable& table);

// Key column of the first token of the text; earlier columns are memory. -1 if all keys are memory.
Index first_token_column(const AttentionTap& tap);

}  // namespace attnscope
