#include "core/view/parts/term_words.h"

#include <algorithm>

#include "core/model/architecture.h"
#include "core/model/input_kind.h"

namespace attnscope {

TermWords term_words(Term term, bool mixed) {
  switch (term) {
    case Term::Content:
      if (mixed) return {"content with position", "c + p"};
      return {"content · content", "content"};
    case Term::ContentPosition:
      return {"content · position", "c · p"};
    case Term::PositionContent:
      return {"position · content", "p · c"};
    case Term::PositionPosition:
      return {"position · position", "p · p"};
    case Term::Bias:
      return {"position bias", "bias"};
    case Term::Factor:
      return {"× distance factor", "× factor"};
  }
  return {"", ""};
}

bool has_positions_in_content(const Trace& trace, const AttentionTap& tap) {
  const bool told_apart = tap.result.part && !tap.result.part->split.empty();
  const auto of_input = [](const AttentionTap& one) {
    return static_cast<bool>(encoding(one.encoding.id).embed);
  };
  if (of_input(tap) && !told_apart) return true;
  // Cross-attention has no encoding of its own; its inputs have that of their stacks.
  if (tap.address.kind == AttentionKind::Cross && std::ranges::any_of(trace.attention, of_input)) {
    return true;
  }
  if (!trace.config) return false;
  // Rows and columns of pixels, time steps of trajectories.
  return static_cast<bool>(input_kind(trace.config->input.id).embed) ||
         architecture(trace.config->architecture.id).reads == Reads::Trajectories;
}

}  // namespace attnscope
