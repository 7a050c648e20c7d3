#include <optional>

#include "core/text/byte_alphabet.h"
#include "core/text/split/pieces.h"

namespace attnscope {
namespace {

class ByteLevelSplitter final : public Splitter {
 public:
  ByteLevelSplitter(bool prefix_space, bool expression) : prefix_space_(prefix_space) {
    if (expression) expression_.emplace(kGpt2Expression, "ByteLevel");
  }

  void apply(Pieces& pieces) const override {
    if (prefix_space_) add_spaces(pieces);
    if (expression_) {
      cut_pieces(
          pieces,
          [&](std::string_view piece, const auto& found) { expression_->each(piece, found); },
          SplitBehavior::Isolated);
    }
    Pieces bytes;
    for (std::size_t n = 0; n < pieces.spans.size(); ++n) {
      const Span span = pieces.spans[n];
      const std::size_t begin = bytes.text.text().size();
      for (std::size_t at = span.begin; at < span.end; ++at) {
        bytes.text.append(byte_letter(pieces.text.text()[at]), pieces.text.origin({at, at + 1}));
      }
      bytes.spans.push_back({begin, bytes.text.text().size()});
    }
    pieces = std::move(bytes);
  }

 private:
  static void add_spaces(Pieces& pieces) {
    Pieces spaced;
    for (std::size_t n = 0; n < pieces.spans.size(); ++n) {
      const std::size_t begin = spaced.text.text().size();
      const std::size_t original = pieces.text.origin(pieces.spans[n]).begin;
      if (!pieces.at(n).starts_with(' ')) spaced.text.append(" ", {original, original});
      spaced.text.append(pieces.text, pieces.spans[n]);
      spaced.spans.push_back({begin, spaced.text.text().size()});
    }
    pieces = std::move(spaced);
  }

  bool prefix_space_;
  std::optional<Expression> expression_;
};

}  // namespace

SplitterPtr byte_level_splitter(bool prefix_space, bool expression) {
  return std::make_shared<ByteLevelSplitter>(prefix_space, expression);
}

}  // namespace attnscope
