#include "core/model/output_softmax.h"

#include "core/base/find_by_id.h"

namespace attnscope {

const std::vector<OutputSoftmax>& output_softmaxes() {
  static const std::vector<OutputSoftmax> list{plain_softmax(), mixture_softmax(),
                                               adaptive_softmax()};
  return list;
}

const OutputSoftmax& output_softmax(std::string_view id) {
  return find_by_id(output_softmaxes(), id, "softmax.type");
}

}  // namespace attnscope
