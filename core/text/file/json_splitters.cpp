#include "core/text/file/json_steps.h"

namespace attnscope {
namespace {

SplitBehavior read_behavior(const Entry& step, const char* fallback) {
  const std::string name = step.text_or("behavior", fallback);
  if (name == "Removed") return SplitBehavior::Removed;
  if (name == "Isolated") return SplitBehavior::Isolated;
  if (name == "MergedWithPrevious") return SplitBehavior::MergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::MergedWithNext;
  if (name == "Contiguous") return SplitBehavior::Contiguous;
  step.unsupported();
}

SplitterPtr read_metaspace(const Entry& step) {
  MetaspaceOptions options;
  options.space = step.text_or("replacement", "▁");
  if (options.space.empty()) step.at("replacement").fail("a non-empty string");
  options.split = step.flag_or("split", true);
  const std::string scheme =
      step.text_or("prepend_scheme", step.flag_or("add_prefix_space", true) ? "always" : "never");
  if (scheme == "always") {
    options.prepend = PrependScheme::Always;
  } else if (scheme == "first") {
    options.prepend = PrependScheme::First;
  } else if (scheme == "never") {
    options.prepend = PrependScheme::Never;
  } else {
    step.at("prepend_scheme").fail("\"always\", \"first\" or \"never\"");
  }
  return metaspace_splitter(options);
}

SplitterPtr read_splitter(const Entry& step) {
  const std::string type = step.type();
  if (type == "BertPreTokenizer") return bert_splitter();
  if (type == "Whitespace") return whitespace_splitter();
  if (type == "WhitespaceSplit") return whitespace_only_splitter();
  if (type == "Punctuation") return punctuation_splitter(read_behavior(step, "Isolated"));
  if (type == "Digits") return digits_splitter(step.flag_or("individual_digits", false));
  if (type == "Metaspace") return read_metaspace(step);
  if (type == "CharDelimiterSplit") {
    const std::string& delimiter = step.at("delimiter").text();
    if (delimiter.empty()) step.at("delimiter").fail("a character");
    return delimiter_splitter(delimiter);
  }
  if (type == "FixedLength") {
    const std::size_t length = step.at("length").count(1 << 20);
    if (length == 0) step.at("length").fail("a number of at least 1");
    return fixed_length_splitter(length);
  }
  if (type == "ByteLevel") {
    return byte_level_splitter(step.flag_or("add_prefix_space", true),
                               step.flag_or("use_regex", true));
  }
  if (type == "Split") {
    return expression_splitter(read_pattern(step), read_behavior(step, ""),
                               step.flag_or("invert", false));
  }
  step.unsupported();
}

}  // namespace

void read_splitters(const Entry& root, PipelineSteps& steps) {
  for (const Entry& step : section_steps(root, "pre_tokenizer", "pretokenizers")) {
    steps.splitters.push_back(read_splitter(step));
  }
}

bool works_on_bytes(const Entry& root) {
  for (const auto& [section, list] :
       {std::pair("pre_tokenizer", "pretokenizers"), std::pair("normalizer", "normalizers")}) {
    for (const Entry& step : section_steps(root, section, list)) {
      if (step.type() == "ByteLevel") return true;
    }
  }
  return false;
}

}  // namespace attnscope
