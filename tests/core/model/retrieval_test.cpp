// Compares retrieval heads with their equations, one neighbour at a time.
#include "core/model/retrieval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/model/model.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr Index kVocabulary = 9, kLength = 7;

Model small_model() {
  Model model = make_model(testing::small_config({.vocabulary = kVocabulary, .context = 12}), 4);
  std::uint64_t seed = 20;
  for (auto& [name, weight] : model.weights) {
    weight = Var::parameter(testing::random_tensor(weight.shape(), ++seed, 0.5));
  }
  return model;
}

IntTensor make_ids() {
  IntTensor ids({2, kLength});
  for (Index n = 0; n < ids.size(); ++n) ids[n] = static_cast<std::int32_t>(n * n % kVocabulary);
  return ids;
}

// Returns a store whose keys are near the model's queries. No entry has the value 2 or 8.
std::shared_ptr<Store> make_store(const Model& model) {
  auto store = std::make_shared<Store>();
  Batch batch;
  batch.ids = make_ids();
  const Tensor queries = context_keys(model, batch, {});
  const Index rows = queries.dim(0), width = queries.dim(1);
  store->keys = Tensor({rows, width});
  const Tensor noise = testing::random_tensor({rows, width}, 9, 0.3);
  store->values = IntTensor({rows});
  store->places = IntTensor({rows, 2});
  for (Index n = 0; n < rows * width; ++n) store->keys[n] = queries[n] + noise[n];
  for (Index n = 0; n < rows; ++n) {
    store->values[n] = static_cast<std::int32_t>(n % 8 == 2 ? 3 : n % 8);
  }
  return store;
}

RetrievalChoice retrieval_choice(const char* id, Index k) {
  RetrievalChoice choice{{id, default_values(retrieval_head(id).parameters)}, "here"};
  choice.retrieval_head.values.set("k", k);
  return choice;
}

// Returns the probability of token y at `row`.
double probability(const Tensor& log_probabilities, Index row, Index y) {
  return std::exp(static_cast<double>(log_probabilities(row, y)));
}

TEST(Retrieval, InterpolatesWithNearestNeighbours) {
  const Model model = small_model();
  const auto store = make_store(model);
  Batch batch;
  batch.ids = make_ids();
  const Tensor queries = context_keys(model, batch, {});
  const Tensor model_logits = forward(model, batch.ids).value();  // [2, L, vocabulary]
  for (const Index k : {1, 3, 14}) {
    RetrievalChoice choice = retrieval_choice("knn", k);
    choice.retrieval_head.values.set("lambda", 0.3);
    choice.retrieval_head.values.set("temperature", 2.0);
    const Retrieval retrieval(choice, store, model.config);
    ForwardOptions options;
    options.retrieval = &retrieval;
    batch.targets = IntTensor({2, kLength});
    for (Index n = 0; n < batch.targets.size(); ++n) {
      batch.targets[n] = n % 4 == 1 ? -1 : static_cast<std::int32_t>(n % kVocabulary);
    }
    const Output output = run(model, batch, options);
    ASSERT_EQ(output.log_probabilities.shape(), (Shape{2 * kLength, kVocabulary}));
    double loss = 0, count = 0;
    for (Index row = 0; row < 2 * kLength; ++row) {
      std::vector<std::pair<double, Index>> nearest;
      for (Index n = 0; n < store->keys.dim(0); ++n) {
        double distance = 0;
        for (Index i = 0; i < queries.dim(1); ++i) {
          distance += std::pow(
              static_cast<double>(queries(row, i)) - static_cast<double>(store->keys(n, i)), 2);
        }
        nearest.emplace_back(distance, n);
      }
      std::ranges::sort(nearest);
      std::vector<double> p(kVocabulary);
      double weight_sum = 0, model_sum = 0;
      for (Index n = 0; n < k; ++n) {
        weight_sum += std::exp(-nearest[static_cast<std::size_t>(n)].first / 2);
      }
      for (Index n = 0; n < k; ++n) {
        const auto& [distance, index] = nearest[static_cast<std::size_t>(n)];
        p[static_cast<std::size_t>(store->values[index])] +=
            0.3 * std::exp(-distance / 2) / weight_sum;
      }
      const float* logits = model_logits.data() + row * kVocabulary;
      for (Index y = 0; y < kVocabulary; ++y) model_sum += std::exp(static_cast<double>(logits[y]));
      for (Index y = 0; y < kVocabulary; ++y) {
        p[static_cast<std::size_t>(y)] +=
            0.7 * std::exp(static_cast<double>(logits[y])) / model_sum;
        EXPECT_NEAR(probability(output.log_probabilities, row, y), p[static_cast<std::size_t>(y)],
                    1e-5);
      }
      const std::int32_t target = batch.targets[row];
      if (target < 0) continue;
      loss -= std::log(p[static_cast<std::size_t>(target)]);
      ++count;
    }
    ASSERT_EQ(output.losses.size(), 1u);
    EXPECT_NEAR(output.losses[0].value.value()[0], loss / count, 1e-5);
    // The gradient of the loss matches finite differences.
    Model copy = model;
    const auto loss_value = [&] {
      return static_cast<double>(run(copy, batch, options).losses[0].value.value()[0]);
    };
    backward(run(copy, batch, options).losses[0].value);
    const Var& wv = copy.weights.at("layers.0.attn.wv");
    EXPECT_TRUE(testing::is_gradient(wv.gradient(), wv.value(), loss_value,
                                     {{1e-2f, 3e-3f, 1e-3f}, 2e-2, 4}));
    for (auto& [name, weight] : copy.weights) weight.clear_gradient();
    batch.targets = IntTensor::full({2, kLength}, -1);
    EXPECT_EQ(run(model, batch, options).losses[0].value.value()[0], 0);
  }
}

TEST(Retrieval, GatesTokensOfNearestContexts) {
  Model model = small_model();
  const auto store = make_store(model);
  Batch batch;
  batch.ids = make_ids();
  batch.targets = make_ids();
  const Retrieval retrieval(retrieval_choice("spalm", 3), store, model.config);
  ForwardOptions options;
  options.retrieval = &retrieval;
  const Index width = model.config.width;
  for (const bool has_weight : {false, true}) {
    if (has_weight)
      model.weights["spalm.w"] = Var(testing::random_tensor({width}, 77));
    else
      model.weights.erase("spalm.w");
    Batch single_batch;
    single_batch.ids = batch.ids.slice(0, 1);
    Trace trace;
    ForwardOptions trace_options = options;
    trace_options.trace = &trace;
    run(model, single_batch, trace_options);
    const Tensor& r = trace.taps.at("final");
    const Neighbours nearest = nearest_keys(*store, context_keys(model, single_batch, {}), 3);
    const Tensor& embedding = model.weights.at("embed.weight").value();
    for (Index row = 0; row < kLength; ++row) {
      std::vector<double> m(static_cast<std::size_t>(width)), scores(3);
      double weight_sum = 0, gate = 0;
      for (Index n = 0; n < 3; ++n) {
        double score = 0;
        for (Index i = 0; i < width; ++i) {
          score += static_cast<double>(r(row, i)) *
                   static_cast<double>(embedding(store->values[nearest.index(row, n)], i));
        }
        scores[static_cast<std::size_t>(n)] = std::exp(score);
        weight_sum += std::exp(score);
      }
      for (Index i = 0; i < width; ++i) {
        for (Index n = 0; n < 3; ++n) {
          m[static_cast<std::size_t>(i)] +=
              scores[static_cast<std::size_t>(n)] / weight_sum *
              static_cast<double>(embedding(store->values[nearest.index(row, n)], i));
        }
        if (has_weight) {
          gate += static_cast<double>(r(row, i)) *
                  static_cast<double>(model.weights.at("spalm.w").value()[i]);
        }
      }
      const double g = 1 / (1 + std::exp(-gate));
      EXPECT_NEAR(trace.taps.at("retrieval.gate").value()[row], g, 1e-5);
      std::vector<double> logits(kVocabulary);
      double sum = 0;
      for (Index y = 0; y < kVocabulary; ++y) {
        double logit = 0;
        for (Index i = 0; i < width; ++i) {
          const double z =
              (1 - g) * m[static_cast<std::size_t>(i)] + g * static_cast<double>(r(row, i));
          logit += z * static_cast<double>(embedding(y, i));
        }
        logits[static_cast<std::size_t>(y)] = std::exp(logit);
        sum += std::exp(logit);
      }
      for (Index y = 0; y < kVocabulary; ++y) {
        EXPECT_NEAR(probability(trace.taps.at("log_probabilities"), row, y),
                    logits[static_cast<std::size_t>(y)] / sum, 1e-4);
      }
    }
  }
  const Output output = run(model, batch, options);
  double loss = 0;
  for (Index row = 0; row < 2 * kLength; ++row) {
    loss -= static_cast<double>(output.log_probabilities(row, batch.targets[row]));
  }
  EXPECT_NEAR(output.losses.at(0).value.value()[0], loss / (2 * kLength), 1e-5);
}

TEST(Retrieval, RejectsMismatchedStoresAndModels) {
  const Model model = small_model();
  const auto matching_store = make_store(model);
  const auto refusal_of = [&](const RetrievalChoice& choice, const Store& store,
                              const ModelConfig& config) {
    try {
      Retrieval(choice, std::make_shared<const Store>(store), config);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal_of(retrieval_choice("knn", 14), *matching_store, model.config), "");
  EXPECT_EQ(refusal_of(retrieval_choice("knn", 15), *matching_store, model.config),
            "retrieval.k: expected at most the 14 keys of the store, found 15");
  for (const std::int32_t value : {-1, 9}) {
    Store store = *matching_store;
    store.values = store.values.copy();
    store.values[13] = value;
    EXPECT_EQ(refusal_of(retrieval_choice("knn", 1), store, model.config),
              "here: values: expected ids below 9, found " + std::to_string(value));
  }
  Store narrow_store = *matching_store;
  narrow_store.keys = Tensor::zeros({14, 3});
  EXPECT_NE(
      refusal_of(retrieval_choice("knn", 1), narrow_store, model.config).find("width 16, found 3"),
      std::string::npos);
  const auto refusal_with = [&](const std::function<void(ModelConfig&)>& change) {
    ModelConfig config = model.config;
    change(config);
    return refusal_of(retrieval_choice("spalm", 1), *matching_store, config);
  };
  EXPECT_NE(refusal_with([](ModelConfig& c) { c.hidden = 0; }).find("found hidden 0"),
            std::string::npos);
  EXPECT_NE(refusal_with([](ModelConfig& c) { c.causal = false; }).find("sees later"),
            std::string::npos);
  EXPECT_NE(refusal_with([](ModelConfig& c) { c.tied_output = false; }).find("tied_output"),
            std::string::npos);
  EXPECT_NE(
      refusal_with([](ModelConfig& c) { c.architecture.id = "universal"; }).find("found universal"),
      std::string::npos);
  ModelConfig untied_config = model.config;
  untied_config.tied_output = false;
  EXPECT_EQ(refusal_of(retrieval_choice("knn", 1), *matching_store, untied_config), "");
}

TEST(Store, RoundTripsAndRejectsInvalidFiles) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "store.safetensors";
  const Store store = *make_store(small_model());
  for (const bool half : {false, true}) {
    write_safetensors(path, store_file(store, half));
    EXPECT_TRUE(is_store(path));
    const Store loaded = load_store(path);
    EXPECT_TRUE(testing::close(loaded.keys, store.keys, half ? 1e-3 : 0));
    EXPECT_TRUE(std::equal(loaded.values.begin(), loaded.values.end(), store.values.begin()));
  }
  const auto refusal_of = [&](const std::function<void(SafetensorsFile&)>& change) {
    SafetensorsFile file = store_file(store, false);
    change(file);
    write_safetensors(path, file);
    try {
      load_store(path);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const auto replace = [](const char* name, const auto& array) {
    return [=](SafetensorsFile& file) { file.tensors.insert_or_assign(name, stored(array)); };
  };
  EXPECT_NE(refusal_of(replace("keys", Tensor::zeros({14}))).find("keys: expected [n, d]"),
            std::string::npos);
  EXPECT_NE(refusal_of(replace("keys", IntTensor({14, 16}))).find("keys: expected [n, d]"),
            std::string::npos);
  EXPECT_NE(refusal_of(replace("values", IntTensor({13}))).find("values: expected [14] as I32"),
            std::string::npos);
  EXPECT_NE(refusal_of(replace("values", Tensor::zeros({14}))).find("values: expected [14] as I32"),
            std::string::npos);
  EXPECT_NE(
      refusal_of(replace("places", IntTensor({14, 3}))).find("places: expected [14, 2] as I32"),
      std::string::npos);
  Tensor nan_keys = store.keys.copy();
  nan_keys[nan_keys.size() - 1] = std::nanf("");
  EXPECT_NE(refusal_of(replace("keys", nan_keys)).find("finite numbers"), std::string::npos);
  for (const char* name : {"keys", "values", "places"}) {
    EXPECT_NE(refusal_of([&](SafetensorsFile& file) { file.tensors.erase(name); }), "") << name;
    EXPECT_FALSE(is_store(path)) << name;
  }
  EXPECT_FALSE(is_store(folder.path() / "store.txt"));
  EXPECT_FALSE(is_store(folder.path() / "absent.safetensors"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
