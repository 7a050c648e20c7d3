#include "core/experiment/datastore.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/model/pass.h"

namespace attnscope {
namespace {

// Tokens [first, end) that the model reads together. The keys from token `first_key` on are stored.
struct Window {
  Index first = 0, end = 0, first_key = 0;
};

// Splits `length` tokens into windows of at most `context` tokens.
std::vector<Window> windows(Index length, Index context) {
  std::vector<Window> result;
  const Index step = std::max<Index>(1, context / 2);
  for (Index first = 0, covered_end = 0; covered_end < length; first += step) {
    const Index end = std::min(length, first + context);
    result.push_back({first, end, covered_end});
    covered_end = end;
  }
  return result;
}

}  // namespace

Store make_store(const Model& model, const std::vector<std::vector<std::int32_t>>& texts,
                 Backend& backend, const StoreProgress& progress) {
  const ModelConfig& config = model.config;
  const std::string reason = retrieval_refusal(config);
  if (!reason.empty()) throw InputError(reason);
  Index count = 0;
  for (const auto& text : texts) count += std::max<Index>(static_cast<Index>(text.size()) - 1, 0);
  if (count == 0) throw InputError("datastore: expected a text of at least two tokens, found none");
  Store store{Tensor({count, config.width}), IntTensor({count}), IntTensor({count, 2})};
  ForwardOptions options;
  options.backend = &backend;
  Index row = 0, text_index = 0;
  for (const auto& text : texts) {
    const Index length = static_cast<Index>(text.size()) - 1;
    const Index context = config.segment > 0 ? std::max<Index>(length, 1) : config.context;
    for (const Window& window : windows(length, context)) {
      Batch batch;
      batch.ids = IntTensor::from({1, window.end - window.first},
                                  {text.begin() + window.first, text.begin() + window.end});
      const Tensor keys = context_keys(model, batch, options);  // [rows, d]
      for (Index i = window.first_key; i < window.end; ++i, ++row) {
        std::copy_n(keys.data() + (i - window.first) * config.width, config.width,
                    store.keys.data() + row * config.width);
        store.values[row] = text[static_cast<std::size_t>(i + 1)];
        store.places(row, 0) = static_cast<std::int32_t>(text_index);
        store.places(row, 1) = static_cast<std::int32_t>(i);
      }
      if (progress) progress(row, count);
    }
    ++text_index;
  }
  return store;
}

}  // namespace attnscope
