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
  const auto describe_element = [&](Index i) {
    std::ostringstream text;
    text << "element " << i << " of " << to_string(expected.shape()) << " is " << got[i]
         << " instead of " << expected[i] << ", allowed difference " << tolerance * scale;
    return text.str();
  };
  Index largest_index = 0;
  double largest = 0;
  for (Index i = 0; i < expected.size(); ++i) {
    if (std::isinf(got[i]) && got[i] == expected[i]) continue;
    if (!std::isfinite(got[i]) || !std::isfinite(expected[i])) {
      return {Agreement::NotComparable, describe_element(i)};
    }
    const double difference =
        std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    if (difference > largest) {
      largest = difference;
      largest_index = i;
    }
  }
  return {largest <= tolerance * scale ? Agreement::Same : Agreement::Different,
          expected.empty() ? "no elements" : describe_element(largest_index)};
}

::testing::AssertionResult close(const Tensor& got, const Tensor& expected, double tolerance) {
  const Comparison comparison = compare(got, expected, tolerance);
  if (comparison.agreement == Agreement::Same) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << comparison.message;
}

::testing::AssertionResult differs(const Tensor& got, const Tensor& expected, double tolerance) {
  const Comparison comparison = compare(got, expected, tolerance);
  if (comparison.agreement == Agreement::Different) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << (comparison.agreement == Agreement::Same ? "equal, largest difference: "
                                                     : "not comparable: ")
         << comparison.message;
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
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create a temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace attnscope::testing
