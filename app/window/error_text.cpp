#include "app/window/error_text.h"

#include "core/base/memory_budget.h"
#include "core/figure/plain_text.h"
#include "core/model/memory_need.h"

namespace attnscope::window {

namespace {

constexpr const char* kMemoryMenu = "menu Window, Memory";

std::string name_of(const MemoryUser& user) {
  if (user.parameter == nullptr) return user.name;
  return user.name + " with " + user.parameter->label + " " + grouped(user.value);
}

std::string advice(const MemoryRemedy& remedy) {
  const std::string most = grouped(remedy.most);
  switch (remedy.of) {
    case MemoryRemedy::Of::Parameter:
      return remedy.parameter->label + " up to " + most + " would fit";
    case MemoryRemedy::Of::Tokens:
      return "A text of up to " + most + " tokens would fit";
    case MemoryRemedy::Of::Sequences:
      return "Up to " + most + " sequences at a time would fit";
    case MemoryRemedy::Of::Other:
      break;
  }
  return "Use " + remedy.other;
}

std::string text_of(const MemoryNeed& need) {
  return "This requires " + memory_text(need.bytes) + " of memory for " + need.length + ", " +
         memory_text(need.largest.bytes) + " of it for " + name_of(need.largest.user) +
         ". At most " + memory_text(need.budget) + " are allowed (" + kMemoryMenu + "). " +
         advice(need.remedy);
}

}  // namespace

std::string error_text(const std::exception& error) {
  if (const auto* memory = dynamic_cast<const MemoryNeedError*>(&error)) {
    return text_of(memory->need());
  }
  if (const auto* hint = dynamic_cast<const MemoryHint*>(&error)) {
    return hint->text({.budget = kMemoryMenu});
  }
  return error.what();
}

std::string error_text(const std::exception_ptr& error) {
  if (!error) return "";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return error_text(e);
  }
}

}  // namespace attnscope::window
