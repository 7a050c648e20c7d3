// Splitters, the second step of a tokenizer (pipeline.h): split a text into pieces, which the model
// encodes separately. Names and effects equal those of Hugging Face's pre-tokenizers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/text/aligned_text.h"
#include "core/text/expression.h"

namespace attnscope {

// Non-empty spans of a text, in order; text between them is discarded.
struct Pieces {
  AlignedText text;
  std::vector<Span> spans;

  std::string_view at(std::size_t n) const {
    return std::string_view(text.text()).substr(spans[n].begin, spans[n].end - spans[n].begin);
  }
};

class Splitter {
 public:
  virtual ~Splitter() = default;
  virtual void apply(Pieces& pieces) const = 0;
};
using SplitterPtr = std::shared_ptr<const Splitter>;

// Treatment of a match: discarded, a separate piece, merged with the text before or after it, or
// merged with adjacent matches.
enum class SplitBehavior { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

// Calls found(begin, end) for each match in a piece, in order.
using Finder = std::function<void(std::string_view piece,
                                  const std::function<void(std::size_t, std::size_t)>&)>;
// Splits every piece at the matches of `finder`. `invert` swaps matches and the text between them.
void cut_pieces(Pieces& pieces, const Finder& finder, SplitBehavior behavior, bool invert = false);

SplitterPtr expression_splitter(Expression expression, SplitBehavior behavior, bool invert);
SplitterPtr whitespace_splitter();       // words and runs of punctuation; discards white space
SplitterPtr whitespace_only_splitter();  // splits at white space and discards it
SplitterPtr bert_splitter();             // splits at white space and around punctuation
SplitterPtr punctuation_splitter(SplitBehavior behavior);
SplitterPtr digits_splitter(bool individual);           // isolates numbers
SplitterPtr delimiter_splitter(std::string delimiter);  // splits at `delimiter` and discards it
SplitterPtr fixed_length_splitter(std::size_t characters);

enum class PrependScheme { Never, First, Always };  // First: only at the start of the text
struct MetaspaceOptions {
  std::string space = "▁";
  PrependScheme prepend = PrependScheme::Always;
  bool split = true;
};
SplitterPtr metaspace_splitter(const MetaspaceOptions& options);

// GPT-2's splitting expression (Radford et al., 2019); its matches cover the whole text.
inline constexpr const char* kGpt2Expression =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
// GPT-2's splitter: splits by kGpt2Expression if `expression`, then converts to the byte alphabet.
SplitterPtr byte_level_splitter(bool prefix_space, bool expression);

}  // namespace attnscope
