#include "tests/benchmark/sparse.h"

#include <algorithm>
#include <chrono>

#include "core/attention/variant.h"
#include "core/base/random.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace {

using testing::random_tensor;

// Runs the part that a variant constructs, and stores it.
class CapturingBackend : public Backend {
 public:
  std::string name() const override { return cpu_backend().name(); }
  std::string refusal(const Part&, const ResultRequest&) const override { return {}; }
  PartResult run(const Part& part, const ResultRequest& wanted) override {
    captured_part = part;
    return cpu_backend().run(part, wanted);
  }
  Part captured_part;
};

Part variant_part(const char* type, Index length, bool causal) {
  constexpr Index heads = 8, size = 64;
  OperationInput input;
  input.heads = input.kv_heads = heads;
  input.q = random_tensor({heads, length, size}, 1);
  input.k = random_tensor({heads, length, size}, 2);
  input.v = random_tensor({heads, length, size}, 3);
  input.variant = variant_from_json(Json::parse(type), "variant");
  input.causal = causal;
  CapturingBackend backend;
  evaluate(input, backend, {});
  backend.captured_part.scale = 0.125F;
  return backend.captured_part;
}

constexpr Index sparse_length = 8192;

}  // namespace

Part make_part(Index batch, Index heads, Index length, Index size, Pattern pattern,
               bool needs_gradients) {
  Part part;
  part.batch = batch;
  part.heads = heads;
  const auto var = [&](std::uint64_t seed) {
    const Tensor numbers = random_tensor({batch * heads, length, size}, seed);
    return needs_gradients ? Var::parameter(numbers) : Var(numbers);
  };
  part.q = var(1);
  part.k = var(2);
  part.v = var(3);
  part.scale = 0.125F;
  part.pattern = std::make_shared<const Pattern>(std::move(pattern));
  return part;
}

double pairs_of(const Part& part) {
  return static_cast<double>(part.batch * part.pattern->pair_count(part.heads));
}

Pattern band(Index length, Index window) {
  PatternBuilder builder(1, length, length, {"window"});
  for (Index i = 0; i < length; ++i) {
    builder.add(0, i - window, i + window + 1);
    builder.next_row();
  }
  return builder.finish();
}

Pattern strided(Index length, Index step) {
  PatternBuilder builder(1, length, length, {"stride"});
  for (Index i = 0; i < length; ++i) {
    builder.add(0, i % step, length, step);
    builder.next_row();
  }
  return builder.finish();
}

Pattern scattered(Index length, Index count) {
  Random random(1);
  PatternBuilder builder(1, length, length, {"random"});
  for (Index i = 0; i < length; ++i) {
    for (Index n = 0; n < count; ++n) {
      builder.add_column(0, static_cast<Index>(random.below(static_cast<std::uint64_t>(length))));
    }
    builder.next_row();
  }
  return builder.finish();
}

const std::vector<Sparse>& sparse_cases() {
  const auto variant_case = [](const char* type, bool causal = true) {
    return [=] { return variant_part(type, sparse_length, causal); };
  };
  static const std::vector<Sparse> cases = {
      {"strided", variant_case(R"({"type": "strided", "stride": 128, "mode": "merged"})")},
      {"strided_90", variant_case(R"({"type": "strided", "stride": 90, "mode": "merged"})")},
      {"fixed",
       variant_case(R"({"type": "fixed", "stride": 128, "summary": 8, "mode": "merged"})")},
      {"bigbird",
       variant_case(R"({"type": "bigbird", "block": 64, "window_blocks": 3, "global_blocks": 2,
                         "random_blocks": 3})",
                    false)},
      {"lsh", variant_case(R"({"type": "lsh", "buckets": 64, "rounds": 2})")},
      {"lsh_chunks",
       variant_case(R"({"type": "lsh", "buckets": 64, "rounds": 2, "chunk": 64})", false)},
      {"routing", variant_case(R"({"type": "routing", "clusters": 64})")},
      {"scattered",
       [] { return make_part(1, 8, sparse_length, 64, scattered(sparse_length, 64)); }},
  };
  return cases;
}

void Seconds::keep_minimum(const Seconds& other) {
  real = std::min(real, other.real);
  cpu = std::min(cpu, other.cpu);
}

Seconds seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
          cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu};
}

double cpu_seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void compare_with_dense(benchmark::State& state, const Part& part, Index dense_length,
                        const std::function<Seconds(const Part&)>& seconds) {
  const Part dense =
      make_part(1, 8, dense_length, 64, Pattern::all(dense_length, dense_length), true);
  Seconds minimum = seconds(part), dense_minimum = seconds(dense);
  for (auto _ : state) {
    const Seconds current = seconds(part);
    state.SetIterationTime(current.real);
    minimum.keep_minimum(current);
    dense_minimum.keep_minimum(seconds(dense));
  }
  const double pair_ratio = pairs_of(dense) / pairs_of(part);
  state.counters["pairs"] = pairs_of(part);
  state.counters["pair_ns"] = minimum.real / pairs_of(part) * 1e9;
  state.counters["of_dense"] = minimum.real / dense_minimum.real * pair_ratio;
  state.counters["of_dense_cpu"] = minimum.cpu / dense_minimum.cpu * pair_ratio;
}

}  // namespace attnscope
