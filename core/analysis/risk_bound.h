// Upper confidence bounds on a risk, from a sample: the basis of calibration by "learn then test"
// (Angelopoulos et al., 2021, Learn then test, arXiv:2110.01052; for exits Schuster et al., 2022,
// Confident adaptive language modeling, arXiv:2207.07061).
#pragma once

#include "core/base/index.h"

namespace attnscope {

// The Hoeffding-Bentkus p-value of the hypothesis that the expected risk is above `tolerance`, from
// the mean of `count` independent risks, each from 0 to 1 (Bates et al., 2021, Distribution-free,
// risk-controlling prediction sets, arXiv:2101.02703). With R = mean, n = count, t = tolerance:
//   min( exp(-n h(min(R, t), t)), e P(Bin(n, t) <= ceil(n R)) ),
//   h(a, b) = a ln(a/b) + (1 - a) ln((1 - a)/(1 - b)).
// Returns 1 for an empty sample. tolerance: in (0, 1).
double hoeffding_bentkus(double mean, Index count, double tolerance);

}  // namespace attnscope
