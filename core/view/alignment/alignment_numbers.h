// Numbers behind the alignment view.
#pragma once

#include <string>
#include <vector>

#include "core/experiment/generated_target.h"
#include "core/model/sample.h"
#include "core/view/parts/refusal.h"
#include "core/view/view.h"

namespace attnscope {

// Weights of the target's rows on the source tokens, [rows, L_source]. The parameter "of" selects
// "last" (mean over the heads of the last layer), "all" (mean over all layers and heads) or "head"
// (the selected head).
Tensor alignment_weights(const GeneratedTarget& target, const ViewSettings& view);
std::string describe_weights(const GeneratedTarget& target, const ViewSettings& view);

// Predicted probability of each token of the target: [rows].
std::vector<double> target_probabilities(const GeneratedTarget& target);
// The `count` most likely tokens for row `row` of the target, in descending order.
std::vector<Candidate> candidates_at(const GeneratedTarget& target, Index row, Index count);
// Label of a candidate, in the style of generated_labels().
std::string candidate_label(const GeneratedTarget& target, std::int32_t id);

// Number of letters of the target: its rows without the row of the end token.
Index letter_count(const GeneratedTarget& target);

// Numbers that the picture shows for a target with the current settings.
struct AlignmentNumbers {
  Tensor weights{};                     // [rows, L_source]
  std::vector<Index> strongest{};       // [rows] index of the source token with the largest weight
  std::vector<double> probabilities{};  // [rows] target_probabilities()
  std::vector<std::string> labels{}, source{};  // labels of rows and of source tokens
  Index rows() const { return weights.dim(0); }
  Index sources() const { return weights.dim(1); }
};
std::shared_ptr<const AlignmentNumbers> alignment_numbers(
    const ViewInput& input, const std::shared_ptr<const GeneratedTarget>& target);

// True for encoder-decoder models.
bool reads_source(const Trace& trace);
// Reason why a model has no alignment: it reads no source, or has no attention to it.
Refusal refuse_alignment(const Trace& trace);

// Exported numbers: weights; for each row the token id, the probability, and 1 if prescribed.
ViewData alignment_data(const ViewInput& input);

}  // namespace attnscope
