// A norm of the layer, step by step, for one token: layer norm (Ba et al., 2016) or RMS norm (Zhang
// and Sennrich, 2019).
#include <algorithm>
#include <cmath>

#include "core/experiment/block_study.h"
#include "core/experiment/finding.h"
#include "core/figure/plain_text.h"
#include "core/view/block/block_picture.h"
#include "core/view/block/strips.h"
#include "core/view/mechanism/panel.h"
#include "core/view/mechanism/steps.h"

namespace attnscope {
namespace {

constexpr double kMinStep = 5.5;      // em: height of a step with a strip and little else
constexpr double kMinStepWidth = 14;  // em
constexpr double kMaxHistogram = 12;  // em
constexpr double kSideBySide = 48;    // em: smallest width of steps side by side
constexpr double kLowPage = 42;       // em: height below which steps are side by side

// The selected norm; null if the layer has none.
const NormStudy* selected_norm(const BlockInput& in, const BlockStudy& study) {
  const std::string choice = block_choice(in, "norm");
  const std::string block = choice == "feed_forward"      ? "feed-forward"
                            : choice == "cross_attention" ? "cross-attention"
                                                          : "attention";
  const auto found = std::ranges::find_if(study.norms, [&](const NormStudy& norm) {
    const bool is_cross = norm.name.ends_with("cross-attention");
    return norm.name.ends_with(block) && (block == "cross-attention" || !is_cross);
  });
  return found == study.norms.end() ? nullptr : &*found;
}

Refusal norm_refusal(const BlockInput& in) {
  const auto study = block_study(in);
  if (const Refusal refusal = study_refusal(study, "No norm")) return refusal;
  if (study->norms.empty())
    return {"No norm", "Layer " + std::to_string(in.layer) + " has no norm."};
  if (selected_norm(in, *study) == nullptr) {
    std::string names;
    for (const NormStudy& norm : study->norms) names += (names.empty() ? "" : ", ") + norm.name;
    return {"No such norm", "Layer " + std::to_string(in.layer) + " has norms " + names +
                                ". Select one of them under Norm."};
  }
  return {};
}

// The token's vector before the norm, normalised, and after the norm.
struct NormSteps {
  Tensor before, normalised, after;  // [d]
  Moments moments;                   // of `before`
};

NormSteps norm_steps(const NormStudy& norm, Index token) {
  NormSteps steps{row_of(norm.input, token), {}, row_of(norm.output, token), {}};
  steps.moments = moments(steps.before);
  const double mean = norm.is_rms ? 0 : steps.moments.mean;
  const double size = norm.is_rms ? steps.moments.rms : steps.moments.deviation;
  const double divisor = std::sqrt(size * size + norm.epsilon);
  steps.normalised = Tensor(steps.before.shape());
  for (Index c = 0; c < steps.before.size(); ++c) {
    steps.normalised[c] =
        static_cast<float>((static_cast<double>(steps.before[c]) - mean) / divisor);
  }
  return steps;
}

std::string describe_moments(const Moments& m) {
  return "mean " + brief(m.mean, 3) + ", standard deviation " + brief(m.deviation, 3);
}
std::string short_moments(const Moments& m) {
  return "mean " + brief(m.mean, 2) + ", σ " + brief(m.deviation, 2);
}

struct NormStep {
  std::vector<std::string> sentences;
  std::vector<NumberStrip> strips;
  Tensor numbers;  // of the histogram
};

std::vector<NormStep> drawn_steps(const Page& page, const BlockInput& in, const NormStudy& norm) {
  const NormSteps n = norm_steps(norm, in.token);
  const std::string rms = "root mean square " + brief(n.moments.rms, 3);
  const std::string before =
      describe_moments(n.moments) + (norm.is_rms ? ", " + rms : std::string());
  std::vector<NormStep> steps;
  steps.push_back(
      {{in.word() + " " + norm.name + ": " + before, in.word() + ": " + before,
        in.word() + ": " + short_moments(n.moments), short_moments(n.moments), in.word()},
       {{"x", n.before, range_of_numbers(page, n.before)}},
       n.before});
  const std::string operation = norm.is_rms ? "Divided by the root mean square"
                                            : "Minus the mean, divided by the standard deviation";
  const std::string after = describe_moments(moments(n.normalised));
  const std::string symbol = norm.is_rms ? "x / rms" : "(x − μ) / σ";
  const std::string few = short_moments(moments(n.normalised));
  steps.push_back({{operation + ": " + after, operation + ": " + few, symbol + ": " + few, symbol},
                   {{norm.is_rms ? "x / rms" : "(x − μ)/σ", n.normalised,
                     range_of_numbers(page, n.normalised)}},
                   n.normalised});
  const std::string scaled = norm.bias.defined() ? "Times the learned scale γ, plus the learned β"
                                                 : "Times the learned scale γ";
  const std::string symbols = norm.bias.defined() ? "× γ + β" : "× γ";
  NormStep last{{scaled + ": " + describe_moments(moments(n.after)),
                 symbols + ": " + short_moments(moments(n.after)), symbols},
                {{"γ", norm.gain, range_of_numbers(page, norm.gain)}},
                n.after};
  if (norm.bias.defined())
    last.strips.push_back({"β", norm.bias, range_of_numbers(page, norm.bias)});
  last.strips.push_back({"output", n.after, range_of_numbers(page, n.after)});
  steps.push_back(std::move(last));
  return steps;
}

BlockLayout draw_norm(Page& page, const Box& inside, const BlockInput& in) {
  const auto study = block_study(in);
  const NormStudy& norm = *selected_norm(in, *study);
  const double em = page.em();
  const std::vector<NormStep> steps = drawn_steps(page, in, norm);
  const auto count = static_cast<double>(steps.size());
  const bool is_wide = inside.width >= kSideBySide * em && inside.height < kLowPage * em;
  const double gap = 1.2 * em;
  const double width = is_wide ? (inside.width - (count - 1) * gap) / count : inside.width;
  const double height = is_wide ? inside.height : (inside.height - (count - 1) * gap) / count;
  if (width < kMinStepWidth * em || height < kMinStep * em) return {.is_too_small = true};
  std::vector<std::string> names;
  std::size_t most_strips = 0;
  for (const NormStep& step : steps) {
    most_strips = std::max(most_strips, step.strips.size());
    for (const NumberStrip& strip : step.strips) names.push_back(strip.name);
  }
  const double names_width = strip_names_width(page, names);
  const double strips = static_cast<double>(most_strips) * strip_height(page);
  const double histogram =
      std::min(kMaxHistogram * em, height - step_height(page) - strips - 0.5 * em);
  double y = inside.y, x = inside.x;
  int number = 1;
  for (const NormStep& step : steps) {
    Box rest = draw_step(page, {x, y, width, height}, number++, step.sentences);
    for (const NumberStrip& strip : step.strips) {
      draw_number_strip(page, rest, strip, names_width);
      rest = below(rest, strip_height(page));
    }
    rest.y = y + step_height(page) + strips + 0.3 * em;
    rest.height = std::max(0.0, histogram);
    draw_histogram(page, rest, step.numbers, {"value of a component; band: ± one deviation", ""});
    (is_wide ? x : y) +=
        is_wide ? width + gap
                : step_height(page) + strips + std::max(0.0, histogram) + 0.5 * em + gap;
  }
  const double used = step_height(page) + strips + std::max(0.0, histogram) + 0.5 * em;
  return {.bottom = is_wide ? inside.y + used : y - gap};
}

std::vector<ViewData::Matrix> norm_data(const BlockInput& in) {
  const auto study = block_study(in);
  const NormStudy& norm = *selected_norm(in, *study);
  const NormSteps n = norm_steps(norm, in.token);
  ViewData::Matrix matrix{
      norm.name, Tensor({norm.bias.defined() ? 5 : 4, n.before.size()}), {}, {}, {"step"}};
  Index row = 0;
  const auto add = [&](const char* name, const Tensor& numbers) {
    matrix.rows.emplace_back(name);
    std::ranges::copy(numbers, matrix.values.data() + row++ * n.before.size());
  };
  add("before", n.before);
  add("normalised", n.normalised);
  add("gain", norm.gain);
  if (norm.bias.defined()) add("bias", norm.bias);
  add("after", n.after);
  return {matrix};
}

}  // namespace

BlockPicture norm_picture() {
  BlockPicture p{"norm",       "Norm",    "a token's vector before and after a norm, step by step",
                 norm_refusal, draw_norm, norm_data};
  p.parameters = {"token", "norm"};
  p.has_colours = true;
  p.finding = {Findings::block.id, block_settings};
  return p;
}

}  // namespace attnscope
