// Datastore of contexts: file format and nearest-neighbour search.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/home.h"
#include "core/base/parallel.h"
#include "core/base/stop.h"
#include "core/model/retrieval.h"

namespace attnscope {
namespace {

const StoredTensor& tensor(const SafetensorsFile& file, const std::string& path, const char* name) {
  const auto entry = file.tensors.find(name);
  if (entry == file.tensors.end()) throw InputError(path + ": " + name + ": missing");
  return entry->second;
}

double exact_distance(const float* a, const float* b, Index size) {
  double sum = 0;
  for (Index i = 0; i < size; ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return sum;
}

float fast_distance(const float* a, const float* b, Index size) {
  float sum = 0;
  for (Index i = 0; i < size; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

struct NearContext {
  double distance;
  std::int32_t index;
  bool operator<(const NearContext& other) const {
    return distance < other.distance || (distance == other.distance && index < other.index);
  }
};

// The k nearest keys of a row. Single-precision distances select candidates; double-precision
// distances rank the candidates.
std::vector<NearContext> nearest_contexts(const Store& store, const float* x, Index k) {
  const Index count = store.keys.dim(0), size = store.keys.dim(1);
  std::vector<float> distances(static_cast<std::size_t>(count));
  for (Index n = 0; n < count; ++n) {
    distances[static_cast<std::size_t>(n)] = fast_distance(x, store.keys.data() + n * size, size);
  }
  std::vector<float> order = distances;
  std::nth_element(order.begin(), order.begin() + (k - 1), order.end());
  const float farthest = order[static_cast<std::size_t>(k - 1)];
  const float margin = farthest * 1e-5f * std::sqrt(static_cast<float>(size));
  std::vector<NearContext> candidates;
  for (Index n = 0; n < count; ++n) {
    if (!(distances[static_cast<std::size_t>(n)] <= farthest + margin)) continue;
    candidates.push_back(
        {exact_distance(x, store.keys.data() + n * size, size), static_cast<std::int32_t>(n)});
  }
  std::sort(candidates.begin(), candidates.end());
  candidates.resize(static_cast<std::size_t>(k));
  return candidates;
}

}  // namespace

Store load_store(const std::filesystem::path& path) {
  const std::string name = path.string();
  const SafetensorsFile file = read_safetensors(path);
  Store store;
  const StoredTensor& keys = tensor(file, name, "keys");
  if (keys.shape.size() != 2 || (keys.dtype != DType::F32 && keys.dtype != DType::F16)) {
    throw InputError(name + ": keys: expected [n, d] as F32 or F16, found " +
                     to_string(keys.shape));
  }
  store.keys = keys.floats();
  const Index count = store.keys.dim(0);
  const auto integers = [&](const char* tensor_name, const Shape& shape) {
    const StoredTensor& stored = tensor(file, name, tensor_name);
    if (stored.shape != shape || stored.dtype != DType::I32) {
      throw InputError(name + ": " + tensor_name + ": expected " + to_string(shape) +
                       " as I32, found " + to_string(stored.shape));
    }
    return stored.integers();
  };
  store.values = integers("values", {count});
  store.places = integers("places", {count, 2});
  if (count == 0) throw InputError(name + ": keys: expected at least one key, found none");
  for (const float x : store.keys) {
    if (!std::isfinite(x)) throw InputError(name + ": keys: expected finite numbers");
  }
  return store;
}

std::filesystem::path store_path(const std::string& name) {
  std::filesystem::path bundled = home_folder() / "assets" / "stores" / (name + ".safetensors");
  std::error_code ignored;
  if (name.find('/') == std::string::npos && std::filesystem::exists(bundled, ignored)) {
    return bundled;
  }
  return name;
}

bool is_store(const std::filesystem::path& path) {
  if (path.extension() != ".safetensors") return false;
  try {
    const SafetensorsFile file = read_safetensors(path);
    return file.tensors.contains("keys") && file.tensors.contains("values") &&
           file.tensors.contains("places");
  } catch (const InputError&) {  // the reader of its actual format reports the error
    return false;
  }
}

SafetensorsFile store_file(const Store& store, bool half) {
  SafetensorsFile file;
  file.tensors.emplace("keys", half ? stored(store.keys, DType::F16) : stored(store.keys));
  file.tensors.emplace("values", stored(store.values));
  file.tensors.emplace("places", stored(store.places));
  return file;
}

Neighbours nearest_keys(const Store& store, const Tensor& x, Index k) {
  const Index rows = x.dim(0), size = x.dim(1);
  Neighbours result{IntTensor({rows, k}), Tensor({rows, k})};
  parallel_for(rows, 1, [&](Index first, Index last) {
    for (Index row = first; row < last && !is_stopping(); ++row) {
      Index n = row * k;
      for (const NearContext& context : nearest_contexts(store, x.data() + row * size, k)) {
        result.index[n] = context.index;
        result.distance[n++] = static_cast<float>(context.distance);
      }
    }
  });
  check_stop();
  return result;
}

}  // namespace attnscope
