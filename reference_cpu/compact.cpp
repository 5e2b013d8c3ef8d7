// compact: the positions of true elements, in order, and how many there are.
#include <cstring>

#include "families.hpp"

namespace reference_cpu {
namespace {

class CompactPlan final : public Plan {
 public:
  explicit CompactPlan(const Request &request)
      : length_(request.in(0).dl.shape[0]),
        mask_stride_(request.in(0).dl.strides[0]),
        index_stride_(request.out(0).dl.strides[0] * 8) {}

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    const char *mask = address(inputs[0]);
    char *index = address(outputs[0]);
    int64_t count = 0;
    for (int64_t i = 0; i < length_; ++i) {
      // Written in any case, and kept where the mask is true: count never passes i.
      std::memcpy(index + count * index_stride_, &i, sizeof(i));
      count += mask[i * mask_stride_] != 0;
    }
    constexpr int64_t zero = 0;
    for (int64_t i = count; i < length_; ++i) std::memcpy(index + i * index_stride_, &zero, sizeof(zero));
    std::memcpy(address(outputs[1]), &count, sizeof(count));
  }

 private:
  int64_t length_, mask_stride_, index_stride_;
};

}  // namespace

std::unique_ptr<Plan> build_compact(const Request &request) { return std::make_unique<CompactPlan>(request); }

}  // namespace reference_cpu
