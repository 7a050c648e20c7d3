// Output rows of a model's diagram.
#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"
#include "core/model/capability.h"
#include "core/model/input_kind.h"
#include "core/model/output_softmax.h"
#include "core/model/retrieval.h"
#include "core/view/architecture/diagram_source.h"
#include "core/view/architecture/diagram_words.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/focus.h"

namespace attnscope {
namespace {

// Most likely prediction at the selected token: "after “a”: b  87%".
std::vector<std::string> prediction(const DiagramSource& source) {
  const auto tokens = static_cast<Index>(source.trace.tokens.size());
  if (!source.trace.logits.defined() || tokens == 0 || source.trace.logits.dim(0) != tokens)
    return {};
  const Index token = selected_position(source.session.view, source.trace);
  const Index size = source.trace.logits.dim(1);
  const Tensor row = source.trace.logits.row(token);
  const auto best = static_cast<Index>(std::max_element(row.begin(), row.end()) - row.begin());
  double sum = 0;
  for (Index n = 0; n < size; ++n) sum += std::exp(static_cast<double>(row[n] - row[best]));
  const std::string& label = source.trace.tokens[static_cast<std::size_t>(token)].label;
  const std::string prefix = predicts_masked_tokens(source.trace) ? "at “" : "after “";
  return {prefix + label + "”: " + token_label(source.trace, static_cast<std::int32_t>(best)) +
          "  " + percent(1 / sum)};
}

DiagramPart retrieval_part(const DiagramSource& source) {
  const RetrievalHead& head = retrieval_head(source.session.run.retrieval->retrieval_head.id);
  DiagramPart p{DiagramPart::Kind::Memory, "Retrieval"};
  p.notes = {head.label};
  p.help = first_sentence(head.summary);
  p.view = "retrieval";
  p.parameters = source.count("spalm");
  return p;
}

}  // namespace

void add_output(const DiagramSource& source, DiagramColumn& column) {
  if (has_final_norm(source.config)) column.rows.push_back(row_of(norm_part(source, "final_norm")));
  if (!source.config.model_options.output_head) {
    DiagramPart states{DiagramPart::Kind::Words, "States"};
    states.notes = {"no output head"};
    states.help = "The checkpoint has no output head: the output is the tokens' states.";
    states.view = "depth";
    column.rows.push_back(row_of(states));
    return;
  }
  if (source.config.head.transform) {
    DiagramPart p{DiagramPart::Kind::Output, "Transform"};
    p.notes = {"linear, activation, norm"};
    p.help = "Transforms the state before the token table is applied.";
    p.parameters = source.count("output.transform.");
    column.rows.push_back(row_of(p));
  }
  const bool acts = source.architecture.reads == Reads::Trajectories;
  const bool is_continuous = has_continuous_actions(source.config);
  const OutputSoftmax& softmax = output_softmax(source.config.softmax.id);
  DiagramPart p{DiagramPart::Kind::Output, softmax.title   ? softmax.title(source.config)
                                           : is_continuous ? "Linear, tanh"
                                           : acts          ? "Actions"
                                                           : "Linear"};
  p.notes = {softmax.note
                 ? softmax.note(source.config)
                 : grouped(source.config.width) + " → " + grouped(source.config.vocabulary) +
                       (source.config.tied_output ? ", tied to the embedding" : "")};
  p.help = is_continuous ? "Maps each state to the numbers of an action, from -1 to 1."
           : acts        ? "Maps each state to the logits of all actions."
                         : "Maps each state to the logits of all vocabulary tokens.";
  p.view = acts ? "trajectory" : "next";
  if (softmax.title) p.help = first_sentence(softmax.summary);
  p.parameters = source.count("output.") - source.count("output.transform.");
  column.rows.push_back(row_of(p));
  const bool is_text = input_kind(source.config.input.id).is_text;
  DiagramPart end{DiagramPart::Kind::Words, acts                                   ? "Next action"
                                            : predicts_masked_tokens(source.trace) ? "Masked token"
                                            : is_text                              ? "Next token"
                                                                                   : "Next pixel"};
  end.help = is_continuous ? "The loss is the mean squared error of the action."
                           : "Softmax of the logits gives probabilities.";
  if (!acts && is_text) end.notes = prediction(source);
  end.view = is_text ? p.view : "image";
  column.rows.push_back(row_of(end));
  if (source.session.run.retrieval) column.rows.back().left = retrieval_part(source);
}

}  // namespace attnscope
