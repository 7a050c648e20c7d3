#include "app/gpu/part_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "app/gpu/gl_attention.h"
#include "app/gpu/part_upload.h"
#include "core/base/error.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

constexpr double kInitialWork = 5e6;  // multiplications per chunk before any measurement

// Binding points in the shaders.
enum Binding : GLuint { kRows = 0, kOtherRows = 1, kVectors = 2, kScores = 3, kRowSums = 4 };
constexpr GLuint kIntegers = 5, kNumbers = 6;
constexpr float kMasked = -3.4028e38F;  // score of a masked pair, see shaders/attention.glsl
constexpr Index kRowSumNumbers = 4;     // see shaders/weight.glsl
constexpr Index kLanes = 8;             // see shaders/row_sums.comp

GLuint groups(Index items, Index group) {
  return static_cast<GLuint>((items + group - 1) / group);
}

class PartRun {
 public:
  PartRun(ComputeDevice& device, const Part& part, const ResultRequest& wanted)
      : device_(device),
        part_(part),
        wanted_(wanted),
        layout_(*part.pattern),
        upload_(part),
        pairs_(part.batch * part.heads),
        shared_memory_(device.shared_memory) {
    upload_.add_tiles(layout_);
    upload_.defines["SHARED_MEMORY"] = shared_memory_ ? 1 : 0;  // part of the speed's key
  }

  void run(PartResult& result, const std::shared_ptr<GlThread>& thread) {
    upload();
    if (wanted_.device_attention) {
      texture_ = std::make_unique<AttentionTexture>(pairs_, part_.queries(), part_.keys());
    }
    const Shape map{pairs_, part_.queries(), part_.keys()};  // [B h, L_q, L_k]
    if (wanted_.attention) result.attention = Tensor::zeros(map);
    if (wanted_.scores) result.scores = Tensor::zeros(map);
    // If a row is in several tiles, its weights are final only after the last of these tiles.
    const bool wants_maps = wanted_.attention || wanted_.device_attention;
    const bool needs_second_pass = wants_maps && layout_.has_several_visits();
    compute_chunks({.sums = true,
                    .scores = wanted_.scores,
                    .maps = wants_maps && !needs_second_pass,
                    .output = wants_output()},
                   result);
    if (needs_second_pass) compute_chunks({.maps = true}, result);
    if (wanted_.output && part_.v.defined()) result.output = download_output();
    if (wanted_.log_sum_exp && part_.normaliser != Normaliser::None) {
      result.log_sum_exp = download_log_sum_exp();
    }
    check_gl("computing attention weights");
    if (texture_) {
      glMemoryBarrier(GL_ALL_BARRIER_BITS);
      glFinish();
      result.device = std::make_shared<GlAttention>(thread, texture_->release(), map);
    }
  }

 private:
  struct Passes {
    bool sums = false, scores = false, maps = false, output = false;
  };

  void compute_chunks(const Passes& passes, PartResult& result) {
    if (passes.maps && texture_) upload_.defines["KEEP_ATTENTION"] = 1;
    const Index copies = layout_.heads() == 1 ? pairs_ : part_.batch;
    for (ChunkStart start; start.list < layout_.lists().size();) {
      upload_.defines["HEIGHT"] = static_cast<int>(layout_.lists()[start.list].height);
      compute(next_chunk(layout_, copies, max_cells_of_chunk(), start), passes, result);
      device_.thread.serve();
      check_stop();
    }
  }

  void upload() {
    const auto integers = static_cast<std::int64_t>(upload_.integers.size());
    const std::string reason = integers_refusal(integers, device_.limits.buffer_bytes);
    if (!reason.empty()) throw WorkError(reason);
    device_.queries.upload(upload_.queries);
    device_.keys.upload(upload_.keys);
    device_.values.upload(upload_.values);
    device_.numbers.upload(upload_.numbers.data(), upload_.numbers.size());
    device_.integers.upload(upload_.integers.data(), upload_.integers.size());
    constexpr std::int64_t bytes = sizeof(float);
    device_.row_sums.reserve(pairs_ * part_.queries() * kRowSumNumbers * bytes);
    if (wants_output()) {
      device_.outputs.reserve(pairs_ * part_.queries() * padded_value_width(part_) * 4 * bytes);
    }
    check_gl("uploading");
  }

  bool wants_output() const { return wanted_.output && part_.v.defined(); }

  // Multiplications per cell, for the score and for the contribution to the output.
  double work_per_cell() const {
    return 4.0 * static_cast<double>(padded_key_width(part_) + padded_value_width(part_)) + 16;
  }

  std::int64_t max_cells_of_chunk() const {
    const auto measured = device_.work_per_second.find(upload_.defines);
    const double work =
        measured == device_.work_per_second.end() ? kInitialWork : measured->second * kChunkSeconds;
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(work / work_per_cell()), 1,
                                    device_.max_scores);
  }

  void compute(const Chunk& chunk, const Passes& passes, PartResult& result) {
    const bool is_warm = device_.work_per_second.contains(upload_.defines);
    const std::int64_t cells = chunk.cells * chunk.copies;
    device_.scores.reserve(cells * static_cast<std::int64_t>(sizeof(float)));
    set_sizes(chunk);
    const auto start = std::chrono::steady_clock::now();
    score_pass(chunk);
    if (passes.scores) scatter(chunk, result.scores);
    device_.scores.bind(kScores);
    device_.row_sums.bind(kRowSums);
    if (passes.sums) {
      const Index lanes = shared_memory_ ? kLanes : 1;
      const Index rows = chunk.tiles * layout_.lists()[chunk.list].height;
      dispatch("row_sums.comp", groups(rows * lanes, 64), 1, chunk.copies);
    }
    if (passes.maps || passes.output) {
      if (passes.maps && texture_) {
        glBindImageTexture(0, texture_->name(), 0, GL_TRUE, 0, GL_WRITE_ONLY, GL_R32F);
      }
      dispatch_cells("weights_tiles.comp", chunk, shared_memory_ ? 1 : TileLayout::tile);
      if (passes.maps && wanted_.attention) scatter(chunk, result.attention);
    }
    if (passes.output) output_pass(chunk);
    glFinish();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    measure(cells, seconds, is_warm);
    check_gl("computing attention weights");
  }

  // The first chunk may include shader compilation, so it is small and its speed is ignored.
  void measure(std::int64_t cells, double seconds, bool is_warm) {
    const double work = static_cast<double>(std::max<std::int64_t>(cells, 1)) * work_per_cell();
    const double initial_rate = kInitialWork / kChunkSeconds;
    double& rate = device_.work_per_second[upload_.defines];
    if (!is_warm) {
      rate = initial_rate;
    } else if (seconds > 0) {
      rate = std::clamp(work / seconds, rate / 4, rate * 2);  // dampens outliers
    }
  }

  void set_sizes(const Chunk& chunk) {
    const TileLayout::List& list = layout_.lists()[chunk.list];
    const auto to_int32 = [](Index n) { return static_cast<std::int32_t>(n); };
    Sizes& sizes = upload_.sizes;
    sizes.tile_first = to_int32(list.first + chunk.tile);
    sizes.tile_end = to_int32(list.first + chunk.tile + chunk.tiles);
    sizes.head_first = to_int32(chunk.copy * copy_step());
    sizes.head_step = to_int32(copy_step());
    sizes.origin = static_cast<std::uint32_t>(first_tile(chunk)->base);
    sizes.copy_stride = static_cast<std::uint32_t>(chunk.cells);
    device_.sizes.upload(&sizes, 1);
    device_.sizes.bind(0, GL_UNIFORM_BUFFER);
    device_.integers.bind(kIntegers);
    device_.numbers.bind(kNumbers);
    device_.numbers.bind(kVectors);
  }

  Index copy_step() const { return layout_.heads() == 1 ? 1 : part_.heads; }
  const TileLayout::Tile* first_tile(const Chunk& chunk) const {
    return layout_.tiles().data() + layout_.lists()[chunk.list].first + chunk.tile;
  }

  void score_pass(const Chunk& chunk) {
    device_.queries.bind(kRows);
    device_.keys.bind(kOtherRows);
    device_.scores.bind(kScores);
    const Defines& defines = upload_.defines;
    if (defines.contains("CONTENT") || defines.at("PRODUCTS") > 0) {
      if (shared_memory_) {
        dispatch("scores_shared.comp", groups(chunk.widest, 64), static_cast<GLuint>(chunk.tiles),
                 chunk.copies);
      } else {
        dispatch_cells("scores_tiles.comp", chunk, TileLayout::tile);
      }
    }
    if (defines.contains("TERMS")) {
      dispatch_cells("terms_tiles.comp", chunk, shared_memory_ ? 1 : TileLayout::tile);
    }
  }

  void output_pass(const Chunk& chunk) {
    device_.values.bind(kRows);
    device_.outputs.bind(kOtherRows);
    const Index blocks = padded_value_width(part_) / 2;  // blocks of 8 floats
    if (shared_memory_) {
      dispatch("outputs_shared.comp", groups(2 * blocks, 8), static_cast<GLuint>(chunk.tiles),
               chunk.copies);
    } else {
      dispatch("outputs_tiles.comp", groups(blocks, 8), groups(chunk.tiles, 8), chunk.copies);
    }
  }

  // Dispatches one invocation per `cells` cells of a row.
  void dispatch_cells(const char* file, const Chunk& chunk, Index cells) {
    dispatch(file, groups(chunk.widest, 8 * cells), groups(chunk.tiles, 8), chunk.copies);
  }

  void dispatch(const char* file, GLuint x, GLuint y, Index z) {
    if (x == 0 || y == 0 || z == 0) return;  // no allowed pairs in these rows
    glUseProgram(device_.shaders.compute(file, upload_.defines));
    glDispatchCompute(x, y, static_cast<GLuint>(z));
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT);
    ++device_.dispatches;
  }

  // Scatters the chunk's scores (or weights) to the rows of the map.
  void scatter(const Chunk& chunk, Tensor& map) {
    staging_.resize(static_cast<std::size_t>(chunk.cells * chunk.copies));
    device_.scores.download(staging_.data(), chunk.cells * chunk.copies);
    const TileLayout::Tile* const tiles = first_tile(chunk);
    for (Index copy = 0; copy < chunk.copies; ++copy) {
      const float* const copy_scores = staging_.data() + copy * chunk.cells;
      const Index head = (chunk.copy + copy) * copy_step();
      for (const TileLayout::Tile* t = tiles; t != tiles + chunk.tiles; ++t) {
        scatter(*t, copy_scores + (t->base - tiles->base),
                map.data() + (head + t->head) * part_.queries() * part_.keys());
      }
    }
  }

  void scatter(const TileLayout::Tile& t, const float* from, float* map) const {
    const std::int32_t* const columns = layout_.columns().data() + t.columns;
    const bool is_softmax =
        part_.normaliser == Normaliser::Softmax || part_.normaliser == Normaliser::SpanSoftmax;
    const float masked_score = is_softmax ? kMasked : -std::numeric_limits<float>::infinity();
    for (Index r = 0; r < t.rows; ++r, from += t.stride()) {
      const TileLayout::Row& row = layout_.rows()[static_cast<std::size_t>(t.row + r)];
      float* const to = map + row.query * part_.keys();
      for (Index x = row.begin; x < row.end; ++x) {
        if (layout_.allows(row, x)) to[columns[x]] = from[x] <= masked_score ? 0 : from[x];
      }
    }
  }

  Tensor download_output() const {
    const Index rows = pairs_ * part_.queries(), size = part_.v.dim(2);
    const Index stride = padded_value_width(part_) * 4;
    Tensor result({pairs_, part_.queries(), size});  // [B h, L_q, d_v]
    if (size == stride) {
      device_.outputs.download(result.data(), result.size());
      return result;
    }
    std::vector<float> padded(static_cast<std::size_t>(rows * stride));
    device_.outputs.download(padded.data(), rows * stride);
    for (Index r = 0; r < rows; ++r) {
      std::copy_n(padded.data() + r * stride, size, result.data() + r * size);
    }
    return result;
  }

  // Computes the logarithm in double: GLSL's log() is not accurate to the last bits.
  Tensor download_log_sum_exp() const {
    const Index rows = pairs_ * part_.queries();
    std::vector<float> sums(static_cast<std::size_t>(kRowSumNumbers * rows));
    device_.row_sums.download(sums.data(), kRowSumNumbers * rows);
    Tensor result({pairs_, part_.queries()});  // [B h, L_q]
    const bool is_ratio = part_.normaliser == Normaliser::FeatureRatio;
    for (Index r = 0; r < rows; ++r) {
      const double maximum = sums[static_cast<std::size_t>(kRowSumNumbers * r)];
      const double sum = sums[static_cast<std::size_t>(kRowSumNumbers * r + 1)];
      double softmax_log_sum =
          sum > 0 ? maximum + std::log(sum) : -std::numeric_limits<double>::infinity();
      if (part_.sinks.defined()) {  // the sink's exponential belongs to the sum
        const double sink = part_.sinks.value()[r / part_.queries() % part_.heads];
        const double larger = std::max(sink, softmax_log_sum);
        softmax_log_sum =
            larger + std::log(std::exp(sink - larger) + std::exp(softmax_log_sum - larger));
      }
      result[r] = static_cast<float>(is_ratio ? sum : softmax_log_sum);
    }
    return result;
  }

  ComputeDevice& device_;
  const Part& part_;
  const ResultRequest& wanted_;
  TileLayout layout_;
  PartUpload upload_;
  Index pairs_;  // B h
  bool shared_memory_;
  std::unique_ptr<AttentionTexture> texture_;
  std::vector<float> staging_;
};

}  // namespace

PartResult run_part(ComputeDevice& device, const std::shared_ptr<GlThread>& thread,
                    const Part& part, const ResultRequest& wanted) {
  PartResult result;
  PartRun(device, part, wanted).run(result, thread);
  return result;
}

}  // namespace attnscope
