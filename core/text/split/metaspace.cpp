#include "core/text/split/pieces.h"

namespace attnscope {
namespace {

class Metaspace final : public Splitter {
 public:
  explicit Metaspace(MetaspaceOptions options) : options_(std::move(options)) {}

  void apply(Pieces& pieces) const override {
    Pieces marked;
    for (std::size_t n = 0; n < pieces.spans.size(); ++n) mark(pieces, n, marked);
    if (options_.split) {
      cut_pieces(
          marked,
          [&](std::string_view piece, const auto& found) {
            const std::string& space = options_.space;
            for (std::size_t at = piece.find(space); at != piece.npos;
                 at = piece.find(space, at + space.size())) {
              found(at, at + space.size());
            }
          },
          SplitBehavior::MergedWithNext);
    }
    pieces = std::move(marked);
  }

 private:
  // Appends piece n with its spaces marked.
  void mark(const Pieces& pieces, std::size_t n, Pieces& to) const {
    const std::string_view piece = pieces.at(n);
    const Span span = pieces.spans[n];
    const std::size_t begin = to.text.text().size();
    const std::size_t original = pieces.text.origin(span).begin;
    const bool is_whole = span == Span{0, pieces.text.text().size()};
    const bool keeps_begin = is_whole && pieces.text.keeps_begin() && pieces.text.offset() == 0;
    const bool prepends =
        options_.prepend == PrependScheme::Always ||
        (options_.prepend == PrependScheme::First && (original == 0 || keeps_begin));
    if (prepends && !piece.starts_with(' ') && !piece.starts_with(options_.space)) {
      to.text.append(options_.space, {original, original});
    }
    for (std::size_t at = 0; at < piece.size();) {
      std::size_t end = std::min(piece.find(' ', at), piece.size());
      to.text.append(pieces.text, {span.begin + at, span.begin + end});
      for (; end < piece.size() && piece[end] == ' '; ++end) {
        to.text.append(options_.space,
                       pieces.text.origin({span.begin + end, span.begin + end + 1}));
      }
      at = end;
    }
    to.spans.push_back({begin, to.text.text().size()});
  }

  MetaspaceOptions options_;
};

}  // namespace

SplitterPtr metaspace_splitter(const MetaspaceOptions& options) {
  return std::make_shared<Metaspace>(options);
}

}  // namespace attnscope
