#include "core/view/opening.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/experiment/samples.h"
#include "core/input/image_file.h"
#include "core/input/input_file.h"
#include "core/model/architecture.h"
#include "core/model/capability.h"
#include "core/model/input_kind.h"
#include "core/view/view.h"

namespace attnscope {
namespace {

constexpr const char* kInitialView = "map";

Reads reads(const ModelConfig& config) {
  return architecture(config.architecture.id).reads;
}

bool has_variant(const ModelConfig& config, std::string_view id) {
  return std::ranges::any_of(config.groups, [&](const std::vector<HeadGroup>& layer) {
    return std::ranges::any_of(layer, [&](const HeadGroup& g) { return g.variant.id == id; });
  });
}

bool halts(const ModelConfig& config) {
  const Values& values = config.architecture.values;
  return values.has("halting") && values.choice("halting") != "none";
}

// Recommended views by feature of the model, the most specific first.
struct RecommendedView {
  const char* id;
  bool (*matches)(const ModelConfig&);
};
constexpr RecommendedView kRecommendedViews[] = {
    {"trajectory", [](const ModelConfig& c) { return reads(c) == Reads::Trajectories; }},
    {"alignment", [](const ModelConfig& c) { return reads(c) == Reads::SourceAndTarget; }},
    {"image", [](const ModelConfig& c) { return !input_kind(c.input.id).is_text; }},
    {"next", is_masked_model},
    {"steps", halts},
    {"gates", [](const ModelConfig& c) { return c.residual_connection.id == "gru"; }},
    {"depth", [](const ModelConfig& c) { return c.exits.has_value(); }},
    {"retrieval", [](const ModelConfig& c) { return has_variant(c, "memorizing"); }},
    {"memory", [](const ModelConfig& c) { return c.segment > 0; }},
    {"span", [](const ModelConfig& c) { return has_variant(c, "adaptive_span"); }},
};

// Confidence threshold for trained exit classifiers; with lower ones, most tokens exit at once.
constexpr double kExitThreshold = 0.8;

bool has_exit_classifier(const ModelCard& card) {
  return card.config && card.config->exits && card.config->exits->id == "classifier";
}

// Sets kExitThreshold for exit classifiers, removes it for other models. Keeps a user's threshold.
void set_threshold(ViewSettings& settings, const ModelCard& previous, const ModelCard& card) {
  const char* depth = "depth";
  ViewSettings preset;
  set_view_value(preset, depth, "threshold", kExitThreshold);
  const auto values = settings.options.find(depth);
  const bool is_unset = values == settings.options.end();
  if (has_exit_classifier(card) && is_unset) settings.options[depth] = preset.options[depth];
  if (has_exit_classifier(card) || !has_exit_classifier(previous) || is_unset) return;
  if (values->second == preset.options[depth]) settings.options.erase(values);
}

void clear_model_settings(RunView& run_view) {
  run_view.run.structure = {};
  run_view.run.variant.reset();
  run_view.run.encoding.reset();
  run_view.run.causal.reset();
  run_view.run.groups.clear();
  run_view.run.max_tokens = 0;
  run_view.run.exit.reset();
  run_view.run.retrieval.reset();
  run_view.run.interventions.clear();
  ViewSettings& view = run_view.view;
  view.layer = view.head = 0;
  view.part = {};
  view.row = view.column = view.height = view.width = 0;
  view.pinned_query = view.pinned_key = -1;
}

// Selects a sample, and the head and segment that illustrate it.
void use_recommended_sample(RunView& run_view, const ModelCard& card, const Sample& sample) {
  use_sample(run_view.run, sample);
  ViewSettings& view = run_view.view;
  view.layer = card.layer;
  view.head = card.head;
  view.row = view.column = view.height = view.width = 0;
  view.pinned_query = view.pinned_key = -1;
  if (card.config && card.config->segment > 0) view.part.segment = sample.segment;
}

// Replaces a sample by a more illustrative one; the user's own text stays.
void read_illustrative_sample(OpenedModel& opened, const ModelCard& card) {
  const Sample* current = current_sample(opened.viewed.run);
  const std::vector<const Sample*> samples = samples_for(card);
  if (current == nullptr || samples.empty() || !prefers_other_sample(card, *current)) return;
  use_recommended_sample(opened.viewed, card, *samples.front());
  opened.implied.push_back("the sample “" + samples.front()->title + "”");
}

// Selects an input for a model that reads another kind than the previous one.
void read_other_kind(OpenedModel& opened, const ModelCard& card, const InputHistory& history) {
  RunView& run = opened.viewed;
  clear_model_settings(run);
  const std::string task = reading_task(card);
  const std::vector<const Sample*> samples = samples_for(card);
  if (const auto found = history.find(task); found != history.end()) {
    copy_input(run.run, found->second.run);
    run.view.id = found->second.view.id;
    opened.implied.push_back(run.run.text.empty() ? "the previous input" : "the previous text");
    read_illustrative_sample(opened, card);
  } else if (!samples.empty() && !(run.run.input.empty() && fits_task(task, run.run.text))) {
    use_recommended_sample(run, card, *samples.front());
    opened.implied.push_back("the sample “" + samples.front()->title + "”");
  }
}

void select_recommended_view(OpenedModel& opened, const std::string& previous_view,
                             const ModelCard& previous_card, const ModelCard& card) {
  ViewSettings& view = opened.viewed.view;
  const std::string recommended = recommended_view(card);
  const bool is_default = view.id == kInitialView || view.id == recommended_view(previous_card);
  if (is_default) view.id = recommended.empty() ? kInitialView : recommended;
  if (view.id != previous_view) {
    opened.implied.push_back("the view " + attnscope::view(view.id).label);
  }
  const bool has_memory = recommended == "memory" || recommended == "gates";
  if (has_memory && card.config->segment > 0 && !view.part.segment) view.part.segment = 1;
  set_threshold(view, previous_card, card);
}

}  // namespace

std::string recommended_view(const ModelConfig& config) {
  for (const RecommendedView& recommended : kRecommendedViews) {
    if (recommended.matches(config)) return recommended.id;
  }
  return "";
}

std::string initial_view(const ModelConfig& config, const RunSpec& run) {
  const bool has_target = !run.target.empty() || !run.target_ids.empty();
  return reads(config) == Reads::SourceAndTarget && !has_target ? "alignment" : kInitialView;
}

std::string recommended_view(const ModelCard& card) {
  if (!card.config) return card.task == "image" ? card.task : "";
  return recommended_view(*card.config);
}

OpenedModel with_model(const RunView& current, const std::string& model,
                       const InputHistory& history) {
  OpenedModel opened{current, {}, false};
  opened.viewed.run.model = model;
  try {
    const ModelCard card = model_card(model);
    ModelCard previous_card;
    try {
      previous_card = model_card(current.run.model);
    } catch (const InputError&) {  // the folder is gone: its input kind is unknown
    }
    opened.input_kind_changed =
        reading_task(card) != reading_task(previous_card) || !current.run.has_input();
    if (opened.input_kind_changed) {
      read_other_kind(opened, card, history);
    } else if (model != current.run.model) {
      read_illustrative_sample(opened, card);
    }
    select_recommended_view(opened, current.view.id, previous_card, card);
  } catch (const InputError&) {  // the run will report the error
  }
  return opened;
}

namespace {

// True if a model reads images, pixels or trajectories of these sizes.
bool reads_file(const ModelConfig& config, const InputFile& file) {
  if (file.trajectory) {
    return reads(config) == Reads::Trajectories &&
           config.architecture.values.integer("state_size") == file.trajectory->states.dim(1) &&
           has_continuous_actions(config) == file.trajectory->moves.defined();
  }
  const Values& image = config.input.values;
  return file.pixels && !input_kind(config.input.id).is_text &&
         file.pixels->shape() == Shape{image.integer("height"), image.integer("width")};
}

bool reads_pictures_of(const ModelConfig& config, const std::pair<Index, Index>& size) {
  const Values& image = config.input.values;
  return !input_kind(config.input.id).is_text && image.integer("width") == size.first &&
         image.integer("height") == size.second;
}

}  // namespace

std::string model_that_reads(const std::filesystem::path& file, const std::string& model) {
  const bool is_picture = is_image_file(file);
  std::pair<Index, Index> size{};
  InputFile input;
  if (is_picture) {
    const ModelCard card = model_card(model);
    if (card.task == "image") return model;
    size = image_size(file);
  } else {
    input = read_input_file(file);
  }
  std::vector<std::string> models = bundled_models();
  models.insert(models.begin(), model);
  for (const std::string& name : models) {
    const ModelCard card = model_card(name);
    if (!card.config) continue;
    if (is_picture ? reads_pictures_of(*card.config, size) : reads_file(*card.config, input)) {
      return name;
    }
  }
  return "";
}

RunView with_text(const std::string& text, const RunView& current) {
  RunView next = current;
  try {
    const ModelCard card = model_card(current.run.model);
    const std::string task = reading_task(card);
    if (task == "image" || task == "trajectory" || task == "steering")
      next = with_model(current, "default").viewed;
  } catch (const InputError&) {  // the run will report the error
  }
  RunSpec input_only;
  input_only.text = text;
  copy_input(next.run, input_only);
  return next;
}

RunView open_model(const std::string& model) {
  static_cast<void>(model_card(model));
  RunView empty;
  empty.run.model = model;
  return with_model(empty, model).viewed;
}

}  // namespace attnscope
