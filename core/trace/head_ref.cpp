#include "core/trace/head_ref.h"

#include "core/base/error.h"

namespace attnscope {

TracePart part_of(const Address& address) {
  return {address.stack, address.kind, address.step, address.segment};
}

std::string name_of(Stack stack) {
  return stack == Stack::Encoder ? "encoder" : "decoder";
}

std::string name_of(AttentionKind kind) {
  return kind == AttentionKind::Cross ? "cross" : "self";
}

Stack stack_from_name(const std::string& name, const std::string& path) {
  for (const Stack stack : {Stack::Encoder, Stack::Decoder}) {
    if (name == name_of(stack)) return stack;
  }
  throw InputError(path + ": expected encoder or decoder, found \"" + name + "\"");
}

AttentionKind kind_from_name(const std::string& name, const std::string& path) {
  for (const AttentionKind kind : {AttentionKind::Self, AttentionKind::Cross}) {
    if (name == name_of(kind)) return kind;
  }
  throw InputError(path + ": expected self or cross, found \"" + name + "\"");
}

std::string describe_part(const AddressParts& parts, const TracePart& part) {
  std::string description;
  const auto add = [&description](const std::string& word) {
    if (!description.empty()) description += ", ";
    description += word;
  };
  if (parts.stack) add(name_of(part.stack));
  // An encoder has self-attention only.
  if (parts.kind && part.stack == Stack::Decoder) add(name_of(part.kind) + "-attention");
  if (parts.step) add("step " + std::to_string(part.step));
  if (parts.segment) add("segment " + std::to_string(part.segment));
  return description;
}

std::string describe_head(const AddressParts& parts, const HeadRef& ref) {
  std::string description = describe_part(parts, ref.part);
  if (!description.empty()) description += ", ";
  return description + "layer " + std::to_string(ref.layer) + ", head " + std::to_string(ref.head);
}

}  // namespace attnscope
