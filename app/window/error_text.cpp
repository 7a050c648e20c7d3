#include "app/window/error_text.h"

#include "core/base/memory_budget.h"
#include "core/figure/plain_text.h"
#include "core/model/memory_need.h"

namespace attnscope::window {
namespace {

constexpr const char* kMemoryMenu = "menu Window, Memory";

std::string advice(const MemoryRemedy& remedy) {
  using Kind = MemoryRemedy::Kind;
  if (remedy.kind == Kind::Other) return "Use " + remedy.other;
  const std::string limit = grouped(remedy.most);
  if (remedy.kind == Kind::Parameter)
    return remedy.parameter->label + " up to " + limit + " would fit";
  return remedy.kind == Kind::Tokens ? "A text of up to " + limit + " tokens would fit"
                                     : "Up to " + limit + " sequences at a time would fit";
}

std::string describe_need(const MemoryNeed& need) {
  const MemoryUser& user = need.largest.user;
  std::string name = user.name;
  if (user.parameter != nullptr) {
    name += " with " + user.parameter->label + " " + grouped(user.value);
  }
  return "This requires " + memory_text(need.bytes) + " of memory for " + need.length + ", " +
         memory_text(need.largest.bytes) + " of it for " + name + ". At most " +
         memory_text(need.budget) + " are allowed (" + kMemoryMenu + "). " + advice(need.remedy);
}

}  // namespace

std::string error_text(const std::exception& error) {
  const auto* memory = dynamic_cast<const MemoryNeedError*>(&error);
  if (memory != nullptr) return describe_need(memory->need);
  const auto* hint = dynamic_cast<const MemoryHint*>(&error);
  return hint != nullptr ? hint->text({.budget = kMemoryMenu}) : error.what();
}

std::string error_text(const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return error_text(e);
  }
  return "";
}

}  // namespace attnscope::window
