// What comes from a model, on its way to a reader.
#pragma once

#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/figure/image.h"
#include "core/text/utf8_stream.h"

namespace attnscope::command {

// Tokens as text on stdout as they come; without a tokenizer as numbers.
class TokenPrinter {
 public:
  // Numbers stand in rows of so many, 0: in one; `there`: how many of the first row are there.
  TokenPrinter(const Checkpoint& checkpoint, Index columns, Index there)
      : checkpoint_(checkpoint), columns_(columns), count_(there) {}
  void add(std::int32_t id);
  void finish();

 private:
  void print(const std::string& text);

  const Checkpoint& checkpoint_;
  Index columns_, count_;
  bool begun_ = false;  // the row
  Utf8Stream stream_;
};

// The text of some tokens; empty without a tokenizer.
std::string text_of(const Checkpoint& checkpoint, const std::vector<std::int32_t>& ids);

// Levels as grey, from black to white, row by row; what is missing of the last row is transparent.
Image pixels_image(const std::vector<std::int32_t>& ids, Index columns, Index levels);

}  // namespace attnscope::command
