#include <algorithm>
#include <set>

#include "core/base/limits.h"
#include "core/text/byte_alphabet.h"
#include "core/text/file/json_steps.h"

namespace attnscope {
namespace {

// Id of the model's "unk_token"; -1: none.
std::int32_t unknown_id(const Entry& model, const Vocabulary& vocabulary) {
  if (!model.has("unk_token")) return -1;
  const std::int32_t id = vocabulary.find(model.at("unk_token").text());
  if (id < 0) model.at("unk_token").fail("a token of the vocabulary");
  return id;
}

bool marks_spaces(const Entry& root) {
  for (const Entry& step : section_steps(root, "pre_tokenizer", "pretokenizers")) {
    if (step.type() == "Metaspace") return true;
  }
  for (const Entry& step : section_steps(root, "normalizer", "normalizers")) {
    if (step.type() == "Replace" && step.text_or("content", "") == "▁") return true;
  }
  return false;
}

Merges read_merges(const Entry& model, std::size_t prefix, const Vocabulary& vocabulary) {
  Merges merges;
  if (!model.has("merges")) return merges;
  const Entry list = model.at("merges");
  list.check_list();
  for (std::size_t n = 0; n < list.value.size(); ++n) {
    const Json& merge = list.value[n];
    if (merge.is_string()) {
      add_merge(vocabulary, merge.text(), prefix, merges, list.where);
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
               merge[1].is_string()) {
      add_merge(vocabulary, merge[0].text(), merge[1].text(), prefix, merges, list.where);
    } else {
      list.member(n).fail("two tokens");
    }
  }
  return merges;
}

void read_bpe(const Entry& root, const Entry& model, PipelineSteps& steps) {
  const std::size_t prefix = model.text_or("continuing_subword_prefix", "").size();
  Merges merges = read_merges(model, prefix, *steps.vocabulary);
  if (works_on_bytes(root)) check_byte_alphabet(steps, model.where);
  set_bpe_model(root, std::move(merges), steps);
}

// Reads [["token", score], ...], ordered by id.
std::vector<double> read_scores(const Entry& list, Vocabulary& vocabulary) {
  list.check_list();
  if (list.value.size() > kMaxTokens)
    list.fail("at most " + std::to_string(kMaxTokens) + " tokens");
  std::vector<double> scores;
  std::size_t bytes = 0;
  vocabulary.reserve(list.value.size());
  for (std::size_t n = 0; n < list.value.size(); ++n) {
    const Json& entry = list.value[n];
    const bool valid =
        entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_number();
    if (!valid) list.member(n).fail("a token and its score");
    vocabulary.add_or_replace(entry[0].text(), static_cast<std::int32_t>(n));
    scores.push_back(entry[1].get<double>());
    bytes += entry[0].text().size();
  }
  if (scores.empty()) throw InputError(list.where + ": expected at least one token, found none");
  if (bytes > limits::kMaxVocabulary) throw InputError(list.where + ": the tokens are too long");
  return scores;
}

void read_unigram(const Entry& model, PipelineSteps& steps, std::vector<double> scores) {
  constexpr double kPenalty = 10;  // distance of the unknown score below the lowest score
  UnigramOptions options;
  options.byte_fallback = model.flag_or("byte_fallback", false);
  if (model.has("unk_id")) {
    options.unknown = model.at("unk_id").token_id();
    if (static_cast<std::size_t>(options.unknown) >= scores.size()) {
      model.at("unk_id").fail("an id of the vocabulary");
    }
  }
  options.unknown_score = *std::ranges::min_element(scores) - kPenalty;
  steps.model = unigram_model(steps.vocabulary, std::move(scores), options);
}

std::string model_type(const Entry& model) {
  if (model.has("type")) return model.type();
  if (!model.has("merges") && model.has("vocab")) {  // older files have no type
    if (model.value["vocab"].is_array()) return "Unigram";
    return model.has("max_input_chars_per_word") ? "WordPiece" : "WordLevel";
  }
  return "BPE";
}

}  // namespace

void set_bpe_model(const Entry& root, Merges merges, PipelineSteps& steps) {
  const Entry model = root.at("model");
  if (model.has("dropout") && model.value["dropout"] != 0) model.at("dropout").fail("none");
  BpeModelOptions options;
  options.prefix = model.text_or("continuing_subword_prefix", "");
  options.suffix = model.text_or("end_of_word_suffix", "");
  options.fuse_unknown = model.flag_or("fuse_unk", false);
  options.byte_fallback = model.flag_or("byte_fallback", false);
  options.whole_pieces = model.flag_or("ignore_merges", false);
  options.bytes = works_on_bytes(root);
  options.spaces_marked = marks_spaces(root);
  options.unknown = unknown_id(model, *steps.vocabulary);
  steps.model = bpe_model(steps.vocabulary, std::move(merges), options);
}

void set_wordpiece_model(const Entry& root, PipelineSteps& steps) {
  const Entry model = root.at("model");
  WordPieceOptions options;
  options.prefix = model.text_or("continuing_subword_prefix", "##");
  options.unknown = unknown_id(model, *steps.vocabulary);
  if (model.has("max_input_chars_per_word")) {
    options.max_characters = model.at("max_input_chars_per_word").count(1 << 30);
  }
  steps.labels_as_written = true;
  steps.model = wordpiece_model(steps.vocabulary, options);
}

void add_merge(const Vocabulary& vocabulary, const std::string& left, const std::string& right,
               std::size_t prefix, Merges& merges, const std::string& where) {
  const auto id_of = [&](const std::string& token) {
    const std::int32_t id = vocabulary.find(token);
    if (id < 0) throw InputError(where + ": \"" + token + "\" is not in the vocabulary");
    return id;
  };
  if (right.size() < prefix)
    throw InputError(where + ": \"" + right + "\" is shorter than continuing_subword_prefix");
  const std::int32_t l = id_of(left), r = id_of(right);
  merges.add(l, r, id_of(left + right.substr(prefix)));
}

void add_merge(const Vocabulary& vocabulary, const std::string& pair, std::size_t prefix,
               Merges& merges, const std::string& where) {
  const std::size_t space = pair.find(' ');
  if (space == std::string::npos || pair.find(' ', space + 1) != std::string::npos) {
    throw InputError(where + ": expected two tokens with a space between, found " +
                     shortened(Json(pair)));
  }
  add_merge(vocabulary, pair.substr(0, space), pair.substr(space + 1), prefix, merges, where);
}

void read_vocabulary(const Entry& object, Vocabulary& vocabulary) {
  if (!object.value.is_object()) object.fail("an object of token ids");
  std::size_t bytes = 0;
  vocabulary.reserve(object.value.size());
  for (const auto& [token, id] : object.value.items()) {
    const Entry entry{id, ""};
    if (token.empty()) throw InputError(object.where + ": a token is empty");
    if (!entry.is_token_id()) Entry{id, object.where + ": \"" + token + "\""}.token_id();
    vocabulary.add(token, id.get<std::int32_t>(), object.where);
    bytes += token.size();
  }
  if (vocabulary.size() == 0)
    throw InputError(object.where + ": expected at least one token, found none");
  if (bytes > limits::kMaxVocabulary) throw InputError(object.where + ": the tokens are too long");
}

void read_added_tokens(const Entry& list, PipelineSteps& steps) {
  for (const Entry& token : list.items()) {
    AddedToken added;
    added.content = token.at("content").text();
    if (added.content.empty()) token.at("content").fail("a non-empty string");
    added.id = token.at("id").token_id();
    added.special = token.flag_or("special", false);
    added.single_word = token.flag_or("single_word", false);
    added.lstrip = token.flag_or("lstrip", false);
    added.rstrip = token.flag_or("rstrip", false);
    added.normalized = token.flag_or("normalized", !added.special);
    steps.vocabulary->add_outside(added.content, added.id, token.where);
    steps.added.push_back(std::move(added));
  }
}

void check_byte_alphabet(const PipelineSteps& steps, const std::string& where) {
  std::set<std::int32_t> added;
  for (const AddedToken& token : steps.added) added.insert(token.id);
  for (std::int32_t id = 0; id < steps.vocabulary->size(); ++id) {
    const std::string& token = steps.vocabulary->token(id);
    if (added.contains(id) || from_byte_alphabet(token)) continue;
    throw InputError(where + ": token \"" + token + "\" is not written in the byte-level alphabet");
  }
}

void read_model(const Entry& root, PipelineSteps& steps) {
  const Entry model = root.at("model");
  const std::string type = model_type(model);
  std::vector<double> scores;
  if (type == "Unigram") {
    scores = read_scores(model.at("vocab"), *steps.vocabulary);
  } else if (type == "BPE" || type == "WordPiece" || type == "WordLevel") {
    read_vocabulary(model.at("vocab"), *steps.vocabulary);
  } else {
    model.at("type").fail("\"BPE\", \"WordPiece\", \"Unigram\" or \"WordLevel\"");
  }
  if (root.has("added_tokens")) read_added_tokens(root.at("added_tokens"), steps);
  if (type == "BPE") read_bpe(root, model, steps);
  if (type == "WordPiece") set_wordpiece_model(root, steps);
  if (type == "Unigram") read_unigram(model, steps, std::move(scores));
  if (type == "WordLevel") {
    steps.labels_as_written = true;
    steps.model = word_level_model(steps.vocabulary, unknown_id(model, *steps.vocabulary));
  }
}

}  // namespace attnscope
