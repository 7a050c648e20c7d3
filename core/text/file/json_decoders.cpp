#include <algorithm>

#include "core/text/file/json_steps.h"

namespace attnscope {
namespace {

void read_strip(const Entry& step, bool fused, Decoder& decoder) {
  constexpr std::int64_t kMaxCount = 1 << 20;
  const std::string& content = step.at("content").text();
  const std::size_t front = step.at("start").count(kMaxCount),
                    back = step.at("stop").count(kMaxCount);
  if (!fused || content.size() != 1) step.unsupported();
  decoder.add_strip(content[0], front, back);
}

// A text that a decoder searches for, which an empty one would find without end.
std::string searched_text(const Entry& step, const char* key, const char* initial) {
  std::string text = step.text_or(key, initial);
  if (text.empty()) step.at(key).fail("a non-empty string");
  return text;
}

}  // namespace

void read_decoders(const Entry& root, PipelineSteps& steps) {
  Decoder& decoder = steps.decoder;
  const std::vector<Entry> decoder_steps = section_steps(root, "decoder", "decoders");
  bool fused = false;  // true: later steps apply to the whole text
  for (const Entry& step : decoder_steps) {
    const std::string type = step.type();
    if (type == "ByteLevel") {
      decoder.add_byte_level();
    } else if (type == "ByteFallback") {
      decoder.add_byte_fallback();
    } else if (type == "Fuse") {
      fused = true;
    } else if (type == "Strip") {
      read_strip(step, fused, decoder);
    } else if (type == "Replace") {
      decoder.add_replacement(read_pattern(step), step.at("content").text());
    } else if (type == "WordPiece") {
      decoder.add_word_pieces(step.text_or("prefix", "##"), step.flag_or("cleanup", true));
    } else if (type == "BPEDecoder") {
      decoder.add_word_ends(searched_text(step, "suffix", "</w>"));
    } else if (type == "Metaspace") {
      decoder.add_spaces(searched_text(step, "replacement", "▁"));
      const bool prefixed = step.text_or("prepend_scheme", "always") != "never" &&
                            step.flag_or("add_prefix_space", true);
      if (prefixed) decoder.add_strip(' ', 1, 0);
    } else {
      step.unsupported();
    }
  }
  const Entry model = root.at("model");
  const std::string suffix = model.text_or("end_of_word_suffix", "");
  const bool keeps_suffix = std::ranges::none_of(
      decoder_steps, [](const Entry& step) { return step.type() == "BPEDecoder"; });
  if (!suffix.empty() && keeps_suffix) decoder.add_word_ends(suffix);  // as in CLIP's files
  // Without a decoder section, derive the tokens' text from the other sections.
  if (!decoder_steps.empty()) return;
  if (works_on_bytes(root)) decoder.add_byte_level();
  for (const Entry& step : section_steps(root, "pre_tokenizer", "pretokenizers")) {
    if (step.type() == "Metaspace") decoder.add_spaces(searched_text(step, "replacement", "▁"));
  }
  if (model.flag_or("byte_fallback", false)) decoder.add_byte_fallback();
  if (steps.model->kind() == "WordPiece") {
    decoder.add_word_pieces(model.text_or("continuing_subword_prefix", "##"), true);
  }
}

}  // namespace attnscope
