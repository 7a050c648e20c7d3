// Which backend carries a run out: what `--backend auto|cpu|gpu` and the window's switch mean.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "app/gpu/calibration.h"
#include "app/gpu/context.h"
#include "core/experiment/runner.h"

namespace attnscope {

using ContextMaker = std::function<std::unique_ptr<GlContext>()>;

// Cpu: the CPU. Gpu: the GPU, with the kind of shaders that a short calibration finds faster, or,
// with the reason, nothing. Auto: whichever of the two a short
// calibration finds faster (its result is kept in the file `calibrations`), and the CPU where there
// is no GPU or it does not work, which the note says. (What a backend refuses or fails at,
// evaluate() gives to the CPU and says so.)
//
// make_context is called at most once, by the first choice that is not Cpu; it throws WorkError
// when there is no context. The context is used on a thread of the backend's own. The provider may
// be called from any thread; its backends live as long as it does. `ending` breaks a calibration
// off, by Stopped.
BackendProvider gpu_backends(ContextMaker make_context,
                             std::optional<std::filesystem::path> calibrations = calibration_file(),
                             Stop ending = {});

// The same with a context that needs no display: for the command line.
BackendProvider headless_backends();

}  // namespace attnscope
