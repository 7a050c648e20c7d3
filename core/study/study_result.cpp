#include "core/study/study_result.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/figure/plain_text.h"
#include "core/figure/text_table.h"

namespace attnscope {
namespace {

bool equal(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b));
}

bool matches(const StudyRow& row, const StudyAt& at) {
  return std::ranges::all_of(at, [&](const auto& item) {
    const auto& [column, wanted] = item;
    if (const auto* word = std::get_if<std::string>(&wanted)) {
      const auto found = row.words.find(column);
      return found != row.words.end() && found->second == *word;
    }
    const auto found = row.numbers.find(column);
    return found != row.numbers.end() && equal(found->second, std::get<double>(wanted));
  });
}

// Slope of ln y over ln x by least squares.
double growth(const std::vector<std::pair<double, double>>& points) {
  double x_sum = 0, y_sum = 0, xx = 0, xy = 0;
  for (const auto& [x, y] : points) {
    const double lx = std::log(x), ly = std::log(y);
    x_sum += lx;
    y_sum += ly;
    xx += lx * lx;
    xy += lx * ly;
  }
  const auto n = static_cast<double>(points.size());
  return (n * xy - x_sum * y_sum) / (n * xx - x_sum * x_sum);
}

double value_at(const StudyTerm& term, const StudyAt& at, const StudyRows& rows) {
  std::vector<double> values;
  std::vector<std::pair<double, double>> points;
  for (const StudyRow& row : rows) {
    const auto value = row.numbers.find(term.value);
    if (value == row.numbers.end() || !matches(row, at)) continue;
    values.push_back(value->second);
    const auto x = row.numbers.find(term.growth_in);
    if (x != row.numbers.end()) points.emplace_back(x->second, value->second);
  }
  if (values.empty()) return std::nan("");
  switch (term.take) {
    case StudyTake::Min:
      return *std::ranges::min_element(values);
    case StudyTake::Max:
      return *std::ranges::max_element(values);
    case StudyTake::Growth:
      return points.size() < 2 ? std::nan("") : growth(points);
    case StudyTake::Mean:
      break;
  }
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// `at` with the columns of `changes` replaced.
StudyAt changed(StudyAt at, const StudyAt& changes) {
  for (const auto& [column, wanted] : changes) at[column] = wanted;
  return at;
}

std::string number_text(double value) {
  return std::isnan(value) ? "not measured" : brief(value);
}

std::string term_text(const StudyTerm& term, double value) {
  return term.label.empty() ? number_text(value) : term.label + " " + number_text(value);
}

}  // namespace

double value_of(const StudyTerm& term, const StudyRows& rows) {
  if (term.value.empty()) return term.number;
  double value = value_at(term, term.at, rows);
  if (!term.minus.empty()) value -= value_at(term, changed(term.at, term.minus), rows);
  if (!term.over.empty()) value /= value_at(term, changed(term.at, term.over), rows);
  return value;
}

StudyCheck check(const StudyComparison& comparison, const StudyRows& rows) {
  StudyCheck result{value_of(comparison.left, rows), value_of(comparison.right, rows), false};
  switch (comparison.relation) {
    case StudyRelation::Less:
      result.holds = result.left < result.right - comparison.margin;
      break;
    case StudyRelation::Greater:
      result.holds = result.left > result.right + comparison.margin;
      break;
    case StudyRelation::Equal:
      result.holds = std::abs(result.left - result.right) <= comparison.margin;
      break;
  }
  return result;
}

std::string describe(const StudyComparison& comparison, const StudyCheck& check) {
  const std::string left = term_text(comparison.left, check.left);
  const std::string right = term_text(comparison.right, check.right);
  const bool is_bound = comparison.right.value.empty() && comparison.right.label.empty();
  const std::string margin = brief(comparison.margin);
  std::string relation;
  if (comparison.relation == StudyRelation::Equal) {
    relation = is_bound ? "within " + margin + " of " + right : "equal within " + margin;
  } else {
    relation = comparison.relation == StudyRelation::Less ? "less" : "greater";
    if (is_bound) relation += " than " + right;
    if (comparison.margin > 0) relation += " by more than " + margin;
  }
  const std::string both = left + (is_bound ? "" : ", " + right);
  if (std::isnan(check.left) || std::isnan(check.right)) return both;
  return both + " (" + (check.holds ? "" : "not ") + relation +
         (check.holds ? ", as claimed)" : ", against the claim)");
}

std::string conclusion(const Study& study, const StudyRows& rows) {
  if (study.comparisons.empty()) return "No comparison.";
  std::size_t held = 0, measured = 0;
  std::string details;
  for (const StudyComparison& comparison : study.comparisons) {
    const StudyCheck result = check(comparison, rows);
    held += result.holds ? 1 : 0;
    measured += std::isnan(result.left) || std::isnan(result.right) ? 0 : 1;
    if (!comparison.about.empty()) {
      details += details.empty() ? " " : ". ";
      details += comparison.about + ": ";
    } else {
      details += "; ";
    }
    details += describe(comparison, result);
  }
  const std::size_t count = study.comparisons.size();
  std::string verdict =
      "Agrees in part (" + std::to_string(held) + " of " + std::to_string(count) + ").";
  if (held == count) verdict = "Agrees with the article.";
  if (held == 0) verdict = "Does not agree with the article.";
  if (measured < count) {
    verdict = "Not measured completely (" + std::to_string(measured) + " of " +
              std::to_string(count) + ").";
  }
  return verdict + details + ".";
}

std::string to_csv(const Study& study, const StudyRows& rows) {
  std::vector<std::string> columns;
  for (const StudyParameter& parameter : study.parameters) columns.push_back(parameter.name);
  const std::size_t parameters = columns.size();
  std::set<std::string> names;
  for (const StudyRow& row : rows) {
    for (const auto& [column, word] : row.words) names.insert(column);
    for (const auto& [column, number] : row.numbers) names.insert(column);
  }
  for (const std::string& name : names) {
    if (std::ranges::find(columns, name) == columns.end()) columns.push_back(name);
  }
  std::string csv;
  for (const std::string& column : columns) csv += (csv.empty() ? "" : ",") + csv_field(column);
  csv += '\n';
  for (const StudyRow& row : rows) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) csv += ',';
      const auto word = row.words.find(columns[i]);
      const auto number = row.numbers.find(columns[i]);
      if (word != row.words.end() && (i < parameters || number == row.numbers.end())) {
        csv += csv_field(word->second);
      } else if (number != row.numbers.end() && std::isfinite(number->second)) {
        csv += general(number->second, 9);
      }
    }
    csv += '\n';
  }
  return csv;
}

Json to_json(const StudyRows& rows) {
  Json list = Json::array();
  for (const StudyRow& row : rows) {
    Json::Object numbers;
    for (const auto& [column, number] : row.numbers) {
      if (std::isfinite(number)) numbers[column] = number;
    }
    list.push_back(Json(Json::Object{{"numbers", Json(std::move(numbers))}, {"words", row.words}}));
  }
  return list;
}

StudyRows rows_from_json(const Json& list, std::string_view path) {
  if (!list.is_array()) throw InputError(std::string(path) + ": expected an array");
  StudyRows rows;
  for (const Json& item : list) {
    JsonObject object(item, path);
    StudyRow row;
    const Json &numbers = object.any("numbers"), &words = object.any("words");
    if (!numbers.is_object()) object.fail("numbers", "an object");
    if (!words.is_object()) object.fail("words", "an object");
    for (const auto& [column, number] : numbers.items()) {
      if (!number.is_number()) object.fail("numbers", "numbers");
      row.numbers[column] = number.get<double>();
    }
    for (const auto& [column, word] : words.items()) {
      if (!word.is_string()) object.fail("words", "strings");
      row.words[column] = word.text();
    }
    object.finish();
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace attnscope
