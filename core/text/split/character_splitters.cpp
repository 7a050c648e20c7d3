// Splitters by properties of single characters.
#include "core/text/split/pieces.h"
#include "core/text/unicode.h"
#include "core/text/unicode8.h"

namespace attnscope {
namespace {

// Finds the characters for which is_found(code) is true.
template <class IsFound>
Finder characters_where(const IsFound& is_found) {
  return [is_found](std::string_view piece, const auto& found) {
    for (std::size_t at = 0; at < piece.size();) {
      const std::size_t begin = at;
      if (is_found(next_code(piece, at))) found(begin, at);
    }
  };
}

class CharacterSplitter final : public Splitter {
 public:
  struct Step {
    Finder finder;
    SplitBehavior behavior;
  };
  explicit CharacterSplitter(std::vector<Step> steps) : steps_(std::move(steps)) {}

  void apply(Pieces& pieces) const override {
    for (const Step& step : steps_) cut_pieces(pieces, step.finder, step.behavior);
  }

 private:
  std::vector<Step> steps_;
};

SplitterPtr character_splitter(std::vector<CharacterSplitter::Step> steps) {
  return std::make_shared<CharacterSplitter>(std::move(steps));
}

}  // namespace

SplitterPtr whitespace_only_splitter() {
  return character_splitter({{characters_where(is_white_space), SplitBehavior::Removed}});
}

SplitterPtr bert_splitter() {
  return character_splitter({{characters_where(is_white_space), SplitBehavior::Removed},
                             {characters_where(is_unicode8_punctuation), SplitBehavior::Isolated}});
}

SplitterPtr punctuation_splitter(SplitBehavior behavior) {
  return character_splitter({{characters_where(is_unicode8_punctuation), behavior}});
}

SplitterPtr digits_splitter(bool individual) {
  const auto is_number = [](std::int32_t c) { return class_of(c) == CharacterClass::Number; };
  return character_splitter({{characters_where(is_number),
                              individual ? SplitBehavior::Isolated : SplitBehavior::Contiguous}});
}

SplitterPtr delimiter_splitter(std::string delimiter) {
  std::size_t at = 0;
  const std::int32_t code = delimiter.empty() ? -1 : next_code(delimiter, at);
  return character_splitter(
      {{characters_where([code](std::int32_t c) { return c == code; }), SplitBehavior::Removed}});
}

SplitterPtr fixed_length_splitter(std::size_t characters) {
  const auto finder = [characters](std::string_view piece, const auto& found) {
    std::size_t begin = 0, count = 0;
    for (std::size_t at = 0; at < piece.size();) {
      next_code(piece, at);
      if (++count % characters != 0) continue;
      found(begin, at);
      begin = at;
    }
  };
  return character_splitter({{finder, SplitBehavior::Isolated}});
}

}  // namespace attnscope
