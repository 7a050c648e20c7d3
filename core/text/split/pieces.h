// The second step of a tokenizer: cutting a text into the pieces within which its model works.
// Names and effects are those of the pre-tokenizers of Hugging Face's tokenizers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/text/aligned_text.h"
#include "core/text/expression.h"

namespace attnscope {

// Parts of one text, in order; none is empty, and what lies between them is gone.
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

// What becomes of what a splitter finds: taken out, a piece by itself, together with what comes
// before or after, or neighbours in one piece.
enum class SplitBehavior { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

// Calls found(begin, end) for each part of a piece that is found, in order.
using Finder = std::function<void(std::string_view piece,
                                  const std::function<void(std::size_t, std::size_t)>&)>;
// Cuts every piece; `invert`: what is not found counts as found.
void cut_pieces(Pieces& pieces, const Finder& finder, SplitBehavior behavior, bool invert = false);

SplitterPtr expression_splitter(Expression expression, SplitBehavior behavior, bool invert);
SplitterPtr whitespace_splitter();       // words, and what is neither word nor space; spaces go
SplitterPtr whitespace_only_splitter();  // at white space, which goes
SplitterPtr bert_splitter();             // at white space, which goes, and around punctuation
SplitterPtr punctuation_splitter(SplitBehavior behavior);
SplitterPtr digits_splitter(bool individual);           // numbers by themselves
SplitterPtr delimiter_splitter(std::string delimiter);  // at a character, which goes
SplitterPtr fixed_length_splitter(std::size_t characters);

enum class PrependScheme { Never, First, Always };  // First: before the text alone
struct MetaspaceOptions {
  std::string space = "▁";
  PrependScheme prepend = PrependScheme::Always;
  bool split = true;
};
SplitterPtr metaspace_splitter(const MetaspaceOptions& options);

// GPT-2's expression (Radford et al., 2019), whose matches cover any text.
inline constexpr const char* kGpt2Expression =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
// GPT-2's: pieces by that expression (with `expression`), in the alphabet of bytes.
SplitterPtr byte_level_splitter(bool prefix_space, bool expression);

}  // namespace attnscope
