// Measures of a recorded run of the session.
#include <algorithm>
#include <numeric>

#include "core/analysis/cost.h"
#include "core/analysis/encoded.h"
#include "core/analysis/error_study.h"
#include "core/analysis/linear_fit.h"
#include "core/analysis/memory_use.h"
#include "core/analysis/statistics.h"
#include "core/analysis/symmetric_eigen.h"
#include "core/base/error.h"
#include "core/base/find_by_id.h"
#include "core/experiment/gradient_study.h"
#include "core/experiment/partial_choice.h"
#include "core/experiment/run.h"
#include "core/lesson/claim.h"
#include "core/study/study_measure.h"
#include "core/view/span/span_effect.h"
#include "core/view/view.h"

namespace attnscope {
namespace {

Traces traces_of(const MeasureInput& input) {
  Session session = input.session;
  fill_unset_parameters(session.run);
  ExperimentRun runner(cpu_only());
  const std::vector<FindingRequest> requests = required_findings(session);
  Traces traces = runner.observe(session, requests);
  traces.findings.add(
      compute_background_findings(session, requests, runner, [](std::size_t, std::size_t) {}));
  return traces;
}

std::shared_ptr<const Trace> trace_of(const MeasureInput& input) {
  RunSpec spec = input.session.run;
  fill_unset_parameters(spec);
  return ExperimentRun(cpu_only()).run(spec);
}

std::vector<HeadRef> heads_of(const Trace& trace, const Session& session) {
  return trace.heads(trace.part(with_defaults(session.view, trace).part));
}

// Measures of lessons (core/lesson/claim.h), for the session's head or for each layer or head.
MeasureFunction make_trace(JsonObject& options) {
  std::vector<std::string> ids;
  for (const Json& id : options.array("measures")) {
    if (!id.is_string()) options.fail("measures", "a list of names");
    ids.push_back(find_by_id(measures(), id.text(), options.path_of("measures")).id);
  }
  const std::size_t by = options.choice_or("by", 0, {"", "layer", "head"});
  const Index query = options.integer_or("query", -1, 0, kMaxIndex);
  const Index key = options.integer_or("key", -1, 0, kMaxIndex);
  return [ids, by, query, key](const MeasureInput& input) {
    const Traces traces = traces_of(input);
    std::vector<HeadRef> heads = heads_of(*traces.trace, input.session);
    if (by == 0) heads = {{input.session.view.layer, input.session.view.head, {}}};
    if (by == 1) std::erase_if(heads, [](const HeadRef& head) { return head.head != 0; });
    StudyRows rows;
    for (const HeadRef& head : heads) {
      StudyRow row;
      if (by > 0) row.numbers["layer"] = static_cast<double>(head.layer);
      if (by > 1) row.numbers["head"] = static_cast<double>(head.head);
      for (const std::string& id : ids) {
        Claim claim;
        claim.measure = id;
        claim.layer = head.layer;
        claim.head = head.head;
        claim.query = query;
        claim.key = key;
        claim.view = input.session.view;
        row.numbers[id] = check(claim, traces).value;
      }
      rows.push_back(std::move(row));
    }
    return rows;
  };
}

MeasureFunction make_spans(JsonObject&) {
  return [](const MeasureInput& input) {
    const std::shared_ptr<const Trace> trace = trace_of(input);
    StudyRows rows;
    for (const HeadRef& ref : heads_of(*trace, input.session)) {
      Index head = 0;
      const AttentionTap* tap = trace->find(ref, &head);
      if (tap->settings() == nullptr || tap->settings()->normaliser != Normaliser::SpanSoftmax) {
        throw InputError("measure: spans: expected heads with learned spans, found " +
                         tap->variant.id);
      }
      rows.push_back({{{"layer", static_cast<double>(ref.layer)},
                       {"head", static_cast<double>(ref.head)},
                       {"span", head_span(*tap->settings(), head).mean()}},
                      {}});
    }
    return rows;
  };
}

// Allowed pairs, products and bytes over all layers and heads.
MeasureFunction make_pairs(JsonObject&) {
  return [](const MeasureInput& input) -> StudyRows {
    const std::shared_ptr<const Trace> trace = trace_of(input);
    const RunCost cost = run_cost(*trace);
    return {{{{"pairs", static_cast<double>(cost.pairs)},
              {"products", cost.products},
              {"products_share", cost.products / cost.full},
              {"attention_bytes", cost.attention_bytes}},
             {}}};
  };
}

// Cumulative shares of the squared singular values of the maps, averaged over all heads.
MeasureFunction make_singular(JsonObject& options) {
  const double share = options.number_or("share", 0.9, 0, 1);
  return [share](const MeasureInput& input) {
    const std::shared_ptr<const Trace> trace = trace_of(input);
    std::vector<double> sums;
    double rank = 0, count = 0;
    for (const HeadRef& ref : heads_of(*trace, input.session)) {
      Index head = 0;
      const AttentionTap* tap = trace->find(ref, &head);
      std::vector<double> values = singular_values(matrix_of(tap->attention(head)));
      for (double& value : values) value *= value;
      const double total = std::accumulate(values.begin(), values.end(), 0.0);
      sums.resize(std::max(sums.size(), values.size()));
      double cumulative = 0, needed = 0;
      for (std::size_t i = 0; i < sums.size(); ++i) {
        if (cumulative < share * total) needed += 1;
        if (i < values.size()) cumulative += values[i];
        sums[i] += cumulative / total;
      }
      rank += needed;
      count += 1;
    }
    StudyRows rows;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      rows.push_back({{{"rank", static_cast<double>(i + 1)}, {"share", sums[i] / count}}, {}});
    }
    if (!rows.empty()) rows.front().numbers["needed_rank"] = rank / count;
    return rows;
  };
}

// Mean statistics of heads: all, or by layer.
MeasureFunction make_heads(JsonObject&) {
  return [](const MeasureInput& input) {
    const std::shared_ptr<const Trace> trace = trace_of(input);
    std::vector<std::int32_t> ids;
    for (const TraceToken& token : trace->tokens) ids.push_back(token.id);
    StudyRows rows;
    for (const HeadRef& ref : heads_of(*trace, input.session)) {
      Index head = 0;
      const AttentionTap* tap = trace->find(ref, &head);
      const HeadStatistics s = head_statistics(tap->attention(head), ids);
      rows.push_back({{{"layer", static_cast<double>(ref.layer)},
                       {"head", static_cast<double>(ref.head)},
                       {"entropy", s.entropy},
                       {"distance", s.distance},
                       {"previous_token", s.previous_token},
                       {"induction", s.induction}},
                      {}});
    }
    return rows;
  };
}

// Weight by memory slot of the last segment, averaged over all heads and layers.
MeasureFunction make_slots(JsonObject&) {
  return [](const MeasureInput& input) {
    const std::shared_ptr<const Trace> trace = trace_of(input);
    std::vector<TapHead> heads;
    for (const HeadRef& ref : heads_of(*trace, input.session)) {
      Index head = 0;
      const AttentionTap* tap = trace->find(ref, &head);
      heads.push_back({tap, head});
    }
    if (heads.empty()) throw InputError("measure: slots: expected heads, found none");
    const SlotWeights weights = slot_weights(heads);
    StudyRows rows;
    for (const SlotRun& run : slot_runs(*heads.front().tap)) {
      const char* kind = run.kind == KeyKind::Compressed ? "compressed"
                         : run.kind == KeyKind::Memory   ? "memory"
                                                         : "segment";
      for (Index column = run.first; column < run.first + run.count; ++column) {
        rows.push_back({{{"slot", static_cast<double>(column)},
                         {"place", static_cast<double>(column - run.first)},
                         {"weight", weights.mean[static_cast<std::size_t>(column)]}},
                        {{"kind", kind}}});
      }
    }
    return rows;
  };
}

// Error of estimated weights by number of features or rows, for the session's head.
MeasureFunction make_errors(JsonObject&) {
  return [](const MeasureInput& input) {
    const std::shared_ptr<const Trace> trace = trace_of(input);
    const ViewSettings view = with_defaults(input.session.view, *trace);
    Index head = 0;
    const AttentionTap* tap = trace->find({view.layer, view.head, trace->part(view.part)}, &head);
    if (tap == nullptr) throw InputError("measure: errors: the run lacks the session's head");
    if (const std::string refusal = error_study_refusal(*tap); !refusal.empty()) {
      throw InputError("measure: errors: " + refusal);
    }
    const ErrorStudy study =
        error_study(*tap, head, trace->config->width, [&](std::size_t done, std::size_t total) {
          input.report(static_cast<double>(done) / static_cast<double>(total));
        });
    StudyRows rows;
    for (const ErrorCurve& curve : study.curves) {
      for (std::size_t i = 0; i < study.sizes.size(); ++i) {
        rows.push_back({{{"size", static_cast<double>(study.sizes[i])},
                         {"error", curve.errors[i].median},
                         {"max_error", curve.errors[i].max}},
                        {{"estimate", curve.label}}});
      }
    }
    return rows;
  };
}

// Position vectors that are added to the input: mean cosine of pairs by distance, and, in the first
// row, the error of a linear regression of the position from the vector, in tokens.
MeasureFunction make_positions(JsonObject& options) {
  const Index count = options.integer_or("count", 64, 8, 4096);
  return [count](const MeasureInput& input) {
    const std::shared_ptr<const Trace> trace = trace_of(input);
    const AttentionTap* tap = trace->find({0, 0, trace->part({})});
    if (tap == nullptr || !encoding(tap->encoding.id).embed) {
      throw InputError("measure: positions: expected positions added to the input, found " +
                       (tap == nullptr ? "no attention" : tap->encoding.id));
    }
    const RowMatrix vectors =
        matrix_of(position_vectors(encoding_use(*tap, *trace->config), count));
    const RowMatrix normalised = vectors.rowwise().normalized();
    const RowMatrix cosines = normalised * normalised.transpose();
    StudyRows rows;
    for (Index distance = 0; distance < count; ++distance) {
      rows.push_back({{{"distance", static_cast<double>(distance)},
                       {"similarity", cosines.diagonal(distance).mean()}},
                      {}});
    }
    RowMatrix positions(count, 1);
    for (Index i = 0; i < count; ++i) positions(i, 0) = static_cast<double>(i);
    const RowMatrix predicted = held_out_predictions(vectors, positions);
    rows.front().numbers["regression_error"] = (predicted - positions).cwiseAbs().mean();
    return rows;
  };
}

// Gradient of one output with respect to the input of the first layer of the encoder, or of the
// only stack, by position; with attention, and with the outputs of attention as constants.
MeasureFunction make_reach(JsonObject& options) {
  GradientSettings settings;
  if (options.has("position")) settings.position = options.integer("position", 0, kMaxIndex);
  return [settings](const MeasureInput& input) {
    Session session = input.session;
    fill_unset_parameters(session.run);
    ExperimentRun runner(cpu_only());
    const Findings findings = compute_background_findings(
        session, {{Findings::gradients.id, settings}}, runner, [](std::size_t, std::size_t) {});
    const std::shared_ptr<const GradientStudy> study = findings.get(Findings::gradients);
    if (study == nullptr) throw InputError("measure: reach: the model has no gradients");
    if (!study->problem.empty()) throw InputError("measure: reach: " + study->problem);
    const GradientRow& first = study->rows.front();
    StudyRows rows;
    for (Index i = 0; i < first.full.size(); ++i) {
      rows.push_back({{{"place", static_cast<double>(i)},
                       {"gradient", static_cast<double>(first.full[i])},
                       {"without_attention", static_cast<double>(first.without_attention[i])}},
                      {}});
    }
    return rows;
  };
}

}  // namespace

std::vector<StudyMeasure> trace_measures() {
  return {
      {"trace", "measures of lessons, for a head or \"by\" layer or head", "layer, head, MEASURE",
       MeasureNeeds::Model, make_trace},
      {"heads", "statistics of each head",
       "layer, head, entropy, distance, previous_token, induction", MeasureNeeds::Model,
       make_heads},
      {"spans", "learned span of each head", "layer, head, span", MeasureNeeds::Model, make_spans},
      {"pairs", "allowed pairs and products of the run",
       "pairs, products, products_share, attention_bytes", MeasureNeeds::Model, make_pairs},
      {"singular", "squared singular values of the maps, as cumulative shares",
       "rank, share, needed_rank", MeasureNeeds::Model, make_singular},
      {"slots", "weight by memory slot", "slot, place, kind, weight", MeasureNeeds::Model,
       make_slots},
      {"positions", "position vectors of the input: cosine by distance, regression of the position",
       "distance, similarity, regression_error", MeasureNeeds::Model, make_positions},
      {"reach", "gradient of an output with respect to each input, with and without attention",
       "place, gradient, without_attention", MeasureNeeds::Model, make_reach},
      {"errors", "error of estimated softmax weights by number of features or rows",
       "size, estimate, error, max_error", MeasureNeeds::Model, make_errors},
  };
}

}  // namespace attnscope
