#include "core/training/evaluate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/autodiff/operations_reduce.h"
#include "core/base/error.h"

namespace attnscope {

namespace {

// One window: predicts tokens [first + 1, first + length], of which those from `fresh` on count.
struct Window {
  Index first, fresh;
};

std::vector<Window> windows(Index predicted, Index length) {
  std::vector<Window> result;
  const Index stride = std::max<Index>(1, length / 2);
  for (Index first = 0, done = 0; done < predicted; first += stride) {
    const Index at = std::min(first, predicted - length);
    result.push_back({at, done + 1});
    done = at + length;
  }
  return result;
}

// -ln of the probabilities of the tokens that count in some windows, summed.
double nats(const Model& model, const std::vector<std::int32_t>& tokens,
            const std::vector<Window>& some, Index length, const Stop& stop) {
  const Index count = static_cast<Index>(some.size());
  IntTensor ids({count, length}), targets({count, length});
  Index counted = 0;
  for (Index w = 0; w < count; ++w) {
    const Window& window = some[static_cast<std::size_t>(w)];
    for (Index i = 0; i < length; ++i) {
      const Index target = window.first + i + 1;
      ids(w, i) = tokens[static_cast<std::size_t>(target - 1)];
      targets(w, i) = target >= window.fresh ? tokens[static_cast<std::size_t>(target)] : -1;
      if (target >= window.fresh) ++counted;
    }
  }
  ForwardOptions options;
  options.stop = stop;
  const Var mean = cross_entropy(forward(model, ids, options), targets);
  return static_cast<double>(mean.value()[0]) * static_cast<double>(counted);
}

}  // namespace

double bits_per_byte(const Checkpoint& checkpoint, std::string_view text, const Stop& stop,
                     Index length) {
  constexpr std::size_t kWindowsAtATime = 8;
  const ModelConfig& config = checkpoint.model.config;
  if (!checkpoint.tokenizer) throw InputError(checkpoint.tokenizer_problem);
  if (text.empty()) throw InputError("bits per byte of an empty text");
  std::vector<std::int32_t> tokens;
  bool starts_special = false;
  for (const Token& token : checkpoint.tokenizer->encode(text)) {
    if (tokens.empty()) starts_special = token.special;
    tokens.push_back(token.id);
  }
  double sum = starts_special ? 0 : std::log(static_cast<double>(config.vocabulary));
  const Index predicted = static_cast<Index>(tokens.size()) - 1;
  length = std::min(length > 0 ? length : config.context, predicted);
  const std::vector<Window> all = windows(predicted, length);
  for (std::size_t first = 0; first < all.size(); first += kWindowsAtATime) {
    const std::size_t last = std::min(first + kWindowsAtATime, all.size());
    const std::vector<Window> some(all.begin() + static_cast<std::ptrdiff_t>(first),
                                   all.begin() + static_cast<std::ptrdiff_t>(last));
    sum += nats(checkpoint.model, tokens, some, length, stop);
    stop.check();
  }
  return sum / std::numbers::ln2 / static_cast<double>(text.size());
}

}  // namespace attnscope
