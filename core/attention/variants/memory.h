// operation_numbers() of the variants that have large ones, each in its variant's file.
#pragma once

#include "core/attention/operation_memory.h"

namespace attnscope {

double performer_numbers(const MemoryInput& in);
double rfa_numbers(const MemoryInput& in);
double synthesizer_numbers(const MemoryInput& in);
double linformer_numbers(const MemoryInput& in);
double sinkhorn_numbers(const MemoryInput& in);
double gmlp_numbers(const MemoryInput& in);
double longformer_numbers(const MemoryInput& in);

}  // namespace attnscope
