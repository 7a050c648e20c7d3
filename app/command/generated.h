// Output of generated tokens.
#pragma once

#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/figure/image.h"
#include "core/text/utf8_stream.h"

namespace attnscope::command {

// Prints each generated token on stdout immediately, as text or, without a tokenizer, as a number.
class TokenPrinter {
 public:
  // columns: numbers per row (0: a single row); start: column of the first number.
  TokenPrinter(const Checkpoint& checkpoint, Index columns, Index start)
      : checkpoint_(checkpoint), columns_(columns), count_(start) {}
  void add(std::int32_t id);
  void finish();

 private:
  void print(const std::string& text);

  const Checkpoint& checkpoint_;
  Index columns_, count_;
  bool has_row_ = false;  // the current row has numbers
  Utf8Stream stream_;
};

// Text of `ids`; empty without a tokenizer.
std::string decode(const Checkpoint& checkpoint, const std::vector<std::int32_t>& ids);

// Image of grey levels `ids` in [0, levels), row by row. Missing pixels at the end are transparent.
Image pixels_image(const std::vector<std::int32_t>& ids, Index columns, Index levels);

}  // namespace attnscope::command
