// attnscope list [WHAT] [--json]: lists models, variants, views and other choices.
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <sstream>

#include "app/command/commands.h"
#include "app/command/output.h"
#include "core/attention/variant.h"
#include "core/base/json.h"
#include "core/checkpoint/card.h"
#include "core/checkpoint/model_store.h"
#include "core/figure/plain_text.h"
#include "core/lesson/lesson.h"
#include "core/model/activation.h"
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/model/input_kind.h"
#include "core/model/output_softmax.h"
#include "core/model/residual_connection.h"
#include "core/model/retrieval.h"
#include "core/model/weights.h"
#include "core/position/encoding.h"
#include "core/study/study.h"
#include "core/training/task.h"
#include "core/view/view.h"

namespace attnscope::command {
namespace {

constexpr std::size_t kLineWidth = 96;

Json parameter_json(const Parameter& parameter) {
  Json object = {{"key", parameter.key},
                 {"symbol", parameter.symbol},
                 {"label", parameter.label},
                 {"help", parameter.help},
                 {"expected", expected_text(parameter)},
                 {"required", parameter.required}};
  if (!parameter.required && !parameter.optional) object["default"] = to_json(parameter.initial);
  if (!parameter.choices.empty()) object["choices"] = choice_ids(parameter);
  return object;
}

Json weight_json(const WeightInfo& weight) {
  return {{"name", weight.name}, {"help", weight.help}, {"optional", weight.file.optional}};
}

Json info_json(const Info& info) {
  Json object = {
      {"type", info.id},           {"label", info.label},         {"group", info.group},
      {"equation", info.equation}, {"summary", info.summary},     {"source", info.source},
      {"cost", info.complexity},   {"parameters", Json::array()}, {"tensors", Json::array()}};
  for (const Parameter& parameter : info.parameters) {
    object["parameters"].push_back(parameter_json(parameter));
  }
  for (const WeightInfo& weight : info.weights) object["tensors"].push_back(weight_json(weight));
  return object;
}

// Prints `text` in lines of at most kLineWidth, each indented by `indent` spaces.
void print_wrapped(std::ostream& out, const std::string& text, std::size_t indent) {
  std::istringstream words(text);
  std::string word, line;
  const auto print_line = [&] {
    if (!line.empty()) out << std::string(indent, ' ') << line << '\n';
    line.clear();
  };
  while (words >> word) {
    if (!line.empty() && indent + line.size() + 1 + word.size() > kLineWidth) print_line();
    line += (line.empty() ? "" : " ") + word;
  }
  print_line();
}

std::string default_text(const Parameter& parameter) {
  if (parameter.required) return "required";
  if (parameter.optional) return "optional, else " + parameter.unset_label;
  return "default " + to_text(parameter.initial);
}

void print_parameters(std::ostream& out, const std::vector<Parameter>& parameters) {
  for (const Parameter& parameter : parameters) {
    out << "      " << parameter.key << ": " << expected_text(parameter) << ", "
        << default_text(parameter) << '\n';
    print_wrapped(out, parameter.help, 10);
  }
}

void print_info(std::ostream& out, const Info& info) {
  out << "  " << info.id << " - " << info.label << " (" << info.source << ")\n";
  print_parameters(out, info.parameters);
  for (const WeightInfo& weight : info.weights) {
    print_wrapped(
        out,
        "tensor " + weight.name + (weight.file.optional ? " (optional): " : ": ") + weight.help, 6);
  }
}

template <class List>
void print_list(std::ostream& out, const char* title, const List& list) {
  out << title << '\n';
  std::string group;
  for (const auto& info : list) {
    if (info.group != group) out << '\n' << " " << info.group << '\n';
    group = info.group;
    print_info(out, info);
    if constexpr (requires { info.gated_id; }) {
      if (!info.gated_id.empty()) {
        out << "      gated: " << info.gated_id << " - " << info.gated_label << '\n';
      }
    }
  }
}

template <class List>
Json list_json(const List& list) {
  Json array = Json::array();
  for (const auto& info : list) {
    Json object = info_json(info);
    if constexpr (requires { info.cost.growth; }) object["growth"] = info.cost.growth.text();
    if constexpr (requires { info.gated_id; }) {
      object["gated"] = info.gated_id;
      object["gated_label"] = activation_label(info.type, true);
    }
    array.push_back(std::move(object));
  }
  return array;
}

Json model_json(const std::string& name) {
  const auto shared_checkpoint = model_store()->checkpoint(name);
  const Checkpoint& checkpoint = *shared_checkpoint;
  Json object = to_json(checkpoint.model.config);
  object["name"] = name;
  const ModelCard card = model_card(name);
  object["group"] = card.group;
  object["subtitle"] = subtitle(card);
  object["task"] = card.task;
  object["parameters"] = parameter_count(checkpoint.model.config);
  if (checkpoint.tokenizer) object["tokenizer"] = checkpoint.tokenizer->kind();
  return object;
}

Json models_json() {
  Json array = Json::array();
  for (const std::string& name : bundled_models()) array.push_back(model_json(name));
  return array;
}

void print_names(std::ostream& out, const ModelGroup& group) {
  if (!group.models.empty()) out << " " << group.title << '\n';
  for (const ModelGroup::Entry& model : group.models) {
    out << "  " << model.name << " - " << model.subtitle << '\n';
  }
}

void print_models(std::ostream& out) {
  out << "Models (--model; GGUF files and folders with a checkpoint are accepted as well)\n\n";
  print_names(out, user_group());
  for (const ModelGroup& group : bundled_groups()) {
    out << " " << group.title << '\n';
    for (const ModelGroup::Entry& model : group.models) {
      const ModelConfig config = model_store()->checkpoint(model.name)->model.config;
      out << "  " << model.name << " - " << model.subtitle << '\n'
          << "      " << count_text(config.layers, "layer") << " of "
          << count_text(config.heads, "head") << ", width " << config.width << ", context "
          << config.context << ", " << config.vocabulary << " tokens, " << parameter_count(config)
          << " parameters\n";
    }
  }
  print_names(out, downloaded_group());
}

Json views_json() {
  Json array = Json::array();
  for (const View& view : views()) {
    Json object = {{"type", view.id},
                   {"label", view.label},
                   {"summary", view.summary},
                   {"words", view.cells.merge_words},
                   {"parameters", Json::array()}};
    for (const Parameter& parameter : view.options.parameters) {
      object["parameters"].push_back(parameter_json(parameter));
    }
    array.push_back(std::move(object));
  }
  return array;
}

void print_views(std::ostream& out) {
  out << "Views (render --view)\n\n";
  for (const View& view : views()) {
    out << "  " << view.id << " - " << view.summary << '\n';
    if (view.cells.merge_words) print_wrapped(out, "supports --words", 6);
    print_parameters(out, view.options.parameters);
  }
}

Json lessons_json() {
  Json array = Json::array();
  for (const Lesson& lesson : bundled_lessons()) {
    array.push_back({{"id", lesson.id},
                     {"title", lesson.title},
                     {"summary", lesson.summary},
                     {"source", lesson.source},
                     {"steps", lesson.steps.size()}});
  }
  return array;
}

Json tasks_json() {
  Json list = Json::array();
  for (const TaskInfo& task : tasks()) {
    list.push_back({{"id", task.id}, {"summary", task.summary}, {"files", task.files}});
  }
  return list;
}

void print_tasks(std::ostream& out) {
  out << "Training tasks (train --task)\n\n";
  for (const TaskInfo& task : tasks()) out << "  " << task.id << " - " << task.summary << '\n';
}

void print_lessons(std::ostream& out) {
  out << "Lessons (attnscope lesson; in the window: Help, Lessons)\n\n";
  for (const Lesson& lesson : bundled_lessons()) {
    out << "  " << lesson.id << " - " << lesson.title << ", " << lesson.steps.size() << " steps\n";
    print_wrapped(out, lesson.summary, 6);
  }
}

Json experiments_json() {
  Json list = Json::array();
  for (const std::string& id : bundled_studies()) {
    const Study study = read_study(bundled_study_file(id));
    list.push_back({{"id", study.id},
                    {"title", study.title},
                    {"claim", study.claim},
                    {"source", study.source},
                    {"minutes", study.minutes}});
  }
  return list;
}

void print_experiments(std::ostream& out) {
  out << "Experiments (attnscope experiment NAME -o FOLDER)\n\n";
  for (const std::string& id : bundled_studies()) {
    const Study study = read_study(bundled_study_file(id));
    out << "  " << id << " - " << study.title << ", about "
        << count_text(std::llround(study.minutes), "minute") << "\n";
    print_wrapped(out, study.claim, 6);
  }
}

struct ListOptions {
  std::string listing_id;
  bool as_json = false;
};

struct Listing {
  std::string id;  // name on the command line and in JSON
  std::function<Json()> json;
  std::function<void(std::ostream&)> print;
};

template <class List>
Listing listing(const char* id, const char* title, const List& list) {
  return {id, [&list] { return list_json(list); },
          [title, &list](std::ostream& out) { print_list(out, title, list); }};
}

std::vector<Listing> listings() {
  return {
      {"models", models_json, print_models},
      listing("architectures", "Architectures (\"architecture\" in config.json)", architectures()),
      listing("joins", "Residual connections (\"join\")", residual_connections()),
      listing("activations", "Activations of feed-forwards (\"activation\")", activations()),
      listing("softmaxes", "Output softmaxes (\"softmax\")", output_softmaxes()),
      listing("exits", "Early-exit rules (\"exits\")", exit_rules()),
      listing("inputs", "Decoder inputs (\"input\")", input_kinds()),
      listing("retrieval", "Retrieval (--retrieval)", retrieval_heads()),
      listing("variants",
              "Attention variants (variant.type); required parameters omitted from --variant get "
              "illustrative values for the length of the text",
              variants()),
      listing(
          "encodings",
          "Positional encodings (position.type); required parameters omitted from --position get "
          "illustrative values for the length of the text",
          encodings()),
      {"tasks", tasks_json, print_tasks},
      {"views", views_json, print_views},
      {"lessons", lessons_json, print_lessons},
      {"experiments", experiments_json, print_experiments}};
}

void run(const ListOptions& options) {
  std::ostringstream out;
  Json object = Json::object();
  bool is_first = true;
  for (const Listing& entry : listings()) {
    if (!options.listing_id.empty() && options.listing_id != entry.id) continue;
    if (options.as_json) {
      object[entry.id] = entry.json();
    } else {
      if (!is_first) out << '\n';
      entry.print(out);
    }
    is_first = false;
  }
  if (options.as_json) out << object.dump(2) << '\n';
  print(out.str());
}

}  // namespace

void add_list(Command program) {
  auto options = std::make_shared<ListOptions>();
  std::vector<std::string> ids;
  std::string id_list;
  for (const Listing& entry : listings()) {
    id_list += (ids.empty() ? "" : ", ") + entry.id;
    ids.push_back(entry.id);
  }
  Command command = program.subcommand(
      "list", "List models, their components, attention variants, views, lessons and experiments");
  command.add("WHAT", options->listing_id, "Kind of entries to list: " + id_list + "; default: all")
      .one_of(ids);
  command.flag("--json", options->as_json, "Print JSON");
  command.action([options] { run(*options); });
}

}  // namespace attnscope::command
