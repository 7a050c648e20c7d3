#include "core/attention/operation_memory.h"

#include <algorithm>

#include "core/attention/variants/memory.h"

namespace attnscope {

namespace {

struct Large {
  const char* id;
  double (*numbers)(const MemoryInput&);
};

constexpr Large kLarge[] = {{"performer", performer_numbers},     {"rfa", rfa_numbers},
                            {"synthesizer", synthesizer_numbers}, {"linformer", linformer_numbers},
                            {"sinkhorn", sinkhorn_numbers},       {"gmlp", gmlp_numbers},
                            {"longformer", longformer_numbers}};

const Large* large(const Variant& variant) {
  const Large* found = std::ranges::find(kLarge, variant.id, &Large::id);
  return found == std::end(kLarge) ? nullptr : found;
}

}  // namespace

double operation_numbers(const Variant& variant, const MemoryInput& input) {
  const Large* found = large(variant);
  return found == nullptr ? 0 : found->numbers(input);
}

bool has_operation_numbers(const Variant& variant) {
  return large(variant) != nullptr;
}

}  // namespace attnscope
