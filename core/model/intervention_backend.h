// Backend that applies interventions to attention patterns.
#pragma once

#include <functional>
#include <string>

#include "core/attention/variant.h"

namespace attnscope {

// Delegates each part with a modified pattern to another backend, or to the CPU if the other
// backend does not support the part. Throws InputError for parts whose keys are not individual
// tokens, because query-key interventions are undefined for them.
class InterventionBackend : public Backend {
 public:
  using Change = std::function<Pattern(const Pattern&)>;
  // variant: label of the variant, for messages; length: number of tokens.
  InterventionBackend(Backend& inner, Change change, std::string variant, Index length);

  std::string name() const override { return inner_.name(); }
  std::string refusal(const Part&, const ResultRequest&) const override { return {}; }
  PartResult run(const Part& part, const ResultRequest& wanted) override;

  // Applies the change to the pattern in the result of an operation that this backend evaluated.
  void finish(OperationResult& result) const;

 private:
  void check_tokens(const Pattern& pattern) const;

  Backend& inner_;
  Change change_;
  std::string variant_;
  Index length_;
  std::string note_;      // reason why a part ran on the CPU
  bool is_used_ = false;  // true if the backend has run a part
};

}  // namespace attnscope
