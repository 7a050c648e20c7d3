#include "app/gpu/part_run.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "app/gpu/gl_attention.h"
#include "app/gpu/part_upload.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kChunkSeconds = 0.012;  // aimed at, so that a stop takes no longer than 50 ms
constexpr double kFirstWork = 5e6;       // multiplications of a chunk while nothing was measured

// Binding points, as in the shaders.
enum Binding : GLuint { kRows = 0, kOtherRows = 1, kVectors = 2, kScores = 3, kRowSums = 4 };
constexpr GLuint kIntegers = 5, kNumbers = 6;

GLuint groups(Index items, Index group) {
  return static_cast<GLuint>((items + group - 1) / group);
}

// One part on its way through the device.
class PartRun {
 public:
  PartRun(ComputeDevice& device, const Part& part, const Wanted& wanted, const Stop& stop)
      : device_(device),
        part_(part),
        wanted_(wanted),
        stop_(stop),
        layout_(*part.pattern),
        upload_(part, layout_),
        pairs_(part.batch * part.heads),
        shared_memory_(device.shared_memory) {
    upload_.defines["SHARED_MEMORY"] = shared_memory_ ? 1 : 0;  // measured apart
  }

  void run(PartResult& result, const std::shared_ptr<GlThread>& thread) {
    upload();
    if (wanted_.device_attention) {
      texture_ = std::make_unique<AttentionTexture>(pairs_, part_.queries(), part_.keys());
      upload_.defines["KEEP_ATTENTION"] = 1;
    }
    const Shape map{pairs_, part_.queries(), part_.keys()};  // [B h, L_q, L_k]
    if (wanted_.attention) result.attention = Tensor::zeros(map);
    if (wanted_.scores) result.scores = Tensor::zeros(map);
    for (Index head = 0, row = 0; head < pairs_;) {
      const Chunk chunk =
          next_chunk(layout_, part_.batch, part_.heads, head, row, scores_of_next_chunk());
      compute(chunk, result);
      row += chunk.rows;
      if (row == part_.queries()) {
        row = 0;
        head += chunk.heads;
      }
      device_.thread.serve();
      stop_.check();
    }
    if (wanted_.output && part_.v.defined()) result.output = download_output();
    if (wanted_.log_sum_exp && part_.normaliser != Normaliser::None) {
      result.log_sum_exp = download_log_sum_exp();
    }
    check_gl("computing attention");
    if (texture_) {
      glMemoryBarrier(GL_ALL_BARRIER_BITS);
      glFinish();
      result.device = std::make_shared<GlAttention>(thread, texture_->take(), map);
    }
  }

 private:
  void upload() {
    device_.queries.upload(upload_.queries);
    device_.keys.upload(upload_.keys);
    device_.values.upload(upload_.values);
    device_.numbers.upload(upload_.numbers.data(), upload_.numbers.size());
    device_.integers.upload(upload_.integers.data(), upload_.integers.size());
    constexpr std::int64_t bytes = sizeof(float);
    device_.row_sums.reserve(pairs_ * part_.queries() * 2 * bytes);
    if (wants_output()) {
      device_.outputs.reserve(pairs_ * part_.queries() * padded_value_width(part_) * 4 * bytes);
    }
    check_gl("uploading");
  }

  bool wants_output() const { return wanted_.output && part_.v.defined(); }
  bool wants_weights() const {
    return wants_output() || wanted_.attention || wanted_.device_attention;
  }

  // Multiplications for a score and its share of the output.
  double work_of_a_score() const {
    return 4.0 * static_cast<double>(padded_key_width(part_) + padded_value_width(part_)) + 16;
  }

  std::int64_t scores_of_next_chunk() const {
    const auto measured = device_.work_per_second.find(upload_.defines);
    const double work =
        measured == device_.work_per_second.end() ? kFirstWork : measured->second * kChunkSeconds;
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(work / work_of_a_score()), 1,
                                    device_.most_scores);
  }

  void compute(const Chunk& chunk, PartResult& result) {
    const bool warm = device_.work_per_second.contains(upload_.defines);
    device_.scores.reserve(chunk.scores * static_cast<std::int64_t>(sizeof(float)));
    set_sizes(chunk);
    const auto start = Clock::now();
    score_pass(chunk);
    if (wanted_.scores) fetch(chunk, result.scores);
    if (part_.normaliser != Normaliser::None) {
      device_.scores.bind(kScores);
      device_.row_sums.bind(kRowSums);
      dispatch("row_sums.comp", groups(chunk.rows, 64), 1, chunk.heads);
    }
    if (wants_weights()) {
      if (texture_) {
        glBindImageTexture(0, texture_->name(), 0, GL_TRUE, 0, GL_WRITE_ONLY, GL_R32F);
      }
      device_.scores.bind(kScores);
      device_.row_sums.bind(kRowSums);
      over_scores(layout_.tiles() ? "weights_tiles.comp" : "weights_rows.comp", chunk);
      if (wanted_.attention) fetch(chunk, result.attention);
    }
    if (wants_output()) output_pass(chunk);
    glFinish();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    measure(chunk, seconds, warm);
    check_gl("computing attention");
  }

  // The first chunk may have compiled shaders and says nothing about speed; it stays small.
  void measure(const Chunk& chunk, double seconds, bool warm) {
    const double work =
        static_cast<double>(std::max<std::int64_t>(chunk.scores, 1)) * work_of_a_score();
    const double first = kFirstWork / kChunkSeconds;
    double& rate = device_.work_per_second[upload_.defines];
    if (!warm) {
      rate = first;
    } else if (seconds > 0) {
      rate = std::clamp(work / seconds, rate / 4, rate * 2);  // one slow chunk may be chance
    }
  }

  void set_sizes(const Chunk& chunk) {
    Sizes& s = upload_.sizes;
    s.head_first = static_cast<std::int32_t>(chunk.head);
    s.row_first = static_cast<std::int32_t>(chunk.row);
    s.row_end = static_cast<std::int32_t>(chunk.row + chunk.rows);
    s.origin = static_cast<std::uint32_t>(chunk.origin);
    s.head_stride = layout_.pattern_heads() == 1 ? static_cast<std::uint32_t>(layout_.scores()) : 0;
    if (!layout_.tiles()) {
      const std::size_t first = pattern_row(chunk.head, chunk.row);
      const Index last_head =
          layout_.pattern_heads() == 1 ? chunk.head : chunk.head + chunk.heads - 1;
      const std::size_t last = pattern_row(last_head, chunk.row + chunk.rows - 1);
      s.segment_first = layout_.segment_starts()[first];
      s.segment_end = layout_.segment_starts()[last + 1];
    }
    device_.sizes.upload(&s, 1);
    device_.sizes.bind(0, GL_UNIFORM_BUFFER);
    device_.integers.bind(kIntegers);
    device_.numbers.bind(kNumbers);
    device_.numbers.bind(kVectors);
  }

  std::size_t pattern_row(Index head, Index row) const {
    const Index a = layout_.pattern_heads() == 1 ? 0 : head % part_.heads;
    return static_cast<std::size_t>(a * part_.queries() + row);
  }

  void score_pass(const Chunk& chunk) {
    device_.queries.bind(kRows);
    device_.keys.bind(kOtherRows);
    device_.scores.bind(kScores);
    if (!layout_.tiles()) {
      over_scores("scores_rows.comp", chunk);
      return;
    }
    const Defines& d = upload_.defines;
    if (d.contains("CONTENT") || d.at("PRODUCTS") > 0) {
      if (shared_memory_) {
        dispatch("scores_shared.comp", groups(widest_tile(chunk), 64),
                 groups(chunk.rows, PatternLayout::tile), chunk.heads);
      } else {
        over_scores("scores_tiles.comp", chunk);
      }
    }
    if (d.contains("TERMS")) over_scores("terms_tiles.comp", chunk);
  }

  void output_pass(const Chunk& chunk) {
    device_.values.bind(kRows);
    device_.outputs.bind(kOtherRows);
    device_.scores.bind(kScores);
    const Index eights = padded_value_width(part_) / 2;
    if (layout_.tiles() && shared_memory_) {
      dispatch("outputs_shared.comp", groups(2 * eights, 8),
               groups(chunk.rows, PatternLayout::tile), chunk.heads);
    } else if (layout_.tiles()) {
      dispatch("outputs_tiles.comp", groups(eights, 8), groups(chunk.rows, 8 * PatternLayout::tile),
               chunk.heads);
    } else {
      dispatch("outputs_rows.comp", groups(chunk.rows, 64), static_cast<GLuint>(eights),
               chunk.heads);
    }
  }

  Index widest_tile(const Chunk& chunk) const {
    Index widest = 0;
    for (Index h = 0; h < chunk.heads; ++h) {
      const Index a = layout_.pattern_heads() == 1 ? 0 : (chunk.head + h) % part_.heads;
      const std::size_t end = layout_.offset_index(a, chunk.row + chunk.rows);
      for (std::size_t t = layout_.offset_index(a, chunk.row); t < end; ++t) {
        widest = std::max<Index>(widest, layout_.tile_columns()[t].width);
      }
      if (layout_.pattern_heads() == 1) break;
    }
    return widest;
  }

  // A pass over all scores of the chunk, by tiles or by segments.
  void over_scores(const char* file, const Chunk& chunk) {
    if (layout_.tiles()) {
      dispatch(file, groups(widest_tile(chunk), 8 * PatternLayout::tile),
               groups(chunk.rows, 8 * PatternLayout::tile), chunk.heads);
    } else {
      const Sizes& s = upload_.sizes;
      dispatch(file, groups(s.segment_end - s.segment_first, 64), 1,
               layout_.pattern_heads() == 1 ? chunk.heads : 1);
    }
  }

  void dispatch(const char* file, GLuint x, GLuint y, Index z) {
    if (x == 0 || y == 0 || z == 0) return;  // nothing is allowed in these rows
    glUseProgram(device_.shaders.compute(file, upload_.defines));
    glDispatchCompute(x, y, static_cast<GLuint>(z));
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT);
    ++device_.dispatches;
  }

  // Spreads the chunk's scores (or weights) over the map's rows.
  void fetch(const Chunk& chunk, Tensor& map) {
    staging_.resize(static_cast<std::size_t>(chunk.scores));
    device_.scores.download(staging_.data(), chunk.scores);
    for (Index h = chunk.head; h < chunk.head + chunk.heads; ++h) {
      const std::int64_t head_at =
          layout_.pattern_heads() == 1 ? (h - chunk.head) * layout_.scores() : 0;
      for (Index i = chunk.row; i < chunk.row + chunk.rows; ++i) {
        const std::size_t row = pattern_row(h, i);
        const Index a = layout_.pattern_heads() == 1 ? 0 : h % part_.heads;
        const std::size_t step =
            layout_.offset_index(a, i / layout_.row_step() * layout_.row_step());
        std::int64_t at = head_at + layout_.offsets()[step] - chunk.origin;
        std::int32_t first = 0;
        if (layout_.tiles()) {
          const auto columns = layout_.tile_columns()[step];
          at += i % PatternLayout::tile * columns.width;
          first = columns.first;
        }
        float* to = map.data() + (h * part_.queries() + i) * part_.keys();
        for (auto r = layout_.starts()[row]; r < layout_.starts()[row + 1]; ++r) {
          const BareRun& run = layout_.runs()[static_cast<std::size_t>(r)];
          for (Index c = run.begin; c < run.end; c += run.step) {
            const std::int64_t from = layout_.tiles() ? at + c - first : at++;
            to[c] = staging_[static_cast<std::size_t>(from)];
          }
        }
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
    std::vector<float> wide(static_cast<std::size_t>(rows * stride));
    device_.outputs.download(wide.data(), rows * stride);
    for (Index r = 0; r < rows; ++r) {
      std::copy_n(wide.data() + r * stride, size, result.data() + r * size);
    }
    return result;
  }

  // The logarithm is taken here, in double: the shaders' is not exact to the last bits.
  Tensor download_log_sum_exp() const {
    const Index rows = pairs_ * part_.queries();
    std::vector<float> sums(static_cast<std::size_t>(2 * rows));
    device_.row_sums.download(sums.data(), 2 * rows);
    Tensor result({pairs_, part_.queries()});  // [B h, L_q]
    const bool ratio = part_.normaliser == Normaliser::FeatureRatio;
    for (Index r = 0; r < rows; ++r) {
      const double maximum = sums[static_cast<std::size_t>(2 * r)];
      const double sum = sums[static_cast<std::size_t>(2 * r + 1)];
      const double of_softmax =
          sum > 0 ? maximum + std::log(sum) : -std::numeric_limits<double>::infinity();
      result[r] = static_cast<float>(ratio ? sum : of_softmax);
    }
    return result;
  }

  ComputeDevice& device_;
  const Part& part_;
  const Wanted& wanted_;
  const Stop& stop_;
  PatternLayout layout_;
  PartUpload upload_;
  Index pairs_;  // B h
  bool shared_memory_;
  std::unique_ptr<AttentionTexture> texture_;
  std::vector<float> staging_;
};

}  // namespace

PartResult run_part(ComputeDevice& device, const std::shared_ptr<GlThread>& thread,
                    const Part& part, const Wanted& wanted, const Stop& stop) {
  PartResult result;
  PartRun(device, part, wanted, stop).run(result, thread);
  return result;
}

}  // namespace attnscope
