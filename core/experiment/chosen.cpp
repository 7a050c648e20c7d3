#include "core/experiment/chosen.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/model/id_label.h"
#include "core/text/text_shape.h"

namespace attnscope {

namespace {

// What neighbouring heads do; of a config and an experiment, which outlive it: a list of edges is
// long, and heads are many.
struct HeadChoice {
  const Choice* variant = nullptr;
  const Choice* encoding = nullptr;
  Index heads = 1;
  bool does_as(const HeadChoice& other) const {
    const auto same = [](const Choice* a, const Choice* b) { return a == b || *a == *b; };
    return same(variant, other.variant) && same(encoding, other.encoding);
  }
};

// [layers][heads]
std::vector<std::vector<HeadChoice>> choices_of_heads(const ModelConfig& config) {
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

// The numbers of a choice, or all from 0 to count - 1.
std::vector<Index> numbers(const std::vector<Index>& given, Index count, const std::string& path) {
  std::vector<Index> result = given;
  if (given.empty()) {
    for (Index n = 0; n < count; ++n) result.push_back(n);
  }
  for (const Index n : result) {
    if (n >= 0 && n < count) continue;
    throw InputError(path + ": expected numbers from 0 to " + std::to_string(count - 1) +
                     ", found " + std::to_string(n));
  }
  return result;
}

// Neighbouring equal heads as one group. Heads that share keys are in one group with all others of
// theirs, or in one with none of other keys.
std::vector<HeadGroup> in_groups(const std::vector<HeadChoice>& heads, Index shared) {
  std::vector<HeadChoice> within;  // of one key-value head each
  std::vector<HeadChoice> groups;
  const auto append = [](std::vector<HeadChoice>& list, const HeadChoice& next) {
    if (!list.empty() && list.back().does_as(next)) {
      list.back().heads += next.heads;
    } else {
      list.push_back(next);
    }
  };
  bool joins = false;  // the last group has all heads of its keys
  for (std::size_t first = 0; first < heads.size(); first += static_cast<std::size_t>(shared)) {
    within.clear();
    for (std::size_t head = first; head < first + static_cast<std::size_t>(shared); ++head) {
      append(within, heads[head]);
    }
    if (within.size() == 1 && joins) {
      append(groups, within[0]);
    } else {
      groups.insert(groups.end(), within.begin(), within.end());
    }
    joins = within.size() == 1;
  }
  std::vector<HeadGroup> result;
  for (const HeadChoice& group : groups) {
    result.push_back({group.heads, *group.variant, *group.encoding});
  }
  return result;
}

}  // namespace

std::vector<std::vector<HeadGroup>> chosen_groups(const ModelConfig& stored,
                                                  const Experiment& experiment) {
  if (!experiment.variant && !experiment.encoding && experiment.groups.empty()) {
    return stored.groups;
  }
  auto heads = choices_of_heads(stored);
  const auto apply = [&](HeadChoice& head, const auto& choice) {
    if (choice.variant) head.variant = &*choice.variant;
    if (choice.encoding) head.encoding = &*choice.encoding;
  };
  for (auto& layer : heads) {
    for (HeadChoice& head : layer) apply(head, experiment);
  }
  for (std::size_t n = 0; n < experiment.groups.size(); ++n) {
    const GroupChoice& choice = experiment.groups[n];
    const std::string path = "groups[" + std::to_string(n) + "]";
    for (const Index layer : numbers(choice.layers, stored.layers, path + ".layers")) {
      for (const Index head : numbers(choice.heads, stored.heads, path + ".heads")) {
        apply(heads[static_cast<std::size_t>(layer)][static_cast<std::size_t>(head)], choice);
      }
    }
  }
  std::vector<std::vector<HeadGroup>> groups;
  for (const auto& layer : heads) {
    groups.push_back(in_groups(layer, stored.heads / stored.kv_heads));
  }
  return groups;
}

Model chosen_model(const Model& stored, const Experiment& experiment, Index tokens) {
  const Model model = with_structure(stored, experiment.structure);
  return with_groups(model, chosen_groups(model.config, experiment),
                     experiment.causal.value_or(model.config.causal), tokens);
}

Experiment with_text_read(Experiment experiment, const std::vector<TraceToken>& tokens,
                          Index segment) {
  std::vector<Choice*> readers;
  const auto visit = [&](std::optional<Choice>& choice) {
    if (choice && variant(choice->id).read_text) readers.push_back(&*choice);
  };
  visit(experiment.variant);
  for (GroupChoice& group : experiment.groups) visit(group.variant);
  if (readers.empty()) return experiment;
  std::vector<std::string> bytes;
  for (const TraceToken& token : tokens) bytes.push_back(token.special ? "" : token.bytes);
  const TextShape shape = text_shape(bytes);
  for (Choice* reader : readers) {
    const Values before = reader->values;
    variant(reader->id).read_text(reader->values, shape);
    if (segment > 0 && !(reader->values == before)) {
      throw InputError("variant " + reader->id +
                       ": the brackets or sentences of a text are those of all of it; expected "
                       "segment length 0, found " +
                       std::to_string(segment));
    }
  }
  return experiment;
}

std::string structure_refusal(const ModelConfig& stored, const Experiment& experiment) {
  constexpr std::string_view kPath = "model";
  try {
    ModelConfig config = structured(stored, experiment.structure);
    config.groups = chosen_groups(config, experiment);
    config.causal = experiment.causal.value_or(config.causal);
    check(config, kPath);
  } catch (const InputError& e) {
    const std::string reason = e.what();
    const std::string path = std::string(kPath) + ": ";
    return reason.starts_with(path) ? reason.substr(path.size()) : reason;
  }
  return "";
}

TraceToken trace_token(std::int32_t id, const Checkpoint& checkpoint, bool written) {
  TraceToken token;
  token.id = id;
  const Tokenizer* tokenizer = written ? checkpoint.writing().get() : checkpoint.tokenizer.get();
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

// Where the text says that a model is to fill in what is hidden: "[mask]", with the space before,
// which belongs to the hidden word. Tokenizers find their own ("[MASK]", "<mask>") by themselves.
std::vector<std::pair<std::size_t, std::size_t>> hidden_places(const std::string& text,
                                                               const Checkpoint& checkpoint) {
  const std::string mask = kMask;
  if (mask_id(checkpoint.model.config) < 0 || checkpoint.tokenizer->id_of(mask) >= 0) return {};
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (std::size_t at = text.find(mask); at != std::string::npos;
       at = text.find(mask, at + mask.size())) {
    places.emplace_back(at > 0 && text[at - 1] == ' ' ? at - 1 : at, at + mask.size());
  }
  return places;
}

// InputError where the model reads no text, or not so much of it.
void check_text(const std::string& text, const Checkpoint& checkpoint) {
  if (!checkpoint.tokenizer) {
    throw InputError("text cannot be used with model " + checkpoint.name + ": " +
                     checkpoint.tokenizer_problem);
  }
  if (text.size() > kMostTextBytes) {
    throw InputError("text: expected at most " + std::to_string(kMostTextBytes) + " bytes, found " +
                     std::to_string(text.size()));
  }
}

std::vector<TraceToken> tokens_of_text(const std::string& text, const Checkpoint& checkpoint) {
  check_text(text, checkpoint);
  std::vector<TraceToken> tokens;
  // What a tokenizer sets before and behind a text stands at the ends of the whole one alone.
  const auto encode = [&](std::size_t begin, std::size_t end) {
    std::vector<Token> all = checkpoint.tokenizer->encode(text.substr(begin, end - begin));
    if (end < text.size()) {
      while (!all.empty() && all.back().special) all.pop_back();
    }
    const auto first = begin == 0 ? all.begin() : std::ranges::find(all, false, &Token::special);
    for (const Token& token : std::ranges::subrange(first, all.end())) {
      const std::string bytes = checkpoint.tokenizer->bytes(token.id);
      tokens.push_back({token.id, bytes, checkpoint.tokenizer->label(token.id), begin + token.begin,
                        begin + token.end, token.special});
    }
  };
  std::size_t read = 0;
  for (const auto& [begin, end] : hidden_places(text, checkpoint)) {
    encode(read, begin);
    tokens.push_back(trace_token(mask_id(checkpoint.model.config), checkpoint));
    tokens.back().begin = begin;
    tokens.back().end = end;
    tokens.back().special = true;
    read = end;
  }
  if (read < text.size() || read == 0) encode(read, text.size());
  return tokens;
}

// Two sentences as an encoder reads them, with what its tokenizer puts around and between them.
std::vector<TraceToken> tokens_of_pair(const std::string& first, const std::string& second,
                                       const Checkpoint& checkpoint) {
  check_text(first, checkpoint);
  check_text(second, checkpoint);
  for (const std::string& text : {first, second}) {
    if (hidden_places(text, checkpoint).empty()) continue;
    throw InputError("second sentence: " + checkpoint.name + " hides words of one text alone");
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

std::vector<TraceToken> chosen_tokens(const Checkpoint& checkpoint, const Experiment& experiment) {
  std::vector<TraceToken> tokens;
  for (const std::int32_t id : experiment.ids) tokens.push_back(trace_token(id, checkpoint));
  if (experiment.ids.empty()) {
    tokens = experiment.second.empty()
                 ? tokens_of_text(experiment.text, checkpoint)
                 : tokens_of_pair(experiment.text, experiment.second, checkpoint);
  }
  if (tokens.empty()) throw InputError("the text is empty: there is nothing to attend to");
  return tokens;
}

}  // namespace attnscope
