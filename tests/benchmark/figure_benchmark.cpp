// Figures: a grid of 144 heads as a PNG, and the speed of its compression relative to libpng's
// defaults.
//
//   figure_benchmark
#include <benchmark/benchmark.h>
#include <png.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "core/figure/png.h"
#include "core/figure/render.h"
#include "core/view/export/picture.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace {

constexpr Index kLayers = 12, kHeads = 12, kLength = 128;  // as in GPT-2

Session grid() {
  Session session;
  session.view.id = "grid";
  return session;
}

void export_grid(benchmark::State& state) {
  const Trace trace = testing::synthetic_trace(kLayers, kHeads, kLength);
  const auto path = std::filesystem::temp_directory_path() / "attnscope-figure-benchmark.png";
  for (auto _ : state) write_view(path, trace, grid(), {});
  state.counters["bytes"] = static_cast<double>(std::filesystem::file_size(path));
  std::filesystem::remove(path);
}
BENCHMARK(export_grid)->Unit(benchmark::kMillisecond)->UseRealTime();

void append(png_structp png, png_bytep data, png_size_t size) {
  static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<const char*>(data), size);
}

// Encodes with libpng's defaults: all filters, zlib level 6.
std::string libpng_default(const Image& image) {
  std::string file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &file, append, nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(image.width),
               static_cast<png_uint_32>(image.height), 8, PNG_COLOR_TYPE_RGB_ALPHA,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  for (int y = 0; y < image.height; ++y) {
    png_write_row(png, const_cast<png_bytep>(image.rgba.data()) +
                           static_cast<std::ptrdiff_t>(y) * image.width * 4);
  }
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

// Encodes an image alternately with attnscope and with libpng's defaults; the counter is the ratio
// of the two times.
void compress_grid(benchmark::State& state) {
  const Image image = render_image(
      lay_out_picture(testing::synthetic_trace(kLayers, kHeads, kLength), grid(), {}), 2);
  using Clock = std::chrono::steady_clock;
  double ours = 0, theirs = 0;
  for (auto _ : state) {
    const auto start = Clock::now();
    benchmark::DoNotOptimize(encode_png(image, {}));
    const auto middle = Clock::now();
    benchmark::DoNotOptimize(libpng_default(image));
    ours += std::chrono::duration<double>(middle - start).count();
    theirs += std::chrono::duration<double>(Clock::now() - middle).count();
    state.SetIterationTime(std::chrono::duration<double>(middle - start).count());
  }
  state.counters["defaults/ours"] = theirs / ours;
}
BENCHMARK(compress_grid)->Unit(benchmark::kMillisecond)->UseManualTime();

}  // namespace
}  // namespace attnscope

BENCHMARK_MAIN();
