
#include "core/text/file/json_steps.h"

namespace attnscope {
namespace {

std::int32_t known_id(const Entry& id, const PipelineSteps& steps) {
  const std::int32_t number = id.token_id();
  if (number >= steps.vocabulary->size()) id.fail("an id of the vocabulary");
  return number;
}

std::int32_t segment_of(const Entry& part) {
  constexpr std::int64_t kMaxSegments = 1 << 20;
  return part.has("type_id") ? static_cast<std::int32_t>(part.at("type_id").count(kMaxSegments))
                             : 0;
}

std::vector<TemplatePart> template_parts(const Entry& step, const char* key,
                                         const PipelineSteps& steps, int texts) {
  std::vector<TemplatePart> parts;
  std::vector<bool> there(2, false);
  for (const Entry& part : step.at(key).items()) {
    if (part.has("Sequence")) {
      const Entry sequence = part.at("Sequence");
      const std::string& name = sequence.at("id").text();
      const int text = name == "A" ? 0 : name == "B" && texts == 2 ? 1 : -1;
      if (text < 0 || there[static_cast<std::size_t>(text)]) part.unsupported();
      there[static_cast<std::size_t>(text)] = true;
      parts.push_back({text, 0, segment_of(sequence)});
      continue;
    }
    const Entry special = part.at("SpecialToken");
    const std::string& name = special.at("id").text();
    for (const Entry& id : step.at("special_tokens").at(name.c_str()).at("ids").items()) {
      parts.push_back({-1, known_id(id, steps), segment_of(special)});
    }
  }
  if (!there[0]) step.at(key).fail("the sequence A among its parts");
  if (texts == 2 && !there[1]) step.at(key).fail("the sequence B among its parts");
  return parts;
}

// Reads a token and its id: "sep": ["</s>", 2].
std::int32_t named_id(const Entry& step, const char* key, const PipelineSteps& steps) {
  const std::vector<Entry> pair = step.at(key).items();
  if (pair.size() != 2) step.at(key).fail("a token and its id");
  pair[0].text();
  return known_id(pair[1], steps);
}

}  // namespace

void read_processors(const Entry& root, PipelineSteps& steps) {
  bool any = false;
  for (const Entry& step : steps_of(root, "post_processor", "processors")) {
    const std::string type = step.type();
    if (type == "ByteLevel") continue;  // affects offsets only
    if (any) step.unsupported();        // a second processor would apply to the first one's result
    any = true;
    if (type == "TemplateProcessing") {
      steps.around.single = template_parts(step, "single", steps, 1);
      if (step.has("pair")) steps.around.pair = template_parts(step, "pair", steps, 2);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      const auto make = type == "BertProcessing" ? bert_template : roberta_template;
      steps.around = make(named_id(step, "cls", steps), named_id(step, "sep", steps));
    } else {
      step.unsupported();
    }
  }
}

}  // namespace attnscope
