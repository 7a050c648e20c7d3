#include "core/text/file/vocabulary_files.h"

#include <algorithm>

#include "core/text/file/json_steps.h"

namespace attnscope {
namespace {

[[noreturn]] void fail_class(const TokenizerConfig& config, const char* files) {
  config.entry()
      .at("tokenizer_class")
      .fail(std::string("a class supported with ") + files + " (others need a tokenizer.json)");
}

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::ranges::any_of(names, [&](const char* k) { return name == k; });
}

// Lines of a text without line ends.
std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    if (lines.back().ends_with('\r')) lines.back().pop_back();
    at = end + 1;
  }
  return lines;
}

void add_special(PipelineSteps& steps, const TokenizerConfig& config, const char* key,
                 const char* fallback, bool lstrip = false) {
  const std::string content = config.special(key, fallback);
  const std::int32_t id = steps.vocabulary->find(content);
  const bool is_added = std::ranges::any_of(
      steps.added, [&](const AddedToken& token) { return token.content == content; });
  if (id < 0 || is_added || content.empty()) return;
  AddedToken token;
  token.content = content;
  token.id = id;
  token.special = true;
  token.lstrip = lstrip;
  steps.added.push_back(std::move(token));
}

constexpr const char* kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kClip = R"('s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+)";

// Adds the pre- and post-processing of a tokenizer class.
void add_bpe_class(const TokenizerConfig& config, const std::string& name, PipelineSteps& steps,
                   BpeModelOptions& options) {
  const bool prefix_space = config.entry().flag_or("add_prefix_space", false);
  if (is_one_of(name, {"", "GPT2Tokenizer", "CodeGenTokenizer"})) {
    steps.splitters.push_back(byte_level_splitter(prefix_space, true));
  } else if (is_one_of(name, {"RobertaTokenizer", "BartTokenizer", "LongformerTokenizer",
                              "LEDTokenizer"})) {
    steps.splitters.push_back(byte_level_splitter(prefix_space, true));
    add_special(steps, config, "mask_token", "<mask>", true);
    for (const auto& [key, token] :
         {std::pair("bos_token", "<s>"), std::pair("eos_token", "</s>"),
          std::pair("unk_token", "<unk>"), std::pair("pad_token", "<pad>")}) {
      add_special(steps, config, key, token);
    }
    steps.around = roberta_template(config.special_id(steps, "cls_token", "<s>"),
                                    config.special_id(steps, "sep_token", "</s>"));
  } else if (name == "Qwen2Tokenizer") {
    steps.normalizers.push_back(unicode_form_normalizer(UnicodeForm::Nfc));
    steps.splitters.push_back(
        expression_splitter(Expression(kQwen2, name), SplitBehavior::Isolated, false));
    steps.splitters.push_back(byte_level_splitter(prefix_space, false));
  } else if (name == "CLIPTokenizer") {
    steps.normalizers.push_back(unicode_form_normalizer(UnicodeForm::Nfc));
    steps.normalizers.push_back(replace_normalizer(Expression("\\s+", name), " "));
    steps.normalizers.push_back(lowercase_normalizer());
    steps.splitters.push_back(
        expression_splitter(Expression(kClip, name), SplitBehavior::Removed, true));
    steps.splitters.push_back(byte_level_splitter(false, true));
    options.suffix = "</w>";
    add_special(steps, config, "bos_token", "<|startoftext|>");
    add_special(steps, config, "eos_token", "<|endoftext|>");
    steps.around = roberta_template(config.special_id(steps, "bos_token", "<|startoftext|>"),
                                    config.special_id(steps, "eos_token", "<|endoftext|>"));
  } else {
    fail_class(config, "vocab.json and merges.txt");
  }
}

}  // namespace

void read_wordpiece_vocabulary(const std::string& text, const std::string& where,
                               const TokenizerConfig& config, PipelineSteps& steps) {
  if (!is_one_of(
          config.class_name(),
          {"", "BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "MobileBertTokenizer",
           "ConvBertTokenizer", "SqueezeBertTokenizer", "LayoutLMTokenizer", "LxmertTokenizer"})) {
    fail_class(config, "vocab.txt");
  }
  const std::vector<std::string> lines = split_lines(text);
  if (lines.size() > kMaxTokens) throw InputError(where + ": too many tokens");
  for (std::size_t n = 0; n < lines.size(); ++n) {
    if (!lines[n].empty()) steps.vocabulary->add_or_replace(lines[n], static_cast<std::int32_t>(n));
  }
  if (steps.vocabulary->size() == 0)
    throw InputError(where + ": expected at least one token, found none");
  const Entry entry = config.entry();
  if (!entry.flag_or("do_basic_tokenize", true)) entry.at("do_basic_tokenize").fail("true");
  config.add_tokens(steps);
  for (const auto& [key, token] : {std::pair("unk_token", "[UNK]"), std::pair("sep_token", "[SEP]"),
                                   std::pair("pad_token", "[PAD]"), std::pair("cls_token", "[CLS]"),
                                   std::pair("mask_token", "[MASK]")}) {
    add_special(steps, config, key, token);
  }
  BertOptions options;
  options.lowercase = entry.flag_or("do_lower_case", true);
  options.strip_accents = entry.flag_or("strip_accents", options.lowercase);
  options.chinese_characters = entry.flag_or("tokenize_chinese_chars", true);
  steps.normalizers.push_back(bert_normalizer(options));
  steps.splitters.push_back(bert_splitter());
  WordPieceOptions model;
  model.unknown = config.special_id(steps, "unk_token", "[UNK]");
  steps.model = wordpiece_model(steps.vocabulary, model);
  steps.labels_as_written = true;
  steps.around = bert_template(config.special_id(steps, "cls_token", "[CLS]"),
                               config.special_id(steps, "sep_token", "[SEP]"));
  steps.decoder.add_word_pieces("##", true);
}

void read_bpe_files(const Entry& vocabulary, const std::string& merges,
                    const std::string& merges_where, const TokenizerConfig& config,
                    PipelineSteps& steps) {
  read_vocabulary(vocabulary, *steps.vocabulary);
  config.add_tokens(steps);
  BpeModelOptions options;
  options.bytes = true;
  add_bpe_class(config, config.class_name(), steps, options);
  check_byte_alphabet(steps, vocabulary.where);
  Merges merge_table;
  const std::vector<std::string> lines = split_lines(merges);
  for (std::size_t n = 0; n < lines.size(); ++n) {
    if (lines[n].empty() || (n == 0 && lines[n].starts_with("#version"))) continue;
    add_merge(*steps.vocabulary, lines[n], 0, merge_table,
              merges_where + " line " + std::to_string(n + 1));
  }
  options.unknown = steps.vocabulary->find(config.special("unk_token"));
  steps.model = bpe_model(steps.vocabulary, std::move(merge_table), options);
  steps.decoder.add_byte_level();
  if (!options.suffix.empty()) steps.decoder.add_word_ends(options.suffix);
}

}  // namespace attnscope
