// shaw: relative position vectors added to keys and values. Shaw et al., 2018.
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/position/illustrative_weights.h"
#include "core/position/list.h"
#include "core/position/offsets.h"

namespace attnscope {
namespace {

WeightInfo relative_vectors(const char* name, const char* help, Index Dimensions::*size) {
  return {.name = name,
          .help = help,
          .shape = [size](const Dimensions& n, const Values& values) -> Shape {
            return {2 * values.integer("clip") + 1, n.*size};
          },
          .initial = initial_normal(0.02),
          .illustrative = illustrative_offsets(0.5),
          .file = {.optional = true}};
}

RelativeRows shared_rows(const Var& table, const OffsetIndexPtr& index) {
  return {reshape(table, {1, table.dim(0), table.dim(1)}), index, Term::ContentPosition};
}

}  // namespace

Encoding shaw_encoding() {
  Encoding e;
  e.id = "shaw";
  e.label = "Shaw, relative vectors";
  e.group = "Relative vectors";
  e.equation =
      "sᵢⱼ = qᵢ·(kⱼ + a^K[e]) / √d_k,   outᵢ = Σⱼ aᵢⱼ (vⱼ + a^V[e]),   e = clamp(j − i, −k, k)";
  e.summary =
      "Every offset up to k in either direction has a learned vector that is added to the key, and "
      "another that is added to the value; larger offsets share the last one. A query can thus ask "
      "for the token just before it, and the output can tell at which offset a token was found.";
  e.source = "Shaw, Uszkoreit and Vaswani, 2018, arXiv:1803.02155";
  e.complexity = "O(L·k·d_k), and (2k + 1)·d_k weights for keys and for values";
  e.parameters = {clip_parameter("vector")};
  e.weights = {relative_vectors("pos.key", "Added to keys, by offset.", &Dimensions::key),
               relative_vectors("pos.value", "Added to values, by offset.", &Dimensions::value)};
  e.apply = [](Part& part, const EncodingContext& context) {
    const Var* key = find_weight(context.weights, "pos.key");
    const Var* value = find_weight(context.weights, "pos.value");
    if (!key && !value) throw InputError("pos.key: expected pos.key or pos.value, found neither");
    const OffsetIndexPtr index = clipped_index(context.values.integer("clip"));
    if (key) part.query_rows = shared_rows(*key, index);
    if (value) part.value_rows = shared_rows(*value, index);
  };
  return e;
}

}  // namespace attnscope
