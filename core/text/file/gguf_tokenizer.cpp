#include "core/text/file/gguf_tokenizer.h"

#include "core/text/file/gguf_files.h"
#include "core/text/file/json_steps.h"
#include "core/text/file/tokenizer_files.h"
#include "core/text/file/vocabulary_files.h"

namespace attnscope {
namespace {

// A merge of a BPE model, written "a b".
struct GgufMerge {
  std::string_view left, right;
};

const Json& merge_list(const GgufVocabulary& vocabulary, const Json& metadata) {
  const Json* merges = find_gguf_value(metadata, "merges");
  if (merges == nullptr) {
    throw InputError(vocabulary.where("merges") + ": expected a list, found none");
  }
  const Entry list{*merges, vocabulary.where("merges")};
  list.check_list();
  if (merges->size() > kMaxTokens) {
    throw InputError(list.where + ": expected at most " + std::to_string(kMaxTokens) +
                     " merges, found " + std::to_string(merges->size()));
  }
  return *merges;
}

[[noreturn]] void fail_merge(const GgufVocabulary& vocabulary, std::size_t n, const Json& merge) {
  Entry{merge, vocabulary.where("merges") + "[" + std::to_string(n) + "]"}.fail(
      "two tokens whose concatenation is a token");
}

// Splits a merge. Its left token can begin with a space.
GgufMerge split_merge(const GgufVocabulary& vocabulary, std::size_t n, const Json& merge) {
  if (!merge.is_string()) fail_merge(vocabulary, n, merge);
  const std::string_view text = merge.text();
  const std::size_t space = text.find(' ', 1);
  if (space == std::string_view::npos) fail_merge(vocabulary, n, merge);
  return {text.substr(0, space), text.substr(space + 1)};
}

Merges read_gguf_merges(const GgufVocabulary& vocabulary, const Json& metadata,
                        const Vocabulary& tokens) {
  const Json& list = merge_list(vocabulary, metadata);
  Merges merges;
  merges.reserve(list.size());
  std::string result;
  std::size_t n = 0;
  for (const Json& merge : list) {
    const auto [left, right] = split_merge(vocabulary, n, merge);
    result = left;
    result += right;
    const std::int32_t left_id = tokens.find(left), right_id = tokens.find(right),
                       result_id = tokens.find(result);
    if (left_id < 0 || right_id < 0 || result_id < 0) fail_merge(vocabulary, n, merge);
    merges.add(left_id, right_id, result_id);
    ++n;
  }
  return merges;
}

void append_json_string(std::string& json, std::string_view text) {
  for (const char c : text) {
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      json += Json(text).dump();
      return;
    }
  }
  json += '"';
  json += text;
  json += '"';
}

std::string vocabulary_text(const GgufVocabulary& vocabulary) {
  std::string text;
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    text += id == 0 ? "\n" : ",\n";
    append_json_string(text, vocabulary.tokens[id]);
    text += ':';
    text += std::to_string(id);
  }
  return text;
}

std::string merges_text(const GgufVocabulary& vocabulary, const Json& metadata) {
  std::string text;
  std::size_t n = 0;
  for (const Json& merge : merge_list(vocabulary, metadata)) {
    const auto [left, right] = split_merge(vocabulary, n, merge);
    text += n++ == 0 ? "\n" : ",\n";
    if (left.starts_with(' ') || right.find(' ') != right.npos) {
      text += Json::array({std::string(left), std::string(right)}).dump();
    } else {
      append_json_string(text, merge.text());
    }
  }
  return text;
}

// Text of tokenizer.json: `frame` with tokens and merges filled in.
std::string tokenizer_json(const GgufVocabulary& vocabulary, const Json& metadata,
                           const Json& frame) {
  std::string text = frame.dump();
  const auto fill = [&](std::string_view empty, const std::string& content) {
    text.insert(text.find(empty) + empty.size() - 1, content);  // quotes in strings are escaped
  };
  fill(R"("vocab":{})", vocabulary_text(vocabulary));
  if (vocabulary.model != "bert") fill(R"("merges":[])", merges_text(vocabulary, metadata));
  return text;
}

bool is_sentencepiece(const GgufVocabulary& vocabulary) {
  return vocabulary.model == "llama" || vocabulary.model == "t5";
}

std::map<std::string, std::string> json_files(const GgufVocabulary& vocabulary,
                                              const Json& metadata, const Json& frame) {
  return {{"tokenizer.json", tokenizer_json(vocabulary, metadata, frame)},
          {"tokenizer_config.json", gguf_tokenizer_config(vocabulary, metadata).dump(1)}};
}

}  // namespace

std::shared_ptr<const Tokenizer> gguf_tokenizer(const Json& metadata, const std::string& place) {
  const GgufVocabulary vocabulary = read_gguf_vocabulary(metadata, place);
  if (is_sentencepiece(vocabulary)) {
    return tokenizer_from_files(gguf_sentencepiece_files(vocabulary, metadata), place);
  }
  const Json frame = gguf_tokenizer_frame(vocabulary, metadata);
  const Entry root{frame, place};
  PipelineSteps steps;
  steps.vocabulary->reserve(vocabulary.tokens.size());
  const std::string where = vocabulary.where("tokens");
  for (std::size_t n = 0; n < vocabulary.tokens.size(); ++n) {
    steps.vocabulary->add(vocabulary.tokens[n], static_cast<std::int32_t>(n), where);
  }
  read_added_tokens(root.at("added_tokens"), steps);
  if (vocabulary.model == "bert") {
    set_wordpiece_model(root, steps);
  } else {
    set_bpe_model(root, read_gguf_merges(vocabulary, metadata, *steps.vocabulary), steps);
  }
  read_normalizers(root, steps);
  read_splitters(root, steps);
  read_processors(root, steps);
  read_decoders(root, steps);
  steps.files = json_files(vocabulary, metadata, frame);
  TokenizerConfig({{"tokenizer_config.json", steps.files.at("tokenizer_config.json")}}, place)
      .find_mask(steps);
  return pipeline_tokenizer(std::move(steps));
}

std::map<std::string, std::string> gguf_tokenizer_files(const Json& metadata,
                                                        const std::string& place) {
  const GgufVocabulary vocabulary = read_gguf_vocabulary(metadata, place);
  if (is_sentencepiece(vocabulary)) return gguf_sentencepiece_files(vocabulary, metadata);
  return json_files(vocabulary, metadata, gguf_tokenizer_frame(vocabulary, metadata));
}

}  // namespace attnscope
