// Backend selection for `--device auto|cpu|gpu` and the window's device switch.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "app/gpu/calibration.h"
#include "app/gpu/context.h"
#include "core/base/stop.h"
#include "core/experiment/run.h"

namespace attnscope {

using ContextMaker = std::function<std::unique_ptr<GlContext>()>;

// Cpu: the CPU backend. Gpu: the GPU backend, or null with the reason if there is no working GPU.
// Auto: the faster of the two, or the CPU backend with a note if there is no working GPU. Short
// calibrations compare the two backends, and the two kinds of GPU shaders; the file `calibrations`
// caches their results. Auto uses software OpenGL only if the file says that it is faster.
//
// make_context is called at most once, by the first choice other than Cpu; it throws WorkError if
// there is no context. The context is used on a thread of the backend. The provider is thread-safe
// and owns its backends. `stop` cancels a calibration, which then throws Stopped.
BackendProvider gpu_backends(ContextMaker make_context,
                             std::optional<std::filesystem::path> calibrations = calibration_file(),
                             Stop stop = {});

// As above with a headless context, for the command line.
BackendProvider headless_backends();

}  // namespace attnscope
