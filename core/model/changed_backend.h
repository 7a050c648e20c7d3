// Attention with fewer pairs than its variant allows, whatever the variant.
#pragma once

#include <functional>
#include <string>

#include "core/attention/variant.h"

namespace attnscope {

// Has another backend compute each part with a changed pattern; what that cannot do runs on the
// CPU. Refuses (InputError) parts whose keys are not the tokens one by one: pairs of tokens have no
// meaning there.
class ChangedBackend : public Backend {
 public:
  using Change = std::function<Pattern(const Pattern&)>;
  // `variant`: its name, for messages; length: the number of tokens.
  ChangedBackend(Backend& inner, Change change, std::string variant, Index length);

  std::string name() const override { return inner_.name(); }
  std::string refusal(const Part&, const Wanted&) const override { return {}; }
  PartResult run(const Part& part, const Wanted& wanted, const Stop& stop) override;

  // The result of an operation that was evaluated with this, with what was changed in it.
  void finish(OperationResult& result) const;

 private:
  void check_tokens(const Pattern& pattern) const;

  Backend& inner_;
  Change change_;
  std::string variant_;
  Index length_;
  std::string note_;   // why a part ran on the CPU
  bool used_ = false;  // by a part
};

}  // namespace attnscope
