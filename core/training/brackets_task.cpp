// Nested brackets of four kinds: the last open bracket determines the closing one. The distance
// between the two grows with the nesting, so that adaptive computation time has easy and hard
// tokens (Dehghani et al., 2018, Universal transformers, arXiv:1807.03819; Graves, 2016,
// arXiv:1603.08983).
#include <string_view>
#include <vector>

#include "core/training/drawn_task.h"

namespace attnscope {
namespace {

constexpr std::string_view kOpening = "([{<", kClosing = ")]}>";

// Draws random brackets: some sequences are flat, others deep. Targets are the closing brackets.
void draw_brackets(Random& random, std::span<std::int32_t> inputs,
                   std::span<std::int32_t> targets) {
  const std::uint64_t open_percent = 35 + random.below(31);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i <= inputs.size(); ++i) {  // the last token is only a target
    std::int32_t token = 0;
    const bool closes = !open.empty() && random.below(100) >= open_percent;
    if (closes) {
      token = kClosing[open.back()];
      open.pop_back();
    } else {
      open.push_back(random.below(kOpening.size()));
      token = kOpening[open.back()];
    }
    if (closes && i > 0) targets[i - 1] = token;
    if (i < inputs.size()) inputs[i] = token;
  }
}

// Keys of the queries whose target is a closing bracket: the bracket that it closes.
ExpectedKeys bracket_keys(const Batch& batch) {
  ExpectedKeys keys(static_cast<std::size_t>(batch.ids.size()));
  std::vector<Index> open;
  for (Index i = 0; i < batch.ids.size(); ++i) {
    if (kOpening.find(static_cast<char>(batch.ids[i])) != std::string_view::npos) {
      open.push_back(i);
    } else if (!open.empty()) {
      open.pop_back();
    }
    if (batch.targets[i] >= 0 && !open.empty()) keys[static_cast<std::size_t>(i)] = {open.back()};
  }
  return keys;
}

}  // namespace

TaskInfo brackets_task() {
  return drawn_byte_task<draw_brackets, 8>(
      "brackets", "Brackets", "closing brackets of four nested kinds: ([]{<>",
      ExpectedMap{"the bracket that the next token closes", AttentionKind::Self, bracket_keys});
}

}  // namespace attnscope
