// Results of an experiment: a table, and what it says about the article's claim.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/study/study.h"
#include "core/study/study_measure.h"

namespace attnscope {

struct StudyResult {
  StudyRows rows;                     // with the parameters' columns; in the order of the points
  std::vector<std::string> problems;  // "RoPE: the loss is not finite": points without a result
};

// Value of a term; NaN if no row has it.
double value_of(const StudyTerm& term, const StudyRows& rows);

struct StudyCheck {
  double left = 0, right = 0;  // NaN: not measured
  bool holds = false;          // false for NaN
};
StudyCheck check(const StudyComparison& comparison, const StudyRows& rows);

// "ALiBi 2.31, sinusoidal 3.72 (less by more than 0.2, as claimed)".
std::string describe(const StudyComparison& comparison, const StudyCheck& check);

// "Agrees with the article." or "Agrees in part (1 of 2)." or "Does not agree with the article.",
// with the numbers of each comparison; "Not measured completely (1 of 2)." while numbers are
// missing, "No comparison." if the definition has none.
std::string conclusion(const Study& study, const StudyRows& rows);

// A column for each parameter, word and number, a line for each row. Missing numbers are empty.
std::string to_csv(const Study& study, const StudyRows& rows);

// {"numbers": {..}, "words": {..}}; numbers that are not finite are left out.
Json to_json(const StudyRows& rows);
// InputErrors begin with `path`.
StudyRows rows_from_json(const Json& list, std::string_view path);

}  // namespace attnscope
