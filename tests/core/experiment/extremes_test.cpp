// Every variant and encoding at 5,000 tokens, each of its parameters at its limits.
#include <gtest/gtest.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "core/base/error.h"
#include "core/base/memory_budget.h"
#include "core/base/parallel.h"
#include "core/experiment/runner.h"
#include "core/tensor/storage.h"
#include "tests/core/experiment/models.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Index kTokens = 5000;

// ATTNSCOPE_EXTREMES=1: the bundled model, stopped at several moments, with a table.
bool thorough() {
  return std::getenv("ATTNSCOPE_EXTREMES") != nullptr;
}

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The starting values, and with each parameter at its limits, other choices and flags.
std::vector<Values> extreme_values(const std::vector<Parameter>& parameters) {
  const Values usual = telling_values(parameters, kTokens);
  std::vector<Values> cases{usual};
  const auto add = [&](const Parameter& parameter, const Value& value) {
    Values values = usual;
    values.set(parameter.key, value);
    if (values == usual) return;
    try {
      check_value(parameter, value, parameter.key);
    } catch (const InputError&) {
      return;  // a limit that is excluded
    }
    cases.push_back(values);
  };
  for (const Parameter& parameter : parameters) {
    if (parameter.of_training) continue;
    switch (parameter.kind) {
      case Parameter::Kind::Integer:
        add(parameter, static_cast<Index>(parameter.least));
        add(parameter, static_cast<Index>(parameter.most));
        add(parameter, Index{kTokens});
        break;
      case Parameter::Kind::Real:
        add(parameter, parameter.least);
        add(parameter, parameter.most);
        break;
      case Parameter::Kind::Choice:
        for (const std::string& choice : parameter.choices) add(parameter, choice);
        break;
      case Parameter::Kind::Flag:
        add(parameter, true);
        add(parameter, false);
        break;
      default:
        break;  // lists are as long as they are given
    }
  }
  return cases;
}

// The model's run with this choice, stopped after `milliseconds`.
struct Outcome {
  std::string refusal;             // empty: it ran
  bool finished = false;           // before it was stopped
  double wall = 0, processor = 0;  // seconds from the stop to the end
  std::size_t peak = 0;            // bytes of arrays
};

Outcome stopped_run(ExperimentRun& run, const Experiment& experiment, int milliseconds) {
  const Stop stop;
  Clock::time_point asked{};
  double processor = 0;
  std::atomic<bool> over{false};
  reset_peak_storage();
  std::thread canceller([&] {
    const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
    while (!over && Clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    processor = processor_seconds();
    asked = Clock::now();
    stop.request();
  });
  Outcome outcome;
  Clock::time_point ended;
  try {
    run.run(experiment, stop);
    outcome.finished = true;
  } catch (const Stopped&) {
  } catch (const InputError& e) {
    outcome.refusal = e.what();
  } catch (const WorkError& e) {
    outcome.refusal = std::string("FAILED ") + e.what();
  }
  ended = Clock::now();
  const double spent = processor_seconds();
  over = true;
  canceller.join();
  outcome.peak = storage_statistics().peak_bytes;
  if (!outcome.finished && outcome.refusal.empty()) {
    outcome.wall = std::chrono::duration<double>(ended - asked).count();
    outcome.processor = spent - processor;
  }
  return outcome;
}

class Extremes : public ::testing::Test {
 protected:
  Extremes() {
    if (thorough()) return;
    testing::save_byte_model(folder_.path() / "model", 2, 64, 64);
  }

  void sweep(const Experiment& experiment, const std::string& name) {
    const std::vector<int> moments =
        thorough() ? std::vector<int>{30, 120, 400, 1200} : std::vector<int>{40};
    Outcome worst;
    for (const int moment : moments) {
      const Outcome outcome = stopped_run(run_, experiment, moment);
      worst.wall = std::max(worst.wall, outcome.wall);
      worst.processor = std::max(worst.processor, outcome.processor);
      worst.peak = std::max(worst.peak, outcome.peak);
      worst.finished |= outcome.finished;
      worst.refusal = outcome.refusal;
      if (outcome.finished || !outcome.refusal.empty()) break;
    }
    if (thorough()) {
      std::printf("%-52s wall %4.0f ms, processor %4.0f ms, peak %5.0f MB%s %s\n", name.c_str(),
                  1e3 * worst.wall, 1e3 * worst.processor, static_cast<double>(worst.peak) / 1e6,
                  worst.finished ? ", finished" : "", worst.refusal.c_str());
      std::fflush(stdout);
    }
    // Of each of its threads; others may have the processors meanwhile.
    EXPECT_LE(worst.processor, 0.2 * thread_count() + 0.1) << name;
    EXPECT_LE(worst.peak, memory_budget()) << name;
    EXPECT_EQ(worst.refusal.find("FAILED"), std::string::npos) << name << worst.refusal;
  }

  Experiment long_text() const {
    Experiment experiment;
    experiment.model = thorough() ? "default" : (folder_.path() / "model").string();
    for (Index n = 0; n < kTokens; ++n) {
      experiment.ids.push_back(static_cast<std::int32_t>(n * 7919 % 251));
    }
    experiment.overlong = Overlong::All;
    experiment.encoding = default_encoding();
    return experiment;
  }

  testing::TemporaryFolder folder_;
  ExperimentRun run_{cpu_only()};
};

std::string named(const Info& info, const Values& values) {
  const Values usual = telling_values(info.parameters, kTokens);
  std::string name = info.id;
  for (const auto& [key, value] : values.all()) {
    if (!usual.has(key) || !(usual.all().find(key)->second == value)) {
      name += "," + key + "=" + to_text(value);
    }
  }
  return name;
}

TEST_F(Extremes, EveryVariantStopsOrIsRefused) {
  for (const Variant& variant : variants()) {
    for (const Values& values : extreme_values(variant.parameters)) {
      Experiment experiment = long_text();
      experiment.variant = Choice{variant.id, values};
      if (!variant.causal_refusal.empty()) experiment.causal = false;
      sweep(experiment, named(variant, values));
    }
  }
}

TEST_F(Extremes, EveryEncodingStopsOrIsRefused) {
  for (const Encoding& encoding : encodings()) {
    for (const Values& values : extreme_values(encoding.parameters)) {
      Experiment experiment = long_text();
      experiment.encoding = Choice{encoding.id, values};
      sweep(experiment, named(encoding, values));
    }
  }
}

}  // namespace
}  // namespace attnscope
