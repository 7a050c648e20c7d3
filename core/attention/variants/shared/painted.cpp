#include "core/attention/variants/shared/painted.h"

#include "core/base/error.h"

namespace attnscope {

Pattern painted_pattern(const PatternInput& input, const char* name, const char* rule, bool self) {
  const Tensor& mask = weight(input.weights, name).value();
  const Index heads = mask.rank() == 3 ? mask.dim(0) : 1;
  const Index rows = mask.dim(-2), columns = mask.dim(-1);
  if (rows < input.first + input.queries || columns < input.keys) {
    throw InputError(std::string(name) + ": expected at least " +
                     to_string(Shape{input.first + input.queries, input.keys}) + ", found " +
                     to_string(mask.shape()));
  }
  return build_rows(input, heads, {rule, "itself"},
                    [&](PatternBuilder& builder, Index head, Index i) {
                      const float* row = mask.data() + (head * rows + i) * columns;
                      for (Index j = 0; j < input.keys;) {
                        if (row[j] == 0) {
                          ++j;
                          continue;
                        }
                        const Index begin = j;
                        while (j < input.keys && row[j] != 0) ++j;
                        builder.add(0, begin, j);
                      }
                      if (self) builder.add_column(1, i);
                    });
}

}  // namespace attnscope
