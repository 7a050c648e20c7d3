#include "core/text/file/gguf_vocabulary.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/base/limits.h"
#include "core/text/byte_alphabet.h"
#include "core/text/file/gguf_pretokenizers.h"
#include "core/text/model/token_model.h"
#include "core/text/unicode.h"

namespace attnscope {
namespace {

// Tokens that end a reply or mark parts of fill-in-the-middle prompts; Normal in some files.
// clang-format off
constexpr std::string_view kControlTokens[] = {
    "<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>",
    "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<eos>", "<|eom_id|>", "<|return|>", "<|call|>",
    "<|calls|>", "<|flush|>", "<turn|>", "<|tool_response>", "[e~[", "<end_of_utterance>",
    "<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<PRE>", "▁<PRE>", "<|code_prefix|>",
    "<|prefix|>", "<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<SUF>", "▁<SUF>",
    "<|code_suffix|>", "<|suffix|>", "<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<MID>",
    "▁<MID>", "<|code_middle|>", "<|middle|>", "<|fim_pad|>", "<fim-pad>", "<fim_pad>",
    "<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>", "<|file_sep|>",
    "<｜end▁of▁sentence｜>"};
// clang-format on

class GgufReader {
 public:
  GgufReader(const Json& metadata, const std::string& place) : metadata_(metadata) {
    all_.place = place;
  }

  GgufVocabulary read() {
    read_model();
    read_tokens();
    read_scores();
    read_types();
    read_special_tokens();
    read_flags();
    rewrite_tokens();
    return std::move(all_);
  }

 private:
  const Json* find(const char* key) const { return find_gguf_value(metadata_, key); }
  std::string text_or(const char* key, const char* fallback) const {
    const Json* value = find(key);
    return value == nullptr ? fallback : Entry{*value, all_.where(key)}.text();
  }
  bool is_bpe() const { return all_.model == "gpt2" || all_.model == "gemma4"; }

  void read_model() {
    const Json* model = find("model");
    if (model == nullptr) throw InputError(all_.where("model") + ": expected a string, found none");
    const Entry entry{*model, all_.where("model")};
    all_.model = entry.text();
    constexpr std::string_view kModels[] = {"gpt2", "llama", "bert", "t5", "gemma4"};
    if (std::ranges::find(kModels, all_.model) == std::end(kModels)) {
      entry.fail(R"("gpt2", "llama", "bert", "t5" or "gemma4")");
    }
    if (!is_bpe()) return;
    all_.pre = all_.model == "gemma4" ? "gemma4" : text_or("pre", "");
    if (find_gguf_pretokenizer(all_.pre) == nullptr) {
      Entry{*find("pre"), all_.where("pre")}.fail("a known pre-tokenizer");
    }
  }

  // The list `key`, with one member per token; null if absent.
  const Json* list(const char* key) const {
    const Json* values = find(key);
    if (values == nullptr) return nullptr;
    Entry{*values, all_.where(key)}.check_list();
    if (values->size() == all_.tokens.size()) return values;
    throw InputError(all_.where(key) + ": expected " + std::to_string(all_.tokens.size()) +
                     " values, one per token, found " + std::to_string(values->size()));
  }
  [[noreturn]] void fail_member(const char* key, std::size_t n, const Json& value,
                                const char* expected) const {
    Entry{value, all_.where(key) + "[" + std::to_string(n) + "]"}.fail(expected);
  }

  void read_tokens() {
    const Json* tokens = find("tokens");
    if (tokens == nullptr) throw InputError(all_.where("tokens") + ": expected a list, found none");
    const Entry entry{*tokens, all_.where("tokens")};
    entry.check_list();
    if (tokens->empty() || tokens->size() > kMaxTokens) {
      throw InputError(entry.where + ": expected 1 to " + std::to_string(kMaxTokens) +
                       " tokens, found " + std::to_string(tokens->size()));
    }
    std::size_t bytes = 0;
    all_.tokens.reserve(tokens->size());
    for (const Json& token : *tokens) {
      const std::size_t id = all_.tokens.size();
      if (!token.is_string()) fail_member("tokens", id, token, "a string");
      if (!is_valid_utf8(token.text())) {
        throw InputError(entry.where + "[" + std::to_string(id) + "]: expected UTF-8");
      }
      all_.tokens.push_back(token.text().empty() ? "[EMPTY_" + std::to_string(id) + "]"
                                                 : token.text());
      bytes += token.text().size();
    }
    if (bytes > limits::kMaxVocabulary) throw InputError(entry.where + ": the tokens are too long");
  }
  void read_scores() {
    all_.scores.assign(all_.tokens.size(), 0);
    const Json* scores = list("scores");
    if (scores == nullptr) {
      if (all_.model != "t5" && all_.model != "llama") return;
      throw InputError(all_.where("scores") + ": expected a list, found none");
    }
    for (std::size_t n = 0; n < all_.scores.size(); ++n) {
      const Json& score = *(scores->begin() + n);
      if (!score.is_number()) fail_member("scores", n, score, "a number");
      all_.scores[n] = static_cast<float>(score.get<double>());
      if (!std::isfinite(all_.scores[n])) fail_member("scores", n, score, "a finite number");
    }
  }

  void read_types() {
    all_.types.assign(all_.tokens.size(), GgufTokenType::Normal);
    const Json* types = list("token_type");
    for (std::size_t n = 0; n < all_.types.size(); ++n) {
      GgufTokenType& type = all_.types[n];
      if (types != nullptr) {
        const Json& value = *(types->begin() + n);
        if (!value.is_number_integer() || value < 1 || value > 6) {
          fail_member("token_type", n, value, "a token type from 1 to 6");
        }
        type = static_cast<GgufTokenType>(value.get<int>());
      } else if (all_.model == "llama" && byte_of_token(all_.tokens[n]) >= 0) {
        type = GgufTokenType::Byte;
      }
      if (is_marker(all_.tokens[n])) type = GgufTokenType::Control;
    }
    has_types_ = types != nullptr;
  }
  static bool is_marker(const std::string& token) {
    constexpr std::string_view kFirst = "<[_\xe2";  // first bytes of kControlTokens
    return kFirst.find(token[0]) != std::string_view::npos &&
           std::ranges::find(kControlTokens, token) != std::end(kControlTokens);
  }

  // Value of `key`, else `fallback`; an id outside of the vocabulary counts as absent.
  std::int32_t special_id(const char* key, std::int32_t fallback) const {
    const auto in_range = [&](std::int64_t id) {
      return id >= 0 && id < static_cast<std::int64_t>(all_.tokens.size());
    };
    if (const Json* value = find(key)) {
      const Entry entry{*value, all_.where(key)};
      if (!value->is_number_integer()) entry.fail("a token id");
      if (value->is_number_unsigned() || *value >= 0) {
        const auto id = value->get<std::uint64_t>();
        if (id < all_.tokens.size()) return static_cast<std::int32_t>(id);
      }
    }
    return in_range(fallback) ? fallback : -1;
  }

  void read_special_tokens() {
    GgufSpecialTokens fallback;
    if (all_.model == "llama") fallback = {.begin = 1, .end = 2, .unknown = 0};
    if (all_.model == "t5") fallback = {.end = 1, .unknown = 2, .padding = 0};
    if (all_.model == "bert") {
      fallback = {.begin = 101, .unknown = 100, .separator = 102, .padding = 0, .mask = 103};
    }
    if (all_.model == "gpt2" && !all_.pre.starts_with("glm") && all_.pre != "chatglm-bpe") {
      fallback = {.begin = 11, .end = 11};
    }
    // Files of older converters name BERT's first token "cls".
    const char* begin = find("bos_token_id") == nullptr ? "cls_token_id" : "bos_token_id";
    all_.special = {special_id(begin, fallback.begin),
                    special_id("eos_token_id", fallback.end),
                    special_id("unknown_token_id", fallback.unknown),
                    special_id("seperator_token_id", fallback.separator),  // GGUF's spelling
                    special_id("padding_token_id", fallback.padding),
                    special_id("mask_token_id", fallback.mask)};
    if (has_types_ || is_bpe()) return;
    const auto set = [&](std::int32_t id, GgufTokenType type) {
      if (id >= 0) all_.types[static_cast<std::size_t>(id)] = type;
    };
    for (const auto id : {all_.special.begin, all_.special.end, all_.special.separator,
                          all_.special.padding, all_.special.mask}) {
      set(id, GgufTokenType::Control);
    }
    set(all_.special.unknown, GgufTokenType::Unknown);
  }

  void read_flags() {
    const bool is_bert = all_.model == "bert", is_llama = all_.model == "llama";
    bool adds_begin = is_bert || is_llama, adds_separator = is_bert, forces_begin = is_bert;
    if (is_bpe()) {
      const GgufPretokenizer& pretokenizer = *find_gguf_pretokenizer(all_.pre);
      adds_begin = pretokenizer.adds_begin;
      adds_separator = pretokenizer.adds_separator;
      // Some files of Gemma 4 wrongly contain false.
      forces_begin = adds_begin && pretokenizer.alphabet == GgufAlphabet::MarkedSpaces;
    }
    const auto flag = [&](const char* key, bool fallback) {
      return gguf_flag_or(metadata_, all_.place, key, fallback);
    };
    all_.add_begin = flag("add_bos_token", adds_begin) || forces_begin;
    all_.add_end = flag("add_eos_token", all_.model == "t5");
    all_.add_separator = flag("add_sep_token", adds_separator) || is_bert;
    const auto require = [&](bool added, std::int32_t id, const char* key) {
      if (added && id < 0) {
        throw InputError(all_.where(key) +
                         ": expected the id of a token that is added to each "
                         "text, found none");
      }
    };
    require(all_.add_begin, all_.special.begin, "bos_token_id");
    require(all_.add_end, all_.special.end, "eos_token_id");
    require(is_bert, all_.special.separator, "seperator_token_id");
  }

  // Converts the tokens to the notation of Hugging Face files.
  void rewrite_tokens() {
    if (all_.model == "bert") {
      for (std::size_t n = 0; n < all_.tokens.size(); ++n) {
        if (!is_matched_in_text(all_.types[n]) || all_.types[n] == GgufTokenType::UserDefined) {
          unmark_word(all_.tokens[n]);
        }
      }
    }
    if (!is_bpe() || find_gguf_pretokenizer(all_.pre)->alphabet != GgufAlphabet::Bytes) return;
    for (std::size_t n = 0; n < all_.tokens.size(); ++n) {
      std::string& token = all_.tokens[n];
      // Tokens outside of the byte alphabet never occur in a text. Labels show the original token.
      if (!is_matched_in_text(all_.types[n]) && !from_byte_alphabet(token)) {
        token = to_byte_alphabet(token);
      }
    }
  }
  // "▁un", "able" -> "un", "##able".
  static void unmark_word(std::string& token) {
    constexpr std::string_view kWordMark = "▁";
    const bool is_bracketed = token.starts_with('[') && token.ends_with(']') && token.size() > 2;
    if (token.starts_with(kWordMark) && token.size() > kWordMark.size()) {
      token.erase(0, kWordMark.size());
    } else if (!is_bracketed) {  // older files have no mark before "[unused0]"
      token.insert(0, "##");
    }
  }

  const Json& metadata_;
  GgufVocabulary all_;
  bool has_types_ = false;
};

}  // namespace

bool is_matched_in_text(GgufTokenType type) {
  return type == GgufTokenType::Control || type == GgufTokenType::Unknown ||
         type == GgufTokenType::UserDefined;
}

const Json* find_gguf_value(const Json& metadata, const char* key) {
  return metadata.find(std::string("tokenizer.ggml.") + key);
}

bool gguf_flag_or(const Json& metadata, const std::string& place, const char* key, bool fallback) {
  const Json* value = find_gguf_value(metadata, key);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) {
    Entry{*value, place + ": tokenizer.ggml." + key}.fail("true or false");
  }
  return value->get<bool>();
}

GgufVocabulary read_gguf_vocabulary(const Json& metadata, const std::string& place) {
  return GgufReader(metadata, place).read();
}

}  // namespace attnscope
