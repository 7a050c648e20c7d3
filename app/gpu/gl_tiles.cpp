#include "app/gpu/gl_tiles.h"

#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>

#include "app/gpu/part_upload.h"
#include "core/base/error.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

constexpr double kInitialRate = 2e8;  // multiplications per second before any measurement
constexpr Index kGroup = 8;           // invocations per work group along each axis

// Input of shaders/weight.glsl, [B h L_q, 4]: column 0 is subtracted from scores, column 3
// multiplies exponentials.
Tensor row_sums(const Part& part, const Tensor& log_sum_exp) {
  const Index rows = part.batch * part.heads * part.queries();
  Tensor sums = Tensor::zeros({rows, 4});
  for (Index r = 0; r < rows && log_sum_exp.defined(); ++r) {
    if (part.normaliser == Normaliser::FeatureRatio) {
      sums(r, 3) = log_sum_exp[r] == 0 ? 0 : 1 / log_sum_exp[r];
    } else if (!std::isinf(log_sum_exp[r])) {
      sums(r, 0) = log_sum_exp[r];
      sums(r, 3) = 1;
    }
  }
  return sums;
}

// Cells [row, row_end) x [column, column_end).
struct Area {
  Index row, column, row_end, column_end;
};

// Input of one part on the device. For the GL thread only.
class UploadedMaps {
 public:
  UploadedMaps(const Part& part, const Tensor& log_sum_exp) : upload_(part) {
    upload_.add_runs(*part.pattern);
    queries_.upload(upload_.queries);
    keys_.upload(upload_.keys);
    numbers_.upload(upload_.numbers.data(), upload_.numbers.size());
    integers_.upload(upload_.integers.data(), upload_.integers.size());
    row_sums_.upload(row_sums(part, log_sum_exp));
    upload_.queries = upload_.keys = upload_.values = Tensor();
    check_gl("uploading a map");
  }

  Tensor tile(ComputeDevice& device, const TileRequest& request) {
    Tensor cells({request.cell_rows(), request.cell_columns()});
    if (cells.empty()) return cells;
    cells_.reserve(cells.size() * static_cast<std::int64_t>(sizeof(float)));
    Defines defines = upload_.defines;
    if (request.pooling == Pooling::Mean) defines["MEAN"] = 1;
    const GLuint program = device.shaders.compute("pooled_tile.comp", defines);
    bind(device, program, request);
    defines["POOLED"] = 1;  // key of the speed: tiled passes have another speed
    double& rate = device.work_per_second.emplace(defines, kInitialRate).first->second;
    const double work_per_cell = work_per_pair() * static_cast<double>(request.step) *
                                 static_cast<double>(request.sampled ? 1 : request.step);
    for (Area area{0, 0, 0, 0}; area.row < cells.dim(0);) {
      grow(area, cells, rate * kChunkSeconds / work_per_cell);
      const Index count = (area.row_end - area.row) * (area.column_end - area.column);
      const auto start = std::chrono::steady_clock::now();
      dispatch(device, program, area);
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      const double measured_rate = static_cast<double>(count) * work_per_cell / elapsed.count();
      rate = std::clamp(measured_rate, rate / 4, rate * 2);  // dampens outliers
      advance(area, cells);
      device.thread.serve();
      check_stop();
    }
    cells_.download(cells.data(), cells.size());
    check_gl("computing a tile");
    return cells;
  }

 private:
  // Binding points, as in shaders/pooled_tile.comp.
  enum Binding : GLuint {
    kQueries = 0,
    kKeys = 1,
    kVectors = 2,
    kRowSums = 4,
    kIntegers = 5,
    kNumbers = 6,
    kCells = 7
  };

  double work_per_pair() const { return 4.0 * upload_.sizes.key_width + 16; }

  void bind(ComputeDevice& device, GLuint program, const TileRequest& request) {
    Sizes sizes = upload_.sizes;
    sizes.head_first = static_cast<std::int32_t>(request.head);
    device.sizes.upload(&sizes, 1);
    device.sizes.bind(0, GL_UNIFORM_BUFFER);
    queries_.bind(kQueries);
    keys_.bind(kKeys);
    numbers_.bind(kVectors);
    row_sums_.bind(kRowSums);
    integers_.bind(kIntegers);
    numbers_.bind(kNumbers);
    cells_.bind(kCells);
    glUseProgram(program);
    const auto to_int = [](Index n) { return static_cast<GLint>(n); };
    glUniform4i(glGetUniformLocation(program, "tile_box"), to_int(request.row),
                to_int(request.column), to_int(request.height), to_int(request.width));
    glUniform2i(glGetUniformLocation(program, "cell_steps"), to_int(request.step),
                request.sampled ? 1 : 0);
  }

  // Extends `area` to at most `max_cells` cells: several rows, or a part of one row.
  static void grow(Area& area, const Tensor& cells, double max_cells) {
    const auto limit = static_cast<Index>(std::clamp(max_cells, 1.0, 1e9));
    const Index columns = cells.dim(1) - area.column;
    const bool covers_rows = area.column == 0 && limit >= columns;
    area.row_end = covers_rows ? std::min(cells.dim(0), area.row + limit / columns) : area.row + 1;
    area.column_end = std::min(cells.dim(1), area.column + std::max(limit, kGroup));
  }
  static void advance(Area& area, const Tensor& cells) {
    const bool is_row_end = area.column_end == cells.dim(1);
    area.row = is_row_end ? area.row_end : area.row;
    area.column = is_row_end ? 0 : area.column_end;
  }

  static void dispatch(ComputeDevice& device, GLuint program, const Area& area) {
    const auto groups = [](Index n) { return static_cast<GLuint>((n + kGroup - 1) / kGroup); };
    const auto to_int = [](Index n) { return static_cast<GLint>(n); };
    glUniform4i(glGetUniformLocation(program, "cell_area"), to_int(area.row), to_int(area.column),
                to_int(area.row_end), to_int(area.column_end));
    glDispatchCompute(groups(area.column_end - area.column), groups(area.row_end - area.row), 1);
    glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
    glFinish();
    ++device.dispatches;
  }

  PartUpload upload_;
  Buffer queries_, keys_, numbers_, integers_, row_sums_, cells_;
};

class GlTiles : public AttentionTiles {
 public:
  GlTiles(std::shared_ptr<GlThread> thread, std::shared_ptr<ComputeDevice> device, Part part,
          Tensor log_sum_exp)
      : thread_(std::move(thread)),
        device_(std::move(device)),
        part_(std::move(part)),
        log_sum_exp_(std::move(log_sum_exp)) {}

  ~GlTiles() override {
    thread_->post([maps = maps_.release()] { delete maps; });
  }

  Tensor tile(const TileRequest& request) const override {
    check(request, part_.batch * part_.heads, part_.queries(), part_.keys());
    check_stop();
    if (note().empty()) {
      try {
        return tile_on_device(request);
      } catch (const WorkError& e) {
        const std::scoped_lock lock(mutex_);
        note_ = e.what();
      }
    }
    return require_cpu_tiles()->tile(request);
  }

  std::string note() const override {
    const std::scoped_lock lock(mutex_);
    return note_;
  }

 private:
  enum State { Waiting, Running, Abandoned };

  // Cancellation abandons a waiting job. A running job checks for cancellation itself. The caller
  // waits until the job ends, since the job uses members of this object.
  Tensor tile_on_device(const TileRequest& request) const {
    const auto state = std::make_shared<std::atomic<State>>(Waiting);
    const auto cells = std::make_shared<Tensor>();
    std::future<void> job = thread_->start([this, request, state, cells, stop = current_stop()] {
      State expected = Waiting;
      if (!state->compare_exchange_strong(expected, Running)) return;
      const StopScope scope(stop);
      if (!maps_) maps_ = std::make_unique<UploadedMaps>(part_, log_sum_exp_);
      *cells = maps_->tile(*device_, request);
    });
    while (job.wait_for(std::chrono::milliseconds(2)) != std::future_status::ready) {
      State expected = Waiting;
      if (is_stopping() && state->compare_exchange_strong(expected, Abandoned)) break;
    }
    if (*state == Abandoned) throw Stopped();
    job.get();
    return *cells;
  }

  std::shared_ptr<const AttentionTiles> require_cpu_tiles() const {
    const std::scoped_lock lock(mutex_);
    if (!cpu_tiles_) cpu_tiles_ = cpu_tiles(part_, log_sum_exp_);
    return cpu_tiles_;
  }

  std::shared_ptr<GlThread> thread_;
  std::shared_ptr<ComputeDevice> device_;
  const Part part_;
  const Tensor log_sum_exp_;                    // [B h, L_q]
  mutable std::unique_ptr<UploadedMaps> maps_;  // for the GL thread only
  mutable std::mutex mutex_;                    // guards the following members
  mutable std::string note_;                    // reason why the device is no longer used
  mutable std::shared_ptr<const AttentionTiles> cpu_tiles_;
};

}  // namespace

std::shared_ptr<const AttentionTiles> gl_tiles(std::shared_ptr<GlThread> thread,
                                               std::shared_ptr<ComputeDevice> device, Part part,
                                               Tensor log_sum_exp) {
  return std::make_shared<GlTiles>(std::move(thread), std::move(device), std::move(part),
                                   std::move(log_sum_exp));
}

}  // namespace attnscope
