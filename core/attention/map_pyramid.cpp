#include "core/attention/map_pyramid.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>
#include <vector>

#include "core/base/error.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Index kSide = MapPyramid::tile_side;
constexpr Index kTopSide = 1024;  // maximum number of cells along an axis of the coarsest level
constexpr std::chrono::milliseconds kMinWakeInterval{30};
constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

// Map and position of a tile. Maps are compared by owner, because addresses may be reused.
struct Key {
  std::weak_ptr<const AttentionTiles> tiles;
  Index head = 0;
  Pooling pooling = Pooling::Max;
  int level = 0;
  Index row = 0, column = 0;  // indices of the tile

  bool operator<(const Key& other) const {
    if (tiles.owner_before(other.tiles)) return true;
    if (other.tiles.owner_before(tiles)) return false;
    return position() < other.position();
  }

 private:
  std::tuple<Index, Pooling, int, Index, Index> position() const {
    return {head, pooling, level, row, column};
  }
};

struct CachedTile {
  Tensor cells;
  bool exact = false;
  std::uint64_t last_use = 0;  // value of State::clock
};

struct Job {
  Key key;
  std::shared_ptr<const AttentionTiles> tiles;
  Index rows = 0, columns = 0;  // size of the map
  bool sampled = false;

  TileRequest tile_request() const {
    const Index step = Index{1} << key.level, side = kSide * step;
    TileRequest request{.head = key.head, .row = key.row * side, .column = key.column * side};
    request.height = std::min(side, rows - request.row);
    request.width = std::min(side, columns - request.column);
    request.step = step;
    request.pooling = key.pooling;
    request.sampled = sampled;
    return request;
  }
};

struct Span {  // range [first, last)
  Index first = 0, last = 0;
};
// Indices of the blocks of `size` numbers that overlap [begin, begin + count).
Span blocks(Index begin, Index count, Index size) {
  return {begin / size, (begin + count + size - 1) / size};
}

int top_level(const MapPlace& place) {
  int level = 0;
  while ((std::max(place.rows, place.columns) - 1) >> level >= kTopSide) ++level;
  return level;
}

// Tiles of a level that overlap the visible rectangle, from the middle outwards.
std::vector<Job> visible_jobs(const MapPlace& place, int level, bool sampled) {
  std::vector<Job> jobs;
  const Index side = kSide << level;
  const Span rows = blocks(place.row, place.height, side);
  const Span columns = blocks(place.column, place.width, side);
  for (Index r = rows.first; r < rows.last; ++r) {
    for (Index c = columns.first; c < columns.last; ++c) {
      jobs.push_back({{place.tiles, place.head, place.pooling, level, r, c},
                      place.tiles,
                      place.rows,
                      place.columns,
                      sampled});
    }
  }
  const auto off_centre = [&](const Job& job) {
    return std::abs(2 * job.key.row + 1 - rows.first - rows.last) +
           std::abs(2 * job.key.column + 1 - columns.first - columns.last);
  };
  std::stable_sort(jobs.begin(), jobs.end(),
                   [&](const Job& a, const Job& b) { return off_centre(a) < off_centre(b); });
  return jobs;
}

// Cells, all unknown, that cover the visible rectangle.
MapCells empty_cells(const MapPlace& place) {
  const Index step = place.step();
  const Span rows = blocks(place.row, place.height, step);
  const Span columns = blocks(place.column, place.width, step);
  MapCells cells;
  cells.cells = Tensor::full({rows.last - rows.first, columns.last - columns.first}, kUnknown);
  cells.row = rows.first * step;
  cells.column = columns.first * step;
  cells.step = step;
  return cells;
}

// Writes the visible cells of tile `target` to `result`. The source `tile` at `key` is the target
// (up = 0), or is `up` levels coarser: each of its cells fills 2^up x 2^up cells of the target.
void paste(const Tensor& tile, const Key& key, int up, const Key& target, MapCells& result) {
  const Index first_row = result.row / result.step, first_column = result.column / result.step;
  const auto visible = [](Index tile_number, Index first, Index count) {
    const Index begin = tile_number * kSide;
    return Span{std::max(begin, first), std::min(begin + kSide, first + count)};
  };
  const Span rows = visible(target.row, first_row, result.cells.dim(0));
  const Span columns = visible(target.column, first_column, result.cells.dim(1));
  for (Index r = rows.first; r < rows.last; ++r) {
    for (Index c = columns.first; c < columns.last; ++c) {
      result.cells(r - first_row, c - first_column) =
          tile((r >> up) - key.row * kSide, (c >> up) - key.column * kSide);
    }
  }
}

}  // namespace

int map_level(double height, double width, double pixels_down, double pixels_across) {
  const double step =
      std::min(height / std::max(1.0, pixels_down), width / std::max(1.0, pixels_across));
  constexpr int kMaxLevel = 30;
  return step >= 2 ? std::min(kMaxLevel, static_cast<int>(std::floor(std::log2(step)))) : 0;
}

MapCells exact_cells(const MapPlace& place) {
  MapCells result = empty_cells(place);
  result.exact = 1;
  TileRequest request{.head = place.head,
                      .row = result.row,
                      .column = result.column,
                      .step = result.step,
                      .pooling = place.pooling};
  request.height = std::min(result.cells.dim(0) * result.step, place.rows - result.row);
  request.width = std::min(result.cells.dim(1) * result.step, place.columns - result.column);
  result.cells = place.tiles->tile(request);
  return result;
}

struct MapPyramid::State {
  explicit State(std::function<void()> wake_up) : wake(std::move(wake_up)) {}

  const std::function<void()> wake;

  mutable std::mutex mutex;  // guards the members below
  std::condition_variable changed;
  std::map<Key, CachedTile> tiles;
  Index cached_numbers = 0;
  std::uint64_t clock = 0;    // counts uses of tiles
  std::uint64_t version = 1;  // counts changes of the cache

  struct PlaceView {  // result of look()
    MapPlace place;
    MapCells cells;
    std::uint64_t version;
  };
  std::vector<PlaceView> previous, current;  // views of the previous and the current frame
  std::vector<Job> jobs;                     // in reverse order: the next one is last
  std::optional<Job> running_job;
  Stop stop;  // stops running_job
  std::exception_ptr error;
  bool is_ending = false;
  std::thread worker;

  const CachedTile* find(const Key& key) {
    const auto found = tiles.find(key);
    if (found == tiles.end()) return nullptr;
    found->second.last_use = ++clock;
    return &found->second;
  }

  bool is_missing(const Job& job) {
    const auto found = tiles.find(job.key);
    return found == tiles.end() || (!job.sampled && !found->second.exact);
  }

  MapCells assemble(const MapPlace& place);
  void plan();
  void store(const Job& job, Tensor cells);
  Tensor pool_children(const Job& job);
  Tensor compute(const Job& job, std::unique_lock<std::mutex>& lock);
  void work();
};

// Cells from cached tiles, exact or sampled. The nearest coarser tile replaces a missing tile.
MapCells MapPyramid::State::assemble(const MapPlace& place) {
  MapCells result = empty_cells(place);
  const std::vector<Job> visible = visible_jobs(place, place.level, false);
  Index exact = 0;
  for (const Job& job : visible) {
    Key key = job.key;
    const int max_up = std::max(0, top_level(place) - place.level);
    for (int up = 0; up <= max_up; ++up) {
      if (const CachedTile* tile = find(key)) {
        if (up == 0 && tile->exact) ++exact;
        paste(tile->cells, key, up, job.key, result);
        break;
      }
      ++key.level;
      key.row /= 2;
      key.column /= 2;
    }
  }
  const auto count = static_cast<double>(visible.size());
  result.exact = visible.empty() ? 1 : static_cast<double>(exact) / count;
  return result;
}

// Queues missing tiles: samples of the visible level, its exact tiles, tiles of coarser levels.
void MapPyramid::State::plan() {
  std::vector<Job> queue;
  const auto add = [&](const std::vector<Job>& candidates) {
    std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(queue),
                 [&](const Job& job) { return is_missing(job); });
  };
  for (const PlaceView& view : current) {
    if (view.place.level > 0) add(visible_jobs(view.place, view.place.level, true));
  }
  for (const PlaceView& view : current) {
    add(visible_jobs(view.place, view.place.level, false));
  }
  for (const PlaceView& view : current) {
    for (int level = view.place.level + 1; level <= top_level(view.place); ++level) {
      add(visible_jobs(view.place, level, false));
    }
  }
  std::reverse(queue.begin(), queue.end());
  jobs = std::move(queue);
  if (!running_job) return;
  const bool is_requested = std::any_of(jobs.begin(), jobs.end(), [&](const Job& job) {
    return !(job.key < running_job->key) && !(running_job->key < job.key) &&
           job.sampled == running_job->sampled;
  });
  if (!is_requested) stop.request();
}

void MapPyramid::State::store(const Job& job, Tensor cells) {
  CachedTile& cached = tiles[job.key];
  cached_numbers += cells.size() - (cached.cells.defined() ? cached.cells.size() : 0);
  cached.cells = std::move(cells);
  cached.exact = !job.sampled;
  cached.last_use = ++clock;
  ++version;
  while (cached_numbers > max_cached) {
    const auto oldest = std::min_element(
        tiles.begin(), tiles.end(),
        [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; });
    cached_numbers -= oldest->second.cells.size();
    tiles.erase(oldest);
  }
}

// Pools a tile from the four tiles of the next finer level. Undefined if a finer tile is missing.
Tensor MapPyramid::State::pool_children(const Job& job) {
  if (job.key.level == 0 || job.sampled) return {};
  const TileRequest request = job.tile_request();
  Tensor cells = Tensor::zeros({request.cell_rows(), request.cell_columns()});
  const Index step = request.step / 2;
  for (Index quadrant = 0; quadrant < 4; ++quadrant) {
    Job child = job;
    child.key.level -= 1;
    child.key.row = 2 * job.key.row + quadrant / 2;
    child.key.column = 2 * job.key.column + quadrant % 2;
    const TileRequest child_request = child.tile_request();
    if (child_request.height <= 0 || child_request.width <= 0) continue;
    const auto found = tiles.find(child.key);
    if (found == tiles.end() || !found->second.exact) return {};
    const Tensor& fine = found->second.cells;
    for (Index r = 0; r < fine.dim(0); ++r) {
      for (Index c = 0; c < fine.dim(1); ++c) {
        float& cell = cells(quadrant / 2 * kSide / 2 + r / 2, quadrant % 2 * kSide / 2 + c / 2);
        const float number = fine(r, c);
        if (job.key.pooling == Pooling::Max) {
          const bool is_stronger = std::abs(number) > std::abs(cell) ||
                                   (std::abs(number) == std::abs(cell) && number > cell);
          if (is_stronger) cell = number;
        } else {  // weighted by the number of pairs of the finer cell
          const Index pairs = std::min(step, child_request.height - r * step) *
                              std::min(step, child_request.width - c * step);
          cell += number * static_cast<float>(pairs);
        }
      }
    }
  }
  if (job.key.pooling == Pooling::Max) return cells;
  for (Index r = 0; r < cells.dim(0); ++r) {
    for (Index c = 0; c < cells.dim(1); ++c) {
      const Index pairs = std::min(request.step, request.height - r * request.step) *
                          std::min(request.step, request.width - c * request.step);
      cells(r, c) /= static_cast<float>(pairs);
    }
  }
  return cells;
}

void MapPyramid::State::work() {
  Clock::time_point last_wake{};
  bool has_changes = false;  // the cache changed after last_wake
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return is_ending || !jobs.empty(); });
    if (is_ending) return;
    const Job job = std::move(jobs.back());
    jobs.pop_back();
    if (is_missing(job)) {
      try {
        Tensor cells = pool_children(job);
        if (!cells.defined()) cells = compute(job, lock);
        if (cells.defined()) store(job, std::move(cells));
      } catch (const std::exception&) {  // out of memory
        error = std::current_exception();
        jobs.clear();
      }
      has_changes = true;
    }
    if (!has_changes || (!jobs.empty() && Clock::now() - last_wake < kMinWakeInterval)) continue;
    last_wake = Clock::now();
    has_changes = false;
    lock.unlock();
    if (wake) wake();
    lock.lock();
  }
}

// Computes a tile without holding the lock. The result is undefined after a stop or a failure.
Tensor MapPyramid::State::compute(const Job& job, std::unique_lock<std::mutex>& lock) {
  Tensor cells;
  std::exception_ptr failure;
  const Stop job_stop;
  stop = job_stop;
  running_job = job;
  lock.unlock();
  try {
    const StopScope scope(job_stop);
    cells = job.tiles->tile(job.tile_request());
  } catch (const Stopped&) {
    // The view moved.
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  lock.lock();
  running_job.reset();
  if (failure) {
    error = failure;
    jobs.clear();
  }
  return cells;
}

MapPyramid::MapPyramid(std::function<void()> wake)
    : state_(std::make_unique<State>(std::move(wake))) {
  state_->worker = std::thread([state = state_.get()] { state->work(); });
}

MapPyramid::~MapPyramid() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->is_ending = true;
    state_->stop.request();
  }
  state_->changed.notify_all();
  state_->worker.join();
}

void MapPyramid::begin() {
  const std::scoped_lock lock(state_->mutex);
  state_->previous = std::move(state_->current);
  state_->current.clear();
}

MapCells MapPyramid::look(const MapPlace& place) {
  const std::scoped_lock lock(state_->mutex);
  for (const auto* views : {&state_->current, &state_->previous}) {
    for (const State::PlaceView& view : *views) {
      if (view.place == place && view.version == state_->version) {
        MapCells cells = view.cells;
        state_->current.push_back({place, cells, state_->version});
        return cells;
      }
    }
  }
  MapCells cells = state_->assemble(place);
  state_->current.push_back({place, cells, state_->version});
  return cells;
}

void MapPyramid::end() {
  {
    const std::scoped_lock lock(state_->mutex);
    State& s = *state_;
    const auto place_of = [](const State::PlaceView& view) -> const MapPlace& {
      return view.place;
    };
    if (std::ranges::equal(s.previous, s.current, {}, place_of, place_of)) return;
    s.error = nullptr;
    s.plan();
  }
  state_->changed.notify_all();
}

std::uint64_t MapPyramid::version() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->version;
}

MapPyramid::Progress MapPyramid::progress() const {
  const std::scoped_lock lock(state_->mutex);
  Progress progress;
  for (const State::PlaceView& view : state_->current) {
    if (progress.note.empty()) progress.note = view.place.tiles->note();
    for (const Job& job : visible_jobs(view.place, view.place.level, false)) {
      ++progress.visible;
      if (!state_->is_missing(job)) ++progress.exact;
    }
  }
  progress.busy = state_->running_job || !state_->jobs.empty();
  progress.error = state_->error;
  return progress;
}

void MapPyramid::cancel() {
  const std::scoped_lock lock(state_->mutex);
  state_->jobs.clear();
  if (state_->running_job) state_->stop.request();
}

}  // namespace attnscope
