#include "core/view/opening.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/experiment/samples.h"
#include "core/input/image_file.h"
#include "core/input/input_file.h"
#include "core/model/architecture.h"
#include "core/model/input_kind.h"
#include "core/view/view.h"

namespace attnscope {
namespace {

constexpr const char* kFirstView = "map";

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
  bool (*suits)(const ModelConfig&);
};
constexpr RecommendedView kOwnViews[] = {
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

// Typical confidence of a trained exit classifier; below it, most tokens exit at once.
constexpr double kSureEnough = 0.8;

bool has_sure_exits(const ModelCard& card) {
  return card.config && card.config->exits && card.config->exits->id == "classifier";
}

// Sets the threshold that illustrates such exits best, unless the user chose another.
void set_threshold(ViewSettings& settings, const ModelCard& before, const ModelCard& now) {
  const char* depth = "depth";
  ViewSettings set;
  set_view_value(set, depth, "threshold", kSureEnough);
  const auto found = settings.options.find(depth);
  const bool untouched = found == settings.options.end();
  if (has_sure_exits(now) && untouched) settings.options[depth] = set.options[depth];
  if (has_sure_exits(now) || !has_sure_exits(before) || untouched) return;
  if (found->second == set.options[depth]) settings.options.erase(found);
}

// Clears settings made for another model.
void clear_model_settings(RunView& e) {
  e.run.structure = {};
  e.run.variant.reset();
  e.run.encoding.reset();
  e.run.causal.reset();
  e.run.groups.clear();
  e.run.max_tokens = 0;
  e.run.exit.reset();
  e.run.retrieval.reset();
  e.run.interventions.clear();
  ViewSettings& view = e.view;
  view.layer = view.head = 0;
  view.part = {};
  view.row = view.column = view.height = view.width = 0;
  view.pinned_query = view.pinned_key = -1;
}

// Reads a sample with its recommended settings.
void read_illustratively(RunView& e, const ModelCard& card, const Sample& sample) {
  use_sample(e.run, sample);
  ViewSettings& view = e.view;
  view.layer = card.layer;
  view.head = card.head;
  view.row = view.column = view.height = view.width = 0;
  view.pinned_query = view.pinned_key = -1;
  if (card.config && card.config->segment > 0) view.part.segment = sample.segment;
}

// Replaces the text by a more illustrative sample if it is a sample itself, not the user's own.
void read_illustrative_sample(OpenedModel& opened, const ModelCard& card) {
  const Sample* read = current_sample(opened.viewed.run);
  const std::vector<const Sample*> offered = samples_for(card);
  if (read == nullptr || offered.empty() || !prefers_other_sample(card, *read)) return;
  read_illustratively(opened.viewed, card, *offered.front());
  opened.implied.push_back("the sample “" + offered.front()->title + "”");
}

// Selects an input of the model's kind after one of another kind.
void read_other_kind(OpenedModel& opened, const ModelCard& card, const InputHistory& before) {
  RunView& e = opened.viewed;
  clear_model_settings(e);
  const std::string task = reading_task(card);
  const std::vector<const Sample*> offered = samples_for(card);
  if (const auto found = before.find(task); found != before.end()) {
    copy_input(e.run, found->second.run);
    e.view.id = found->second.view.id;
    opened.implied.push_back(e.run.text.empty() ? "the previous input" : "the previous text");
    read_illustrative_sample(opened, card);
  } else if (!offered.empty() && !(e.run.input.empty() && fits_task(task, e.run.text))) {
    read_illustratively(e, card, *offered.front());
    opened.implied.push_back("the sample “" + offered.front()->title + "”");
  }
}

void look_through_own(OpenedModel& opened, const std::string& view_before,
                      const ModelCard& card_before, const ModelCard& card) {
  ViewSettings& view = opened.viewed.view;
  const std::string own = recommended_view(card);
  const bool nobody_chose = view.id == kFirstView || view.id == recommended_view(card_before);
  if (nobody_chose) view.id = own.empty() ? kFirstView : own;
  if (view.id != view_before) {
    opened.implied.push_back("the view " + attnscope::view(view.id).label);
  }
  const bool remembers = own == "memory" || own == "gates";
  if (remembers && card.config->segment > 0 && !view.part.segment) view.part.segment = 1;
  set_threshold(view, card_before, card);
}

}  // namespace

std::string recommended_view(const ModelConfig& config) {
  for (const RecommendedView& own : kOwnViews) {
    if (own.suits(config)) return own.id;
  }
  return "";
}

std::string recommended_view(const ModelCard& card) {
  if (!card.config) return card.task == "image" ? card.task : "";
  return recommended_view(*card.config);
}

OpenedModel with_model(const RunView& now, const std::string& model, const InputHistory& before) {
  OpenedModel opened{now, {}, false};
  opened.viewed.run.model = model;
  try {
    const ModelCard card = model_card(model);
    ModelCard card_before;
    try {
      card_before = model_card(now.run.model);
    } catch (const InputError&) {  // the folder is gone: its input kind is unknown
    }
    opened.input_kind_changed =
        reading_task(card) != reading_task(card_before) || !now.run.has_input();
    if (opened.input_kind_changed) {
      read_other_kind(opened, card, before);
    } else if (model != now.run.model) {
      read_illustrative_sample(opened, card);
    }
    look_through_own(opened, now.view.id, card_before, card);
  } catch (const InputError&) {  // the run will report the error
  }
  return opened;
}

namespace {

// True if a model reads images, pixels or trajectories of these sizes.
bool reads_file(const ModelConfig& config, const InputFile& file) {
  if (file.trajectory) {
    return reads(config) == Reads::Trajectories &&
           config.architecture.values.integer("state_size") == file.trajectory->states.dim(1);
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

RunView reading_text(const std::string& text, const RunView& now) {
  RunView next = now;
  try {
    const ModelCard card = model_card(now.run.model);
    const std::string task = reading_task(card);
    if (task == "image" || task == "trajectory") next = with_model(now, "default").viewed;
  } catch (const InputError&) {  // the run will report the error
  }
  RunSpec alone;
  alone.text = text;
  copy_input(next.run, alone);
  return next;
}

RunView open_model(const std::string& model) {
  static_cast<void>(model_card(model));
  RunView nothing;
  nothing.run.model = model;
  return with_model(nothing, model).viewed;
}

}  // namespace attnscope
