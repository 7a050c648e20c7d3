#include "core/experiment/image_tensors.h"

#include <gtest/gtest.h>
#include <stb/stb_image_write.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/experiment/compatible_choice.h"
#include "core/view/session_file.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Weights and outputs of non-local means, computed from the definition.
struct Means {
  Tensor weights, output;  // [L, L], [L, 3]
};
Means non_local_means(const Tensor& colours, Index radius) {
  const Index height = colours.dim(0), width = colours.dim(1), length = height * width;
  const auto colour = [&](Index pixel, Index row_offset, Index column_offset, Index channel) {
    const Index r = std::clamp<Index>(pixel / width + row_offset, 0, height - 1);
    const Index c = std::clamp<Index>(pixel % width + column_offset, 0, width - 1);
    return static_cast<double>(colours(r, c, channel));
  };
  Means means{Tensor({length, length}), Tensor({length, 3})};
  for (Index i = 0; i < length; ++i) {
    std::vector<double> row;
    double sum = 0;
    for (Index j = 0; j < length; ++j) {
      double squared_distance = 0, count = 0;
      for (Index row_offset = -radius; row_offset <= radius; ++row_offset) {
        for (Index column_offset = -radius; column_offset <= radius; ++column_offset) {
          for (Index channel = 0; channel < 3; ++channel) {
            const double d = colour(i, row_offset, column_offset, channel) -
                             colour(j, row_offset, column_offset, channel);
            squared_distance += d * d;
            ++count;
          }
        }
      }
      row.push_back(
          std::exp(-squared_distance / count / (2 * kSimilaritySigma * kSimilaritySigma)));
      sum += row.back();
    }
    std::vector<double> mean(3, 0);
    for (Index j = 0; j < length; ++j) {
      const double weight = row[static_cast<std::size_t>(j)] / sum;
      means.weights(i, j) = static_cast<float>(weight);
      for (Index c = 0; c < 3; ++c) {
        mean[static_cast<std::size_t>(c)] += weight * static_cast<double>(colours[3 * j + c]);
      }
    }
    for (Index c = 0; c < 3; ++c) {
      means.output(i, c) = static_cast<float>(mean[static_cast<std::size_t>(c)]);
    }
  }
  return means;
}

class ImageTensors : public ::testing::Test {
 protected:
  // Saves an image file with these pixels.
  std::string save(const std::string& name, int width, int height) {
    std::vector<unsigned char> bytes;
    for (int i = 0; i < width * height * 3; ++i) {
      bytes.push_back(static_cast<unsigned char>(i * 37 % 251));
    }
    const std::string path = folder_.path() / name;
    EXPECT_NE(stbi_write_png(path.c_str(), width, height, 3, bytes.data(), 3 * width), 0);
    return path;
  }
  static std::string refusal(const TensorFiles& files) {
    try {
      static_cast<void>(read_imported_tensors(files));
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  }
  testing::TemporaryFolder folder_;
};

TEST_F(ImageTensors, AttentionMatchesNonLocalMeans) {
  Session session;
  session.run.tensors = {save("a.png", 7, 5), "", "", 7, 5};
  const Trace trace = trace_of_tensors(session.run, cpu_backend());
  ASSERT_TRUE(trace.pixels);
  EXPECT_EQ(trace.pixels->width, 7);
  EXPECT_EQ(trace.pixels->height, 5);
  const AttentionTap& tap = trace.attention[0];
  for (Index head = 0; head < 3; ++head) {
    const Means means = non_local_means(trace.pixels->colours, head);
    EXPECT_TRUE(testing::close(tap.attention(head), means.weights, 2e-5)) << head;
    const Tensor output = tap.output().slice(head, 1).reshaped({35, 3});
    EXPECT_TRUE(testing::close(output, means.output, 2e-5)) << head;
  }
  EXPECT_TRUE(testing::close(tap.attention(3), Tensor::full({35, 35}, 1.0f / 35)));
  EXPECT_EQ(trace.tokens[9].label, "1,2");
  EXPECT_EQ(trace.notes.front(), image_note());
}

TEST_F(ImageTensors, GridsKeepAspectRatio) {
  const std::string wide_file = save("wide.png", 40, 20), high_file = save("high.png", 10, 30);
  using Grid = std::pair<Index, Index>;
  EXPECT_EQ(image_grid({wide_file, "", "", 0, 0}), Grid(32, 16));
  EXPECT_EQ(image_grid({high_file, "", "", 0, 0}), Grid(11, 32));
  EXPECT_EQ(image_grid({wide_file, "", "", 10, 0}), Grid(10, 5));
  EXPECT_EQ(image_grid({wide_file, "", "", 0, 10}), Grid(20, 10));
  EXPECT_EQ(image_grid({wide_file, "", "", 3, 9}), Grid(3, 9));
  EXPECT_EQ(image_grid({save("line.png", 300, 1), "", "", 0, 0}), Grid(32, 1));
}

TEST_F(ImageTensors, RejectInvalidImagesAndGrids) {
  const std::string file = save("a.png", 4, 4);
  EXPECT_NE(refusal({file, "", "", 65, 1}).find("expected at most 64"), std::string::npos);
  EXPECT_NE(refusal({file, "tokens.txt", ""}).find("tokens: expected no token list"),
            std::string::npos);
  write_file(folder_.path() / "b.jpg", std::string("\xFF\xD8\xFF garbage"));
  EXPECT_TRUE(
      refusal({folder_.path() / "b.jpg", "", ""}).starts_with((folder_.path() / "b.jpg").string()));
  std::string truncated = read_file(file);
  truncated.resize(truncated.size() / 2);
  write_file(folder_.path() / "c.png", truncated);
  EXPECT_NE(refusal({folder_.path() / "c.png", "", ""}), "");
  EXPECT_NE(refusal({folder_.path() / "missing.png", "", ""}), "");
}

// Without a model, variants have illustrative weights. Image sizes follow from the grid.
TEST_F(ImageTensors, EveryPatternFollowsGrid) {
  Session session;
  session.run.tensors = {save("a.png", 8, 6), "", "", 8, 6};
  for (const char* id : {"strided", "fixed", "image_1d", "image_2d", "local", "custom", "linformer",
                         "graph", "bigbird", "linear"}) {
    session.run.variant = incomplete_choice_from_json(variant(id), Json({{"type", id}}), "variant");
    fill_unset_parameters(session.run);
    const Trace trace = trace_of_tensors(session.run, cpu_backend());
    const Tensor weights = trace.attention[0].attention(0);
    EXPECT_TRUE(std::ranges::all_of(weights, [](float w) { return std::isfinite(w); })) << id;
  }
  session.run.variant =
      incomplete_choice_from_json(variant("image_2d"), Json({{"type", "image_2d"}}), "");
  fill_unset_parameters(session.run);
  EXPECT_EQ(session.run.variant->values.integer("width"), 8);
  EXPECT_EQ(session.run.variant->values.integer("height"), 6);
  session.run.variant =
      incomplete_choice_from_json(variant("strided"), Json({{"type", "strided"}}), "");
  fill_unset_parameters(session.run);
  EXPECT_EQ(session.run.variant->values.integer("stride"), 8);
}

TEST_F(ImageTensors, RejectVariantsThatNeedModelInput) {
  Session session;
  session.run.tensors = {save("a.png", 4, 4), "", "", 4, 4};
  for (const char* id : {"synthesizer", "dynamic_convolution"}) {
    session.run.variant = default_choice(variant(id));
    EXPECT_THROW(trace_of_tensors(session.run, cpu_backend()), InputError) << id;
  }
}

TEST_F(ImageTensors, SessionsPreserveGrid) {
  Session session;
  session.run.tensors = {"picture.png", "", "", 24, 16};
  EXPECT_EQ(session_from_json(to_json(session)), session);
  Json json = to_json(session);
  json["tensors"]["width"] = 65;
  EXPECT_THROW(session_from_json(json), InputError);
}

TEST_F(ImageTensors, GridsOfOneSideKeepAspectRatio) {
  const std::string high_file = save("high.png", 10, 30);
  using Grid = std::pair<Index, Index>;
  EXPECT_EQ(image_grid({high_file, "", "", 10, 0}), Grid(10, 30));
  EXPECT_EQ(image_grid({high_file, "", "", 0, 15}), Grid(5, 15));
  EXPECT_EQ(image_grid({high_file, "", "", 64, 64}), Grid(64, 64));
  EXPECT_EQ(image_grid({high_file, "", "", 40, 0}), Grid(40, 64));  // maximum grid size
  EXPECT_THROW(image_grid({high_file, "", "", 1, 65}), InputError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
