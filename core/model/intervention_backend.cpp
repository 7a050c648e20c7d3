#include "core/model/intervention_backend.h"

#include "core/attention/variants/shared/assemble.h"
#include "core/base/error.h"

namespace attnscope {

InterventionBackend::InterventionBackend(Backend& inner, Change change, std::string variant,
                                         Index length)
    : inner_(inner), change_(std::move(change)), variant_(std::move(variant)), length_(length) {}

void InterventionBackend::check_tokens(const Pattern& pattern) const {
  if (pattern.queries() == length_ && pattern.keys() == length_) return;
  throw InputError("intervene: expected a variant whose keys are individual tokens, found " +
                   variant_ + ", whose keys are " + std::to_string(pattern.keys()) +
                   " other columns");
}

PartResult InterventionBackend::run(const Part& part, const ResultRequest& wanted) {
  check_tokens(*part.pattern);
  is_used_ = true;
  Part changed = part;
  changed.pattern = std::make_shared<const Pattern>(change_(*part.pattern));
  note_ = inner_.refusal(changed, wanted);
  if (note_.empty() && &inner_ != &cpu_backend()) {
    try {
      return inner_.run(changed, wanted);
    } catch (const WorkError& error) {
      note_ = error.what();
    }
  }
  return cpu_backend().run(changed, with_host_results(wanted));
}

void InterventionBackend::finish(OperationResult& result) const {
  if (!is_used_ || !result.pattern) {
    throw InputError("intervene: expected a variant that attends to pairs of tokens, found " +
                     variant_);
  }
  check_tokens(*result.pattern);
  result.pattern = std::make_shared<const Pattern>(change_(*result.pattern));
  if (result.note.empty()) result.note = note_;
  if (!result.part) return;
  Part part = *result.part;
  part.pattern = result.pattern;
  result.part = std::make_shared<const Part>(std::move(part));
}

}  // namespace attnscope
