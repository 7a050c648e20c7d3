#include "tests/support/compare.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

namespace attnscope::testing {

Comparison compare(const Tensor& got, const Tensor& expected, double tolerance) {
  if (got.shape() != expected.shape()) {
    return {Agreement::NotComparable,
            "shape " + to_string(got.shape()) + " instead of " + to_string(expected.shape())};
  }
  double scale = 1;
  for (const float v : expected) {
    if (std::isfinite(v)) scale = std::max(scale, std::abs(static_cast<double>(v)));
  }
  const auto at = [&](Index i) {
    std::ostringstream words;
    words << "element " << i << " of " << to_string(expected.shape()) << " is " << got[i]
          << " instead of " << expected[i] << ", allowed difference " << tolerance * scale;
    return words.str();
  };
  Index farthest = 0;
  double most = 0;
  for (Index i = 0; i < expected.size(); ++i) {
    if (std::isinf(got[i]) && got[i] == expected[i]) continue;
    if (!std::isfinite(got[i]) || !std::isfinite(expected[i])) {
      return {Agreement::NotComparable, at(i)};
    }
    const double difference =
        std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    if (difference > most) {
      most = difference;
      farthest = i;
    }
  }
  return {most <= tolerance * scale ? Agreement::Same : Agreement::Different,
          expected.empty() ? "no elements" : at(farthest)};
}

::testing::AssertionResult close(const Tensor& got, const Tensor& expected, double tolerance) {
  const Comparison found = compare(got, expected, tolerance);
  if (found.agreement == Agreement::Same) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << found.words;
}

::testing::AssertionResult differs(const Tensor& got, const Tensor& expected, double tolerance) {
  const Comparison found = compare(got, expected, tolerance);
  if (found.agreement == Agreement::Different) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << (found.agreement == Agreement::Same ? "the same, farthest apart: " : "not comparable: ")
         << found.words;
}

Tensor random_tensor(Shape shape, std::uint64_t seed, double scale) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal(0.0, scale);
  Tensor t(std::move(shape));
  for (float& v : t) v = static_cast<float>(normal(generator));
  return t;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "attnscope-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace attnscope::testing
