#include "core/text/split/pieces.h"

namespace attnscope {
namespace {

class ExpressionSplitter final : public Splitter {
 public:
  ExpressionSplitter(Expression expression, SplitBehavior behavior, bool invert)
      : expression_(std::move(expression)), behavior_(behavior), invert_(invert) {}

  void apply(Pieces& pieces) const override {
    cut_pieces(
        pieces, [&](std::string_view piece, const auto& found) { expression_.each(piece, found); },
        behavior_, invert_);
  }

 private:
  Expression expression_;
  SplitBehavior behavior_;
  bool invert_;
};

}  // namespace

SplitterPtr expression_splitter(Expression expression, SplitBehavior behavior, bool invert) {
  return std::make_shared<ExpressionSplitter>(std::move(expression), behavior, invert);
}

SplitterPtr whitespace_splitter() {
  const char* word = R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200c}\x{200d}]+|)"
                     R"([^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200c}\x{200d}\s]+)";
  return expression_splitter(Expression(word, "Whitespace"), SplitBehavior::Removed, true);
}

}  // namespace attnscope
