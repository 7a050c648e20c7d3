#include "core/view/alignment/alignment_numbers.h"

#include <algorithm>

#include "core/analysis/crossing.h"
#include "core/base/error.h"
#include "core/model/architecture.h"
#include "core/model/config.h"
#include "core/view/parts/cached_numbers.h"
#include "core/view/parts/describe.h"

namespace attnscope {
namespace {

const TracePart kCross{Stack::Decoder, AttentionKind::Cross};

std::vector<HeadRef> heads_of(const Trace& trace, const ViewSettings& view) {
  const std::string selection = view_values(view, "alignment").choice("of");
  if (selection == "head") return {{view.layer, view.head, kCross}};
  std::vector<HeadRef> heads = trace.heads(kCross);
  if (selection == "last") {
    std::erase_if(heads, [last = trace.layer_count(kCross) - 1](const HeadRef& head) {
      return head.layer != last;
    });
  }
  return heads;
}

std::vector<double> token_probabilities(const GeneratedTarget& target, Index row) {
  return probabilities(target.trace->logits.row(row), {});
}

}  // namespace

Tensor alignment_weights(const GeneratedTarget& target, const ViewSettings& view) {
  const Trace& trace = *target.trace;
  const std::vector<HeadRef> heads = heads_of(trace, view);
  Tensor mean;
  for (const HeadRef& head : heads) {
    Index head_in_group = 0;
    const AttentionTap* tap = trace.find(head, &head_in_group);
    if (tap == nullptr) {
      throw InputError("no layer " + std::to_string(head.layer) + " with a head " +
                       std::to_string(head.head) + " in the cross-attention, which has " +
                       describe_layers_and_heads(trace, kCross) + ", counted from 0");
    }
    const Tensor weights = tap->attention(head_in_group);  // [rows, L_source]
    if (!mean.defined()) mean = Tensor::zeros(weights.shape());
    for (Index n = 0; n < weights.size(); ++n) {
      mean[n] += weights[n] / static_cast<float>(heads.size());
    }
  }
  if (!mean.defined()) throw InputError("the model has no attention from target to source");
  return mean;
}

std::string describe_weights(const GeneratedTarget& target, const ViewSettings& view) {
  const Trace& trace = *target.trace;
  const std::vector<HeadRef> heads = heads_of(trace, view);
  const std::string selection = view_values(view, "alignment").choice("of");
  if (heads.size() == 1) {
    return trace.layer_count(kCross) == 1 && trace.head_count(kCross, 0) == 1
               ? "its only attention"
               : "layer " + std::to_string(heads[0].layer) + ", head " +
                     std::to_string(heads[0].head);
  }
  return "mean over the " + std::to_string(heads.size()) + " heads of " +
         (selection == "last" ? "the last layer" : "all layers");
}

std::vector<double> target_probabilities(const GeneratedTarget& target) {
  std::vector<double> result;
  for (Index row = 0; row < target.rows(); ++row) {
    const auto id = static_cast<std::size_t>(target.ids[static_cast<std::size_t>(row)]);
    result.push_back(token_probabilities(target, row).at(id));
  }
  return result;
}

std::vector<Candidate> candidates_at(const GeneratedTarget& target, Index row, Index count) {
  return likeliest(token_probabilities(target, row), count);
}

std::string candidate_label(const GeneratedTarget& target, std::int32_t id) {
  const ModelConfig& config = *target.trace->config;
  if (id == static_cast<std::int32_t>(config.architecture.values.integer("start"))) {
    return "■ (end)";
  }
  return token_label(*target.trace, id);
}

Index letter_count(const GeneratedTarget& target) {
  return target.rows() - (target.ended ? 1 : 0);
}

std::shared_ptr<const AlignmentNumbers> alignment_numbers(
    const ViewInput& input, const std::shared_ptr<const GeneratedTarget>& target) {
  const ViewSettings& view = input.session.view;
  const CacheKey key("alignment", view_values(view, "alignment").choice("of"), view.layer,
                     view.head);
  return cached_numbers(input, target, key, [&] {
    AlignmentNumbers numbers{.weights = alignment_weights(*target, view)};
    numbers.strongest = strongest_sources(numbers.weights);
    numbers.probabilities = target_probabilities(*target);
    numbers.labels = generated_labels(*target);
    for (const TraceToken& token : target->trace->streams.front().tokens) {
      numbers.source.push_back(token.label);
    }
    return numbers;
  });
}

bool reads_source(const Trace& trace) {
  return trace.config != nullptr &&
         architecture(trace.config->architecture.id).reads == Reads::SourceAndTarget;
}

Refusal refuse_alignment(const Trace& trace) {
  if (!reads_source(trace)) {
    return {"No source to align a target with",
            "Choose a model that maps one sequence to another: an encoder-decoder (“numbers”) or a "
            "recurrent one with attention (“numbers-additive”), and a source such as 24."};
  }
  const Values& values = trace.config->architecture.values;
  if (values.has("score") && values.choice("score") == "none") {
    return {"This model has no attention to align target and source with",
            "Its decoder knows the source only from the encoder's last state. Choose a model with "
            "attention (“numbers-additive”), or set the architecture's score to additive or dot."};
  }
  return {};
}

ViewData alignment_data(const ViewInput& input) {
  refuse_alignment(input.trace).throw_if_refused();
  const auto target = input.findings.get(Findings::written);
  if (target == nullptr) throw InputError("alignment: the target is not generated yet");
  if (!target->problem.empty()) throw InputError(target->problem);
  const auto numbers = alignment_numbers(input, target);
  Tensor letters({target->rows(), 3});
  for (Index row = 0; row < target->rows(); ++row) {
    const auto n = static_cast<std::size_t>(row);
    letters(row, 0) = static_cast<float>(target->ids[n]);
    letters(row, 1) = static_cast<float>(numbers->probabilities[n]);
    letters(row, 2) = row < target->given ? 1 : 0;
  }
  return {{{"alignment", numbers->weights, numbers->labels, numbers->source},
           {"target", letters, numbers->labels, {"token id", "probability", "given"}}}};
}

}  // namespace attnscope
