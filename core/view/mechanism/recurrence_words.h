// Words of the picture of a recurrent state, by kind of recurrence.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/recurrence.h"

namespace attnscope {

// Alternatives from long to short, of which the first that fits is drawn.
using Wordings = std::vector<std::string>;

struct RecurrenceWords {
  Wordings write, read;  // sentences
  std::string before;    // titles of the matrices; short forms are fixed
  std::string added;
  std::string after;
  std::string key, query;       // vectors left of the added and of the new state; empty: none
  std::string value, gate;      // vectors above them; empty: none
  std::string scale = "state";  // label of the colour bar
  Wordings note;                // below the matrices
  std::string channel_mean;     // row of Recurrence::channel_means; empty: none
};

// word: the quoted token t.
RecurrenceWords recurrence_words(const Recurrence& recurrence, Index t, const std::string& word);

}  // namespace attnscope
