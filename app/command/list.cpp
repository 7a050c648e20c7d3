// attnscope list [models|variants|encodings|views|lessons] [--json]: what there is to choose from.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/command/commands.h"
#include "core/attention/variant.h"
#include "core/checkpoint/checkpoint.h"
#include "core/lesson/lesson.h"
#include "core/model/weights.h"
#include "core/position/encoding.h"
#include "core/view/view.h"

namespace attnscope::command {

namespace {

using nlohmann::json;

constexpr std::size_t kLineWidth = 96;

json parameter_json(const Parameter& parameter) {
  json object = {{"key", parameter.key},
                 {"symbol", parameter.symbol},
                 {"label", parameter.label},
                 {"help", parameter.help},
                 {"expected", expected_text(parameter)},
                 {"required", parameter.required}};
  if (!parameter.required && !parameter.optional) object["default"] = to_json(parameter.initial);
  if (!parameter.choices.empty()) object["choices"] = parameter.choices;
  return object;
}

json weight_json(const WeightInfo& weight) {
  return {{"name", weight.name}, {"help", weight.help}, {"optional", weight.optional}};
}

json info_json(const Info& info) {
  json object = {
      {"type", info.id},           {"label", info.label},         {"group", info.group},
      {"equation", info.equation}, {"summary", info.summary},     {"source", info.source},
      {"cost", info.cost},         {"parameters", json::array()}, {"tensors", json::array()}};
  for (const Parameter& parameter : info.parameters) {
    object["parameters"].push_back(parameter_json(parameter));
  }
  for (const WeightInfo& weight : info.weights) object["tensors"].push_back(weight_json(weight));
  return object;
}

// Words of `text` in lines of at most kLineWidth, each after `indent` spaces.
void print_wrapped(std::ostream& out, const std::string& text, std::size_t indent) {
  std::istringstream words(text);
  std::string word, line;
  const auto flush = [&] {
    if (!line.empty()) out << std::string(indent, ' ') << line << '\n';
    line.clear();
  };
  while (words >> word) {
    if (!line.empty() && indent + line.size() + 1 + word.size() > kLineWidth) flush();
    line += (line.empty() ? "" : " ") + word;
  }
  flush();
}

std::string default_text(const Parameter& parameter) {
  if (parameter.required) return "required";
  if (parameter.optional) return "optional, else " + parameter.left_out;
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
        out, "tensor " + weight.name + (weight.optional ? " (optional): " : ": ") + weight.help, 6);
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
  }
}

template <class List>
json list_json(const List& list) {
  json array = json::array();
  for (const auto& info : list) array.push_back(info_json(info));
  return array;
}

// What a person wants to know of a bundled model before choosing it.
json model_json(const std::string& name) {
  const Checkpoint checkpoint = load_checkpoint(name);
  json object = to_json(checkpoint.model.config);
  object["name"] = name;
  object["parameters"] = parameter_count(checkpoint.model.config);
  if (checkpoint.tokenizer) object["tokenizer"] = checkpoint.tokenizer->kind();
  return object;
}

json models_json() {
  json array = json::array();
  for (const std::string& name : bundled_models()) array.push_back(model_json(name));
  return array;
}

void print_models(std::ostream& out) {
  out << "Models (--model; a folder with a checkpoint will do as well)\n\n";
  for (const std::string& name : bundled_models()) {
    const ModelConfig config = load_checkpoint(name).model.config;
    out << "  " << name << " - " << config.layers << " layers of " << config.heads
        << " heads, width " << config.width << ", context " << config.context << ", "
        << config.vocabulary << " tokens, " << parameter_count(config) << " parameters\n";
  }
}

json views_json() {
  json array = json::array();
  for (const View& view : views()) {
    json object = {{"type", view.id},
                   {"label", view.label},
                   {"summary", view.summary},
                   {"parameters", json::array()}};
    for (const Parameter& parameter : view.parameters) {
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
    print_parameters(out, view.parameters);
  }
}

json lessons_json() {
  json array = json::array();
  for (const Lesson& lesson : bundled_lessons()) {
    array.push_back({{"id", lesson.id},
                     {"title", lesson.title},
                     {"summary", lesson.summary},
                     {"source", lesson.source},
                     {"steps", lesson.steps.size()}});
  }
  return array;
}

void print_lessons(std::ostream& out) {
  out << "Lessons (attnscope lesson; in the window Help, Lessons)\n\n";
  for (const Lesson& lesson : bundled_lessons()) {
    out << "  " << lesson.id << " - " << lesson.title << ", " << lesson.steps.size() << " steps\n";
    print_wrapped(out, lesson.summary, 6);
  }
}

struct Options {
  std::string what;
  bool as_json = false;
};

void run(const Options& options) {
  const bool all = options.what.empty();
  const bool with_models = all || options.what == "models";
  const bool with_variants = all || options.what == "variants";
  const bool with_encodings = all || options.what == "encodings";
  const bool with_views = all || options.what == "views";
  const bool with_lessons = all || options.what == "lessons";
  std::ostringstream out;
  if (options.as_json) {
    json object = json::object();
    if (with_models) object["models"] = models_json();
    if (with_variants) object["variants"] = list_json(variants());
    if (with_encodings) object["encodings"] = list_json(encodings());
    if (with_views) object["views"] = views_json();
    if (with_lessons) object["lessons"] = lessons_json();
    out << object.dump(2) << '\n';
  } else {
    if (with_models) print_models(out);
    if (all) out << '\n';
    if (with_variants) print_list(out, "Attention variants (variant.type)", variants());
    if (all) out << '\n';
    if (with_encodings) print_list(out, "Positional encodings (position.type)", encodings());
    if (all) out << '\n';
    if (with_views) print_views(out);
    if (all) out << '\n';
    if (with_lessons) print_lessons(out);
  }
  std::fputs(out.str().c_str(), stdout);
}

}  // namespace

void add_list(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "list", "Show models, attention variants, positional encodings, views and lessons");
  command
      ->add_option("WHAT", options->what,
                   "models, variants, encodings, views or lessons; without it all")
      ->check(CLI::IsMember({"models", "variants", "encodings", "views", "lessons"}));
  command->add_flag("--json", options->as_json, "Write JSON");
  command->callback([options] { run(*options); });
}

}  // namespace attnscope::command
