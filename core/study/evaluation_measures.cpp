// Measures of the predictions of a model.
#include <cmath>

#include "core/attention/backend.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "core/experiment/datastore.h"
#include "core/model/retrieval.h"
#include "core/study/study.h"
#include "core/study/study_measure.h"
#include "core/training/calibrate.h"
#include "core/training/evaluate.h"
#include "core/training/extrapolation.h"
#include "core/training/returns.h"

namespace attnscope {
namespace {

// The bytes of each file from the share `first` to the share `last`.
std::vector<std::string> read_files(const std::vector<std::string>& names, double first = 0,
                                    double last = 1) {
  std::vector<std::string> texts;
  for (const std::string& name : names) {
    const std::string text = read_file(study_file(name));
    const auto place = [&](double share) {
      return static_cast<std::size_t>(share * static_cast<double>(text.size()));
    };
    texts.push_back(text.substr(place(first), place(last) - place(first)));
  }
  return texts;
}

std::shared_ptr<const Store> store_of(const Checkpoint& checkpoint,
                                      const std::vector<std::string>& texts) {
  if (!checkpoint.tokenizer) throw InputError(checkpoint.tokenizer_problem);
  std::vector<std::vector<std::int32_t>> tokens;
  for (const std::string& text : texts) {
    tokens.emplace_back();
    for (const Token& token : checkpoint.tokenizer->encode(text)) tokens.back().push_back(token.id);
  }
  return std::make_shared<Store>(make_store(checkpoint.model, tokens, cpu_backend(), {}));
}

struct TextOptions {
  std::vector<std::string> files, store;
  double from = 0, store_to = 1;  // shares of the files
  Index length = 0;
  std::optional<double> exit;
};

StudyRows measure_text(const TextOptions& options, const MeasureInput& input) {
  const std::shared_ptr<const Checkpoint> checkpoint = input.checkpoint();
  EvaluationOptions settings{.length = options.length, .exit = options.exit};
  std::optional<Retrieval> retrieval;
  if (!options.store.empty()) {
    if (!input.session.run.retrieval) {
      throw InputError("measure: store: expected a session with \"retrieval\", found none");
    }
    retrieval.emplace(*input.session.run.retrieval,
                      store_of(*checkpoint, read_files(options.store, 0, options.store_to)),
                      checkpoint->model.config);
    settings.retrieval = &*retrieval;
  }
  Evaluation all;
  for (const std::string& text : read_files(options.files, options.from)) {
    all.add(evaluate_text(*checkpoint, text, settings));
  }
  return {{{{"bits_per_byte", all.bits_per_byte()},
            {"loss", all.loss()},
            {"accuracy", all.tally.score().accuracy},
            {"layers", all.mean_layers()}},
           {}}};
}

MeasureFunction make_text(JsonObject& options) {
  TextOptions text;
  text.files = file_names(options);
  text.length = options.integer_or("length", 0, 0, kMaxIndex);
  if (options.has("exit")) text.exit = options.number("exit", 0, 1);
  if (options.has("store")) {
    for (const Json& name : options.array("store")) {
      if (!name.is_string()) options.fail("store", "a list of file names");
      text.store.push_back(name.text());
    }
  }
  // With the store up to a share of a file and its evaluation from there on, both are of one kind.
  text.from = options.number_or("from", 0, 0, 1);
  text.store_to = options.number_or("store_to", 1, 0, 1);
  return [text](const MeasureInput& input) { return measure_text(text, input); };
}

MeasureFunction make_lengths(JsonObject& options) {
  const std::vector<std::string> files = file_names(options);
  const std::vector<Index> lengths = whole_numbers(options, "lengths", 2, kMaxIndex);
  return [files, lengths](const MeasureInput& input) {
    const LengthCurves curves =
        evaluate_lengths({input.checkpoint()}, read_files(files), lengths, {},
                         [&](const LengthCurves&, double fraction) { input.report(fraction); });
    if (curves.stopped) throw Stopped();
    StudyRows rows;
    for (const LengthPoint& point : curves.series.front().points) {
      rows.push_back({{{"length", static_cast<double>(point.length)},
                       {"bits_per_byte", point.bits_per_byte},
                       {"loss", point.loss}},
                      {}});
    }
    return rows;
  };
}

MeasureFunction make_exits(JsonObject& options) {
  const std::vector<std::string> files = file_names(options);
  CalibrationRequest request;
  request.tolerance = options.number_or("tolerance", 0.25, 0, 10);
  request.max_windows = options.integer_or("windows", 60, 2, 10000);
  request.thresholds =
      CalibrationRequest::descending_thresholds(options.integer_or("thresholds", 10, 1, 100));
  return [files, request](const MeasureInput& input) {
    const std::shared_ptr<const Checkpoint> checkpoint = input.checkpoint();
    CalibrationRequest own = request;
    own.method = default_method(checkpoint->model.config);
    std::string text;
    for (const std::string& part : read_files(files)) text += part;
    const Calibration result =
        calibrate(*checkpoint, text, "", own,
                  [&](const Calibration&, double fraction) { input.report(fraction); });
    StudyRows rows;
    for (const CalibrationPoint& point : result.points) {
      StudyRow row{{{"threshold", point.effect.threshold},
                    {"layers", point.effect.layers},
                    {"changed", point.effect.changed_fraction},
                    {"loss", point.effect.loss},
                    {"lost", point.effect.loss - result.full_loss}},
                   {}};
      if (&point == result.selected_point()) row.numbers["calibrated_layers"] = point.effect.layers;
      rows.push_back(std::move(row));
    }
    return rows;
  };
}

MeasureFunction make_returns(JsonObject& options) {
  const Index context = options.integer_or("context", 0, 0, 1000);
  return [context](const MeasureInput& input) {
    const ReturnCurve curve = achieved_returns(*input.checkpoint(), context);
    StudyRows rows;
    for (std::size_t n = 0; n < curve.achieved.size(); ++n) {
      if (std::isnan(curve.achieved[n])) continue;  // no start is that near
      const auto steps = static_cast<Index>(n + 1);
      const auto requested = static_cast<double>(Grid::return_to_go(steps));
      rows.push_back({{{"requested", requested},
                       {"requested_steps", static_cast<double>(steps)},
                       {"achieved", curve.achieved[n]},
                       {"missed", std::abs(curve.achieved[n] - requested)},
                       {"within", curve.within[n]}},
                      {}});
    }
    return rows;
  };
}

}  // namespace

std::vector<StudyMeasure> evaluation_measures() {
  return {
      {"text", "predictions of texts, with a store of contexts if \"store\" names files",
       "bits_per_byte, loss, accuracy, layers", MeasureNeeds::Model, make_text},
      {"lengths", "bits per byte of texts by window length", "length, bits_per_byte, loss",
       MeasureNeeds::Model, make_lengths},
      {"exits", "early exits by confidence threshold",
       "threshold, layers, changed, loss, lost, calibrated_layers", MeasureNeeds::Model,
       make_exits},
      {"returns", "achieved by requested return of a trajectory model",
       "requested, requested_steps, achieved, missed, within", MeasureNeeds::Model, make_returns},
  };
}

}  // namespace attnscope
