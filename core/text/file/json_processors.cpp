#include "core/text/file/json_steps.h"

namespace attnscope {
namespace {

std::int32_t checked_id(const Entry& id, const PipelineSteps& steps) {
  const std::int32_t number = id.token_id();
  if (number >= steps.vocabulary->size()) id.fail("an id of the vocabulary");
  return number;
}

std::int32_t read_segment(const Entry& part) {
  constexpr std::int64_t kMaxSegments = 1 << 20;
  return part.has("type_id") ? static_cast<std::int32_t>(part.at("type_id").count(kMaxSegments))
                             : 0;
}

std::vector<TemplatePart> template_parts(const Entry& step, const char* key,
                                         const PipelineSteps& steps, int texts) {
  std::vector<TemplatePart> parts;
  std::vector<bool> has_text(2, false);
  for (const Entry& part : step.at(key).items()) {
    if (part.has("Sequence")) {
      const Entry sequence = part.at("Sequence");
      const std::string& name = sequence.at("id").text();
      const int text = name == "A" ? 0 : name == "B" && texts == 2 ? 1 : -1;
      if (text < 0 || has_text[static_cast<std::size_t>(text)]) part.unsupported();
      has_text[static_cast<std::size_t>(text)] = true;
      parts.push_back({text, 0, read_segment(sequence)});
      continue;
    }
    const Entry special = part.at("SpecialToken");
    const std::string& name = special.at("id").text();
    for (const Entry& id : step.at("special_tokens").at(name.c_str()).at("ids").items()) {
      parts.push_back({-1, checked_id(id, steps), read_segment(special)});
    }
  }
  if (!has_text[0]) step.at(key).fail("the sequence A among its parts");
  if (texts == 2 && !has_text[1]) step.at(key).fail("the sequence B among its parts");
  return parts;
}

// Reads a token and its id: "sep": ["</s>", 2].
std::int32_t named_id(const Entry& step, const char* key, const PipelineSteps& steps) {
  const std::vector<Entry> pair = step.at(key).items();
  if (pair.size() != 2) step.at(key).fail("a token and its id");
  pair[0].text();
  return checked_id(pair[1], steps);
}

}  // namespace

void read_processors(const Entry& root, PipelineSteps& steps) {
  bool has_processor = false;
  for (const Entry& step : section_steps(root, "post_processor", "processors")) {
    const std::string type = step.type();
    if (type == "ByteLevel") continue;      // affects offsets only
    if (has_processor) step.unsupported();  // a second processor
    has_processor = true;
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
