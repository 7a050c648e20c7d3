// What an alignment says in words.
#pragma once

#include <string>

#include "core/view/alignment/alignment_numbers.h"

namespace attnscope {

// For the caption.
std::string about_alignment(const WrittenTarget& written, const ViewSettings& view);

// "24 → vierund…": so many ids of the target are written.
std::string source_and_target(const WrittenTarget& written, Index shown);

// Whether the lines cross, in a sentence, of what is written so far; empty where that says nothing.
std::string crossing_words(const WrittenTarget& written, const AlignmentNumbers& numbers,
                           Index shown);

// "“4” 0.88, “2” 0.12": what a row looks at most.
std::string looks_at_words(const AlignmentNumbers& numbers, Index row);

}  // namespace attnscope
