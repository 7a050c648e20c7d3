#include "app/gpu/calibration.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <string>

#include "core/base/error.h"
#include "core/base/file.h"

namespace attnscope {
namespace {

constexpr Index kHeads = 4, kLength = 256, kHeadSize = 32;
constexpr int kMaxRuns = 10;
constexpr double kClearRatio = 4;               // ratio beyond which further runs are unnecessary
constexpr std::size_t kMaxFileBytes = 1 << 16;  // limit on the size of a calibration file

Part sample_part() {
  Part part;
  part.heads = kHeads;
  Tensor q({kHeads, kLength, kHeadSize});  // [h, L, d_k]
  for (Index i = 0; i < q.size(); ++i) q[i] = std::sin(static_cast<float>(i));
  part.q = part.k = part.v = q;
  part.scale = 1.0F / std::sqrt(static_cast<float>(kHeadSize));
  part.pattern = std::make_shared<Pattern>(Pattern::causal(kLength, kLength));
  return part;
}

double seconds(Backend& backend, const Part& part) {
  const ResultRequest wanted{.output = true, .attention = true};
  const auto start = std::chrono::steady_clock::now();
  backend.run(part, wanted);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return elapsed.count();
}

using Ratios = std::map<std::string, double>;  // keys: "NAME OF A<tab>NAME OF B"

Ratios read_ratios(const std::filesystem::path& file) {
  Ratios ratios;
  std::istringstream lines;
  try {
    lines.str(read_file(file, kMaxFileBytes));
  } catch (const InputError&) {
    return ratios;
  }
  for (std::string line; std::getline(lines, line);) {
    const std::size_t tab = line.find('\t');
    const double ratio = std::strtod(line.c_str(), nullptr);
    if (tab != std::string::npos && ratio > 0 && std::isfinite(ratio)) {
      ratios[line.substr(tab + 1)] = ratio;
    }
  }
  return ratios;
}

void write_ratios(const std::filesystem::path& file, const Ratios& ratios) {
  std::ostringstream text;
  for (const auto& [names, ratio] : ratios) text << ratio << '\t' << names << '\n';
  try {
    make_folder(file.parent_path());
    write_file(file, text.str());
  } catch (const std::exception&) {
    // Without a file, the next start measures again.
  }
}

// Ratio of the minima of several calls of `a` and `b`, each of which returns seconds.
double ratio_of_minima(const std::function<double()>& a, const std::function<double()>& b) {
  double min_a = std::numeric_limits<double>::infinity(), min_b = min_a;
  a();  // warm-up: creates threads and compiles shaders
  b();
  // Alternation and minima are robust against other load on the machine.
  for (int run = 0; run < kMaxRuns; ++run) {
    min_a = std::min(min_a, a());
    min_b = std::min(min_b, b());
    const double ratio = min_a / min_b;
    if (run > 0 && (ratio > kClearRatio || ratio < 1 / kClearRatio)) break;
  }
  return min_a / min_b;
}

double read_or_measure(const std::string& names, const std::function<double()>& measure,
                       const std::optional<std::filesystem::path>& file) {
  if (!file) return measure();
  Ratios ratios = read_ratios(*file);
  if (const auto cached = ratios.find(names); cached != ratios.end()) return cached->second;
  const double ratio = measure();
  ratios[names] = ratio;
  write_ratios(*file, ratios);
  return ratio;
}

}  // namespace

double time_ratio(Backend& a, Backend& b) {
  const Part part = sample_part();
  return ratio_of_minima([&] { return seconds(a, part); }, [&] { return seconds(b, part); });
}

double shared_memory_ratio(ComputeBackend& gpu) {
  const Part part = sample_part();
  const auto run = [&](bool shared) {
    gpu.use_shared_memory(shared);
    return seconds(gpu, part);
  };
  const double ratio = ratio_of_minima([&] { return run(true); }, [&] { return run(false); });
  gpu.use_shared_memory(false);
  return ratio;
}

std::optional<double> stored_time_ratio(const Backend& a, const Backend& b,
                                        const std::optional<std::filesystem::path>& file) {
  if (!file) return std::nullopt;
  const Ratios ratios = read_ratios(*file);
  const auto found = ratios.find(a.name() + "\t" + b.name());
  return found == ratios.end() ? std::nullopt : std::optional(found->second);
}

double cached_time_ratio(Backend& a, Backend& b, const std::optional<std::filesystem::path>& file) {
  return read_or_measure(
      a.name() + "\t" + b.name(), [&] { return time_ratio(a, b); }, file);
}

double cached_shared_memory_ratio(ComputeBackend& gpu,
                                  const std::optional<std::filesystem::path>& file) {
  return read_or_measure(
      gpu.name() + ", shared memory\t" + gpu.name() + ", registers",
      [&] { return shared_memory_ratio(gpu); }, file);
}

std::optional<std::filesystem::path> calibration_file() {
  const std::array<std::pair<const char*, const char*>, 2> folders{
      {{"XDG_CACHE_HOME", ""}, {"HOME", ".cache"}}};
  for (const auto& [variable, subfolder] : folders) {
    const char* folder = std::getenv(variable);
    if (folder != nullptr && std::filesystem::path(folder).is_absolute()) {
      return std::filesystem::path(folder) / subfolder / "attnscope" / "backends.txt";
    }
  }
  return std::nullopt;
}

}  // namespace attnscope
