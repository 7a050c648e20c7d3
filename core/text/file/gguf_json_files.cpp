#include "core/base/lower_case.h"
#include "core/text/file/gguf_files.h"
#include "core/text/file/gguf_pretokenizers.h"

namespace attnscope {
namespace {

std::string lower_case_name(const Json& metadata) {
  const Json* name = metadata.find("general.name");
  return name != nullptr && name->is_string() ? lower_case(name->text()) : "";
}

// White space that added tokens include. Not stored in files: the model's name determines it.
class AddedWhiteSpace {
 public:
  AddedWhiteSpace(const GgufVocabulary& vocabulary, const Json& metadata)
      : is_modern_bert_(vocabulary.pre == "modern-bert") {
    const std::string name = lower_case_name(metadata);
    is_phi3_ = name.find("phi-3") != name.npos || name.find("phi3") != name.npos;
  }
  // RoBERTa, XLM-RoBERTa and ModernBERT: the mask includes the space before it.
  bool before(const std::string& token) const {
    return token == "<mask>" || (is_modern_bert_ && token == "[MASK]");
  }
  bool after(const std::string& token) const {
    return is_phi3_ && token != "<unk>" && token != "<s>" && token != "<|endoftext|>";
  }

 private:
  bool is_modern_bert_, is_phi3_ = false;
};

Json special_part(const GgufVocabulary& vocabulary, std::int32_t id, int segment) {
  return {{"SpecialToken", {{"id", vocabulary.token(id)}, {"type_id", segment}}}};
}

Json text_part(const char* name, int segment) {
  return {{"Sequence", {{"id", name}, {"type_id", segment}}}};
}

// Template "[CLS] A [SEP] B [SEP]" (BERT) or "<s> A </s> </s> B </s>".
Json post_processor(const GgufVocabulary& vocabulary) {
  const GgufSpecialTokens& special = vocabulary.special;
  const bool is_bert = vocabulary.model == "bert";
  const std::int32_t end = is_bert ? special.separator : special.end;
  const bool adds_end = is_bert || vocabulary.add_end;
  if (!vocabulary.add_begin && !adds_end) return nullptr;
  const int second_segment = is_bert ? 1 : 0;
  Json single = Json::array(), special_tokens = Json::object();
  const auto add = [&](Json& parts, std::int32_t id, int segment) {
    const std::string& token = vocabulary.token(id);
    parts.push_back(special_part(vocabulary, id, segment));
    special_tokens[token] = {
        {"id", token}, {"ids", Json::array({id})}, {"tokens", Json::array({token})}};
  };
  if (vocabulary.add_begin) add(single, special.begin, 0);
  single.push_back(text_part("A", 0));
  if (adds_end) add(single, end, 0);
  Json pair = single;
  if (!is_bert && vocabulary.add_separator && special.separator >= 0) {
    add(pair, special.separator, 0);
  }
  pair.push_back(text_part("B", second_segment));
  if (adds_end) add(pair, end, second_segment);
  return {{"type", "TemplateProcessing"},
          {"single", std::move(single)},
          {"pair", std::move(pair)},
          {"special_tokens", std::move(special_tokens)}};
}

Json string_pattern(const char* text) {
  return {{"String", text}};
}

void add_bpe_sections(const GgufVocabulary& vocabulary, Json& root) {
  const GgufPretokenizer& pretokenizer = *find_gguf_pretokenizer(vocabulary.pre);
  const bool in_bytes = pretokenizer.alphabet == GgufAlphabet::Bytes;
  const std::int32_t unknown = vocabulary.special.unknown;
  if (pretokenizer.composes) root["normalizer"] = {{"type", "NFC"}};
  if (!in_bytes) {
    root["normalizer"] = {{"type", "Replace"}, {"pattern", string_pattern(" ")}, {"content", "▁"}};
  }
  root["pre_tokenizer"] = pretokenizer_json(pretokenizer);
  root["decoder"] = {{"type", "ByteLevel"},
                     {"add_prefix_space", true},
                     {"trim_offsets", true},
                     {"use_regex", true}};
  if (!in_bytes) {
    root["decoder"] = {
        {"type", "Sequence"},
        {"decoders",
         Json::array({{{"type", "Replace"}, {"pattern", string_pattern("▁")}, {"content", " "}},
                      {{"type", "ByteFallback"}},
                      {{"type", "Fuse"}}})}};
  }
  root["model"] = {{"type", "BPE"},
                   {"dropout", nullptr},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", nullptr},
                   {"end_of_word_suffix", nullptr},
                   {"fuse_unk", !in_bytes},
                   {"byte_fallback", !in_bytes},
                   {"ignore_merges", pretokenizer.ignores_merges},
                   {"vocab", Json::object()},
                   {"merges", Json::array()}};
  if (!in_bytes && unknown >= 0) root["model"]["unk_token"] = vocabulary.token(unknown);
}

void add_wordpiece_sections(const GgufVocabulary& vocabulary, const Json& metadata, Json& root) {
  const auto flag = [&](const char* key, bool fallback) {
    return gguf_flag_or(metadata, vocabulary.place, key, fallback);
  };
  const bool lowercase = flag("normalizer.lowercase", true);
  root["normalizer"] = {{"type", "BertNormalizer"},
                        {"clean_text", true},
                        {"handle_chinese_chars", true},
                        {"strip_accents", flag("normalizer.strip_accents", lowercase)},
                        {"lowercase", lowercase}};
  root["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  root["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  root["model"] = {{"type", "WordPiece"},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", "##"},
                   {"max_input_chars_per_word", 100},
                   {"vocab", Json::object()}};
  const std::int32_t unknown = vocabulary.special.unknown;
  if (unknown >= 0) root["model"]["unk_token"] = vocabulary.token(unknown);
}

}  // namespace

Json gguf_added_tokens(const GgufVocabulary& vocabulary, const Json& metadata) {
  const AddedWhiteSpace white_space(vocabulary, metadata);
  Json tokens = Json::array();
  for (std::size_t n = 0; n < vocabulary.tokens.size(); ++n) {
    const auto id = static_cast<std::int32_t>(n);
    if (!is_matched_in_text(vocabulary.types[n])) continue;
    const std::string& content = vocabulary.token(id);
    tokens.push_back({{"id", id},
                      {"content", content},
                      {"single_word", false},
                      {"lstrip", white_space.before(content)},
                      {"rstrip", white_space.after(content)},
                      {"normalized", false},
                      {"special", vocabulary.types[n] != GgufTokenType::UserDefined}});
  }
  return tokens;
}

Json gguf_tokenizer_config(const GgufVocabulary& vocabulary, const Json& metadata) {
  const GgufSpecialTokens& special = vocabulary.special;
  Json config = {{"clean_up_tokenization_spaces", false},
                 {"tokenizer_class", "PreTrainedTokenizerFast"}};
  const auto name = [&](const char* key, std::int32_t id) {
    if (id >= 0) config[key] = vocabulary.token(id);
  };
  const auto name_marker = [&](const char* key, std::int32_t id) {
    if (id >= 0 && is_matched_in_text(vocabulary.type(id))) name(key, id);
  };
  name(vocabulary.model == "bert" ? "cls_token" : "bos_token", special.begin);
  name("eos_token", special.end);
  name_marker("unk_token", special.unknown);
  name_marker("sep_token", special.separator);
  name_marker("pad_token", special.padding);
  name_marker("mask_token", special.mask);
  if (const Json* chat_template = metadata.find("tokenizer.chat_template")) {
    config["chat_template"] =
        Entry{*chat_template, vocabulary.place + ": tokenizer.chat_template"}.text();
  }
  return config;
}

Json gguf_tokenizer_frame(const GgufVocabulary& vocabulary, const Json& metadata) {
  Json root = {{"version", "1.0"},      {"truncation", nullptr},
               {"padding", nullptr},    {"added_tokens", gguf_added_tokens(vocabulary, metadata)},
               {"normalizer", nullptr}, {"post_processor", post_processor(vocabulary)}};
  if (vocabulary.model == "bert") {
    add_wordpiece_sections(vocabulary, metadata, root);
  } else {
    add_bpe_sections(vocabulary, root);
  }
  return root;
}

}  // namespace attnscope
