// attnscope list, using the built program.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/attention/variant.h"
#include "core/base/json.h"
#include "core/model/activation.h"
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/model/input_kind.h"
#include "core/model/output_softmax.h"
#include "core/model/residual_connection.h"
#include "core/model/retrieval.h"
#include "core/position/encoding.h"
#include "core/training/task.h"
#include "core/view/view.h"
#include "tests/support/places.h"
#include "tests/support/process.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::ProcessResult;
using testing::run_process;

const std::string kProgram = testing::program_path();

template <class List>
void expect_registry(const Json& listed, const List& registry) {
  ASSERT_EQ(listed.size(), registry.size());
  for (std::size_t n = 0; n < registry.size(); ++n) {
    EXPECT_EQ(listed[n]["type"], registry[n].id);
    EXPECT_EQ(listed[n]["summary"], registry[n].summary);
    EXPECT_EQ(listed[n]["parameters"].size(), registry[n].parameters.size());
    EXPECT_EQ(listed[n]["tensors"].size(), registry[n].weights.size());
  }
}

TEST(List, WritesRegistriesAsJson) {
  const ProcessResult result = run_process(kProgram, {"list", "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Json listed = Json::parse(result.out);
  expect_registry(listed["variants"], variants());
  expect_registry(listed["encodings"], encodings());
  expect_registry(listed["architectures"], architectures());
  expect_registry(listed["joins"], residual_connections());
  expect_registry(listed["activations"], activations());
  expect_registry(listed["softmaxes"], output_softmaxes());
  expect_registry(listed["exits"], exit_rules());
  expect_registry(listed["inputs"], input_kinds());
  expect_registry(listed["retrieval"], retrieval_heads());
  EXPECT_FALSE(listed["models"].empty());
  ASSERT_EQ(listed["tasks"].size(), tasks().size());
  for (std::size_t n = 0; n < tasks().size(); ++n) {
    EXPECT_EQ(listed["tasks"][n]["id"], tasks()[n].id);
  }
  ASSERT_EQ(listed["views"].size(), views().size());
  for (std::size_t n = 0; n < views().size(); ++n) {
    EXPECT_EQ(listed["views"][n]["type"], views()[n].id);
    EXPECT_EQ(listed["views"][n]["parameters"].size(), views()[n].options.parameters.size());
  }
}

TEST(List, WritesReadableTables) {
  const ProcessResult result = run_process(kProgram, {"list", "encodings"});
  ASSERT_EQ(result.status, 0) << result.err;
  for (const Encoding& encoding : encodings()) {
    EXPECT_NE(result.out.find("  " + encoding.id + " - "), std::string::npos) << encoding.id;
  }
  EXPECT_EQ(result.out.find("bigbird"), std::string::npos);
  EXPECT_EQ(result.err, "");
}

TEST(List, RejectsInvalidThreadCount) {
  for (const char* count : {"0", "-1", "2x", "1025", "99999999999"}) {
    const ProcessResult result = run_process(
        "/usr/bin/env", {std::string("ATTNSCOPE_THREADS=") + count, kProgram, "list", "encodings"});
    EXPECT_EQ(result.status, 2) << count;
    EXPECT_EQ(result.err, "attnscope: ATTNSCOPE_THREADS: expected 1 to 1024 threads, found \"" +
                              std::string(count) + "\"\n");
  }
}

TEST(List, RejectsUnknownLists) {
  const ProcessResult result = run_process(kProgram, {"list", "colours"});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
