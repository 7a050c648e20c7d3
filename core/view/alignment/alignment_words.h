// Descriptions of an alignment in words.
#pragma once

#include <string>

#include "core/view/alignment/alignment_numbers.h"

namespace attnscope {

// Caption text.
std::string about_alignment(const GeneratedTarget& written, const ViewSettings& view);

// "24 → vierund…" after `shown` generated ids.
std::string source_and_target(const GeneratedTarget& written, Index shown);

// One sentence on whether the ribbons cross so far; empty if there is too little to tell.
std::string crossing_words(const GeneratedTarget& written, const AlignmentNumbers& numbers,
                           Index shown);

// "“4” 0.88, “2” 0.12": the source tokens that a row attends to most.
std::string looks_at_words(const AlignmentNumbers& numbers, Index row);

}  // namespace attnscope
