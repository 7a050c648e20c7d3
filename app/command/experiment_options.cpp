#include "app/command/experiment_options.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <tuple>

#include "app/command/choice_text.h"
#include "app/command/group_text.h"
#include "app/command/output.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/file_beginning.h"
#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/image_tensors.h"
#include "core/experiment/imported_tensors.h"
#include "core/experiment/mask_and_graph.h"
#include "core/experiment/samples.h"
#include "core/figure/png.h"
#include "core/input/image_file.h"
#include "core/input/structure_file.h"
#include "core/model/architecture.h"
#include "core/model/config.h"
#include "core/model/exits.h"
#include "core/model/residual_connection.h"
#include "core/view/opening.h"
#include "core/view/session_file.h"

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
                                                           std::int32_t minimum) {
  std::vector<std::int32_t> numbers;
  const char *next = text.data(), *end = next + text.size();
  while (true) {
    std::int32_t number = 0;
    const auto [rest, error] = std::from_chars(next, end, number);
    const bool is_decimal = rest == next + 1 || *next != '0';
    if (error != std::errc() || !is_decimal || number < minimum || (rest != end && *rest != ','))
      return {};
    numbers.push_back(number);
    if (rest == end) return numbers;
    next = rest + 1;
  }
}

std::vector<std::int32_t> ids_from_text(const std::string& text, const std::string& option,
                                        std::int32_t minimum) {
  if (auto ids = numbers_from_text(text, minimum)) return *ids;
  throw InputError(option + ": expected token ids such as \"1,2,3\", found \"" + text + "\"");
}

namespace {

Choice choice_of(const Info& info, const Json& object, const char* path, Omitted omitted) {
  Choice choice = incomplete_choice_from_json(info, object, path);
  if (omitted == Omitted::Default) return choice;
  for (const Parameter& parameter : info.parameters) {
    if (!object.contains(parameter.key)) choice.values.erase(parameter.key);
  }
  return choice;
}

}  // namespace

Choice variant_from_text(const std::string& text, Omitted omitted) {
  const Json object = choice_json(
      text, "variant", [](const std::string& id) { return attnscope::variant(id).parameters; });
  return choice_of(attnscope::variant(type_of(object, "variant")), object, "variant", omitted);
}

Choice encoding_from_text(const std::string& text, Omitted omitted) {
  const Json object = choice_json(
      text, "position", [](const std::string& id) { return attnscope::encoding(id).parameters; });
  return choice_of(attnscope::encoding(type_of(object, "position")), object, "position", omitted);
}

namespace {

std::vector<Parameter> exit_rule_parameters(const std::string& id) {
  return id == no_exits().id ? std::vector<Parameter>() : exit_rule(id).parameters;
}

}  // namespace

void ChoiceOptions::add_to(Command command, const std::string& defaults,
                           const std::string& prefix) {
  command.add("--" + prefix + "architecture", architecture_,
              "Architecture, such as universal,steps=4 ('attnscope list architectures'); weights "
              "that the model lacks stay untrained; default: " +
                  defaults);
  command.add("--" + prefix + "join", join_,
              "Residual connection, such as gru ('attnscope list joins'); default: " + defaults);
  command.add("--" + prefix + "exits", exits_,
              "Early-exit rule, such as saturation ('attnscope list exits'), or none; default: " +
                  defaults);
  command.add("--" + prefix + "segment-length", segment_,
              "Segment length in tokens; layers with memory see earlier segments; 0: the whole "
              "text; default: " +
                  defaults);
  command.add("--" + prefix + "variant", variant_,
              "Attention variant, such as local,window=4 ('attnscope list variants'); default: " +
                  defaults);
  command.add("--" + prefix + "position", encoding_,
              "Positional encoding, such as rope,base=500 ('attnscope list encodings'); default: " +
                  defaults);
  Option causal =
      command.flag("--" + prefix + "causal", causal_, "Causal mask: attend to earlier tokens only");
  Option no_causal =
      command.flag("--" + prefix + "no-causal", no_causal_, "Bidirectional attention");
  causal.excludes(no_causal);
}

std::optional<Choice> ChoiceOptions::variant(Omitted omitted) const {
  if (variant_.empty()) return std::nullopt;
  return variant_from_text(variant_, omitted);
}

std::optional<Choice> ChoiceOptions::encoding(Omitted omitted) const {
  if (encoding_.empty()) return std::nullopt;
  return encoding_from_text(encoding_, omitted);
}

std::optional<bool> ChoiceOptions::causal() const {
  if (causal_) return true;
  if (no_causal_) return false;
  return std::nullopt;
}

RequestedChoices ChoiceOptions::requested() const {
  RequestedChoices requested;
  requested.variant = variant(Omitted::Unset);
  requested.encoding = encoding(Omitted::Unset);
  requested.has_direction = requested.kept.direction = causal().has_value();
  requested.kept.segments = !segment_.empty();
  return requested;
}

Structure ChoiceOptions::structure(Structure structure) const {
  Json object = Json::object();
  if (!architecture_.empty()) {
    object["architecture"] = choice_json(architecture_, "architecture", [](const std::string& id) {
      return attnscope::architecture(id).parameters;
    });
  }
  if (!join_.empty()) {
    object["join"] = choice_json(join_, "join", [](const std::string& id) {
      return attnscope::residual_connection(id).parameters;
    });
  }
  if (!exits_.empty()) object["exits"] = choice_json(exits_, "exits", exit_rule_parameters);
  if (!segment_.empty()) {
    const Json number = Json::parse_or_null(segment_);
    object["segment"] = number.is_number() ? number : Json(segment_);
  }
  JsonObject members(object, "");
  const Structure parsed = structure_from_json(members);
  members.finish();
  if (parsed.architecture) structure.architecture = parsed.architecture;
  if (parsed.residual_connection) structure.residual_connection = parsed.residual_connection;
  if (parsed.exits) structure.exits = parsed.exits;
  if (parsed.segment) structure.segment = parsed.segment;
  return structure;
}

void ChoiceOptions::check_trace(const Trace& trace) const {
  if (!trace.is_imported) return;
  const std::pair<const char*, bool> options[] = {{"--architecture", !architecture_.empty()},
                                                  {"--join", !join_.empty()},
                                                  {"--exits", !exits_.empty()},
                                                  {"--segment-length", !segment_.empty()},
                                                  {"--variant", !variant_.empty()},
                                                  {"--position", !encoding_.empty()},
                                                  {"--causal", causal_},
                                                  {"--no-causal", no_causal_}};
  for (const auto& [name, is_given] : options) {
    if (!is_given) continue;
    throw InputError(std::string(name) +
                     ": expected a file of q and k, found a file of precomputed attention");
  }
}

Choice exits_from_text(const std::string& text) {
  Json object = {{"exits", choice_json(text, "exits", exit_rule_parameters)}};
  JsonObject members(object, "");
  const Structure parsed = structure_from_json(members);
  members.finish();
  return *parsed.exits;
}

RetrievalChoice retrieval_from_text(const std::string& text) {
  Json object = choice_json(text, "retrieval",
                            [](const std::string& id) { return retrieval_head(id).parameters; });
  if (!object.contains("store") || !object["store"].is_string()) {
    throw InputError("retrieval.store: expected the name of a datastore, found none");
  }
  const std::string store = object["store"].get<std::string>();
  object.erase("store");
  return {choice_from_json(retrieval_head, object, "retrieval"), store};
}

bool contains_tensors(const std::filesystem::path& file) {
  if (is_tensor_file(file)) return true;
  if (!is_image_file(file)) return false;
  constexpr std::size_t kSignature = 8;  // bytes
  return !is_png(read_beginning(file, kSignature)) || !has_session(file);
}

namespace {

// Parses "32x24", or "32" for the width alone.
std::pair<Index, Index> grid_from_text(const std::string& text) {
  std::pair<Index, Index> grid{0, 0};
  const char *next = text.data(), *end = next + text.size();
  const auto parse_side = [&](Index& side) {
    const auto [rest, error] = std::from_chars(next, end, side);
    next = rest;
    return error == std::errc() && side >= 1 && side <= kMaxGridSide;
  };
  bool is_valid = parse_side(grid.first);
  if (is_valid && next != end) is_valid = *next++ == 'x' && parse_side(grid.second);
  if (is_valid && next == end) return grid;
  throw InputError("--grid: expected width and height from 1 to " + std::to_string(kMaxGridSide) +
                   ", such as \"32x24\", found \"" + text + "\"");
}

}  // namespace

void TensorOptions::add_to(Command command) {
  command_ = command;
  command.add(
      "--tokens", tokens_,
      "File with the tokens of a tensor file: a JSON list, or text with one token per line");
  command.add("--key-tokens", key_tokens_,
              "File with the tokens of the keys, if they differ from those of the queries");
  command.add("--grid", grid_,
              "Size in pixels to which an image is resized: WIDTHxHEIGHT or WIDTH, at most 64 per "
              "side; default: 32 for the longer side");
}

void TensorOptions::apply(const std::string& file, RunSpec& spec) const {
  const auto to_absolute = [](const std::string& path) {  // a session may be opened from any folder
    return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
  };
  if (contains_tensors(file)) {
    for (const char* name : {"--text", "--text-file", "--ids", "--model"}) {
      if (!command_->is_given(name)) continue;
      throw InputError(std::string(name) + ": expected no tensor file, found " + file);
    }
    spec.tensors = {to_absolute(file), "", ""};
  }
  if (!grid_.empty()) {
    if (!is_image_file(spec.tensors.file)) {
      throw InputError("--grid: expected an image (PNG, JPEG, ...)");
    }
    std::tie(spec.tensors.width, spec.tensors.height) = grid_from_text(grid_);
  }
  if (tokens_.empty() && key_tokens_.empty()) return;
  if (spec.tensors.file.empty()) {
    throw InputError("--tokens: expected a tensor file (.npy, .npz, .safetensors)");
  }
  if (!tokens_.empty()) spec.tensors.tokens = to_absolute(tokens_);
  if (!key_tokens_.empty()) spec.tensors.key_tokens = to_absolute(key_tokens_);
}

void ExperimentOptions::add_to(Command command) {
  add_generation_options(command);
  tensors_.add_to(command);
  command.add("--overlong", overlong_,
              "Tokens to keep of a text longer than the context: first, last or all (up to 65536, "
              "with positions not seen in training); default: first");
  command
      .add(
          "--intervene", interventions_,
          "Intervention in the model: 'off layer=2 head=1', 'off layer=2', 'forbid query=5 key=3', "
          "'forbid key=0', 'force query=5 key=3' or 'replace position=4 text= cat'. With layer= "
          "and head=, forbid and force apply to these only. Repeatable")
      .one_each();
}

void ExperimentOptions::add_generation_options(Command command) {
  command_ = command;
  command.add("session,--session", session_,
              "Session file, or a PNG exported by attnscope; or tensors: FILE.npy, FILE.npz or "
              "FILE.safetensors with attention or with q and k; or an image whose pixels attend to "
              "each other");
  Option text = command.add("-t,--text", text_, "Input text");
  Option file = command.add("--text-file", text_file_, "File with the input text");
  command.flag("--chat", chat_, "Format the text as a user's turn with the model's chat template");
  Option ids = command.add("--ids", ids_, "Input token ids instead of a text: 1,2,3");
  command.add("--target-ids", target_ids_,
              "Target token ids: the decoder input of an encoder-decoder; for masked models one "
              "per position (-1: none)");
  command.add("--target", target_, "Target as text, without the start token");
  command.add("--second", second_,
              "Second sentence for an encoder: \"[CLS] text [SEP] second [SEP]\"");
  command.add("--input", input_,
              "Input file: an image (PNG, JPEG, ...), or pixels or a trajectory (safetensors)");
  command
      .add("--max-tokens,--most-tokens", max_tokens_,
           "Maximum number of input tokens; the rest is cut")
      .from_to(Index{1}, Index{65536});
  command.add("--exit", exit_,
              "Early-exit confidence threshold, from 0 to 1; for models with exits");
  command.add("--retrieval", retrieval_,
              "Retrieval augmentation: knn,store=FILE,k=8,lambda=0.25,temperature=1 or "
              "spalm,store=FILE,k=8");
  ids.excludes(text).excludes(file);
  text.excludes(file);
  command.add(
      "-m,--model", model_,
      std::string("Model: bundled name ('attnscope list models'), folder, GGUF file, or org/name "
                  "in the Hugging Face cache; default: the bundled model named default") +
          (offers_samples_ ? ". Without an input, selects a sample input and a view for the model"
                           : ""));
  choices_.add_to(command);
  Option mask = command.add(
      "--mask", mask_,
      "Mask for the variant custom: FILE.npy (a matrix), an image with one pixel per pair (white: "
      "allowed), a text file with one line of 0 and 1 per query, or .json with runs of keys");
  Option edges =
      command.add("--edges", edges_,
                  "Edges for the variant graph: a text file with one edge per line, "
                  "\"0 1\" or directed \"0 -> 1\"; FILE.json with pairs; FILE.npy with a matrix");
  mask.excludes(edges);
  command
      .add("--group", groups_,
           "Variant or encoding of some heads, overriding --variant and --position: "
           "\"layers=0,2;heads=0-3;variant=local,window=4;position=alibi\". Without layers or "
           "heads: all of them. Repeatable")
      .one_each();
  command.add("--device,--backend", backend_, "Device: auto, cpu or gpu; default: auto");
}

void ExperimentOptions::apply_pattern_file(RunSpec& spec) const {
  const auto check_variant = [&](const char* option, const char* id) {
    if (!command_->is_given("--variant") || (spec.variant && spec.variant->id == id)) return;
    throw InputError(std::string(option) + ": expected the variant " + id + ", found " +
                     spec.variant->id);
  };
  if (!mask_.empty()) {
    check_variant("--mask", kCustomMask);
    spec.variant = mask_choice(read_mask(mask_));
  }
  if (!edges_.empty()) {
    check_variant("--edges", kGraph);
    const EdgeList list = read_edges(edges_);
    spec.variant = graph_choice(list.edges, list.is_directed, spec.variant);
  }
}

bool ExperimentOptions::has_no_input() const {
  return session_.empty() && !command_->is_given("--text") && text_file_.empty() && ids_.empty() &&
         input_.empty();
}

void ExperimentOptions::report_sample(const RunSpec& spec) const {
  if (!uses_sample()) return;
  const Sample* sample = current_sample(spec);
  if (sample == nullptr) return;
  print_note("no input given; using the sample “" + sample->title + "”");
}

Session ExperimentOptions::session() const {
  Session session = this->session(nullptr);
  fill_unset_parameters(session.run);
  return session;
}

Session ExperimentOptions::compatible_session(std::vector<std::string>& notes) const {
  RequestedChoices requested;
  Session session = this->session(&requested);
  compatible_.apply(session, std::move(requested), notes);
  return session;
}

Session ExperimentOptions::session(RequestedChoices* requested) const {
  Session session;
  if (!session_.empty() && !contains_tensors(session_)) session = load_session(session_);
  RunSpec& run = session.run;
  tensors_.apply(session_, run);
  const bool has_new_text = command_->is_given("--text") || !text_file_.empty();
  if (has_new_text) {
    run.text = text_file_.empty() ? text_ : read_file(text_file_, kMaxTextBytes);
    run.ids.clear();
    run.tensors = {};
  }
  if (!ids_.empty()) {
    run.ids = ids_from_text(ids_, "--ids", 0);
    run.tensors = {};
  }
  if (uses_sample()) {
    session = {open_model(model_)};
  } else if (has_no_input()) {
    throw InputError(
        std::string("input: expected a session file, --text, --text-file, --ids") +
        (offers_samples_ ? ", --input, or --model alone for a sample" : " or --input") +
        ", found none");
  }
  if (!target_ids_.empty()) run.target_ids = ids_from_text(target_ids_, "--target-ids", -1);
  if (!target_.empty()) run.target = target_;
  if (!second_.empty()) run.second = second_;
  if (!input_.empty()) run.input = input_;
  if (command_->is_given("--exit")) {
    if (!(exit_ >= 0 && exit_ <= 1)) throw InputError("--exit: expected a number from 0 to 1");
    run.exit = exit_;
  }
  if (!retrieval_.empty()) run.retrieval = retrieval_from_text(retrieval_);
  if (!model_.empty()) run.model = model_;
  if (chat_) run.text = chat_turn(*model_store()->checkpoint(run.model), run.text);
  run.structure = choices_.structure(run.structure);
  const bool has_pattern_file = !mask_.empty() || !edges_.empty();
  if (requested != nullptr) {
    *requested = choices_.requested();
    requested->kept.length = max_tokens_ > 0;
    for (const std::string& group : groups_) {
      requested->groups.push_back(group_from_text(group, Omitted::Unset));
    }
    if (has_pattern_file) requested->variant.reset();
  }
  if (requested == nullptr || has_pattern_file) {
    if (const auto variant = choices_.variant()) run.variant = variant;
    apply_pattern_file(run);
  }
  if (const auto causal = choices_.causal()) run.causal = causal;
  if (requested == nullptr) {
    if (const auto encoding = choices_.encoding()) run.encoding = encoding;
    if (!groups_.empty()) run.groups.clear();
    for (const std::string& group : groups_) run.groups.push_back(group_from_text(group));
  }
  for (const std::string& line : interventions_) {
    run.interventions.push_back(intervention_from_text(line));
  }
  if (!backend_.empty()) run.backend = backend_choice(backend_);
  if (!overlong_.empty()) run.overlong = overlong_from_text(overlong_);
  if (max_tokens_ > 0) run.max_tokens = max_tokens_;
  return session;
}

namespace {
constexpr const char* kCompareOptions[] = {"--compare",
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
              "Run B: a session file or a PNG exported by attnscope; default: this run with the "
              "changes below");
  command.add("--compare-text", text_, "Text of run B");
  command.add("--compare-model", model_, "Model of run B");
  choices_.add_to(command, "as in this run", "compare-");
  command.add("--compare-layer", layer_, "Layer of run B");
  command.add("--compare-head", head_, "Head of run B");
  for (const char* name : kCompareOptions) command.option(name).under_heading(group);
}

bool CompareOptions::is_given() const {
  return std::any_of(std::begin(kCompareOptions), std::end(kCompareOptions),
                     [&](const char* name) { return command_->is_given(name); });
}

void CompareOptions::apply(Session& session, const CompatibleOptions& compatible,
                           std::vector<std::string>& notes) const {
  if (!is_given()) return;
  RunView b = session.b.value_or(session);
  if (!session_.empty()) b = load_session(session_);
  if (command_->is_given("--compare-text")) {
    b.run.text = text_;
    b.run.ids.clear();
  }
  if (!model_.empty()) b.run.model = model_;
  b.run.structure = choices_.structure(b.run.structure);
  if (const auto causal = choices_.causal()) b.run.causal = causal;
  if (command_->is_given("--compare-layer")) b.view.layer = layer_;
  if (command_->is_given("--compare-head")) b.view.head = head_;
  compatible.apply(b, choices_.requested(), notes, "compare-");
  session.b = std::move(b);
}

}  // namespace attnscope::command
