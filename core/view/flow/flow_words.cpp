#include "core/view/flow/flow_words.h"

#include <cmath>

#include "core/attention/variants/shared/implied_rows.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/model/architecture.h"
#include "core/model/capability.h"
#include "core/model/config.h"
#include "core/view/parts/describe.h"

namespace attnscope {
namespace {

constexpr double kSumTolerance = 1e-3;

std::string quoted(const std::string& text) {
  return "“" + text + "”";
}

std::string count_of(Index count, const std::string& noun) {
  return grouped(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string head_name(const FlowStory& s) {
  const ViewSettings& view = s.session.view;
  return "head " + std::to_string(view.head) + " of layer " + std::to_string(view.layer);
}

bool is_recurrent(const FlowStory& s) {
  const ModelConfig* config = s.trace.config.get();
  return s.numbers.states.empty() && config != nullptr && config->width > 0 &&
         !architecture(config->architecture.id).has_self_attention;
}

bool is_feature_ratio(const AttentionTap& tap) {
  const PartSettings* part = tap.settings();
  return part != nullptr && part->normaliser == Normaliser::FeatureRatio;
}

std::string strongest(const FlowStory& s) {
  return s.numbers.sum.keys.empty() ? "" : quoted(s.numbers.sum.keys.front().label);
}

std::string tokens_sentence(const FlowStory& s) {
  const auto count = static_cast<Index>(s.trace.tokens_of(s.tap.query_rows).size());
  const std::string reads = s.trace.pixels ? "The picture is " : "The text is cut into ";
  return reads + count_of(count, s.trace.pixels ? "pixel" : "token") + ". We follow " +
         quoted(s.numbers.label) +
         (s.numbers.token >= 0 ? ", number " + std::to_string(s.numbers.token) : std::string()) +
         ", on its path to the prediction.";
}

std::string embedding_sentence(const FlowStory& s) {
  if (s.numbers.states.empty()) {
    return is_recurrent(s)
               ? "A recurrent network reads its vector; its state gives both queries and keys."
               : "The file has only these tensors, without a model and tokens.";
  }
  const Encoding& encoding = attnscope::encoding(s.tap.encoding.id);
  std::string text = "A token is a vocabulary index. It becomes a vector of " +
                     grouped(s.numbers.states.front().values.size()) +
                     " numbers, learned in training. ";
  if (encoding.embed) return text + "Its position is added to it (" + encoding.label + ").";
  if (s.tap.encoding.id == default_encoding().id) return text + "Its position is not encoded.";
  return text + "Its position enters later, by " + encoding.label + ".";
}

std::string vectors_sentence(const FlowStory& s) {
  const std::string reason = no_pair_scores_reason(s.tap, s.numbers.sum);
  if (!s.numbers.sum.query.defined()) {
    return reason.empty()
               ? "The token's state is compared with all attended states, which are also the "
                 "values."
               : reason + " Each token still passes on a value, its content.";
  }
  return "Each token makes three vectors: a query (what am I looking for?), a key (what am I?) and "
         "a value (what can I pass on?). In " +
         head_name(s) + " they have " + std::to_string(s.numbers.sum.query.size()) + " numbers.";
}

std::string scores_sentence(const FlowStory& s) {
  const FlowSum& sum = s.numbers.sum;
  const std::string reason = no_pair_scores_reason(s.tap, sum);
  if (!reason.empty()) return reason;
  if (sum.keys.empty()) return "This row attends to nothing: every pair is masked.";
  const FlowKey& best = sum.keys.front();
  return "How well does a key match the query? Their components are multiplied and summed "
         "up: " +
         quoted(best.label) + " scores " + (best.score ? brief(*best.score) : "–") +
         (sum.keys.size() > 1 && sum.keys.back().score
              ? ", " + quoted(sum.keys.back().label) + " " + brief(*sum.keys.back().score)
              : "") +
         ".";
}

std::string softmax_sentence(const FlowStory& s) {
  const FlowSum& sum = s.numbers.sum;
  if (sum.keys.empty()) return "There is no weight to distribute.";
  const std::string description =
      strongest(s) + " gets " + format_weight(sum.keys.front().weight, weights_sum_to_one(sum));
  if (is_feature_ratio(s.tap)) {
    return "No softmax: products of query and key features are divided by their sum. " +
           description + ".";
  }
  if (!weights_sum_to_one(sum)) return "These weights do not sum to one. " + description + ".";
  if (sum.sink > 0) {
    return "The softmax turns scores into weights; the head's sink, a score without a value, "
           "takes " +
           format_weight(sum.sink, true) + " and the keys get the rest. " + description + ".";
  }
  if (!sum.keys.front().score) return "The weights sum to 100%. " + description + ".";
  return "The softmax turns scores into weights that sum to 100%; small differences in "
         "score become large ones. " +
         description + ".";
}

std::string weighted_sentence(const FlowStory& s) {
  const FlowSum& sum = s.numbers.sum;
  if (sum.keys.empty()) return "Nothing is attended to, so the output is zero.";
  if (averaged_channels(s.tap.result) > 0) {
    return "Each channel sums the values by weights of its own, whose mean is shown; this is the "
           "output.";
  }
  if (!sum.adds_values) {
    return variant(s.tap.variant.id).label +
           " does not sum single values by these weights; this is its output.";
  }
  if (!sum.is_output) {
    return "Values are multiplied by their weights and summed. " +
           describe_further_processing(s.tap);
  }
  return "Each value is multiplied by its weight: strong ones keep their colour, weak ones fade. "
         "Their sum is the head's output for " +
         quoted(s.numbers.label) + ".";
}

std::string heads_sentence(const FlowStory& s) {
  const FlowHeads& heads = s.numbers.heads;
  if (is_recurrent(s)) {
    return "There is one head. Its output is the context c: the content of the source for this "
           "step.";
  }
  if (!heads.adds.defined() && heads.outputs.defined() && heads.outputs.dim(0) > 1) {
    return "There is no matrix W_o that combines these heads.";
  }
  if (!heads.adds.defined()) {
    return "A single attention: its output is used directly.";
  }
  const Index count = heads.adds.dim(0);
  if (count == 1) return "There is one head. The matrix W_o maps its output to the model's width.";
  return "All " + std::to_string(count) +
         " heads have attended independently. W_o maps each output to " +
         grouped(heads.adds.dim(1)) + " numbers, and all are summed.";
}

std::string residual_sentence(const FlowStory& s) {
  if (is_recurrent(s)) {
    return "No residual: context c and the decoder's state s together become tanh([c ; s] W + b).";
  }
  if (!s.numbers.layer) return "There is no residual stream.";
  switch (s.numbers.layer->join) {
    case FlowLayer::Join::Normed:
      return "The heads' output is added to the token's vector, and the sum is brought back "
             "to a standard length (norm).";
    case FlowLayer::Join::Gated:
      return "Gates control, component by component, how much of the heads' output replaces "
             "the token's vector.";
    case FlowLayer::Join::Replaced:
      return "There is no residual connection: the heads' output replaces the token's vector.";
    case FlowLayer::Join::Off:
      return "This layer is switched off: the vector passes unchanged, and the output is not "
             "used.";
    case FlowLayer::Join::Copied:
      return "The token has exited before this layer: its vector is copied, and the output is not "
             "used.";
    case FlowLayer::Join::Sum:
      break;
  }
  return "The heads' output is added to the token's vector: nothing is overwritten, "
         "information is added.";
}

std::string feed_forward_sentence(const FlowStory& s) {
  if (is_recurrent(s)) return "There is no feed-forward: the recurrent cells do that work.";
  if (!s.numbers.layer) return "There is no feed-forward around this attention.";
  const FlowLayer::Join join = s.numbers.layer->join;
  if (join == FlowLayer::Join::Copied || join == FlowLayer::Join::Off) {
    return "The feed-forward's output is not used either: the vector is unchanged.";
  }
  const Index hidden = s.trace.config ? s.trace.config->hidden : 0;
  if (hidden == 0) return "This model has no feed-forward: its layers are attention only.";
  const std::string effect =
      join == FlowLayer::Join::Replaced ? "replaces the vector" : "is added, too";
  return "Then a small network processes each token separately, with " + grouped(hidden) +
         " hidden units. Its output " + effect + ": this is the vector after the layer.";
}

std::string layers_sentence(const FlowStory& s) {
  const std::vector<FlowState>& states = s.numbers.states;
  if (states.empty()) return "There is a single attention and no further layers.";
  const auto count = static_cast<Index>(states.size()) - 1;
  std::string text = count == 1 ? "This model has one layer."
                                : "The same happens again in each of " +
                                      count_of(count, s.trace.parts.step ? "pass" : "layer") + ".";
  if (s.trace.parts.step && count != 1) {
    text =
        "The same layers process the vector repeatedly, " + std::to_string(count) + " times here.";
  }
  if (s.trace.counts.contains("halting.steps")) {
    return text +
           " The prediction uses the mean of these vectors, weighted by their halting probability.";
  }
  if (states.back().guess.empty()) return text + " The vector changes a little each time.";
  return text + " Next to each vector: the prediction if the model ended there (logit lens).";
}

std::string next_sentence(const FlowStory& s) {
  if (s.numbers.candidates.empty()) {
    if (s.tap.address.stack == Stack::Encoder) {
      return "The encoder's last vectors become keys and values, which every layer of the decoder "
             "attends to.";
    }
    if (predicts_next_tokens(s.trace)) return "Nothing is predicted here.";
    if (has_continuous_actions(*s.trace.config)) {
      return "At states (s), this model predicts the numbers of an action: see the view "
             "Trajectory.";
    }
    return "This model predicts actions, at states (s): click one.";
  }
  const FlowCandidate& best = s.numbers.candidates.front();
  const std::string verb = predicts_masked_tokens(s.trace) ? "is at this position" : "comes next";
  const char* noun = s.trace.pixels                  ? "level of grey"
                     : predicts_next_tokens(s.trace) ? "token the model knows"
                                                     : "action";
  return "The last vector is compared with that of every " + std::string(noun) + ": " +
         quoted(best.label) + " most likely " + verb + " (" +
         format_weight(best.probability, true) + ").";
}

std::string whole_sentence(const FlowStory& s) {
  const FlowSum& sum = s.numbers.sum;
  const bool no_model = s.numbers.states.empty() && s.numbers.candidates.empty();
  std::string text = quoted(s.numbers.label) +
                     (no_model ? ": in " : " on its path through the model: in ") + head_name(s);
  if (sum.keys.empty()) {
    text += " it attends to nothing";
  } else {
    text += " it attends most to " + strongest(s) + " (" +
            format_weight(sum.keys.front().weight, weights_sum_to_one(sum)) + ")";
  }
  if (s.numbers.candidates.empty()) return text + ".";
  const FlowCandidate& best = s.numbers.candidates.front();
  return text + "; " + (predicts_masked_tokens(s.trace) ? "this position holds" : "next comes") +
         " most likely " + quoted(best.label) + " (" + format_weight(best.probability, true) + ").";
}

}  // namespace

std::string flow_title(FlowStage stage) {
  switch (stage) {
    case FlowStage::Tokens:
      return "Tokens";
    case FlowStage::Embedding:
      return "Embedding";
    case FlowStage::Vectors:
      return "Query and keys";
    case FlowStage::Scores:
      return "Scores";
    case FlowStage::Softmax:
      return "Softmax";
    case FlowStage::Weighted:
      return "Weighted values";
    case FlowStage::Heads:
      return "Combined heads";
    case FlowStage::Residual:
      return "Residual";
    case FlowStage::FeedForward:
      return "Feed-forward";
    case FlowStage::Layers:
      return "Layers";
    case FlowStage::Next:
      return "Next token";
    case FlowStage::Whole:
      break;
  }
  return "Overview";
}

std::string flow_sentence(FlowStage stage, const FlowStory& story) {
  switch (stage) {
    case FlowStage::Tokens:
      return tokens_sentence(story);
    case FlowStage::Embedding:
      return embedding_sentence(story);
    case FlowStage::Vectors:
      return vectors_sentence(story);
    case FlowStage::Scores:
      return scores_sentence(story);
    case FlowStage::Softmax:
      return softmax_sentence(story);
    case FlowStage::Weighted:
      return weighted_sentence(story);
    case FlowStage::Heads:
      return heads_sentence(story);
    case FlowStage::Residual:
      return residual_sentence(story);
    case FlowStage::FeedForward:
      return feed_forward_sentence(story);
    case FlowStage::Layers:
      return layers_sentence(story);
    case FlowStage::Next:
      return next_sentence(story);
    case FlowStage::Whole:
      break;
  }
  return whole_sentence(story);
}

std::string no_pair_scores_reason(const AttentionTap& tap, const FlowSum& sum) {
  if (sum.keys.empty() || sum.key_vectors.defined()) return "";
  const Variant& v = variant(tap.variant.id);
  if (is_feature_ratio(tap)) {
    return v.label +
           " computes no pair scores: features of query and key are multiplied, and all "
           "keys are summed into one state.";
  }
  if (averaged_channels(tap.result) > 0) {
    return v.label +
           ": no query-key products; a state is carried from token to token, and its weights are "
           "implied.";
  }
  const WeightsFrom from = v.scores.weights_from(tap.variant.values);
  switch (from) {
    case WeightsFrom::Token:
      return v.label + ": no query-key products; each token's vector alone determines its weights.";
    case WeightsFrom::Positions:
      return v.label +
             ": no query-key products; weights were learned by "
             "position, independent of the text.";
    case WeightsFrom::Degrees:
      return v.label + ": no query-key products; all neighbours have equal weight.";
    case WeightsFrom::Pairs:
      break;
  }
  return v.label + " combines its weights from several parts; Mechanism shows how.";
}

std::string score_formula(const AttentionTap& tap) {
  const std::shared_ptr<const Part> part = tap.part();
  if (part == nullptr) return "";
  if (part->source == Source::Additive) return "v·tanh(q + k)";
  if (part->source == Source::Logits) {
    const Variant& v = variant(tap.variant.id);
    const bool is_learned = v.scores.weights_from(tap.variant.values) == WeightsFrom::Positions;
    return is_learned ? "learned" : "given by the token";
  }
  if (part->source != Source::Product || !part->q.defined()) return "";
  const Index size = part->numbers_of(part->q, 0).count;
  const double scale = static_cast<double>(part->scale);
  const bool is_scaled = std::abs(scale * std::sqrt(static_cast<double>(size)) - 1) < 1e-4;
  const std::string product = is_scaled    ? "q·k / √" + std::to_string(size)
                              : scale == 1 ? "q·k"
                                           : "q·k · " + brief(scale, 2);
  if (part->score_cap == 0) return product;
  const std::string cap = brief(static_cast<double>(part->score_cap), 2);
  return cap + "·tanh(" + product + " / " + cap + ")";
}

std::string weight_formula(const AttentionTap& tap) {
  const PartSettings* part = tap.settings();
  if (part == nullptr) return "";
  switch (part->normaliser) {
    case Normaliser::Softmax:
      return part->sinks.defined() ? "eˢ / (Σ + sink)" : "eˢ / Σ eˢ";
    case Normaliser::SpanSoftmax:
      return "m·eˢ / Σ m·eˢ";
    case Normaliser::FeatureRatio:
      return "φ(q)·φ(k) / Σ";
    case Normaliser::None:
      break;
  }
  return "unchanged";
}

std::string describe_further_processing(const AttentionTap& tap) {
  const Variant& v = variant(tap.variant.id);
  return v.label + " processes the sum further: " + v.equation;
}

std::string positive_colour_name(const Theme& theme) {
  // Labels of diverging maps end in their colours: "Vik (blue-white-red)".
  const std::string& label = colour_map(diverging_colours(theme)).label;
  const std::size_t first = label.rfind('-') + 1;
  return label.substr(first, label.size() - 1 - first);
}

const View* view_of_stage(FlowStage stage, const Trace& trace) {
  const auto ids = [&]() -> std::vector<const char*> {
    switch (stage) {
      case FlowStage::Tokens:
        return {"lines", "map"};
      case FlowStage::Embedding:
        return {"position", "architecture"};
      case FlowStage::Vectors:
        return {"vectors", "mechanism"};
      case FlowStage::Scores:
        return {"scores", "mechanism"};
      case FlowStage::Softmax:
        return {"map"};
      case FlowStage::Weighted:
        return {"lines", "map"};
      case FlowStage::Heads:
        return {"grid"};
      case FlowStage::Residual:
        return {"gates", "architecture"};
      case FlowStage::FeedForward:
        return {"architecture"};
      case FlowStage::Layers:
        return {"steps", "depth", "architecture"};
      case FlowStage::Next:
        return {"next", "trajectory"};
      case FlowStage::Whole:
        break;
    }
    return {};
  }();
  for (const char* id : ids) {
    const View& v = view(id);
    if (v.objection(trace).empty()) return &v;
  }
  return nullptr;
}

std::string format_weight(double weight, bool as_percentage) {
  return as_percentage ? percent(weight) : brief(weight);
}

bool weights_sum_to_one(const FlowSum& sum) {
  double total = sum.others_weight;
  for (const FlowKey& key : sum.keys) {
    if (key.weight < 0) return false;
    total += key.weight;
  }
  return sum.keys.empty() || std::abs(total - 1) <= kSumTolerance;
}

}  // namespace attnscope
