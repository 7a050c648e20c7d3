#include "app/command/generated.h"

#include <cstdio>

#include "app/command/output.h"

namespace attnscope::command {
namespace {

// False for special tokens, for ids beyond the vocabulary, and if the model has no tokenizer.
bool has_text(const Checkpoint& checkpoint, std::int32_t id) {
  const Tokenizer* tokenizer = checkpoint.output_tokenizer().get();
  return tokenizer != nullptr && id < tokenizer->vocabulary_size() && !tokenizer->is_special(id);
}

}  // namespace

void TokenPrinter::add(std::int32_t id) {
  if (has_text(checkpoint_, id)) {
    print(stream_.push(checkpoint_.output_tokenizer()->bytes(id)));
  } else if (!checkpoint_.tokenizer) {
    print((has_row_ ? " " : "") + std::to_string(id));
    has_row_ = true;
    if (columns_ == 0 || ++count_ % columns_ != 0) return;
    print("\n");
    has_row_ = false;
  }
}

void TokenPrinter::finish() {
  if (columns_ == 0 || has_row_) print(stream_.finish() + "\n");
}

void TokenPrinter::print(const std::string& text) {
  command::print(text);
  flush_output();
}

std::string decode(const Checkpoint& checkpoint, const std::vector<std::int32_t>& ids) {
  Utf8Stream stream;
  std::string text;
  for (const std::int32_t id : ids) {
    if (has_text(checkpoint, id)) text += stream.push(checkpoint.output_tokenizer()->bytes(id));
  }
  return text + stream.finish();
}

Image pixels_image(const std::vector<std::int32_t>& ids, Index columns, Index levels) {
  const auto count = static_cast<Index>(ids.size());
  Image image;
  image.width = static_cast<int>(columns);
  image.height = static_cast<int>((count + columns - 1) / columns);
  image.rgba.resize(static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height) *
                    4);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Index grey = levels > 1 ? ids[i] * 255 / (levels - 1) : 0;
    for (std::size_t c = 0; c < 3; ++c) image.rgba[4 * i + c] = static_cast<std::uint8_t>(grey);
    image.rgba[4 * i + 3] = 255;
  }
  return image;
}

}  // namespace attnscope::command
