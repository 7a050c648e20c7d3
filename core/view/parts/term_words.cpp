#include "core/view/parts/term_words.h"

#include <algorithm>

#include "core/model/architecture.h"
#include "core/model/input_kind.h"

namespace attnscope {

TermText term_text(Term term, bool is_mixed) {
  switch (term) {
    case Term::Content:
      if (is_mixed) return {"content with position", "c + p"};
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
  const auto is_split = [](const AttentionTap& candidate) {
    const std::shared_ptr<const Part> part = candidate.part();
    return part != nullptr && !part->split.empty();
  };
  const auto adds_positions = [](const AttentionTap& candidate) {
    return static_cast<bool>(encoding(candidate.encoding.id).embed);
  };
  if (adds_positions(tap) && !is_split(tap)) return true;
  // Cross-attention has no encoding; its inputs contain the encodings of their stacks.
  if (tap.address.kind == AttentionKind::Cross &&
      std::ranges::any_of(trace.attention, adds_positions)) {
    return true;
  }
  if (!trace.config) return false;
  // The embeddings of these inputs contain pixel rows and columns, or trajectory time steps.
  return static_cast<bool>(input_kind(trace.config->input.id).embed) ||
         architecture(trace.config->architecture.id).reads == Reads::Trajectories;
}

}  // namespace attnscope
