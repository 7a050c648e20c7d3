// Measures of what models do that write from a source, act, or complete images.
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

// What the step's view has found; InputError where it asks for nothing of the kind, or there is
// none.
template <class T>
const T& needed(const std::shared_ptr<const T>& found, const char* what) {
  if (found == nullptr) {
    throw InputError(std::string("a claim is about ") + what + ", and the view has none");
  }
  if (!found->problem.empty()) throw InputError(found->problem);
  return *found;
}

const WrittenTarget& written_of(const Traces& traces) {
  return needed(traces.findings.get(Findings::written), "a target that is written");
}

const Rollouts& rollouts_of(const Traces& traces) {
  return needed(traces.findings.get(Findings::rollouts), "ways that are walked");
}

ViewSettings settings_of(const Claim& claim) {
  ViewSettings view = claim.view;
  view.layer = claim.layer;
  view.head = claim.head;
  return view;
}

double lines_cross(const Traces& traces, const Claim& claim) {
  const WrittenTarget& written = written_of(traces);
  return crossing(alignment_weights(written, settings_of(claim)), letters_of(written));
}

double looks_at(const Traces& traces, const Claim& claim) {
  const Tensor weights = alignment_weights(written_of(traces), settings_of(claim));
  need(claim.query, weights.dim(0), "letter");
  need(claim.key, weights.dim(1), "source token");
  return static_cast<double>(weights(claim.query, claim.key));
}

double number_right(const Traces& traces, const Claim&) {
  const WrittenTarget& written = written_of(traces);
  std::string digits;
  for (const TraceToken& token : written.trace->streams.front().tokens) digits += token.bytes;
  const bool number = !digits.empty() && digits.size() <= kMostNumberDigits &&
                      digits.find_first_not_of("0123456789") == std::string::npos;
  if (!number) throw InputError("a claim is about a number's words, and the source is no number");
  return written_text(written) == german_number(std::stol(digits)) ? 1 : 0;
}

double starts_solved(const Traces& traces, const Claim&) {
  const Rollouts::Share share = rollouts_of(traces).shortest();
  return static_cast<double>(share.reached) / static_cast<double>(share.of);
}

double return_achieved(const Traces& traces, const Claim& claim) {
  return shown_walk(rollouts_of(traces), claim.view).achieved();
}

double return_asked(const Traces& traces, const Claim& claim) {
  return shown_walk(rollouts_of(traces), claim.view).asked_return();
}

// Pearson's, over all returns that can be asked for.
double achieved_follows(const Traces& traces, const Claim&) {
  const Rollouts& rollouts = rollouts_of(traces);
  const auto count = static_cast<double>(rollouts.most_steps);
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (Index asked = 1; asked <= rollouts.most_steps; ++asked) {
    const auto a = static_cast<double>(Grid::return_of(asked)), b = rollouts.mean_achieved(asked);
    x += a;
    y += b;
    xx += a * a;
    yy += b * b;
    xy += a * b;
  }
  return (count * xy - x * y) / std::sqrt((count * xx - x * x) * (count * yy - y * y));
}

double completion_error(const Traces& traces, const Claim&) {
  return needed(traces.findings.get(Findings::completion), "an image that is completed")
      .mean_error();
}

}  // namespace

std::vector<Measure> task_measures() {
  return {
      {"crossing",
       "of letters that look at different places of the source, the share of pairs in which the "
       "later one looks further left",
       false, false, false, lines_cross},
      {"alignment", "weight of letter `query` of the written target to token `key` of the source",
       true, true, false, looks_at},
      {"number_right", "1 where the written target is the source's number in German words", false,
       false, false, number_right},
      {"starts_solved", "share of cells from which the model, asked for the shortest way, takes it",
       false, false, false, starts_solved},
      {"return_achieved", "the return of the shown walk", false, false, false, return_achieved},
      {"return_asked", "the return that was asked for on the shown walk", false, false, false,
       return_asked},
      {"achieved_follows_asked",
       "correlation of the mean return achieved with the return asked for", false, false, false,
       achieved_follows},
      {"completion_error", "mean difference in levels of the completed pixels from the picture's",
       false, false, false, completion_error},
  };
}

}  // namespace attnscope
