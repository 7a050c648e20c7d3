// Reads spiece.model and tokenizer.model: SentencePiece's sentencepiece_model.proto (Kudo and
// Richardson, 2018).
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/limits.h"
#include "core/text/file/json_steps.h"
#include "core/text/file/protobuf.h"
#include "core/text/file/vocabulary_files.h"
#include "core/text/unicode.h"

namespace attnscope {
namespace {

constexpr int kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6;

struct SentencePieceModel {
  std::vector<std::string> pieces;
  std::vector<float> scores;
  std::vector<int> types;
  int algorithm = 1;  // 1 Unigram, 2 BPE, 3 words, 4 characters
  bool byte_fallback = false;
  std::string charsmap;  // "precompiled_charsmap"
  SentencePieceSpaces spaces;
};

void read_piece(std::string_view bytes, std::string_view where, SentencePieceModel& model) {
  ProtobufMessage message(bytes, where);
  ProtobufMessage::Field field;
  std::string piece;
  float score = 0;
  int type = kNormal;
  while (message.next(field)) {
    if (field.number == 1) {
      message.expect(field, 2);
      piece = field.bytes;
    } else if (field.number == 2) {
      message.expect(field, 5);
      score = field.real();
    } else if (field.number == 3) {
      message.expect(field, 0);
      if (field.value < kNormal || field.value > kByte) message.fail();
      type = static_cast<int>(field.value);
    }
  }
  if (piece.empty() || !std::isfinite(score) || !is_valid_utf8(piece)) message.fail();
  model.pieces.push_back(std::move(piece));
  model.scores.push_back(score);
  model.types.push_back(type);
}

void read_trainer(std::string_view bytes, std::string_view where, SentencePieceModel& model) {
  ProtobufMessage message(bytes, where);
  ProtobufMessage::Field field;
  while (message.next(field)) {
    if (field.number != 3 && field.number != 24 && field.number != 35) continue;
    message.expect(field, 0);
    if (field.number == 3)
      model.algorithm = static_cast<int>(std::min<std::uint64_t>(field.value, 9));
    if (field.number == 24) model.spaces.suffix = field.value != 0;
    if (field.number == 35) model.byte_fallback = field.value != 0;
  }
}

void read_normalizer_spec(std::string_view bytes, std::string_view where,
                          SentencePieceModel& model) {
  ProtobufMessage message(bytes, where);
  ProtobufMessage::Field field;
  while (message.next(field)) {
    if (field.number == 2) {
      message.expect(field, 2);
      model.charsmap = field.bytes;
    } else if (field.number >= 3 && field.number <= 5) {
      message.expect(field, 0);
      const bool value = field.value != 0;
      if (field.number == 3) model.spaces.prefix = value;
      if (field.number == 4) model.spaces.remove_extra = value;
      if (field.number == 5) model.spaces.escape = value;
    }
  }
}

SentencePieceModel parse_model(const std::string& bytes, const std::string& where) {
  SentencePieceModel model;
  ProtobufMessage message(bytes, where);
  ProtobufMessage::Field field;
  std::size_t total = 0;
  while (message.next(field)) {
    if (field.number < 1 || field.number > 3) continue;
    message.expect(field, 2);
    if (field.number == 1) read_piece(field.bytes, where, model);
    if (field.number == 2) read_trainer(field.bytes, where, model);
    if (field.number == 3) read_normalizer_spec(field.bytes, where, model);
    if (field.number == 1) total += field.bytes.size();
  }
  if (model.pieces.empty()) throw InputError(where + ": expected at least one token, found none");
  if (total > limits::kMaxVocabulary || model.pieces.size() > kMaxTokens) {
    throw InputError(where + ": too many tokens");
  }
  return model;
}

// Scores by id, as SentencePiece's encoders use them. NaN: token not used in segmentation.
std::vector<double> model_scores(const SentencePieceModel& model, double& unknown_score) {
  constexpr float kPenalty = 10;
  float lowest = std::numeric_limits<float>::max(), highest = std::numeric_limits<float>::min();
  for (std::size_t n = 0; n < model.pieces.size(); ++n) {
    if (model.types[n] != kNormal) continue;
    lowest = std::min(lowest, model.scores[n]);
    highest = std::max(highest, model.scores[n]);
  }
  unknown_score = lowest - kPenalty;
  std::vector<double> scores;
  for (std::size_t n = 0; n < model.pieces.size(); ++n) {
    double score = model.scores[n];
    if (model.types[n] == kUserDefined && model.algorithm == 1) {
      score = static_cast<float>(
          static_cast<double>(static_cast<float>(model.pieces[n].size()) * highest) - 0.1);
    } else if (model.types[n] != kNormal && model.types[n] != kUserDefined) {
      score = std::numeric_limits<double>::quiet_NaN();
    }
    scores.push_back(score);
  }
  return scores;
}

void add_model(const SentencePieceModel& model, const std::string& where, PipelineSteps& steps) {
  std::vector<std::string> user_defined;
  std::int32_t unknown = -1;
  for (std::size_t n = 0; n < model.pieces.size(); ++n) {
    const auto id = static_cast<std::int32_t>(n);
    steps.vocabulary->add(model.pieces[n], id, where);
    if (model.types[n] == kUnknown) unknown = id;
    if (model.types[n] == kUserDefined) user_defined.push_back(model.pieces[n]);
    if (model.types[n] == kUnused && model.algorithm == 2) {
      throw InputError(where + ": unused tokens in a BPE model are not supported");
    }
  }
  steps.normalizers.push_back(
      sentencepiece_normalizer(model.charsmap, model.spaces, user_defined, where));
  double unknown_score = 0;
  std::vector<double> scores = model_scores(model, unknown_score);
  if (model.algorithm == 1) {
    UnigramOptions options;
    options.unknown = unknown;
    options.byte_fallback = model.byte_fallback;
    options.single_precision = true;
    options.unknown_score = unknown_score;
    steps.model = unigram_model(steps.vocabulary, std::move(scores), options);
  } else if (model.algorithm == 2) {
    steps.model = sentencepiece_bpe_model(steps.vocabulary, std::move(scores),
                                          {unknown, model.byte_fallback, std::move(user_defined)});
  } else {
    throw InputError(where + ": word and character models are not supported");
  }
  if (model.byte_fallback) steps.decoder.add_byte_fallback();
  if (model.spaces.escape) steps.decoder.add_spaces("▁");
  if (model.spaces.prefix) {
    steps.decoder.add_strip(' ', model.spaces.suffix ? 0 : 1, model.spaces.suffix ? 1 : 0);
  }
}

// Marks control and unknown tokens as special. They are never matched in a text.
void add_marks(const SentencePieceModel& model, PipelineSteps& steps) {
  for (std::size_t n = 0; n < model.pieces.size(); ++n) {
    if (model.types[n] != kControl && model.types[n] != kUnknown) continue;
    steps.marks.insert(static_cast<std::int32_t>(n));
  }
}

void add_t5(const TokenizerConfig& config, PipelineSteps& steps) {
  constexpr std::int64_t kMaxExtra = 100'000;
  const Entry entry = config.entry();
  const std::size_t count = entry.has("extra_ids") ? entry.at("extra_ids").count(kMaxExtra) : 100;
  const std::int32_t first = steps.vocabulary->size();
  const bool in_vocabulary = steps.vocabulary->find("<extra_id_0>") >= 0;
  for (std::size_t n = 0; n < count && !in_vocabulary; ++n) {  // ids ascend, names descend
    AddedToken token;
    token.content = "<extra_id_" + std::to_string(count - 1 - n) + ">";
    token.id = first + static_cast<std::int32_t>(n);
    token.special = true;
    steps.vocabulary->add_or_replace(token.content, token.id);
    steps.added.push_back(std::move(token));
  }
  set_after(steps.around, config.special_id(steps, "eos_token", "</s>"), true);
}

// Normalizers that ALBERT and XLNet apply before SentencePiece's normalizer.
std::vector<NormalizerPtr> albert_normalizers(const TokenizerConfig& config, bool lowercases) {
  const Entry entry = config.entry();
  std::vector<NormalizerPtr> all = {replace_normalizer(Expression::literal("``"), "\""),
                                    replace_normalizer(Expression::literal("''"), "\"")};
  if (!entry.flag_or("keep_accents", false)) {
    all.push_back(unicode_form_normalizer(UnicodeForm::Nfkd));
    all.push_back(strip_accents_normalizer());
  }
  if (entry.flag_or("do_lower_case", lowercases)) all.push_back(lowercase_normalizer());
  return all;
}

void add_class(const TokenizerConfig& config, PipelineSteps& steps) {
  const std::string name = config.class_name();
  std::vector<NormalizerPtr>& normalizers = steps.normalizers;
  if (name.empty()) return;  // plain SentencePiece
  if (name == "T5Tokenizer") return add_t5(config, steps);
  if (name == "LlamaTokenizer" || name == "GemmaTokenizer") {
    const char* begin = name == "LlamaTokenizer" ? "<s>" : "<bos>";
    if (config.entry().flag_or("add_bos_token", true)) {
      set_before(steps.around, config.special_id(steps, "bos_token", begin), true);
    }
    return;
  }
  // Published models shift the ids of the file; files written from GGUF have final ids.
  const bool has_final_ids = steps.vocabulary->find("<s>") == 0;
  if (name == "XLMRobertaTokenizer" && has_final_ids) {
    steps.around = roberta_template(config.special_id(steps, "bos_token", "<s>"),
                                    config.special_id(steps, "eos_token", "</s>"));
    return;
  }
  const bool albert = name == "AlbertTokenizer";
  if (!albert && name != "XLNetTokenizer") {
    config.entry()
        .at("tokenizer_class")
        .fail("a class supported with a SentencePiece model (others need a tokenizer.json)");
  }
  const auto outer = albert_normalizers(config, albert);
  normalizers.insert(normalizers.begin(), outer.begin(), outer.end());
  const std::int32_t begin = config.special_id(steps, "cls_token", albert ? "[CLS]" : "<cls>");
  const std::int32_t separator = config.special_id(steps, "sep_token", albert ? "[SEP]" : "<sep>");
  if (albert) {
    steps.around = bert_template(begin, separator);
  } else {
    steps.around = {{{0, 0, 0}, {-1, separator, 0}, {-1, begin, 2}},
                    {{0, 0, 0}, {-1, separator, 0}, {1, 0, 1}, {-1, separator, 1}, {-1, begin, 2}}};
  }
}

// Maps the token ids of one vocabulary to those of another.
class RenumberedModel final : public TokenModel {
 public:
  RenumberedModel(TokenModelPtr model, std::vector<std::int32_t> ids, std::int32_t unknown)
      : model_(std::move(model)), ids_(std::move(ids)), unknown_(unknown) {}
  std::string kind() const override { return model_->kind(); }
  std::int32_t unknown_token() const override { return unknown_; }
  void encode(std::string_view piece, std::vector<Piece>& tokens) const override {
    const std::size_t before = tokens.size();
    model_->encode(piece, tokens);
    for (std::size_t n = before; n < tokens.size(); ++n) {
      tokens[n].id = ids_[static_cast<std::size_t>(tokens[n].id)];
    }
  }

 private:
  TokenModelPtr model_;
  std::vector<std::int32_t> ids_;
  std::int32_t unknown_;
};

}  // namespace

void read_marian(const Entry& vocabulary, const std::string& bytes, const std::string& where,
                 const TokenizerConfig& config, PipelineSteps& steps) {
  const std::string name = config.class_name();
  if (!name.empty() && name != "MarianTokenizer") {
    config.entry().at("tokenizer_class").fail("MarianTokenizer with source.spm");
  }
  PipelineSteps sentencepiece;
  add_model(parse_model(bytes, where), where, sentencepiece);
  read_vocabulary(vocabulary, *steps.vocabulary);
  const std::int32_t unknown = config.special_id(steps, "unk_token", "<unk>");
  std::vector<std::int32_t> ids;
  for (std::int32_t id = 0; id < sentencepiece.vocabulary->size(); ++id) {
    const std::int32_t marian_id = steps.vocabulary->find(sentencepiece.vocabulary->token(id));
    ids.push_back(marian_id < 0 ? unknown : marian_id);
  }
  steps.normalizers = std::move(sentencepiece.normalizers);
  steps.decoder = std::move(sentencepiece.decoder);
  steps.model =
      std::make_shared<RenumberedModel>(std::move(sentencepiece.model), std::move(ids), unknown);
  for (std::int32_t id = 0; id < steps.vocabulary->size(); ++id) {
    const std::string& token = steps.vocabulary->token(id);
    const bool is_language = token.starts_with(">>") && token.ends_with("<<") && token.size() > 4;
    if (!is_language) continue;  // ">>fra<<" precedes the text
    AddedToken added;
    added.content = token;
    added.id = id;
    added.special = true;
    steps.added.push_back(std::move(added));
  }
  config.add_tokens(steps);
  for (const auto& [key, token] : {std::pair("unk_token", "<unk>"), std::pair("eos_token", "</s>"),
                                   std::pair("pad_token", "<pad>")}) {
    const std::int32_t id = steps.vocabulary->find(config.special(key, token));
    if (id >= 0) steps.marks.insert(id);
  }
  set_after(steps.around, config.special_id(steps, "eos_token", "</s>"), true);
}

void read_sentencepiece(const std::string& bytes, const std::string& where,
                        const TokenizerConfig& config, PipelineSteps& steps) {
  const SentencePieceModel model = parse_model(bytes, where);
  add_model(model, where, steps);
  add_marks(model, steps);
  config.add_tokens(steps);
  add_class(config, steps);
}

}  // namespace attnscope
