// Experiments that check a claim of an article: one base, varied over one or two parameters. A
// definition is a JSON file (assets/experiments/):
//
//   {"title": "Train short, test long", "claim": "..", "source": "..", "minutes": 2,
//    "base": {"train": {..}, "stages": [{..}], "session": {..}, "measure": [{"type": ..}, ..]},
//    "vary": [{"name": "positions", "set": "/train/model/position",
//              "values": [{"label": "ALiBi", "value": {"type": "alibi"}}, ..]}],
//    "figure": {"x": "length", "y": "bits_per_byte", "curves": "positions"},
//    "compare": [{"about": "Bits per byte at 512 tokens", "relation": "less", "margin": 0.1,
//                 "left": {"label": "ALiBi", "value": "bits_per_byte",
//                          "at": {"positions": "ALiBi", "length": 512}},
//                 "right": {..}}],
//    "quick": {..}}
//
// "train": a training plan (core/training/train.h) without a folder; "preset" names a plan in
// assets/presets that it overrides. "stages": merge patches to the plan, one for each training;
// each but the first starts from the model of the one before. "session": a session file
// (core/view/session_file.h) without "attnscope"; its model is the trained one if there is a plan.
// "measure": one measure or a list (study_measure.h). A parameter replaces the value at the JSON
// pointer "set", or the values of several pointers: {"label": .., "set": {POINTER: VALUE}}. File
// names that begin with "assets/" refer to the program's folder. "quick": merge patch to the
// definition for a fast run.
#pragma once

#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/index.h"
#include "core/base/json.h"

namespace attnscope {

inline constexpr std::size_t kMaxStudyPoints = 200;

struct StudyValue {
  std::string label;
  double number = std::numeric_limits<double>::quiet_NaN();  // NaN: not a number
  std::vector<std::pair<std::string, Json>> changes;         // JSON pointer into the base, value
};

struct StudyParameter {
  std::string name;  // column of the results
  std::vector<StudyValue> values;
  // True if a change concerns the training, so that each value has a model of its own.
  bool changes_training() const;
};

// Axes of the picture, as columns of the results. Without `x`, each point is a dot with its label.
struct StudyFigure {
  std::string x, y, curves;  // curves: parameter that distinguishes them; empty: one curve
  std::string x_label, y_label;
  double x_base = 0;  // base of a logarithmic axis; 0: linear
  bool y_logarithmic = false;
};

// Rows of the results: a value for each column, a number or a parameter's label.
using StudyAt = std::map<std::string, std::variant<double, std::string>>;

enum class StudyTake { Mean, Min, Max, Growth };

// A number computed from the results.
struct StudyTerm {
  std::string label{};
  std::string value{};  // column; empty: `number`
  double number = 0;
  StudyAt at{};                      // rows
  StudyTake take = StudyTake::Mean;  // of several rows
  std::string growth_in{};           // column in which Growth is the exponent of `value`
  StudyAt minus{}, over{};           // rows to subtract or to divide by, else as `at`
};

enum class StudyRelation { Less, Greater, Equal };

// A statement about the results that holds if the claim does. Less: left < right - margin;
// greater: left > right + margin; equal: |left - right| <= margin. NaN satisfies none.
struct StudyComparison {
  std::string
      about;  // quantity that both terms have: "Bits per byte at 512 tokens"; empty: as above
  StudyTerm left, right;
  StudyRelation relation = StudyRelation::Less;
  double margin = 0;
};

struct Study {
  std::string id;  // file name without extension
  std::string title, claim, source;
  double minutes = 0;  // of the full run on two cores
  Json base;
  std::vector<StudyParameter> parameters;  // one or two
  StudyFigure figure;
  std::vector<StudyComparison> comparisons;
  Json definition;  // as read, with the changes of "quick" if it is quick
};

// Strict parser; InputErrors begin with `path`. Does not check the points (check_points() in
// study_point.h). quick: applies the merge patch "quick".
Study study_from_json(const Json& definition, std::string_view path, bool quick = false);
// Reads a definition, for lists: without checks of its points, whose models may be missing.
// InputErrors name the file.
Study read_study(const std::filesystem::path& file, bool quick = false);
// Reads a definition and checks its points. InputErrors name the file.
Study load_study(const std::filesystem::path& file, bool quick = false);

// Ids of the definitions in assets/experiments, sorted.
std::vector<std::string> bundled_studies();
std::filesystem::path bundled_study_file(const std::string& id);
// A bundled definition by its id, or a file. InputError if neither exists.
Study find_study(const std::string& id_or_file, bool quick = false);

// The file `name`; in the program's folder if it begins with "assets/".
std::filesystem::path study_file(const std::string& name);

}  // namespace attnscope
