// libFuzzer's program; its file name selects the target (run.sh creates links to one file).
//   fuzz_safetensors CORPUS [libFuzzer's options]
//   fuzz_safetensors --corpus=FOLDER    writes the seeds to FOLDER and exits
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/mutate.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

const attnscope::fuzz::Target* chosen = nullptr;

void write_seeds(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const std::string& seed : chosen->seeds()) {
    std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary) << seed;
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::string name = std::filesystem::path((*argv)[0]).filename().string();
  chosen = &attnscope::fuzz::target(name.substr(std::strlen("fuzz_")));
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
  attnscope::fuzz::run(*chosen, std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned int seed) {
  attnscope::fuzz::Random random(seed);
  const auto bytes = [&](const std::string& text) {
    std::string room(text.size() + 64, '\0');
    std::memcpy(room.data(), text.data(), text.size());
    room.resize(
        LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(room.data()), text.size(), room.size()));
    return room;
  };
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::string out = attnscope::fuzz::changed(chosen->format, input, bytes, random);
  const std::size_t kept = std::min(out.size(), most);
  std::memcpy(data, out.data(), kept);
  return kept;
}
