#include "core/experiment/effective_model.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/model/id_label.h"
#include "core/text/text_structure.h"

namespace attnscope {
namespace {

// Variant and encoding of `heads` neighbouring heads. The pointers avoid copies of long parameters
// (edge lists); the choices belong to a config or RunSpec, which must outlive this object.
struct HeadChoice {
  const Choice* variant = nullptr;
  const Choice* encoding = nullptr;
  Index heads = 1;
  bool is_equal(const HeadChoice& other) const {
    const auto are_equal = [](const Choice* a, const Choice* b) { return a == b || *a == *b; };
    return are_equal(variant, other.variant) && are_equal(encoding, other.encoding);
  }
};

// Choices of all heads, [layers][heads].
std::vector<std::vector<HeadChoice>> head_choices(const ModelConfig& config) {
  std::vector<std::vector<HeadChoice>> heads;
  for (const auto& layer : config.groups) {
    heads.emplace_back();
    for (const HeadGroup& group : layer) {
      heads.back().insert(heads.back().end(), static_cast<std::size_t>(group.heads),
                          HeadChoice{&group.variant, &group.encoding});
    }
  }
  return heads;
}

// `listed` indices or, if empty, 0 to count - 1. Throws InputError if an index is out of range.
std::vector<Index> indices(const std::vector<Index>& listed, Index count, const std::string& path) {
  std::vector<Index> result = listed;
  if (listed.empty()) {
    for (Index n = 0; n < count; ++n) result.push_back(n);
  }
  for (const Index n : result) {
    if (n >= 0 && n < count) continue;
    throw InputError(path + ": expected numbers from 0 to " + std::to_string(count - 1) +
                     ", found " + std::to_string(n));
  }
  return result;
}

// Groups neighbouring heads with equal choices. A group contains either all heads of one or more
// key-value heads, or some heads of a single key-value head.
std::vector<HeadGroup> group_heads(const std::vector<HeadChoice>& heads, Index heads_per_kv) {
  std::vector<HeadChoice> kv_groups;  // groups within one key-value head
  std::vector<HeadChoice> groups;
  const auto append = [](std::vector<HeadChoice>& list, const HeadChoice& next) {
    if (!list.empty() && list.back().is_equal(next)) {
      list.back().heads += next.heads;
    } else {
      list.push_back(next);
    }
  };
  bool is_whole = false;  // the last group contains all heads of its key-value heads
  for (std::size_t first = 0; first < heads.size();
       first += static_cast<std::size_t>(heads_per_kv)) {
    kv_groups.clear();
    for (std::size_t head = first; head < first + static_cast<std::size_t>(heads_per_kv); ++head) {
      append(kv_groups, heads[head]);
    }
    if (kv_groups.size() == 1 && is_whole) {
      append(groups, kv_groups[0]);
    } else {
      groups.insert(groups.end(), kv_groups.begin(), kv_groups.end());
    }
    is_whole = kv_groups.size() == 1;
  }
  std::vector<HeadGroup> result;
  for (const HeadChoice& group : groups) {
    result.push_back({group.heads, *group.variant, *group.encoding});
  }
  return result;
}

}  // namespace

std::vector<std::vector<HeadGroup>> effective_groups(const ModelConfig& stored,
                                                     const RunSpec& spec) {
  if (!spec.variant && !spec.encoding && spec.groups.empty()) return stored.groups;
  auto heads = head_choices(stored);
  const auto apply = [&](HeadChoice& head, const auto& choice) {
    if (choice.variant) head.variant = &*choice.variant;
    if (choice.encoding) head.encoding = &*choice.encoding;
  };
  for (auto& layer : heads) {
    for (HeadChoice& head : layer) apply(head, spec);
  }
  for (std::size_t n = 0; n < spec.groups.size(); ++n) {
    const GroupChoice& choice = spec.groups[n];
    const std::string path = "groups[" + std::to_string(n) + "]";
    for (const Index layer : indices(choice.layers, stored.layers, path + ".layers")) {
      for (const Index head : indices(choice.heads, stored.heads, path + ".heads")) {
        apply(heads[static_cast<std::size_t>(layer)][static_cast<std::size_t>(head)], choice);
      }
    }
  }
  std::vector<std::vector<HeadGroup>> groups;
  for (const auto& layer : heads) {
    groups.push_back(group_heads(layer, stored.heads / stored.kv_heads));
  }
  return groups;
}

Model effective_model(const Model& stored, const RunSpec& spec, Index tokens) {
  const Model model = with_structure(stored, spec.structure);
  return with_groups(model, effective_groups(model.config, spec),
                     spec.causal.value_or(model.config.causal), tokens);
}

RunSpec with_text_parameters(RunSpec spec, const std::vector<TraceToken>& tokens, Index segment) {
  std::vector<Choice*> text_choices;
  const auto visit = [&](std::optional<Choice>& candidate) {
    if (candidate && variant(candidate->id).defaults.from_text) text_choices.push_back(&*candidate);
  };
  visit(spec.variant);
  for (GroupChoice& group : spec.groups) visit(group.variant);
  if (text_choices.empty()) return spec;
  std::vector<std::string> bytes;
  for (const TraceToken& token : tokens) bytes.push_back(token.special ? "" : token.bytes);
  const TextStructure structure = text_structure(bytes);
  for (Choice* choice : text_choices) {
    const Values stored_values = choice->values;
    variant(choice->id).defaults.from_text(choice->values, structure);
    if (segment > 0 && !(choice->values == stored_values)) {
      throw InputError("variant " + choice->id + ": expected segment length 0, found " +
                       std::to_string(segment) +
                       " (the variant uses brackets or sentences of the whole text)");
    }
  }
  return spec;
}

std::string structure_refusal(const ModelConfig& stored, const RunSpec& spec) {
  constexpr std::string_view kPath = "model";
  try {
    ModelConfig config = apply_structure(stored, spec.structure);
    config.groups = effective_groups(config, spec);
    config.causal = spec.causal.value_or(config.causal);
    check(config, kPath);
  } catch (const InputError& e) {
    const std::string reason = e.what();
    const std::string path = std::string(kPath) + ": ";
    return reason.starts_with(path) ? reason.substr(path.size()) : reason;
  }
  return "";
}

TraceToken trace_token(std::int32_t id, const Checkpoint& checkpoint, bool is_generated) {
  TraceToken token;
  token.id = id;
  const Tokenizer* tokenizer =
      is_generated ? checkpoint.output_tokenizer().get() : checkpoint.tokenizer.get();
  if (tokenizer != nullptr && id >= 0 && id < tokenizer->vocabulary_size()) {
    token.bytes = tokenizer->bytes(id);
    token.label = tokenizer->label(id);
    token.special = tokenizer->is_special(id);
  } else {
    token.label = id_label(&checkpoint.model.config, id);
  }
  return token;
}

namespace {

// Byte ranges of "[mask]" in a text, each with the preceding space, which is part of the masked
// word. Empty if the tokenizer itself recognises "[mask]".
std::vector<std::pair<std::size_t, std::size_t>> mask_ranges(const std::string& text,
                                                             const Checkpoint& checkpoint) {
  const std::string mask = kMask;
  if (mask_id(checkpoint.model.config) < 0 || checkpoint.tokenizer->id_of(mask) >= 0) return {};
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  for (std::size_t begin = text.find(mask); begin != std::string::npos;
       begin = text.find(mask, begin + mask.size())) {
    ranges.emplace_back(begin > 0 && text[begin - 1] == ' ' ? begin - 1 : begin,
                        begin + mask.size());
  }
  return ranges;
}

// Throws InputError if the model reads no text or the text is too long.
void check_text(const std::string& text, const Checkpoint& checkpoint) {
  if (!checkpoint.tokenizer) {
    throw InputError("text: cannot be used with model " + checkpoint.name + ": " +
                     checkpoint.tokenizer_problem);
  }
  if (text.size() > kMaxTextBytes) {
    throw InputError("text: expected at most " + std::to_string(kMaxTextBytes) + " bytes, found " +
                     std::to_string(text.size()));
  }
}

std::vector<TraceToken> tokenise_text(const std::string& text, const Checkpoint& checkpoint) {
  check_text(text, checkpoint);
  std::vector<TraceToken> tokens;
  // Keeps special tokens only at the ends of the whole text, not between its parts.
  const auto encode = [&](std::size_t begin, std::size_t end) {
    std::vector<Token> encoded = checkpoint.tokenizer->encode(text.substr(begin, end - begin));
    if (end < text.size()) {
      while (!encoded.empty() && encoded.back().special) encoded.pop_back();
    }
    const auto first =
        begin == 0 ? encoded.begin() : std::ranges::find(encoded, false, &Token::special);
    for (const Token& token : std::ranges::subrange(first, encoded.end())) {
      const std::string bytes = checkpoint.tokenizer->bytes(token.id);
      tokens.push_back({token.id, bytes, checkpoint.tokenizer->label(token.id), begin + token.begin,
                        begin + token.end, token.special});
    }
  };
  std::size_t encoded_end = 0;
  for (const auto& [begin, end] : mask_ranges(text, checkpoint)) {
    encode(encoded_end, begin);
    tokens.push_back(trace_token(mask_id(checkpoint.model.config), checkpoint));
    tokens.back().begin = begin;
    tokens.back().end = end;
    tokens.back().special = true;
    encoded_end = end;
  }
  if (encoded_end < text.size() || encoded_end == 0) encode(encoded_end, text.size());
  return tokens;
}

// Tokenises two sentences, with the special tokens around and between them.
std::vector<TraceToken> tokenise_pair(const std::string& first, const std::string& second,
                                      const Checkpoint& checkpoint) {
  check_text(first, checkpoint);
  check_text(second, checkpoint);
  for (const std::string& text : {first, second}) {
    if (mask_ranges(text, checkpoint).empty()) continue;
    throw InputError("second sentence: " + checkpoint.name +
                     " supports masked words in a single text only");
  }
  std::vector<TraceToken> tokens;
  for (const Token& token : checkpoint.tokenizer->encode_pair(first, second)) {
    tokens.push_back({token.id, checkpoint.tokenizer->bytes(token.id),
                      checkpoint.tokenizer->label(token.id), token.begin, token.end, token.special,
                      token.text, token.segment});
  }
  return tokens;
}

}  // namespace

std::vector<TraceToken> tokenised_input(const Checkpoint& checkpoint, const RunSpec& spec) {
  std::vector<TraceToken> tokens;
  for (const std::int32_t id : spec.ids) tokens.push_back(trace_token(id, checkpoint));
  if (spec.ids.empty()) {
    tokens = spec.second.empty() ? tokenise_text(spec.text, checkpoint)
                                 : tokenise_pair(spec.text, spec.second, checkpoint);
  }
  if (tokens.empty()) throw InputError("text: expected at least one token, found none");
  return tokens;
}

}  // namespace attnscope
