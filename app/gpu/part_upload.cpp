#include "app/gpu/part_upload.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace attnscope {
namespace {

constexpr Index kVec4 = 4;               // floats
constexpr std::int32_t kRowNumbers = 5;  // integers per row, see shaders/attention.glsl

Index vec4_count(Index floats) {
  return (floats + kVec4 - 1) / kVec4;
}

std::int32_t to_int(std::size_t n) {
  return static_cast<std::int32_t>(n);
}
std::int32_t to_int(Index n) {
  return static_cast<std::int32_t>(n);
}

// Pads the last axis of `t` with zeros to `width` vec4s. Returns `t` if no padding is needed.
Tensor pad_rows(const Tensor& t, Index width) {
  const Index size = t.dim(-1), rows = t.size() / std::max<Index>(size, 1);
  if (size == width * kVec4) return t;
  Tensor result = Tensor::zeros({rows, width * kVec4});
  for (Index r = 0; r < rows; ++r) {
    std::copy_n(t.data() + r * size, size, result.data() + r * width * kVec4);
  }
  return result;
}

// Product of x [B h_x, rows, d] and w [h, d, a] for each of `pairs` = B h heads, [B h, rows, a].
// Consecutive heads share a plane of x, as in grouped-query attention.
Tensor project(const Tensor& x, const Tensor& w, Index pairs) {
  const Index rows = x.dim(1), d = x.dim(2), heads = w.dim(0), a = w.dim(2);
  Tensor result = Tensor::zeros({pairs, rows, a});  // [B h, rows, a]
  for (Index p = 0; p < pairs; ++p) {
    const float* from = x.data() + p / (pairs / x.dim(0)) * rows * d;
    const float* weights = w.data() + p % heads * d * a;
    for (Index i = 0; i < rows; ++i) {
      float* out = result.data() + (p * rows + i) * a;
      for (Index e = 0; e < d; ++e) {
        const float factor = from[i * d + e];
        for (Index n = 0; n < a; ++n) out[n] += factor * weights[e * a + n];
      }
    }
  }
  return result;
}

// Packs data into the buffers `numbers` and `integers`.
class Packer {
 public:
  explicit Packer(PartUpload& upload) : upload_(upload) {}

  // Appends to numbers[]; returns the index of the first.
  std::int32_t append_scalars(const Tensor& t) {
    const std::size_t start = upload_.numbers.size();
    upload_.numbers.insert(upload_.numbers.end(), t.begin(), t.end());
    return to_int(start);
  }
  // Appends padded rows to numbers[]. Returns the start in vectors[]: numbers[] viewed as vec4s.
  std::int32_t append_vectors(const Tensor& t, Index width) {
    upload_.numbers.resize((upload_.numbers.size() + kVec4 - 1) / kVec4 * kVec4);
    return append_scalars(pad_rows(t, width)) / to_int(kVec4);
  }
  std::int32_t append_integers(const std::vector<std::int32_t>& values) {
    const std::size_t start = upload_.integers.size();
    upload_.integers.insert(upload_.integers.end(), values.begin(), values.end());
    return to_int(start);
  }

  // Adds a table; returns its number in sizes.table.
  int append_table(std::int32_t values, std::int32_t head_stride, Index width, Index heads,
                   const OffsetIndex& index) {
    const auto entry = 2 * static_cast<std::size_t>(tables_);
    upload_.sizes.table[entry] = {values, head_stride, append_integers(index.column),
                                  to_int(index.column.size())};
    upload_.sizes.table[entry + 1] = {to_int(index.min), to_int(width), to_int(heads), 0};
    return tables_++;
  }
  int append_table(const OffsetTable& t) {
    const Tensor& values = t.table.value();
    return append_table(append_scalars(values), to_int(values.dim(1)), 1, values.dim(0), *t.index);
  }
  int append_table(const RelativeRows& r, Index width) {
    const Tensor& rows = r.rows.value();
    return append_table(append_vectors(rows, width), to_int(rows.dim(1) * width), width,
                        rows.dim(0), *r.index);
  }
  void append_product(const ExtraProduct& p) {
    const Index width = vec4_count(p.q.dim(2));
    upload_.sizes.product[static_cast<std::size_t>(products_++)] = {
        append_vectors(p.q.value(), width), append_vectors(p.k.value(), width), to_int(width),
        to_int(p.q.dim(0))};
  }

 private:
  PartUpload& upload_;
  int tables_ = 0, products_ = 0;
};

std::vector<std::int32_t> positions(const std::vector<std::int32_t>& stored, Index count) {
  if (!stored.empty()) return stored;
  std::vector<std::int32_t> consecutive(static_cast<std::size_t>(count));
  std::iota(consecutive.begin(), consecutive.end(), 0);
  return consecutive;
}

void pack_scores(const Part& part, PartUpload& upload, Packer& packer) {
  Sizes& sizes = upload.sizes;
  Defines& defines = upload.defines;
  int products = 0, query_rows = 0, key_rows = 0, scaled_biases = 0, first_scaled_bias = 0;
  if (part.source == Source::Product) {
    defines["PRODUCT"] = 1;
    if (part.q.defined() && part.k.defined()) defines["CONTENT"] = 1;
    if (part.relu) defines["RELU"] = 1;
    for (const ExtraProduct& p : part.products) packer.append_product(p);
    products = static_cast<int>(part.products.size());
    const Index width = padded_key_width(part);
    if (part.query_rows) {
      packer.append_table(*part.query_rows, width);
      query_rows = 1;
    }
    for (const RelativeRows& r : part.key_rows) packer.append_table(r, width);
    key_rows = static_cast<int>(part.key_rows.size());
    for (const OffsetTable& t : part.scaled_biases) {
      const int table = packer.append_table(t);
      if (scaled_biases++ == 0) first_scaled_bias = table;
    }
    if (part.factor) defines["FACTOR_TABLE"] = packer.append_table(*part.factor);
  } else if (part.source == Source::Additive) {
    defines["ADDITIVE"] = 1;
    sizes.additive_v = packer.append_vectors(part.additive_v.value(), padded_key_width(part));
  } else {
    defines["LOGITS"] = 1;
    const Tensor& logits = part.logits.value();
    sizes.logits = packer.append_scalars(logits);
    sizes.logits_heads = to_int(logits.dim(0));
    sizes.logits_width = to_int(logits.dim(2));
    if (part.logits_index)
      defines["LOGITS_TABLE"] = packer.append_table(0, 0, 1, 1, *part.logits_index);
  }
  if (part.bias) defines["BIAS_TABLE"] = packer.append_table(*part.bias);
  defines["PRODUCTS"] = products;
  defines["QUERY_ROWS"] = query_rows;
  defines["KEY_ROWS"] = key_rows;
  defines["SCALED_BIASES"] = scaled_biases;
  defines["SCALED_BIAS_TABLE"] = first_scaled_bias;
  const bool only_products = part.source == Source::Product && query_rows + key_rows == 0 &&
                             scaled_biases == 0 && !part.factor && !part.bias &&
                             part.score_cap == 0 && part.normaliser != Normaliser::SpanSoftmax &&
                             (defines.contains("CONTENT") || products > 0);
  if (!only_products) defines["TERMS"] = 1;
  sizes.product_scale = only_products ? part.scale : 1.0F;
}

}  // namespace

Index padded_key_width(const Part& part) {
  if (part.source == Source::Additive) return vec4_count(part.additive_v.dim(1));
  if (part.source == Source::Logits) return 0;
  return part.q.defined() ? vec4_count(part.q.dim(2))
                          : (part.k.defined() ? vec4_count(part.k.dim(2)) : 0);
}

Index padded_value_width(const Part& part) {
  return part.v.defined() ? 2 * ((part.v.dim(2) + 2 * kVec4 - 1) / (2 * kVec4)) : 0;
}

void PartUpload::add_tiles(const TileLayout& layout) {
  Packer packer(*this);
  std::vector<std::int32_t> list;
  const auto append_list = [&] {
    const std::int32_t start = packer.append_integers(list);
    list.clear();
    return start;
  };
  for (const TileLayout::Row& row : layout.rows()) {
    list.insert(list.end(), {row.query, row.begin, row.end, row.words, row.visits});
  }
  const std::int32_t rows = append_list();
  for (const TileLayout::Tile& t : layout.tiles()) {
    const auto base = static_cast<std::int32_t>(static_cast<std::uint32_t>(t.base));
    list.insert(list.end(), {t.columns, t.width, t.head, t.rows, rows + kRowNumbers * t.row, base});
  }
  sizes.tiles = append_list();
  sizes.columns = packer.append_integers(layout.columns());
  for (const std::uint32_t word : layout.words()) list.push_back(static_cast<std::int32_t>(word));
  sizes.words = append_list();
}

void PartUpload::add_runs(const Pattern& pattern) {
  Packer packer(*this);
  std::vector<std::int32_t> list;
  for (const std::int64_t start : pattern.starts()) list.push_back(to_int(start));
  sizes.starts = packer.append_integers(list);
  list.clear();
  for (const Run& run : pattern.runs()) list.insert(list.end(), {run.begin, run.end, run.step});
  sizes.runs = packer.append_integers(list);
  sizes.pattern_heads = to_int(pattern.heads());
}

PartUpload::PartUpload(const Part& part) {
  Packer packer(*this);
  sizes.heads = to_int(part.heads);
  sizes.kv_heads = to_int(part.kv_heads());
  sizes.queries = to_int(part.queries());
  sizes.keys = to_int(part.keys());
  sizes.key_width = to_int(padded_key_width(part));
  sizes.value_width = to_int(padded_value_width(part));
  sizes.scale = part.scale;

  sizes.pos_q = packer.append_integers(positions(part.pos_q, part.queries()));
  sizes.pos_k = packer.append_integers(positions(part.pos_k, part.keys()));
  sizes.pos_k_stride =
      static_cast<Index>(part.pos_k.size()) > part.keys() ? to_int(part.keys()) : 0;

  defines["MAX_TABLES"] = kMaxTables;
  defines["MAX_PRODUCTS"] = kMaxProducts;
  defines["SOFTMAX"] = static_cast<int>(Normaliser::Softmax);
  defines["SPAN_SOFTMAX"] = static_cast<int>(Normaliser::SpanSoftmax);
  defines["FEATURE_RATIO"] = static_cast<int>(Normaliser::FeatureRatio);
  defines["NO_NORMALISER"] = static_cast<int>(Normaliser::None);
  defines["NORMALISER"] = static_cast<int>(part.normaliser);

  pack_scores(part, *this, packer);
  if (part.normaliser == Normaliser::SpanSoftmax) {
    sizes.span = packer.append_scalars(part.span.value());
    sizes.span_rows = part.span.rank() == 2 ? 1 : 0;
    sizes.span_ramp = static_cast<float>(part.span_ramp);
  }
  if (part.score_cap > 0) {
    defines["SCORE_CAP"] = 1;
    sizes.score_cap = part.score_cap;
  }
  if (part.sinks.defined()) {
    defines["SINKS"] = 1;
    sizes.sinks = packer.append_scalars(part.sinks.value());
  }
  if (part.value_rows) {
    defines["VALUE_TABLE"] = packer.append_table(*part.value_rows, padded_value_width(part));
  }

  const Index width = padded_key_width(part);
  if (part.source == Source::Additive) {
    const Index pairs = part.batch * part.heads;
    queries = pad_rows(project(part.q.value(), part.additive_q.value(), pairs), width);
    keys = pad_rows(project(part.k.value(), part.additive_k.value(), pairs), width);
  } else if (part.source == Source::Product) {
    if (part.q.defined()) queries = pad_rows(part.q.value(), width);
    if (part.k.defined()) keys = pad_rows(part.k.value(), width);
  }
  if (part.v.defined()) values = pad_rows(part.v.value(), padded_value_width(part));
}

namespace {

std::string buffer_refusal(const char* buffer_name, std::int64_t numbers, std::int64_t max_bytes) {
  constexpr std::int64_t bytes = sizeof(float);
  const std::int64_t max_numbers =
      std::min<std::int64_t>(max_bytes / bytes, std::numeric_limits<std::int32_t>::max());
  if (numbers <= max_numbers) return {};
  return std::string("GPU: ") + buffer_name + ": expected at most " + std::to_string(max_numbers) +
         " numbers in a buffer, found " + std::to_string(numbers);
}

}  // namespace

std::string integers_refusal(std::int64_t count, std::int64_t max_bytes) {
  return buffer_refusal("pattern", count, max_bytes);
}

std::string upload_refusal(const Part& part, std::int64_t max_bytes) {
  const auto check = [&](const char* buffer_name, std::int64_t numbers) {
    return buffer_refusal(buffer_name, numbers, max_bytes);
  };
  const Index pairs = part.batch * part.heads, kv_pairs = part.batch * part.kv_heads();
  const Index key_pairs = part.source == Source::Additive ? pairs : kv_pairs;
  const Index key_floats = padded_key_width(part) * kVec4;
  const Index value_floats = padded_value_width(part) * kVec4;

  std::int64_t numbers = 0;
  const auto add = [&](const Var& v) {
    if (v.defined() && v.rank() > 0) {
      const Index last = std::max<Index>(v.dim(-1), 1);
      numbers += v.value().size() / last * vec4_count(last) * 2 * kVec4;
    }
  };
  for (const ExtraProduct& p : part.products) {
    add(p.q);
    add(p.k);
  }
  if (part.query_rows) add(part.query_rows->rows);
  if (part.value_rows) add(part.value_rows->rows);
  for (const RelativeRows& r : part.key_rows) add(r.rows);
  add(part.logits);
  add(part.span);
  add(part.sinks);

  // Runs (begin, end, step), index of the first run of each row, and positions.
  const auto rows = static_cast<std::int64_t>(part.pattern->heads()) * part.queries();
  const std::int64_t integers = 3 * static_cast<std::int64_t>(part.pattern->runs().size()) + rows +
                                1 + 2 * (part.queries() + part.keys());

  for (const std::string& reason : {
           check("queries", pairs * part.queries() * std::max({key_floats, value_floats, kVec4})),
           check("keys", key_pairs * part.keys() * key_floats),
           check("values", kv_pairs * part.keys() * value_floats),
           check("tables", numbers),
           check("pattern", integers),
           check("a row's scores", TileLayout::tile * (part.keys() + TileLayout::tile)),
       }) {
    if (!reason.empty()) return reason;
  }
  const std::size_t tables = part.key_rows.size() + part.scaled_biases.size() + 5;
  if (tables > static_cast<std::size_t>(kMaxTables)) {
    return "GPU: tables by offset: expected at most " + std::to_string(kMaxTables) + ", found " +
           std::to_string(tables);
  }
  if (part.products.size() > static_cast<std::size_t>(kMaxProducts)) {
    return "GPU: extra products: expected at most " + std::to_string(kMaxProducts) + ", found " +
           std::to_string(part.products.size());
  }
  return {};
}

}  // namespace attnscope
