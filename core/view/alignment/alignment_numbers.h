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

// All that the picture needs of a target for as long as its settings stay.
struct AlignmentNumbers {
  Tensor weights{};                             // [rows, L_source]
  std::vector<Index> strongest{};               // [rows] the source token that gets the most
  std::vector<double> chances{};                // [rows]
  std::vector<std::string> labels{}, source{};  // of rows, of source tokens
  Index rows() const { return weights.dim(0); }
  Index sources() const { return weights.dim(1); }
};
std::shared_ptr<const AlignmentNumbers> alignment_numbers(
    const ViewInput& input, const std::shared_ptr<const WrittenTarget>& written);

// Whether the model reads a source and writes a target.
bool reads_source(const Trace& trace);
inline constexpr const char* kNoSource =
    "This model reads no source whose words it could write anew.";

// Weights, and what could have come at each letter.
ViewData alignment_data(const ViewInput& input);

}  // namespace attnscope
