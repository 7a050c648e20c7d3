#include "core/text/pipeline.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

class Pipeline final : public Tokenizer {
 public:
  explicit Pipeline(PipelineSteps steps)
      : steps_(std::move(steps)), added_(std::move(steps_.added), steps_.normalizers) {
    std::size_t size = 0;
    for (std::int32_t id = 0; id < steps_.vocabulary->size(); ++id) {
      check_stop();
      const AddedToken* token = added_.find_id(id);
      bytes_.push_back(token ? token->content : steps_.decoder.bytes(steps_.vocabulary->token(id)));
      size += bytes_.back().size();
      if (size > limits::kMaxTokenizer) {
        throw InputError("decoder: expected at most " + std::to_string(limits::kMaxTokenizer) +
                         " bytes of text in all tokens, found more");
      }
    }
  }

  std::string kind() const override { return steps_.model->kind(); }
  std::int32_t vocabulary_size() const override { return steps_.vocabulary->size(); }

  std::vector<Token> encode(std::string_view text) const override {
    std::vector<EncodedText> texts;  // an initializer list would copy
    texts.push_back(encode_text(text));
    return assemble(steps_.around.single, texts);
  }
  std::vector<Token> encode_pair(std::string_view first, std::string_view second) const override {
    return assemble(steps_.around.pair, {encode_text(first), encode_text(second)});
  }

  std::string bytes(std::int32_t id) const override {
    if (id < 0 || id >= vocabulary_size()) {
      throw InputError("token id " + std::to_string(id) + ": expected 0 to " +
                       std::to_string(vocabulary_size() - 1));
    }
    return bytes_[static_cast<std::size_t>(id)];
  }
  std::string decode(const std::vector<std::int32_t>& ids) const override {
    return steps_.decoder.finish(Tokenizer::decode(ids));
  }
  std::string label(std::int32_t id) const override {
    const std::string token_text = bytes(id);  // checks the id
    const std::string& written = steps_.vocabulary->token(id);
    const bool as_written = steps_.labels_as_written && !written.empty();
    return visible(as_written ? written : token_text);
  }

  bool is_special(std::int32_t id) const override {
    const AddedToken* token = added_.find_id(id);
    return (token != nullptr && token->special) || steps_.marks.contains(id);
  }
  std::int32_t id_of(std::string_view written) const override {
    return steps_.vocabulary->find(written);
  }
  std::int32_t mask_token() const override { return steps_.mask; }
  std::int32_t unknown_token() const override { return steps_.model->unknown_token(); }

  void save(const std::filesystem::path& folder) const override {
    for (const auto& [name, bytes] : steps_.files) write_file(folder / name, bytes);
  }

 private:
  EncodedText encode_text(std::string_view text) const {
    EncodedText result{{}, text.size()};
    for (const auto& part : added_.parts(text, false)) {
      if (part.id >= 0) {
        result.tokens.push_back({part.id, part.span.begin, part.span.end});
      } else {
        const auto& [begin, end] = part.span;
        add_stretch(AlignedText(text.substr(begin, end - begin), begin), result.tokens);
      }
    }
    return result;
  }

  // Encodes text between added tokens. Its normalized form can contain further added tokens.
  void add_stretch(AlignedText text, std::vector<Token>& tokens) const {
    for (const NormalizerPtr& normalizer : steps_.normalizers) normalizer->apply(text);
    const std::vector<AddedTokens::Part> parts = added_.parts(text.text(), true);
    for (const auto& part : parts) {
      if (part.id >= 0) {
        const Span origin = text.origin(part.span);
        tokens.push_back({part.id, origin.begin, origin.end});
      } else if (parts.size() == 1) {
        add_pieces({std::move(text), {part.span}}, tokens);
      } else {
        AlignedText stretch;
        stretch.append(text, part.span);
        const Span all{0, stretch.text().size()};
        add_pieces({std::move(stretch), {all}}, tokens);
      }
    }
  }

  void add_pieces(Pieces pieces, std::vector<Token>& tokens) const {
    for (const SplitterPtr& splitter : steps_.splitters) splitter->apply(pieces);
    std::vector<Piece> found;
    for (std::size_t n = 0; n < pieces.spans.size(); ++n) {
      found.clear();
      steps_.model->encode(pieces.at(n), found);
      const std::size_t at = pieces.spans[n].begin;
      for (const Piece& piece : found) {
        const Span origin = pieces.text.origin({at + piece.begin, at + piece.end});
        tokens.push_back({piece.id, origin.begin, origin.end});
      }
    }
  }

  PipelineSteps steps_;
  AddedTokens added_;
  std::vector<std::string> bytes_;  // by id
};

}  // namespace

std::shared_ptr<const Tokenizer> pipeline_tokenizer(PipelineSteps steps) {
  return std::make_shared<Pipeline>(std::move(steps));
}

}  // namespace attnscope
