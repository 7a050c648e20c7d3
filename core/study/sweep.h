// Sweeps: experiments without a claim that vary one parameter of a session.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/parameter.h"
#include "core/experiment/session.h"
#include "core/model/config.h"
#include "core/study/study.h"

namespace attnscope {

struct SweepParameter {
  std::string id;              // "variant.window", "model.layers"
  std::string group;           // "Local window": variant, encoding, rule or model
  Parameter parameter;         // kind, label, limits and choices of the values
  std::optional<Value> value;  // current value; nullopt: unset
  std::string choice_pointer;  // member of the definition's base that contains the parameter
  Json choice;                 // complete value of this member; null: the base has it

  std::string label() const;    // "Local window: Window"
  std::string pointer() const;  // "/session/variant/window"
};

// Numbers, choices and switches of the variant and encoding of the view's head, of the exit rule
// and of retrieval; with a training plan, also the model's layers and heads. `stored`:
// configuration of the session's model. Empty if no parameter of the session can vary.
std::vector<SweepParameter> sweep_parameters(const Session& session, const ModelConfig& stored,
                                             bool has_plan);

// Values around the current one: "16, 32, 64"; for choices, all of them.
std::string default_sweep_values(const SweepParameter& parameter);

struct SweepMeasure {
  std::string id;                    // "text", "trace.density"
  std::string help;                  // one phrase
  std::vector<std::string> columns;  // that a figure can show
  bool reads_text = false;           // measures a text file
};
// Measures of a session that need no further choices.
std::vector<SweepMeasure> sweep_measures();

struct Sweep {
  Session session;
  Json plan;                 // training plan; null: the session's model is not trained again
  SweepParameter parameter;  // of sweep_parameters()
  std::string values;        // separated by commas
  std::string measure = "text", column = "bits_per_byte";
  std::string text_file = "assets/texts/mill.txt";
};

// Definition of the experiment, whose points are valid. Throws InputError: "values.window: expected
// an integer of at least 1, found \"x\"".
Json sweep_definition(const Sweep& sweep);

}  // namespace attnscope
