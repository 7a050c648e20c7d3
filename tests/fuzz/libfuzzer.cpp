// Program for libFuzzer. Its file name selects the target; run.sh creates a link per target.
//   fuzz_safetensors CORPUS [libFuzzer's options]
//   fuzz_safetensors --corpus=FOLDER    writes the seeds to FOLDER and exits
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/mutate.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

const attnscope::fuzz::Target* selected_target = nullptr;

void write_seeds(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const std::string& seed : selected_target->seeds()) {
    std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary) << seed;
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::string name = std::filesystem::path((*argv)[0]).filename().string();
  selected_target = &attnscope::fuzz::target(name.substr(std::strlen("fuzz_")));
  const std::string corpus = "--corpus=";
  for (int i = 1; i < *argc; ++i) {
    const std::string option = (*argv)[i];
    if (!option.starts_with(corpus)) continue;
    write_seeds(option.substr(corpus.size()));
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  attnscope::fuzz::run(*selected_target, std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  attnscope::fuzz::Random random(seed);
  const auto mutate_bytes = [&](const std::string& text) {
    std::string buffer(text.size() + 64, '\0');
    std::memcpy(buffer.data(), text.data(), text.size());
    buffer.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(buffer.data()), text.size(),
                                   buffer.size()));
    return buffer;
  };
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::string out =
      attnscope::fuzz::mutate(selected_target->format, input, mutate_bytes, random);
  const std::size_t copied = std::min(out.size(), max_size);
  std::memcpy(data, out.data(), copied);
  return copied;
}
