#include "app/command/experiment_options.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <tuple>

#include "app/command/choice_text.h"
#include "app/command/group_text.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/experiment/company.h"
#include "core/experiment/drawn.h"
#include "core/experiment/own_tensors.h"
#include "core/experiment/picture_tensors.h"
#include "core/experiment/samples.h"
#include "core/figure/png.h"
#include "core/input/drawn_file.h"
#include "core/input/picture.h"
#include "core/model/architecture.h"
#include "core/model/config.h"
#include "core/model/exits.h"
#include "core/model/join.h"
#include "core/view/opening.h"
#include "core/view/session.h"

namespace attnscope::command {

namespace {

Overlong overlong_from_text(const std::string& text) {
  if (text == "first") return Overlong::First;
  if (text == "last") return Overlong::Last;
  if (text == "all") return Overlong::All;
  throw InputError("--overlong: expected first, last or all, found \"" + text + "\"");
}

}  // namespace

std::optional<std::vector<std::int32_t>> numbers_from_text(const std::string& text,
                                                           std::int32_t least) {
  std::vector<std::int32_t> ids;
  const char *at = text.data(), *end = at + text.size();
  while (true) {
    std::int32_t id = 0;
    const auto [rest, error] = std::from_chars(at, end, id);
    const bool decimal = rest == at + 1 || *at != '0';
    if (error != std::errc() || !decimal || id < least || (rest != end && *rest != ',')) return {};
    ids.push_back(id);
    if (rest == end) return ids;
    at = rest + 1;
  }
}

std::vector<std::int32_t> ids_from_text(const std::string& text, const std::string& option,
                                        std::int32_t least) {
  if (auto ids = numbers_from_text(text, least)) return *ids;
  throw InputError(option + ": expected token numbers such as 1,2,3, found \"" + text + "\"");
}

Choice variant_from_text(const std::string& text) {
  const Json object = choice_json(
      text, "variant", [](const std::string& id) { return attnscope::variant(id).parameters; });
  return open_choice_from_json(attnscope::variant(type_of(object, "variant")), object, "variant");
}

Choice encoding_from_text(const std::string& text) {
  const Json object = choice_json(
      text, "position", [](const std::string& id) { return attnscope::encoding(id).parameters; });
  return open_choice_from_json(attnscope::encoding(type_of(object, "position")), object,
                               "position");
}

namespace {

std::vector<Parameter> exit_rule_parameters(const std::string& id) {
  return id == no_exits().id ? std::vector<Parameter>() : exit_rule(id).parameters;
}

}  // namespace

void ChoiceOptions::add_to(Command command, const std::string& otherwise,
                           const std::string& prefix) {
  command.add("--" + prefix + "architecture", architecture_,
              "How layers make a model: universal,steps=4 ('attnscope list architectures'); "
              "weights that it needs and the model lacks are untrained; default: " +
                  otherwise);
  command.add(
      "--" + prefix + "join", join_,
      "How a block's output joins its input: gru ('attnscope list joins'); default: " + otherwise);
  command.add("--" + prefix + "exits", exits_,
              "Where tokens may leave: saturation ('attnscope list exits'), or none; default: " +
                  otherwise);
  command.add("--" + prefix + "segment-length", segment_,
              "Tokens that are read at a time, those before them as layers remember them; 0: the "
              "whole text; default: " +
                  otherwise);
  command.add("--" + prefix + "variant", variant_,
              "Attention variant with its parameters: local,window=4 ('attnscope list "
              "variants' names them); default: " +
                  otherwise);
  command.add("--" + prefix + "position", encoding_,
              "Positional encoding with its parameters: rope,base=500 ('attnscope list "
              "encodings' names them); default: " +
                  otherwise);
  Option causal = command.flag("--" + prefix + "causal", causal_, "Attend to earlier tokens only");
  Option all =
      command.flag("--" + prefix + "no-causal", no_causal_, "Attend to later tokens as well");
  causal.excludes(all);
}

std::optional<Choice> ChoiceOptions::variant() const {
  if (variant_.empty()) return std::nullopt;
  return variant_from_text(variant_);
}

std::optional<Choice> ChoiceOptions::encoding() const {
  if (encoding_.empty()) return std::nullopt;
  return encoding_from_text(encoding_);
}

std::optional<bool> ChoiceOptions::causal() const {
  if (causal_) return true;
  if (no_causal_) return false;
  return std::nullopt;
}

Structure ChoiceOptions::structure(Structure structure) const {
  Json object = Json::object();
  if (!architecture_.empty()) {
    object["architecture"] = choice_json(architecture_, "architecture", [](const std::string& id) {
      return attnscope::architecture(id).parameters;
    });
  }
  if (!join_.empty()) {
    object["join"] = choice_json(
        join_, "join", [](const std::string& id) { return attnscope::join(id).parameters; });
  }
  if (!exits_.empty()) object["exits"] = choice_json(exits_, "exits", exit_rule_parameters);
  if (!segment_.empty()) {
    const Json number = Json::parse_or_null(segment_);
    object["segment"] = number.is_number() ? number : Json(segment_);
  }
  JsonObject members(object, "");
  const Structure given = structure_from_json(members);
  members.finish();
  if (given.architecture) structure.architecture = given.architecture;
  if (given.join) structure.join = given.join;
  if (given.exits) structure.exits = given.exits;
  if (given.segment) structure.segment = given.segment;
  return structure;
}

void ChoiceOptions::check_trace(const Trace& trace) const {
  if (!trace.given) return;
  const std::pair<const char*, bool> options[] = {{"--architecture", !architecture_.empty()},
                                                  {"--join", !join_.empty()},
                                                  {"--exits", !exits_.empty()},
                                                  {"--segment-length", !segment_.empty()},
                                                  {"--variant", !variant_.empty()},
                                                  {"--position", !encoding_.empty()},
                                                  {"--causal", causal_},
                                                  {"--no-causal", no_causal_}};
  for (const auto& [name, given] : options) {
    if (!given) continue;
    throw InputError(std::string(name) +
                     ": expected with a file of q and k, found one of attention, which is there "
                     "already");
  }
}

Choice exits_from_text(const std::string& text) {
  Json object = {{"exits", choice_json(text, "exits", exit_rule_parameters)}};
  JsonObject members(object, "");
  const Structure given = structure_from_json(members);
  members.finish();
  return *given.exits;
}

RetrievalChoice retrieval_from_text(const std::string& text) {
  Json object =
      choice_json(text, "retrieval", [](const std::string& id) { return mixer(id).parameters; });
  if (!object.contains("store") || !object["store"].is_string()) {
    throw InputError("retrieval.store: expected the name of a datastore, found nothing");
  }
  const std::string store = object["store"].get<std::string>();
  object.erase("store");
  return {choice_from_json(mixer, object, "retrieval"), store};
}

bool holds_tensors(const std::filesystem::path& file) {
  if (is_tensor_file(file)) return true;
  if (!is_picture_file(file)) return false;
  std::ifstream bytes(file, std::ios::binary);
  std::string first(8, ' ');
  bytes.read(first.data(), static_cast<std::streamsize>(first.size()));
  return !is_png(first) || !carries_session(file);
}

namespace {

// "32x24", or "32" for the width alone.
std::pair<Index, Index> grid_from_text(const std::string& text) {
  std::pair<Index, Index> grid{0, 0};
  const char *at = text.data(), *end = at + text.size();
  const auto number = [&](Index& side) {
    const auto [rest, error] = std::from_chars(at, end, side);
    at = rest;
    return error == std::errc() && side >= 1 && side <= kMostPixelSide;
  };
  bool right = number(grid.first);
  if (right && at != end) right = *at++ == 'x' && number(grid.second);
  if (right && at == end) return grid;
  throw InputError("--grid: expected pixels across and down from 1 to " +
                   std::to_string(kMostPixelSide) + ", such as 32x24, found \"" + text + "\"");
}

}  // namespace

void TensorOptions::add_to(Command command) {
  command_ = command;
  command.add("--tokens", tokens_,
              "The tokens of a file of tensors: a JSON list, or a text with one a line");
  command.add("--key-tokens", key_tokens_,
              "The tokens of its keys, where these are others than the queries'");
  command.add("--grid", grid_,
              "Of a picture: the pixels it is resized to, 32x24 or 32 across, at most 64 a side; "
              "default: 32 on the longer side");
}

void TensorOptions::apply(const std::string& file, Experiment& experiment) const {
  const auto whole = [](const std::string& path) {  // pictures and sessions may be opened elsewhere
    return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
  };
  if (holds_tensors(file)) {
    for (const char* name : {"--text", "--text-file", "--ids", "--model"}) {
      if (!command_->given(name)) continue;
      throw InputError(std::string(name) + ": expected without a file of tensors, found " + file);
    }
    experiment.tensors = {whole(file), "", ""};
  }
  if (!grid_.empty()) {
    if (!is_picture_file(experiment.tensors.file)) {
      throw InputError("--grid: expected with a picture (PNG, JPEG, ...)");
    }
    std::tie(experiment.tensors.width, experiment.tensors.height) = grid_from_text(grid_);
  }
  if (tokens_.empty() && key_tokens_.empty()) return;
  if (experiment.tensors.file.empty()) {
    throw InputError("--tokens: expected with a file of tensors (.npy, .npz, .safetensors)");
  }
  if (!tokens_.empty()) experiment.tensors.tokens = whole(tokens_);
  if (!key_tokens_.empty()) experiment.tensors.key_tokens = whole(key_tokens_);
}

void ExperimentOptions::add_to(Command command) {
  add_all_but_overlong(command);
  tensors_.add_to(command);
  command.add("--overlong", overlong_,
              "Which part of a text beyond the model's context is used: first, last, or all "
              "(at positions the model was not trained on, up to 65536 tokens); default: "
              "first");
  command
      .add("--intervene", interventions_,
           "A change in the model, any number of times: 'off layer=2 head=1', 'off layer=2', "
           "'forbid query=5 key=3', 'forbid key=0', 'force query=5 key=3' (all with layer= "
           "and head= for only there), 'replace position=4 text= cat'")
      .one_each();
}

void ExperimentOptions::add_all_but_overlong(Command command) {
  command_ = command;
  command.add("session,--session", session_,
              "A session file, or a PNG made by attnscope, that says what to run; or "
              "attention of your own: FILE.npy, FILE.npz or FILE.safetensors; or a picture, whose "
              "pixels attend to each other");
  Option text = command.add("-t,--text", text_, "The text to run on");
  Option file = command.add("--text-file", text_file_, "A file with the text to run on");
  Option ids = command.add("--ids", ids_, "Token numbers in place of a text: 1,2,3");
  command.add("--target-ids", target_ids_,
              "What an encoder-decoder has written so far, as token numbers; of a masked model "
              "what each position is to be, -1: nothing");
  command.add("--target", target_, "The same as a text, behind the start");
  command.add(
      "--second", second_,
      "A second sentence, which an encoder reads behind the text: \"[CLS] text [SEP] second "
      "[SEP]\"");
  command.add(
      "--input", input_,
      "A picture (PNG, JPEG, ...), or a file with the pixels of an image or with a trajectory "
      "(safetensors)");
  command.add("--most-tokens", most_tokens_, "Only the first so many tokens of the text are read")
      .from_to(Index{1}, Index{65536});
  command.add("--exit", exit_,
              "Tokens leave at the first layer that is as sure as this, from 0 to 1; for models "
              "with exits");
  command.add("--retrieval", retrieval_,
              "What helps to predict: knn,store=FILE,k=8,lambda=0.25,temperature=1 or "
              "spalm,store=FILE,k=8");
  ids.excludes(text).excludes(file);
  text.excludes(file);
  command.add(
      "-m,--model", model_,
      std::string("A bundled model's name ('attnscope list models'), a folder, or org/name of one "
                  "that the Hugging Face libraries have downloaded; default: default") +
          (samples_ ? ". Without anything to read: a sample for it, in the view that shows "
                      "it best"
                    : ""));
  choices_.add_to(command);
  Option mask =
      command.add("--mask", mask_,
                  "A mask for the variant custom: FILE.npy (a matrix), a picture with a pixel a "
                  "pair, white where it is allowed, a text with a line of 0 and 1 for each query, "
                  "or .json with runs of keys");
  Option edges = command.add("--edges", edges_,
                             "Edges for the variant graph: a text with an edge a line, 0 1 or, one "
                             "way, 0 -> 1; FILE.json with pairs; FILE.npy with a matrix");
  mask.excludes(edges);
  command
      .add("--group", groups_,
           "A choice for some heads, beyond --variant and --position; as often as wanted: "
           "\"layers=0,2;heads=0-3;variant=local,window=4;position=alibi\". Without layers "
           "or heads: all of them")
      .one_each();
  command.add("--backend", backend_, "Where to compute: auto, cpu or gpu; default: auto");
}

void ExperimentOptions::take_drawn(Experiment& e) const {
  const auto check = [&](const char* option, const char* id) {
    if (!command_->given("--variant") || (e.variant && e.variant->id == id)) return;
    throw InputError(std::string(option) + ": expected with the variant " + id + ", found " +
                     e.variant->id);
  };
  if (!mask_.empty()) {
    check("--mask", kCustomMask);
    e.variant = drawn_mask(read_mask(mask_));
  }
  if (!edges_.empty()) {
    check("--edges", kGraph);
    const EdgeList list = read_edges(edges_);
    e.variant = drawn_graph(list.edges, list.one_way, e.variant);
  }
}

bool ExperimentOptions::has_nothing_to_read() const {
  return session_.empty() && !command_->given("--text") && text_file_.empty() && ids_.empty() &&
         input_.empty();
}

void ExperimentOptions::say_sample(const Experiment& experiment) const {
  if (!reads_sample()) return;
  const Sample* sample = sample_read(experiment);
  if (sample == nullptr) return;
  std::fprintf(stderr, "note: nothing to read was given; this is the sample “%s”\n",
               sample->title.c_str());
}

Experiment ExperimentOptions::experiment() const {
  Experiment e;
  if (!session_.empty() && !holds_tensors(session_)) e = load_session(session_);
  tensors_.apply(session_, e);
  const bool new_text = command_->given("--text") || !text_file_.empty();
  if (new_text) {
    e.text = text_file_.empty() ? text_ : read_file(text_file_, kMostTextBytes);
    e.ids.clear();
    e.tensors = {};
  }
  if (!ids_.empty()) {
    e.ids = ids_from_text(ids_, "--ids", 0);
    e.tensors = {};
  }
  if (reads_sample()) {
    e = opened_model(model_);
  } else if (has_nothing_to_read()) {
    throw InputError(std::string("expected a session file, --text, --text-file, --ids or --input") +
                     (samples_ ? ", or --model alone for a sample that it reads" : ""));
  }
  if (!target_ids_.empty()) e.target_ids = ids_from_text(target_ids_, "--target-ids", -1);
  if (!target_.empty()) e.target = target_;
  if (!second_.empty()) e.second = second_;
  if (!input_.empty()) e.input = input_;
  if (command_->given("--exit")) {
    if (!(exit_ >= 0 && exit_ <= 1)) throw InputError("--exit: expected a number from 0 to 1");
    e.exit = exit_;
  }
  if (!retrieval_.empty()) e.retrieval = retrieval_from_text(retrieval_);
  if (!model_.empty()) e.model = model_;
  e.structure = choices_.structure(e.structure);
  if (const auto variant = choices_.variant()) e.variant = variant;
  take_drawn(e);
  if (const auto encoding = choices_.encoding()) e.encoding = encoding;
  if (const auto causal = choices_.causal()) e.causal = causal;
  if (!groups_.empty()) e.groups.clear();
  for (const std::string& group : groups_) e.groups.push_back(group_from_text(group));
  for (const std::string& line : interventions_) {
    e.interventions.push_back(intervention_from_text(line));
  }
  if (!backend_.empty()) e.backend = backend_choice(backend_);
  if (!overlong_.empty()) {
    e.overlong = overlong_from_text(overlong_);
  }
  if (most_tokens_ > 0) e.most_tokens = most_tokens_;
  complete_choices(e);
  return e;
}

namespace {
// The options of what to compare with, and which of them starts anew.
constexpr const char* kCompare[] = {"--compare",
                                    "--compare-text",
                                    "--compare-model",
                                    "--compare-variant",
                                    "--compare-position",
                                    "--compare-causal",
                                    "--compare-no-causal",
                                    "--compare-layer",
                                    "--compare-head",
                                    "--compare-architecture",
                                    "--compare-join",
                                    "--compare-exits",
                                    "--compare-segment-length"};
}  // namespace

void CompareOptions::add_to(Command command) {
  command_ = command;
  const std::string group = "Compare with";
  command.add("--compare", session_,
              "A session file, or a PNG made by attnscope, to compare with; default: this "
              "run, but for what the options below say");
  command.add("--compare-text", text_, "Another text");
  command.add("--compare-model", model_, "Another model's name or folder");
  choices_.add_to(command, "as this run", "compare-");
  command.add("--compare-layer", layer_, "Another layer");
  command.add("--compare-head", head_, "Another head");
  for (const char* name : kCompare) command.option(name).under_heading(group);
}

bool CompareOptions::given() const {
  return std::any_of(std::begin(kCompare), std::end(kCompare),
                     [&](const char* name) { return command_->given(name); });
}

void CompareOptions::apply(Experiment& experiment) const {
  if (!given()) return;
  Experiment other = experiment;
  if (!session_.empty()) {
    other = load_session(session_);
  } else if (!experiment.others.empty()) {
    other = experiment.others.front();
  }
  other.others.clear();
  if (command_->given("--compare-text")) {
    other.text = text_;
    other.ids.clear();
  }
  if (!model_.empty()) other.model = model_;
  other.structure = choices_.structure(other.structure);
  if (const auto variant = choices_.variant()) other.variant = variant;
  if (const auto encoding = choices_.encoding()) other.encoding = encoding;
  if (const auto causal = choices_.causal()) other.causal = causal;
  if (command_->given("--compare-layer")) other.view.layer = layer_;
  if (command_->given("--compare-head")) other.view.head = head_;
  complete_choices(other);
  experiment.others = {other};
}

}  // namespace attnscope::command
