#include "core/experiment/trace_file.h"

#include <gtest/gtest.h>

#include "core/base/json.h"
#include "core/experiment/run.h"
#include "tests/core/experiment/models.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(TraceFile, StacksAttentionOfEqualShapes) {
  const testing::TemporaryFolder folder;
  testing::save_byte_model(folder.path(), 2, 16, 12);
  RunSpec spec;
  spec.model = folder.path().string();
  spec.text = "abc";
  const auto trace = ExperimentRun(cpu_only()).run(spec);
  const auto path = folder.path() / "trace.safetensors";
  write_safetensors(path, trace_file(*trace));
  const SafetensorsFile file = read_safetensors(path);
  const Tensor attention = file.tensors.at("attention").floats();
  EXPECT_EQ(attention.shape(), (Shape{2, 4, 3, 3}));
  EXPECT_TRUE(testing::close(attention.slice(1, 1).reshaped({4, 3, 3}).slice(2, 1).reshaped({3, 3}),
                             trace->attention[1].attention(2), 0));
  EXPECT_EQ(file.tensors.at("ids").integers()[2], 'c');
  EXPECT_EQ(file.tensors.at("logits").shape, (Shape{3, 256}));
  EXPECT_EQ(file.tensors.at("q.1.0").shape, (Shape{4, 3, 4}));
  EXPECT_TRUE(file.tensors.contains("layers.0.residual"));
  EXPECT_EQ(Json::parse(file.metadata.at("tokens")).size(), 3u);
}

TEST(TraceFile, NamesAttentionOfUnequalShapes) {
  const testing::TemporaryFolder folder;
  testing::save_byte_model(folder.path(), 2, 16, 12);
  RunSpec spec;
  spec.model = folder.path().string();
  spec.text = "abc";
  Trace trace = *ExperimentRun(cpu_only()).run(spec);
  trace.attention.pop_back();
  trace.attention[0].heads = {0, 1};
  trace.attention.push_back(trace.attention[0]);
  trace.attention[1].address.layer = 1;
  trace.attention[1].heads = {0};
  const auto path = folder.path() / "trace.safetensors";
  write_safetensors(path, trace_file(trace));
  const SafetensorsFile file = read_safetensors(path);
  EXPECT_FALSE(file.tensors.contains("attention"));
  EXPECT_EQ(file.tensors.at("attention.layer=0").shape, (Shape{2, 3, 3}));
  EXPECT_EQ(file.tensors.at("attention.layer=1").shape, (Shape{1, 3, 3}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
