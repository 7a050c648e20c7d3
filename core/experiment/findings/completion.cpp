// Finding "completion": an image completed by the model.
#include "core/experiment/completion.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/experiment/continuation.h"
#include "core/experiment/effective_model.h"
#include "core/experiment/finding.h"
#include "core/experiment/inputs.h"
#include "core/experiment/run.h"
#include "core/model/generate.h"
#include "core/model/input_kind.h"
#include "core/model/sample.h"

namespace attnscope {

double Completion::mean_error() const {
  const auto generated = ids.size() - static_cast<std::size_t>(given);
  if (whole.size() != ids.size() || generated == 0) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (auto n = static_cast<std::size_t>(given); n < ids.size(); ++n) {
    sum += std::abs(static_cast<double>(ids[n] - whole[n]));
  }
  return sum / static_cast<double>(generated);
}

namespace {

// Predicts pixels one by one. Models with patterns over the whole image read the known pixels
// padded with black ones, to which no known pixel attends; other models read only the known pixels.
class PixelPredictor {
 public:
  PixelPredictor(const Model& model, const Continuation& start)
      : model_(model), generator_(model, {.kept = start.kept}) {
    try {
      next_logits_ = generator_.step(start.prompt);
    } catch (const InputError&) {
      pads_image_ = true;
    }
  }

  // Logits of the pixel after `ids`, [levels].
  Tensor logits(const std::vector<std::int32_t>& ids, Index levels) {
    const auto pixel = static_cast<Index>(ids.size());
    if (!pads_image_) return next_logits_.slice(0, levels);  // excludes the start token
    const InputKind& kind = input_kind(model_.config.input.id);
    std::vector<std::int32_t> padded = ids;
    padded.resize(static_cast<std::size_t>(kind.max_ids(model_.config.input.values)), 0);
    Batch batch = kind.batch(padded, model_.config);
    batch.targets = IntTensor();
    ForwardOptions options;
    const Tensor all_logits = run(model_, batch, options).logits.value();  // [1, L, vocabulary]
    return all_logits.reshaped({all_logits.dim(1), all_logits.dim(2)})
        .slice(pixel, 1)
        .reshaped({all_logits.dim(2)})
        .slice(0, levels);
  }

  void add(std::int32_t id) {
    if (!pads_image_) next_logits_ = generator_.step({id});
  }

 private:
  const Model& model_;
  Generator generator_;
  Tensor next_logits_;
  bool pads_image_ = false;
};

// Appends the missing pixels of the image one by one.
void generate_pixels(Completion& c, const Model& model, const Continuation& start,
                     const CompletionSettings& settings, const FindingProgress& progress) {
  PixelPredictor pixels(model, start);
  const Index count = c.width * c.height;
  for (Index pixel = c.given; pixel < count; ++pixel) {
    const std::vector<double> p = probabilities(pixels.logits(c.ids, c.levels), {});
    for (Index level = 0; level < c.levels; ++level) {
      c.probabilities(pixel, level) = static_cast<float>(p[static_cast<std::size_t>(level)]);
    }
    const auto best_level =
        static_cast<std::int32_t>(std::max_element(p.begin(), p.end()) - p.begin());
    c.ids.push_back(settings.draws ? sample_at(p, pixel, settings.seed) : best_level);
    if (progress) {
      progress(static_cast<std::size_t>(pixel - c.given + 1),
               static_cast<std::size_t>(count - c.given));
    }
    if (pixel + 1 < count) pixels.add(c.ids.back());
  }
}

Completion complete_image(const RunSpec& spec, const CompletionSettings& settings,
                          const FindingProgress& progress) {
  const std::shared_ptr<const Checkpoint> checkpoint = model_store()->checkpoint(spec.model);
  Model model = effective_model(checkpoint->model, spec);
  Completion c;
  if (!reads_tokens(model.config)) return c;
  const InputKind& kind = input_kind(model.config.input.id);
  if (kind.is_text || kind.uses_patches) return c;
  try {
    if (!spec.interventions.empty()) {
      throw InputError(
          "image completion is not available with interventions; remove the interventions");
    }
    const Values& values = model.config.input.values;
    c.width = kind.columns(values);
    c.height = kind.max_ids(values) / c.width;
    c.levels = kind.levels(values);
    RunSpec prompt = spec;
    if (spec.input.empty()) {  // ids of a whole image: use the first rows
      const Index rows = settings.rows >= 0 ? std::min(settings.rows, c.height) : c.height / 2;
      if (static_cast<Index>(prompt.ids.size()) == kind.max_ids(values)) c.whole = prompt.ids;
      if (static_cast<Index>(prompt.ids.size()) > rows * c.width) {
        prompt.ids.resize(static_cast<std::size_t>(rows * c.width));
      }
    } else {
      c.whole = pixel_ids(model.config, spec.input);
    }
    const Index rows = std::min(settings.rows, c.height - 1);
    const Continuation start = continuation(*checkpoint, model.config, prompt, rows);
    c.ids.assign(start.prompt.begin() + 1, start.prompt.end());  // without the start token
    c.given = static_cast<Index>(c.ids.size());
    c.probabilities = Tensor::zeros({c.width * c.height, c.levels});
    if (c.width * c.height > model.config.context) model = with_context(model, c.width * c.height);
    generate_pixels(c, model, start, settings, progress);
  } catch (const InputError& e) {
    c = {};
    c.problem = e.what();
  }
  return c;
}

}  // namespace

Finding completion_finding() {
  return {.id = Findings::completion.id,
          .summary = "The image, completed by the model from its first rows.",
          .exists =
              [](const Session& session) {
                return session.run.tensors.file.empty() && session.run.has_input();
              },
          .in_background =
              [](const RunSpec& spec, const FindingSettings& settings, ExperimentRun&,
                 const FindingProgress& progress, Findings& results) {
                results.set(Findings::completion,
                            std::make_shared<const Completion>(complete_image(
                                spec, std::get<CompletionSettings>(settings), progress)));
              }};
}

}  // namespace attnscope
