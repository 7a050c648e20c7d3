// Measures of tasks: generating a target from a source, acting, completing images.
#include <cmath>

#include "core/analysis/crossing.h"
#include "core/base/error.h"
#include "core/experiment/completion.h"
#include "core/lesson/measure.h"
#include "core/training/number_words.h"
#include "core/view/alignment/alignment_numbers.h"
#include "core/view/trajectory/walk_grid.h"

namespace attnscope {
namespace {

// Dereferences a finding of the step's view. Throws InputError if the finding is missing or failed.
template <class T>
const T& require_finding(const std::shared_ptr<const T>& found, const char* what) {
  if (found == nullptr) {
    throw InputError(std::string("the claim requires ") + what +
                     ", which the view does not compute");
  }
  if (!found->problem.empty()) throw InputError(found->problem);
  return *found;
}

const GeneratedTarget& generated_target(const Traces& traces) {
  return require_finding(traces.findings.get(Findings::written), "a generated target");
}

const Rollouts& rollouts_of(const Traces& traces) {
  return require_finding(traces.findings.get(Findings::rollouts), "rollouts");
}

ViewSettings view_of(const Claim& claim) {
  ViewSettings view = claim.view;
  view.layer = claim.layer;
  view.head = claim.head;
  return view;
}

double crossing_fraction(const Traces& traces, const Claim& claim) {
  const GeneratedTarget& generated = generated_target(traces);
  return crossing(alignment_weights(generated, view_of(claim)), letter_count(generated));
}

// Weight of a letter of the target on a source token, as the view Alignment shows it.
double letter_weight(const Traces& traces, const Claim& claim) {
  const Tensor weights = alignment_weights(generated_target(traces), view_of(claim));
  check_index(claim.query, weights.dim(0), "query");
  check_index(claim.key, weights.dim(1), "key");
  return static_cast<double>(weights(claim.query, claim.key));
}

// Mean of letter_weight over the other letters.
double letter_others(const Traces& traces, const Claim& claim) {
  const double own_weight = letter_weight(traces, claim);
  const GeneratedTarget& generated = generated_target(traces);
  const Tensor weights = alignment_weights(generated, view_of(claim));
  const Index letters = letter_count(generated);
  check_index(claim.query, letters, "query");  // without the row of the end
  if (letters < 2) throw InputError("the claim requires a target of at least two letters");
  double sum = 0;
  for (Index letter = 0; letter < letters; ++letter) {
    sum += static_cast<double>(weights(letter, claim.key));
  }
  return (sum - own_weight) / static_cast<double>(letters - 1);
}

double number_is_correct(const Traces& traces, const Claim&) {
  const GeneratedTarget& generated = generated_target(traces);
  std::string digits;
  for (const TraceToken& token : generated.trace->streams.front().tokens) digits += token.bytes;
  const bool is_number = !digits.empty() && digits.size() <= kMaxNumberDigits &&
                         digits.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) throw InputError("the claim requires a number as the source");
  return generated_text(generated) == german_number(std::stol(digits)) ? 1 : 0;
}

double solved_fraction(const Traces& traces, const Claim&) {
  const Rollouts::Share solved = rollouts_of(traces).shortest();
  return static_cast<double>(solved.reached) / static_cast<double>(solved.of);
}

// Pearson correlation of requested and mean achieved returns.
double return_correlation(const Traces& traces, const Claim&) {
  const Rollouts& rollouts = rollouts_of(traces);
  const auto count = static_cast<double>(rollouts.max_steps);
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (Index target_steps = 1; target_steps <= rollouts.max_steps; ++target_steps) {
    const auto a = static_cast<double>(Grid::return_to_go(target_steps)),
               b = rollouts.mean_achieved(target_steps);
    x += a;
    y += b;
    xx += a * a;
    yy += b * b;
    xy += a * b;
  }
  return (count * xy - x * y) / std::sqrt((count * xx - x * x) * (count * yy - y * y));
}

double completion_error(const Traces& traces, const Claim&) {
  return require_finding(traces.findings.get(Findings::completion), "a completed image")
      .mean_error();
}

}  // namespace

std::vector<Measure> task_measures() {
  return {
      {"crossing",
       "for pairs of letters that attend to different source tokens, share of pairs in which the "
       "later letter attends further left",
       false, false, false, crossing_fraction, MeasureUnit::Share},
      {"letter_weight", "weight of a letter of the target (query) on a source token (key)", true,
       true, false, letter_weight, MeasureUnit::Share},
      {"letter_others", "mean weight of the other letters of the target on the source token", true,
       true, false, letter_others, MeasureUnit::Share},
      {"number_right", "1 if the generated target is the source number in German words", false,
       false, false, number_is_correct},
      {"starts_solved", "share of cells from which the model takes the shortest path on request",
       false, false, false, solved_fraction, MeasureUnit::Share},
      {"achieved_follows_asked",
       "correlation of the mean achieved return with the requested return", false, false, false,
       return_correlation},
      {"completion_error", "mean difference in levels between the completed pixels and the image's",
       false, false, false, completion_error},
  };
}

}  // namespace attnscope
