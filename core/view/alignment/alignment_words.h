// Descriptions of an alignment in words.
#pragma once

#include <string>

#include "core/view/alignment/alignment_numbers.h"

namespace attnscope {

// Subject of the view, for its caption.
std::string describe_alignment(const GeneratedTarget& target, const ViewSettings& view);

// Source, and the first `shown` generated ids: "24 → vierund…".
std::string source_and_target(const GeneratedTarget& target, Index shown);

// Sentence about crossing ribbons of the first `shown` letters; empty if there are too few.
std::string describe_crossing(const GeneratedTarget& target, const AlignmentNumbers& numbers,
                              Index shown);

// "“4” 0.88, “2” 0.12": the source tokens that a row attends to most.
std::string describe_attention(const AlignmentNumbers& numbers, Index row);

}  // namespace attnscope
