// Tokenizer with an end token, otherwise like another one.
#pragma once

#include <utility>

#include "core/text/tokenizer.h"

namespace attnscope::testing {

class TokenizerWithEnd : public Tokenizer {
 public:
  explicit TokenizerWithEnd(std::int32_t end,
                            std::shared_ptr<const Tokenizer> base = byte_tokenizer())
      : base_(std::move(base)), end_(end) {}
  std::string kind() const override { return base_->kind(); }
  std::int32_t vocabulary_size() const override { return base_->vocabulary_size(); }
  std::vector<Token> encode(std::string_view text) const override { return base_->encode(text); }
  std::string bytes(std::int32_t id) const override { return base_->bytes(id); }
  bool is_special(std::int32_t id) const override { return id == end_; }
  void save(const std::filesystem::path& folder) const override { base_->save(folder); }

 private:
  std::shared_ptr<const Tokenizer> base_;
  std::int32_t end_;
};

}  // namespace attnscope::testing
