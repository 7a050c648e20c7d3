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
constexpr Index kTopSide = 1024;  // cells of the coarsest level along the longer axis, at most
constexpr std::chrono::milliseconds kMinWakeInterval{30};
constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

// Position of a tile. Maps are distinguished by owner, which stays unique after they are freed.
struct Key {
  std::weak_ptr<const AttentionTiles> tiles;
  Index head = 0;
  Pooling pooling = Pooling::Max;
  int level = 0;
  Index row = 0, column = 0;  // counted in tiles

  bool operator<(const Key& other) const {
    if (tiles.owner_before(other.tiles)) return true;
    if (other.tiles.owner_before(tiles)) return false;
    return rest() < other.rest();
  }

 private:
  std::tuple<Index, Pooling, int, Index, Index> rest() const {
    return {head, pooling, level, row, column};
  }
};

struct Kept {
  Tensor cells;
  bool exact = false;
  std::uint64_t used = 0;  // time of last use
};

struct Job {
  Key key;
  std::shared_ptr<const AttentionTiles> tiles;
  Index rows = 0, columns = 0;  // of the map
  bool sampled = false;

  TileRequest request() const {
    const Index step = Index{1} << key.level, side = kSide * step;
    TileRequest r{.head = key.head, .row = key.row * side, .column = key.column * side};
    r.height = std::min(side, rows - r.row);
    r.width = std::min(side, columns - r.column);
    r.step = step;
    r.pooling = key.pooling;
    r.sampled = sampled;
    return r;
  }
};

struct Span {  // [first, last)
  Index first = 0, last = 0;
};
// Blocks of `size` that overlap [begin, begin + count).
Span blocks(Index begin, Index count, Index size) {
  return {begin / size, (begin + count + size - 1) / size};
}

int top_level(const MapPlace& place) {
  int level = 0;
  while ((std::max(place.rows, place.columns) - 1) >> level >= kTopSide) ++level;
  return level;
}

// Tiles of a level that overlap the visible rectangle, from the middle outwards.
std::vector<Job> jobs_in_sight(const MapPlace& place, int level, bool sampled) {
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
  const auto from_middle = [&](const Job& job) {
    return std::abs(2 * job.key.row + 1 - rows.first - rows.last) +
           std::abs(2 * job.key.column + 1 - columns.first - columns.last);
  };
  std::stable_sort(jobs.begin(), jobs.end(),
                   [&](const Job& a, const Job& b) { return from_middle(a) < from_middle(b); });
  return jobs;
}

// Whole cells that cover the visible rectangle.
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

// Copies the visible part of tile `at` of this level from cells of `tile`: itself, or one `up`
// levels coarser, whose cells fill 2^up x 2^up each.
void paste(const Tensor& tile, const Key& key, int up, const Key& at, MapCells& to) {
  const Index first_row = to.row / to.step, first_column = to.column / to.step;
  const auto in_sight = [](Index tile_number, Index first, Index count) {
    const Index begin = tile_number * kSide;
    return Span{std::max(begin, first), std::min(begin + kSide, first + count)};
  };
  const Span rows = in_sight(at.row, first_row, to.cells.dim(0));
  const Span columns = in_sight(at.column, first_column, to.cells.dim(1));
  for (Index r = rows.first; r < rows.last; ++r) {
    for (Index c = columns.first; c < columns.last; ++c) {
      to.cells(r - first_row, c - first_column) =
          tile((r >> up) - key.row * kSide, (c >> up) - key.column * kSide);
    }
  }
}

}  // namespace

int map_level(double height, double width, double pixels_down, double pixels_across) {
  const double step =
      std::min(height / std::max(1.0, pixels_down), width / std::max(1.0, pixels_across));
  constexpr int kMost = 30;
  return step >= 2 ? std::min(kMost, static_cast<int>(std::floor(std::log2(step)))) : 0;
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
  std::map<Key, Kept> tiles;
  Index kept_numbers = 0;
  std::uint64_t clock = 0;    // counts looks
  std::uint64_t version = 1;  // of the cache

  struct Looked {
    MapPlace place;
    MapCells cells;
    std::uint64_t version;
  };
  std::vector<Looked> before, now;  // requested between begin() and end()
  std::vector<Job> jobs;            // the next one last
  std::optional<Job> running;
  Stop stop;  // of the running work
  std::exception_ptr error;
  bool ending = false;
  std::thread worker;

  const Kept* find(const Key& key) {
    const auto found = tiles.find(key);
    if (found == tiles.end()) return nullptr;
    found->second.used = ++clock;
    return &found->second;
  }

  bool lacks(const Job& job) {
    const auto found = tiles.find(job.key);
    return found == tiles.end() || (!job.sampled && !found->second.exact);
  }

  MapCells assemble(const MapPlace& place);
  void plan();
  void keep(const Job& job, Tensor cells);
  Tensor pooled_children(const Job& job);
  Tensor computed(const Job& job, std::unique_lock<std::mutex>& lock);
  void work();
};

// Exact or sampled tiles that are cached; the nearest coarser tile for missing ones.
MapCells MapPyramid::State::assemble(const MapPlace& place) {
  MapCells result = empty_cells(place);
  const std::vector<Job> in_sight = jobs_in_sight(place, place.level, false);
  Index exact = 0;
  for (const Job& job : in_sight) {
    Key key = job.key;
    const int most_up = std::max(0, top_level(place) - place.level);
    for (int up = 0; up <= most_up; ++up) {
      if (const Kept* tile = find(key)) {
        if (up == 0 && tile->exact) ++exact;
        paste(tile->cells, key, up, job.key, result);
        break;
      }
      ++key.level;
      key.row /= 2;
      key.column /= 2;
    }
  }
  const auto count = static_cast<double>(in_sight.size());
  result.exact = in_sight.empty() ? 1 : static_cast<double>(exact) / count;
  return result;
}

// Queues sampled tiles first, then exact ones, then the surrounding levels.
void MapPyramid::State::plan() {
  std::vector<Job> order;
  const auto add = [&](const std::vector<Job>& more) {
    std::copy_if(more.begin(), more.end(), std::back_inserter(order),
                 [&](const Job& job) { return lacks(job); });
  };
  for (const Looked& looked : now) {
    if (looked.place.level > 0) add(jobs_in_sight(looked.place, looked.place.level, true));
  }
  for (const Looked& looked : now) {
    add(jobs_in_sight(looked.place, looked.place.level, false));
  }
  for (const Looked& looked : now) {
    for (int level = looked.place.level + 1; level <= top_level(looked.place); ++level) {
      add(jobs_in_sight(looked.place, level, false));
    }
  }
  std::reverse(order.begin(), order.end());
  jobs = std::move(order);
  if (!running) return;
  const bool wanted = std::any_of(jobs.begin(), jobs.end(), [&](const Job& job) {
    return !(job.key < running->key) && !(running->key < job.key) &&
           job.sampled == running->sampled;
  });
  if (!wanted) stop.request();
}

void MapPyramid::State::keep(const Job& job, Tensor cells) {
  Kept& kept = tiles[job.key];
  kept_numbers += cells.size() - (kept.cells.defined() ? kept.cells.size() : 0);
  kept.cells = std::move(cells);
  kept.exact = !job.sampled;
  kept.used = ++clock;
  ++version;
  while (kept_numbers > max_cached) {
    const auto oldest = std::min_element(
        tiles.begin(), tiles.end(),
        [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    kept_numbers -= oldest->second.cells.size();
    tiles.erase(oldest);
  }
}

// Pools a tile from the four that it covers on the finer level; undefined if one is missing.
Tensor MapPyramid::State::pooled_children(const Job& job) {
  if (job.key.level == 0 || job.sampled) return {};
  const TileRequest whole = job.request();
  Tensor cells = Tensor::zeros({whole.cell_rows(), whole.cell_columns()});
  const Index step = whole.step / 2;
  for (Index half = 0; half < 4; ++half) {
    Job child = job;
    child.key.level -= 1;
    child.key.row = 2 * job.key.row + half / 2;
    child.key.column = 2 * job.key.column + half % 2;
    const TileRequest part = child.request();
    if (part.height <= 0 || part.width <= 0) continue;
    const auto found = tiles.find(child.key);
    if (found == tiles.end() || !found->second.exact) return {};
    const Tensor& fine = found->second.cells;
    for (Index r = 0; r < fine.dim(0); ++r) {
      for (Index c = 0; c < fine.dim(1); ++c) {
        float& cell = cells(half / 2 * kSide / 2 + r / 2, half % 2 * kSide / 2 + c / 2);
        const float number = fine(r, c);
        if (job.key.pooling == Pooling::Max) {
          const bool stronger = std::abs(number) > std::abs(cell) ||
                                (std::abs(number) == std::abs(cell) && number > cell);
          if (stronger) cell = number;
        } else {  // weighted by pairs: border cells have fewer
          const Index pairs =
              std::min(step, part.height - r * step) * std::min(step, part.width - c * step);
          cell += number * static_cast<float>(pairs);
        }
      }
    }
  }
  if (job.key.pooling == Pooling::Max) return cells;
  for (Index r = 0; r < cells.dim(0); ++r) {
    for (Index c = 0; c < cells.dim(1); ++c) {
      const Index pairs = std::min(whole.step, whole.height - r * whole.step) *
                          std::min(whole.step, whole.width - c * whole.step);
      cells(r, c) /= static_cast<float>(pairs);
    }
  }
  return cells;
}

void MapPyramid::State::work() {
  Clock::time_point woken{};
  bool unseen = false;  // changes since the last wake
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return ending || !jobs.empty(); });
    if (ending) return;
    const Job job = std::move(jobs.back());
    jobs.pop_back();
    if (lacks(job)) {
      try {
        Tensor cells = pooled_children(job);
        if (!cells.defined()) cells = computed(job, lock);
        if (cells.defined()) keep(job, std::move(cells));
      } catch (const std::exception&) {  // out of memory
        error = std::current_exception();
        jobs.clear();
      }
      unseen = true;
    }
    if (!unseen || (!jobs.empty() && Clock::now() - woken < kMinWakeInterval)) continue;
    woken = Clock::now();
    unseen = false;
    lock.unlock();
    if (wake) wake();
    lock.lock();
  }
}

// Runs without the lock; undefined if it was stopped or failed.
Tensor MapPyramid::State::computed(const Job& job, std::unique_lock<std::mutex>& lock) {
  Tensor cells;
  std::exception_ptr problem;
  const Stop own_stop;
  stop = own_stop;
  running = job;
  lock.unlock();
  try {
    const StopScope scope(own_stop);
    cells = job.tiles->tile(job.request());
  } catch (const Stopped&) {
    // The view moved.
  } catch (const std::exception&) {
    problem = std::current_exception();
  }
  lock.lock();
  running.reset();
  if (problem) {
    error = problem;
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
    state_->ending = true;
    state_->stop.request();
  }
  state_->changed.notify_all();
  state_->worker.join();
}

void MapPyramid::begin() {
  const std::scoped_lock lock(state_->mutex);
  state_->before = std::move(state_->now);
  state_->now.clear();
}

MapCells MapPyramid::look(const MapPlace& place) {
  const std::scoped_lock lock(state_->mutex);
  for (const auto* looked : {&state_->now, &state_->before}) {
    for (const State::Looked& old : *looked) {
      if (old.place == place && old.version == state_->version) {
        MapCells same = old.cells;
        state_->now.push_back({place, same, state_->version});
        return same;
      }
    }
  }
  MapCells cells = state_->assemble(place);
  state_->now.push_back({place, cells, state_->version});
  return cells;
}

void MapPyramid::end() {
  {
    const std::scoped_lock lock(state_->mutex);
    State& s = *state_;
    const auto place_of = [](const State::Looked& looked) -> const MapPlace& {
      return looked.place;
    };
    if (std::ranges::equal(s.before, s.now, {}, place_of, place_of)) return;
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
  for (const State::Looked& looked : state_->now) {
    if (progress.note.empty()) progress.note = looked.place.tiles->note();
    for (const Job& job : jobs_in_sight(looked.place, looked.place.level, false)) {
      ++progress.in_sight;
      if (!state_->lacks(job)) ++progress.exact;
    }
  }
  progress.busy = state_->running || !state_->jobs.empty();
  progress.error = state_->error;
  return progress;
}

void MapPyramid::cancel() {
  const std::scoped_lock lock(state_->mutex);
  state_->jobs.clear();
  if (state_->running) state_->stop.request();
}

}  // namespace attnscope
