// Measures of an experiment: each yields rows of named numbers from a point, such as bits per byte
// by length. A definition selects them by "type" with options:
//
//   {"type": "lengths", "files": ["assets/texts/mill.txt"], "lengths": [64, 128]}
//
// A new measure is a function and a line in study_measures().
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_numbers.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/checkpoint.h"
#include "core/experiment/session.h"
#include "core/training/train.h"

namespace attnscope {

// Values by column.
struct StudyRow {
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> words;
};
using StudyRows = std::vector<StudyRow>;

// Result of the training of a point.
struct StudyTraining {
  Score score;            // on held-out data
  double loss = 0;        // mean training loss of the last tenth of the steps, in nats per token
  double seconds = 0;     // of the steps
  double peak_bytes = 0;  // largest memory of arrays
};

struct MeasureInput {
  const TrainingPlan* plan = nullptr;       // of the last stage; null: no training
  const StudyTraining* training = nullptr;  // null: not trained
  Session session;                          // its model is the trained one, if any
  std::function<void(double fraction)> report;

  // The session's model with its choices of structure, attention, positions and direction.
  std::shared_ptr<const Checkpoint> checkpoint() const;
};
using MeasureFunction = std::function<StudyRows(const MeasureInput&)>;

enum class MeasureNeeds {
  Nothing,   // neither a plan nor a model
  Plan,      // a plan, but no trained model
  Training,  // a trained model with its plan and log
  Model      // the model of the session, or the trained one
};

struct StudyMeasure {
  std::string id, help;
  std::string columns;  // "length, bits_per_byte, loss"
  MeasureNeeds input = MeasureNeeds::Model;
  // Reads the options; throws InputError for invalid ones.
  std::function<MeasureFunction(JsonObject& options)> make;
};

const std::vector<StudyMeasure>& study_measures();
// Measure that the member "type" names. InputErrors begin with `path`.
const StudyMeasure& study_measure(const Json& options, std::string_view path);
// The measure with its options, of which none may be unknown.
MeasureFunction measure_function(const Json& options, std::string_view path);

// Measures by subject; study_measures() lists all.
std::vector<StudyMeasure> training_measures();
std::vector<StudyMeasure> evaluation_measures();
std::vector<StudyMeasure> trace_measures();
std::vector<StudyMeasure> cost_measures();

// Members that several measures have.
std::vector<std::string> file_names(JsonObject& options);  // "files": at least one name

}  // namespace attnscope
