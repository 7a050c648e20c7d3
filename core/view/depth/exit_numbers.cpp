#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/view/depth/exit_picture.h"

namespace attnscope {

bool shows_exits(const ViewSettings& settings, const Trace& trace) {
  return trace.config && trace.config->exits && !trace.is_imported &&
         view_values(settings, "depth").choice("show") == "exits";
}

double exit_threshold(const Values& values) {
  constexpr double kDefault = 0.3;
  return values.has("threshold") ? values.real("threshold") : kDefault;
}

ExitSetting exit_setting(const ViewInput& input, const ExitStudy& study) {
  const Values values = view_values(input.session.view, "depth");
  ExitSetting setting{input.session.run.exit.value_or(exit_threshold(values)),
                      decay_of(study.rule)};
  if (values.has("decay")) setting.decay = values.real("decay");
  return setting;
}

TokenExits token_exits(const ViewInput& input, const ExitStudy& study) {
  const ExitSetting setting = exit_setting(input, study);
  TokenExits exits{study.exit_layers_at(setting.threshold, setting.decay)};
  const std::shared_ptr<const ExitWork> work = input.findings.get(Findings::exit_work);
  if (!work || static_cast<Index>(work->exit_layers.size()) != study.length()) return exits;
  const bool is_measured = work->threshold == setting.threshold && work->decay == setting.decay;
  if (study.has_threshold() && !is_measured) return exits;
  exits.layers = work->exit_layers;
  exits.work = work;
  return exits;
}

namespace {

void add_token(const ExitStudy& study, Index i, Tensor& shares) {
  for (Index n = 0; n < study.layers(); ++n) {
    if (study.distribution.defined()) {
      shares(0, n) += study.distribution(i, n);
      if (!study.oracle.empty() && study.oracle[static_cast<std::size_t>(i)] == n) {
        shares(1, n) += 1;
      }
    } else {
      shares(0, n) += study.confidence(n, i);
      if (study.guess(n, i) == study.guess(study.layers() - 1, i)) shares(1, n) += 1;
    }
  }
}

}  // namespace

Tensor exit_shares(const ExitStudy& study, Index token) {
  Tensor shares = Tensor::zeros({2, study.layers()});
  if (token >= 0) {
    add_token(study, token, shares);
    return shares;
  }
  Index count = 0;
  for (Index i = 0; i < study.length(); ++i) {
    if (!study.oracle.empty() && study.oracle[static_cast<std::size_t>(i)] < 0) continue;
    add_token(study, i, shares);
    ++count;
  }
  for (float& share : shares) share /= static_cast<float>(std::max<Index>(count, 1));
  return shares;
}

namespace {

std::vector<std::string> layer_names(const ExitStudy& study) {
  std::vector<std::string> names;
  for (Index n = 0; n < study.layers(); ++n) names.push_back("layer " + std::to_string(n));
  return names;
}

ViewData::Matrix exits_table(const Trace& trace, const ExitStudy& study, const TokenExits& exits,
                             const ExitSetting& setting) {
  ViewData::Matrix table{"exits",
                         Tensor({study.length(), 7}),
                         {},
                         {"position", "token id", "layer from recorded states", "measured layer",
                          "layer of the oracle", "threshold", "agrees with the last layer"},
                         {"token"}};
  const std::vector<Index> recorded = study.exit_layers_at(setting.threshold, setting.decay);
  for (Index i = 0; i < study.length(); ++i) {
    const auto n = static_cast<std::size_t>(i);
    table.rows.push_back(trace.tokens[n].label);
    const bool agrees = exits.work
                            ? exits.work->agrees[n]
                            : study.guess(recorded[n], i) == study.guess(study.layers() - 1, i);
    const double numbers[] = {
        static_cast<double>(i),
        static_cast<double>(trace.tokens[n].id),
        static_cast<double>(recorded[n]),
        exits.work ? static_cast<double>(exits.work->exit_layers[n]) : NAN,
        study.oracle.empty() || study.oracle[n] < 0 ? NAN : static_cast<double>(study.oracle[n]),
        study.has_threshold() ? study.threshold_of(i, setting.threshold, setting.decay) : NAN,
        agrees ? 1.0 : 0.0};
    std::transform(std::begin(numbers), std::end(numbers), table.values.data() + 7 * i,
                   [](double x) { return static_cast<float>(x); });
  }
  return table;
}

ViewData::Matrix work_table(const ExitStudy& study, const ExitWork& work) {
  ViewData::Matrix table{"work",
                         Tensor({2, 5}),
                         {"all layers", "early exit"},
                         {"milliseconds", "multiply-adds", "layers per token",
                          "agrees with the last layer", "bits per token"},
                         {"run"}};
  const auto row = [&](Index n, const ExitWork::Cost& cost, double layers, double agreement) {
    const double numbers[] = {cost.milliseconds, cost.multiply_adds, layers, agreement, cost.bits};
    std::transform(std::begin(numbers), std::end(numbers), table.values.data() + 5 * n,
                   [](double x) { return static_cast<float>(x); });
  };
  row(0, work.all, static_cast<double>(study.layers()), 1);
  row(1, work.early, work.mean_layers(), work.agreement());
  return table;
}

}  // namespace

ViewData exits_data(const ViewInput& input) {
  const Trace& trace = input.trace;
  const std::shared_ptr<const ExitStudy> study = input.findings.get(Findings::exits);
  if (!study) throw InputError("depth: the exits of this run are unknown");
  const TokenExits exits = token_exits(input, *study);
  ViewData data{{exits_table(trace, *study, exits, exit_setting(input, *study))}};
  const std::vector<std::string> tokens = data.matrices.front().rows;
  if (study->confidence.defined()) {
    data.matrices.push_back({"confidence", study->confidence, layer_names(*study), tokens, {}});
  }
  if (study->distribution.defined()) {
    data.matrices.push_back({"distribution", study->distribution, tokens, layer_names(*study), {}});
  }
  const bool q = study->distribution.defined();
  data.matrices.push_back({"shares of all tokens",
                           exit_shares(*study, -1),
                           {q ? "q" : "confidence", q ? "q*" : "prediction is the last layer's"},
                           layer_names(*study),
                           {"mean of"}});
  if (exits.work) data.matrices.push_back(work_table(*study, *exits.work));
  return data;
}

}  // namespace attnscope
