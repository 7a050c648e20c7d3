// The numbers behind the view of an alignment.
#pragma once

#include <string>
#include <vector>

#include "core/experiment/written.h"
#include "core/model/sample.h"
#include "core/view/view.h"

namespace attnscope {

// Whose weights are shown: "last" (the mean over the heads of the last layer), "all" (over all
// layers and heads) or "head".
Tensor alignment_weights(const WrittenTarget& written,
                         const ViewSettings& view);  // [rows, L_source]
std::string alignment_of(const WrittenTarget& written, const ViewSettings& view);  // in words

// The probability of each id of the target when its turn came.  [rows]
std::vector<double> written_chances(const WrittenTarget& written);
// What could have come in the place of id `row`, the likeliest first.
std::vector<Candidate> candidates_at(const WrittenTarget& written, Index row, Index count);
// As written_labels() has them.
std::string candidate_label(const WrittenTarget& written, std::int32_t id);

// Rows that are letters, without the end.
Index letters_of(const WrittenTarget& written);

}  // namespace attnscope
