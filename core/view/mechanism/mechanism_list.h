// Declarations of the mechanisms, one file each. mechanism.cpp lists them in order.
#pragma once

#include "core/view/mechanism/mechanism.h"

namespace attnscope {

Mechanism lsh_mechanism();
Mechanism routing_mechanism();
Mechanism sinkhorn_mechanism();
Mechanism capsules_mechanism();
Mechanism windows_mechanism();
Mechanism approximation_mechanism();
Mechanism recurrence_mechanism();
Mechanism settling_mechanism();
Mechanism errors_mechanism();
Mechanism generated_mechanism();
Mechanism convolution_mechanism();
Mechanism edges_mechanism();
Mechanism rules_mechanism();  // last, because it fits every head

// For all methods; shown only if selected.
Mechanism paths_mechanism();
Mechanism replaced_mechanism();
Mechanism lookup_mechanism();
Mechanism sharing_mechanism();
Mechanism tiles_mechanism();  // full attention only

}  // namespace attnscope
