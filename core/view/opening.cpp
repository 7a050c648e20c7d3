#include "core/view/opening.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/experiment/samples.h"
#include "core/input/input_file.h"
#include "core/input/picture.h"
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

// Views by what is special about models, the most special first.
struct OwnView {
  const char* id;
  bool (*suits)(const ModelConfig&);
};
constexpr OwnView kOwnViews[] = {
    {"trajectory", [](const ModelConfig& c) { return reads(c) == Reads::Trajectories; }},
    {"alignment", [](const ModelConfig& c) { return reads(c) == Reads::SourceAndTarget; }},
    {"image", [](const ModelConfig& c) { return !input_kind(c.input.id).is_text; }},
    {"next", fills_in},
    {"steps", halts},
    {"gates", [](const ModelConfig& c) { return c.join.id == "gru"; }},
    {"depth", [](const ModelConfig& c) { return c.exits.has_value(); }},
    {"retrieval", [](const ModelConfig& c) { return has_variant(c, "memorizing"); }},
    {"memory", [](const ModelConfig& c) { return c.segment > 0; }},
    {"span", [](const ModelConfig& c) { return has_variant(c, "adaptive_span"); }},
};

// As sure as a trained classifier is of most of its tokens; below that they leave at once.
constexpr double kSureEnough = 0.8;

bool has_sure_exits(const ModelCard& card) {
  return card.config && card.config->exits && card.config->exits->id == "classifier";
}

// The threshold at which such exits tell most, as long as nobody chose another.
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

// Without what was set for another model.
void as_trained(Experiment& e) {
  e.structure = {};
  e.variant.reset();
  e.encoding.reset();
  e.causal.reset();
  e.groups.clear();
  e.most_tokens = 0;
  e.exit.reset();
  e.retrieval.reset();
  e.interventions.clear();
  ViewSettings& view = e.view;
  view.layer = view.head = 0;
  view.part = {};
  view.row = view.column = view.height = view.width = 0;
  view.pinned_query = view.pinned_key = -1;
}

// A sample, where it says most.
void read_at_best(Experiment& e, const ModelCard& card, const Sample& sample) {
  read_sample(e, sample);
  ViewSettings& view = e.view;
  view.layer = card.layer;
  view.head = card.head;
  view.row = view.column = view.height = view.width = 0;
  view.pinned_query = view.pinned_key = -1;
  if (card.config && card.config->segment > 0) view.part.segment = sample.segment;
}

// Of what the model reads as the one before did only samples give way: not a person's own words.
void read_more_telling(OpenedModel& opened, const ModelCard& card) {
  const Sample* read = sample_read(opened.experiment);
  const std::vector<const Sample*> offered = samples_for(card);
  if (read == nullptr || offered.empty() || !wants_another(card, *read)) return;
  read_at_best(opened.experiment, card, *offered.front());
  opened.along.push_back("the sample “" + offered.front()->title + "”");
}

// What the model is to read in place of what another one did.
void read_other(OpenedModel& opened, const ModelCard& card, const ReadBefore& before) {
  Experiment& e = opened.experiment;
  as_trained(e);
  const std::string task = reading_task(card);
  const std::vector<const Sample*> offered = samples_for(card);
  if (const auto found = before.find(task); found != before.end()) {
    read_as(e, found->second);
    e.view.id = found->second.view.id;
    opened.along.push_back(e.text.empty() ? "what was read before" : "the text from before");
    read_more_telling(opened, card);
  } else if (!offered.empty() && !(e.input.empty() && suits(task, e.text))) {
    read_at_best(e, card, *offered.front());
    opened.along.push_back("the sample “" + offered.front()->title + "”");
  }
}

void look_through_own(OpenedModel& opened, const std::string& view_before,
                      const ModelCard& card_before, const ModelCard& card) {
  ViewSettings& view = opened.experiment.view;
  const std::string own = own_view(card);
  const bool nobody_chose = view.id == kFirstView || view.id == own_view(card_before);
  if (nobody_chose) view.id = own.empty() ? kFirstView : own;
  if (view.id != view_before) {
    opened.along.push_back("the view " + attnscope::view(view.id).label);
  }
  const bool remembers = own == "memory" || own == "gates";
  if (remembers && card.config->segment > 0 && !view.part.segment) view.part.segment = 1;
  set_threshold(view, card_before, card);
}

}  // namespace

std::string own_view(const ModelConfig& config) {
  for (const OwnView& own : kOwnViews) {
    if (own.suits(config)) return own.id;
  }
  return "";
}

std::string own_view(const ModelCard& card) {
  if (!card.config) return card.task == "image" ? card.task : "";
  return own_view(*card.config);
}

OpenedModel with_model(const Experiment& now, const std::string& model, const ReadBefore& before) {
  OpenedModel opened{now, {}, false};
  opened.experiment.model = model;
  try {
    const ModelCard card = model_card(model);
    ModelCard card_before;
    try {
      card_before = model_card(now.model);
    } catch (const InputError&) {  // moved since: nothing is known of what it read
    }
    opened.reads_other = reading_task(card) != reading_task(card_before) || !now.has_input();
    if (opened.reads_other) {
      read_other(opened, card, before);
    } else if (model != now.model) {
      read_more_telling(opened, card);
    }
    look_through_own(opened, now.view.id, card_before, card);
  } catch (const InputError&) {  // its run says what is wrong
  }
  return opened;
}

namespace {

// Whether a model reads pictures, or pixels and trajectories, of these sizes.
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

std::string reader_of(const std::filesystem::path& file, const std::string& model) {
  const bool is_picture = is_picture_file(file);
  std::pair<Index, Index> size{};
  InputFile input;
  if (is_picture) {
    const ModelCard card = model_card(model);
    if (card.task == "image") return model;
    size = picture_size(file);
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

Experiment reading_text(const std::string& text, const Experiment& now) {
  Experiment next = now;
  try {
    const ModelCard card = model_card(now.model);
    const std::string task = reading_task(card);
    if (task == "image" || task == "trajectory") next = with_model(now, "default").experiment;
  } catch (const InputError&) {  // the run says what is wrong
  }
  Experiment alone;
  alone.text = text;
  read_as(next, alone);
  return next;
}

Experiment opened_model(const std::string& model) {
  static_cast<void>(model_card(model));
  Experiment nothing;
  nothing.model = model;
  return with_model(nothing, model).experiment;
}

}  // namespace attnscope
