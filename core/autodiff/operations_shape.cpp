#include "core/autodiff/operations_shape.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/base/error.h"
#include "core/base/parallel.h"

namespace attnscope {
namespace {

Index row_grain(Index row_size) {
  return std::max(Index{1}, kGrain / std::max(row_size, Index{1}));
}

// Returns the axis in [0, rank). A negative `axis` counts from the end.
Index normalise_axis(const char* operation, const Shape& shape, Index axis) {
  const Index rank = static_cast<Index>(shape.size());
  if (axis < -rank || axis >= rank) {
    throw InputError(std::string(operation) + ": no axis " + std::to_string(axis) + " in shape " +
                     to_string(shape));
  }
  return axis < 0 ? axis + rank : axis;
}

// An array viewed as [outer, n, inner] around an axis.
struct AxisSplit {
  Index outer = 1, n = 1, inner = 1;
};
AxisSplit split_at(const Shape& shape, Index axis) {
  AxisSplit a;
  for (Index i = 0; i < static_cast<Index>(shape.size()); ++i) {
    const Index size = shape[static_cast<std::size_t>(i)];
    (i < axis ? a.outer : i == axis ? a.n : a.inner) *= size;
  }
  return a;
}

void copy_floats(const float* from, float* to, Index count) {
  if (count > 0) std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
}

// Copies blocks of `size` numbers: to[i * to_step + j] = from[i * from_step + j] for j < size.
void copy_blocks(const float* from, Index from_step, float* to, Index to_step, Index blocks,
                 Index size) {
  parallel_for(blocks, row_grain(size), [=](Index first, Index last) {
    for (Index i = first; i < last; ++i) copy_floats(from + i * from_step, to + i * to_step, size);
  });
}

Tensor permute_axes(const Tensor& x, const std::vector<Index>& axes) {
  const std::size_t rank = axes.size();
  std::vector<Index> strides(rank, 1);
  for (std::size_t i = rank - 1; i-- > 0;) strides[i] = strides[i + 1] * x.shape()[i + 1];
  Shape shape(rank), steps(rank);  // shape of the result; strides of its axes in x
  for (std::size_t i = 0; i < rank; ++i) {
    shape[i] = x.shape()[static_cast<std::size_t>(axes[i])];
    steps[i] = strides[static_cast<std::size_t>(axes[i])];
  }
  Tensor result(shape);
  if (result.empty()) return result;
  const Index size = shape.back(), step = steps.back();
  const float* from = x.data();
  float* to = result.data();
  parallel_for(result.size() / size, row_grain(size), [&, from, to](Index first, Index last) {
    for (Index row = first; row < last; ++row) {
      Index offset = 0, remaining = row;
      for (std::size_t i = rank - 1; i-- > 0;) {
        offset += remaining % shape[i] * steps[i];
        remaining /= shape[i];
      }
      if (step == 1) {
        copy_floats(from + offset, to + row * size, size);
      } else {
        for (Index i = 0; i < size; ++i) to[row * size + i] = from[offset + i * step];
      }
    }
  });
  return result;
}

// Sizes for [B, L, h d_k] <-> [B h, L, d_k]; rows have `size` = d_k numbers.
struct HeadSizes {
  Index batch, length, heads, size;
};
void split(const float* from, float* to, const HeadSizes& s) {
  parallel_for(s.batch * s.heads, 1, [=](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const float* x = from + (i / s.heads * s.length * s.heads + i % s.heads) * s.size;
      for (Index row = 0; row < s.length; ++row) {
        copy_floats(x + row * s.heads * s.size, to + (i * s.length + row) * s.size, s.size);
      }
    }
  });
}
void merge(const float* from, float* to, const HeadSizes& s) {
  parallel_for(s.batch * s.length, row_grain(s.heads * s.size), [=](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const Index b = i / s.length, row = i % s.length;
      for (Index head = 0; head < s.heads; ++head) {
        copy_floats(from + ((b * s.heads + head) * s.length + row) * s.size,
                    to + (i * s.heads + head) * s.size, s.size);
      }
    }
  });
}

// Adds row i of the gradient to row ids[i] of the table.
void scatter_add(const float* gradient, const IntTensor& ids, Index width, Tensor& table) {
  // Threads divide the columns, not the rows: an id may occur twice.
  parallel_for(width, std::max(Index{16}, kGrain / std::max(ids.size(), Index{1})),
               [&, gradient](Index first, Index last) {
                 for (Index i = 0; i < ids.size(); ++i) {
                   float* to = table.data() + ids[i] * width;
                   for (Index c = first; c < last; ++c) to[c] += gradient[i * width + c];
                 }
               });
}

// A separate function so that the compiler can assume that the arrays do not overlap.
void rotate_halves(const float* a, const float* b, const float* cosine, const float* sine,
                   float sign, float* __restrict low, float* __restrict high, Index pairs) {
  for (Index t = 0; t < pairs; ++t) {
    const float rotation_sine = sign * sine[t];
    low[t] = a[t] * cosine[t] - b[t] * rotation_sine;
    high[t] = a[t] * rotation_sine + b[t] * cosine[t];
  }
}

struct Rotation {
  Tensor cosine, sine;  // [L, p]
  bool is_interleaved;
};
// Rotates pairs by sign * angle; sign is 1 or -1.
Tensor apply_rotation(const Tensor& x, const Rotation& r, float sign) {
  Tensor result(x.shape());
  const Index d = x.dim(-1), length = x.dim(-2), pairs = r.cosine.dim(1);
  const float* from = x.data();
  float* to = result.data();
  const float *cosine = r.cosine.data(), *sine = r.sine.data();
  const bool is_interleaved = r.is_interleaved;
  parallel_for(d == 0 ? 0 : x.size() / d, row_grain(d), [=](Index first, Index last) {
    for (Index row = first; row < last; ++row) {
      const float *c = cosine + row % length * pairs, *s = sine + row % length * pairs;
      const float* in = from + row * d;
      float* out = to + row * d;
      if (is_interleaved) {
        for (Index t = 0; t < pairs; ++t) {
          const float a = in[2 * t], b = in[2 * t + 1], rotation_sine = sign * s[t];
          out[2 * t] = a * c[t] - b * rotation_sine;
          out[2 * t + 1] = a * rotation_sine + b * c[t];
        }
      } else {
        rotate_halves(in, in + pairs, c, s, sign, out, out + pairs, pairs);
      }
      copy_floats(in + 2 * pairs, out + 2 * pairs, d - 2 * pairs);
    }
  });
  return result;
}

}  // namespace

Var reshape(const Var& x, Shape shape) {
  return record("reshape", x.value().reshaped(std::move(shape)), {x},
                [](const Tensor& gradient, const std::vector<Var>& inputs) {
                  accumulate(inputs[0], gradient.reshaped(inputs[0].shape()));
                });
}

Var permute(const Var& x, const std::vector<Index>& axes) {
  std::vector<Index> order(axes.size()), inverse(axes.size(), -1);
  const auto axes_error = [&] {
    return InputError("permute of " + to_string(x.shape()) + " by " + to_string(axes) +
                      ": expected each axis once");
  };
  if (x.rank() < 1 || static_cast<Index>(axes.size()) != x.rank()) throw axes_error();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    order[i] = normalise_axis("permute", x.shape(), axes[i]);
    Index& position = inverse[static_cast<std::size_t>(order[i])];
    if (position >= 0) throw axes_error();
    position = static_cast<Index>(i);
  }
  return record("permute", permute_axes(x.value(), order), {x},
                [inverse](const Tensor& gradient, const std::vector<Var>& inputs) {
                  accumulate(inputs[0], permute_axes(gradient, inverse));
                });
}

Var transpose(const Var& x) {
  if (x.rank() < 2) throw InputError("transpose of " + to_string(x.shape()));
  std::vector<Index> axes(static_cast<std::size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), Index{0});
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return permute(x, axes);
}

Var concat(const std::vector<Var>& parts, Index axis) {
  if (parts.empty()) throw InputError("concat of an empty list");
  Shape shape = parts[0].shape();
  axis = normalise_axis("concat", shape, axis);
  const std::size_t index = static_cast<std::size_t>(axis);
  Index total = 0;
  for (const Var& part : parts) {
    Shape part_shape = part.shape();
    if (part_shape.size() == shape.size()) {
      total += part_shape[index];
      part_shape[index] = shape[index];
    }
    if (part_shape != shape) {
      throw InputError("concat of " + to_string(parts[0].shape()) + " and " +
                       to_string(part.shape()) + ": incompatible shapes");
    }
  }
  shape[index] = total;
  Tensor result(shape);
  const Index step = split_at(shape, axis).n * split_at(shape, axis).inner;
  float* to = result.data();
  for (const Var& part : parts) {
    const AxisSplit a = split_at(part.shape(), axis);
    copy_blocks(part.value().data(), a.n * a.inner, to, step, a.outer, a.n * a.inner);
    to += a.n * a.inner;
  }
  return record("concat", std::move(result), parts,
                [axis, step](const Tensor& gradient, const std::vector<Var>& inputs) {
                  const float* from = gradient.data();
                  for (const Var& input : inputs) {
                    const AxisSplit a = split_at(input.shape(), axis);
                    if (input.requires_gradient()) {
                      Tensor part(input.shape());
                      copy_blocks(from, step, part.data(), a.n * a.inner, a.outer, a.n * a.inner);
                      accumulate(input, part);
                    }
                    from += a.n * a.inner;
                  }
                });
}

Var slice(const Var& x, Index axis, Index first, Index count) {
  axis = normalise_axis("slice", x.shape(), axis);
  const AxisSplit a = split_at(x.shape(), axis);
  if (first < 0 || count < 0 || first > a.n - count) {
    throw InputError("slice of " + to_string(x.shape()) + " on axis " + std::to_string(axis) +
                     ": no range of " + std::to_string(count) + " from " + std::to_string(first));
  }
  Tensor result;
  if (axis == 0) {
    result = x.value().slice(first, count);
  } else {
    Shape shape = x.shape();
    shape[static_cast<std::size_t>(axis)] = count;
    result = Tensor(shape);
    copy_blocks(x.value().data() + first * a.inner, a.n * a.inner, result.data(), count * a.inner,
                a.outer, count * a.inner);
  }
  return record("slice", std::move(result), {x},
                [a, first, count](const Tensor& gradient, const std::vector<Var>& inputs) {
                  const float* from = gradient.data();
                  accumulate_with(inputs[0], [=](Tensor& sum, bool overwrite) {
                    if (overwrite) std::fill(sum.begin(), sum.end(), 0.0f);
                    float* to = sum.data() + first * a.inner;
                    const Index size = count * a.inner;
                    parallel_for(a.outer, row_grain(size), [=](Index begin, Index end) {
                      for (Index i = begin; i < end; ++i) {
                        const float* in = from + i * size;
                        float* out = to + i * a.n * a.inner;
                        for (Index c = 0; c < size; ++c) out[c] += in[c];
                      }
                    });
                  });
                });
}

Var gather(const Var& table, const IntTensor& ids) {
  if (table.rank() != 2) throw InputError("gather from " + to_string(table.shape()));
  const Index rows = table.dim(0), width = table.dim(1);
  for (const std::int32_t id : ids) {
    if (id < 0 || id >= rows) {
      throw InputError("id " + std::to_string(id) + ": expected 0 to " + std::to_string(rows - 1));
    }
  }
  Shape shape = ids.shape();
  shape.push_back(width);
  Tensor result(shape);  // [ids..., d]
  const float* from = table.value().data();
  float* to = result.data();
  parallel_for(ids.size(), row_grain(width), [=, &ids](Index first, Index last) {
    for (Index i = first; i < last; ++i) copy_floats(from + ids[i] * width, to + i * width, width);
  });
  return record("gather", std::move(result), {table},
                [ids, width](const Tensor& gradient, const std::vector<Var>& inputs) {
                  accumulate_with(inputs[0], [&](Tensor& sum, bool overwrite) {
                    if (overwrite) std::fill(sum.begin(), sum.end(), 0.0f);
                    scatter_add(gradient.data(), ids, width, sum);
                  });
                });
}

Var split_heads(const Var& x, Index heads) {
  if (x.rank() != 3 || heads < 1 || x.dim(2) % heads != 0) {
    throw InputError("split_heads of " + to_string(x.shape()) + " into " + std::to_string(heads));
  }
  const HeadSizes s{x.dim(0), x.dim(1), heads, x.dim(2) / heads};
  Tensor result({s.batch * heads, s.length, s.size});  // [B h, L, d_k]
  split(x.value().data(), result.data(), s);
  return record("split_heads", std::move(result), {x},
                [s](const Tensor& gradient, const std::vector<Var>& inputs) {
                  Tensor merged(inputs[0].shape());  // [B, L, h d_k]
                  merge(gradient.data(), merged.data(), s);
                  accumulate(inputs[0], merged);
                });
}

Var merge_heads(const Var& x, Index heads) {
  if (x.rank() != 3 || heads < 1 || x.dim(0) % heads != 0) {
    throw InputError("merge_heads of " + to_string(x.shape()) + " from " + std::to_string(heads));
  }
  const HeadSizes s{x.dim(0) / heads, x.dim(1), heads, x.dim(2)};
  Tensor result({s.batch, s.length, heads * s.size});  // [B, L, h d_k]
  merge(x.value().data(), result.data(), s);
  return record("merge_heads", std::move(result), {x},
                [s](const Tensor& gradient, const std::vector<Var>& inputs) {
                  Tensor parts(inputs[0].shape());  // [B h, L, d_k]
                  split(gradient.data(), parts.data(), s);
                  accumulate(inputs[0], parts);
                });
}

Var rotate(const Var& x, const Tensor& cosine, const Tensor& sine, bool is_interleaved) {
  if (x.rank() < 2 || cosine.rank() != 2 || cosine.shape() != sine.shape() ||
      cosine.dim(0) != x.dim(-2) || 2 * cosine.dim(1) > x.dim(-1)) {
    throw InputError("rotate of " + to_string(x.shape()) + " by angles of shapes " +
                     to_string(cosine.shape()) + " and " + to_string(sine.shape()) +
                     ": incompatible shapes");
  }
  const Rotation rotation{cosine, sine, is_interleaved};
  return record("rotate", apply_rotation(x.value(), rotation, 1), {x},
                [rotation](const Tensor& gradient, const std::vector<Var>& inputs) {
                  accumulate(inputs[0], apply_rotation(gradient, rotation, -1));
                });
}

}  // namespace attnscope
