// An image that a model completes.
#include "core/experiment/completion.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/experiment/chosen.h"
#include "core/experiment/continuation.h"
#include "core/experiment/finding.h"
#include "core/experiment/inputs.h"
#include "core/experiment/runner.h"
#include "core/model/generate.h"
#include "core/model/input_kind.h"
#include "core/model/sample.h"

namespace attnscope {

CompletionWish completion_wish(const ViewSettings& view) {
  CompletionWish wish;
  const auto options = view.options.find("image");
  if (options == view.options.end()) return wish;
  const Values& values = options->second;
  if (values.has("rows")) wish.rows = values.integer("rows");
  if (values.has("completed")) wish.draws = values.choice("completed") == "drawn";
  if (values.has("seed")) wish.seed = static_cast<std::uint64_t>(values.integer("seed"));
  if (!wish.draws) wish.seed = 0;
  return wish;
}

double Completion::mean_error() const {
  const auto made = ids.size() - static_cast<std::size_t>(given);
  if (whole.size() != ids.size() || made == 0) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (auto n = static_cast<std::size_t>(given); n < ids.size(); ++n) {
    sum += std::abs(static_cast<double>(ids[n] - whole[n]));
  }
  return sum / static_cast<double>(made);
}

namespace {

// The logits of one pixel after another: from the ones before alone, or, of patterns that are made
// for the whole image, from an image whose pixels to come are black, which no pixel before them
// sees.
class PixelByPixel {
 public:
  PixelByPixel(const Model& model, const Continuation& from, const Stop& stop)
      : model_(model), stop_(stop), generator_(model, {.kept = from.kept}) {
    try {
      next_ = generator_.step(from.prompt, stop);
    } catch (const InputError&) {
      whole_ = true;
    }
  }

  // Of the pixel behind these.  [levels]
  Tensor logits(const std::vector<std::int32_t>& ids, Index levels) {
    const auto pixel = static_cast<Index>(ids.size());
    if (!whole_) return next_.slice(0, levels);  // no start within an image
    const InputKind& kind = input_kind(model_.config.input.id);
    std::vector<std::int32_t> all = ids;
    all.resize(static_cast<std::size_t>(kind.most(model_.config.input.values)), 0);
    Batch batch = kind.batch(all, model_.config);
    batch.targets = IntTensor();
    ForwardOptions options;
    options.stop = stop_;
    const Tensor rows = run(model_, batch, options).logits.value();  // [1, L, vocabulary]
    return rows.reshaped({rows.dim(1), rows.dim(2)})
        .slice(pixel, 1)
        .reshaped({rows.dim(2)})
        .slice(0, levels);
  }

  void add(std::int32_t id) {
    if (!whole_) next_ = generator_.step({id}, stop_);
  }

 private:
  const Model& model_;
  const Stop& stop_;
  Generator generator_;
  Tensor next_;
  bool whole_ = false;
};

// Pixel by pixel behind those that are given.
void complete(Completion& c, const Model& model, const Continuation& from,
              const CompletionWish& wish, const FindingProgress& progress, const Stop& stop) {
  PixelByPixel pixels(model, from, stop);
  const Index count = c.width * c.height;
  for (Index pixel = c.given; pixel < count; ++pixel) {
    const std::vector<double> chances = probabilities(pixels.logits(c.ids, c.levels), {});
    for (Index level = 0; level < c.levels; ++level) {
      c.chances(pixel, level) = static_cast<float>(chances[static_cast<std::size_t>(level)]);
    }
    const auto likeliest = static_cast<std::int32_t>(
        std::max_element(chances.begin(), chances.end()) - chances.begin());
    c.ids.push_back(wish.draws ? sample_at(chances, pixel, wish.seed) : likeliest);
    if (progress) {
      progress(static_cast<std::size_t>(pixel - c.given + 1),
               static_cast<std::size_t>(count - c.given));
    }
    if (pixel + 1 < count) pixels.add(c.ids.back());
  }
}

Completion completion_of(const Experiment& experiment, const FindingProgress& progress,
                         const Stop& stop) {
  const CompletionWish wish = completion_wish(experiment.view);
  const std::shared_ptr<const Checkpoint> checkpoint = model_store()->checkpoint(experiment.model);
  Model model = chosen_model(checkpoint->model, experiment);
  Completion c;
  if (!reads_tokens(model.config)) return c;
  const InputKind& kind = input_kind(model.config.input.id);
  if (kind.is_text || kind.is_whole) return c;
  try {
    if (!experiment.interventions.empty()) {
      throw InputError(
          "a model that a person intervenes in completes no image: take back the "
          "interventions");
    }
    const Values& values = model.config.input.values;
    c.width = kind.columns(values);
    c.height = kind.most(values) / c.width;
    c.levels = kind.levels(values);
    Experiment half = experiment;
    if (experiment.input.empty()) {  // ids: of a whole image the first rows
      const Index rows = wish.rows >= 0 ? std::min(wish.rows, c.height) : c.height / 2;
      if (static_cast<Index>(half.ids.size()) == kind.most(values)) c.whole = half.ids;
      if (static_cast<Index>(half.ids.size()) > rows * c.width) {
        half.ids.resize(static_cast<std::size_t>(rows * c.width));
      }
    } else {
      c.whole = pixel_ids(model.config, experiment.input);
    }
    const Index rows = std::min(wish.rows, c.height - 1);
    const Continuation from = continuation(*checkpoint, model.config, half, rows);
    c.ids.assign(from.prompt.begin() + 1, from.prompt.end());  // without the start
    c.given = static_cast<Index>(c.ids.size());
    c.chances = Tensor::zeros({c.width * c.height, c.levels});
    if (c.width * c.height > model.config.context) {
      model = with_context(model, c.width * c.height);
    }
    complete(c, model, from, wish, progress, stop);
  } catch (const InputError& e) {
    c = {};
    c.problem = e.what();
  }
  return c;
}

}  // namespace

Finding completion_finding() {
  return {.id = Findings::completion.id,
          .summary = "The image as the model completes it from its first rows.",
          .exists =
              [](const Experiment& e) {
                return e.view.id == "image" && e.tensors.file.empty() && e.has_input();
              },
          .holds =
              [](const Experiment& before, const Experiment& now) {
                Experiment other = before;
                other.others = now.others;
                return same_run(other, now) &&
                       completion_wish(before.view) == completion_wish(now.view);
              },
          .beside_runs =
              [](const Experiment& experiment, ExperimentRun&, const FindingProgress& progress,
                 const Stop& stop, Findings& results) {
                results.set(Findings::completion, std::make_shared<const Completion>(
                                                      completion_of(experiment, progress, stop)));
              }};
}

}  // namespace attnscope
