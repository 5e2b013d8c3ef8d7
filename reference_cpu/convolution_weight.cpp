// The gradient of a convolution by its weight: a product of two matrices that nobody writes down, image
// places by window places and places by features. Some images at a time are copied, the results with the
// features of a place side by side, and tiles of window places x features go over all places. A sum's terms
// are added in one order, whatever the number of threads. 16-bit floats are summed in float32 and rounded
// once.
#include <memory>

#include "convolution_planes.hpp"
#include "convolution_shape.hpp"
#include "convolution_tiles.hpp"
#include "device_api/ops.h"
#include "error.hpp"
#include "families.hpp"
#include "pool.hpp"

namespace reference_cpu {
namespace {

constexpr int64_t kBatchBytes = 1 << 22;  // of the copies that are used together

// T is the type in memory, C the one to compute with.
template <class T, class C>
class WeightGradientPlan final : public Plan {
 public:
  explicit WeightGradientPlan(const Convolution &convolution)
      : shape_(convolution), grid_(forward_grid(convolution)), tiles_(tile_set<C>()) {
    sizes_ = grid_.count;
    for (size_t d = 0; d < 3; ++d) sizes_[d] += grid_.reach[d];
    plane_ = product(sizes_);
    planes_ = static_cast<int64_t>(grid_.planes.size());
    pitch_ = (shape_.features + tiles_.lanes - 1) / tiles_.lanes * tiles_.lanes;
    for (int64_t c = 0; c < shape_.channels; ++c) {
      for (const Tap &tap : grid_.taps) {
        const int64_t place = (tap.offset[0] * sizes_[1] + tap.offset[1]) * sizes_[2] + tap.offset[2];
        offsets_.push_back((c * planes_ + tap.plane) * plane_ + place);
      }
    }
    image_ = shape_.channels * planes_ * plane_;
    upstream_ = product(shape_.result) * pitch_;
    const int64_t bytes = static_cast<int64_t>(sizeof(C)) * (image_ + upstream_);
    batch_ = std::clamp<int64_t>(kBatchBytes / std::max<int64_t>(1, bytes), 1,
                                 std::max<int64_t>(1, shape_.images));
    for (int64_t image = 0; image < batch_; ++image) {
      for (int64_t d = 0; d < grid_.count[0]; ++d) {
        for (int64_t h = 0; h < grid_.count[1]; ++h) {
          starts_.push_back(image * image_ + (d * sizes_[1] + h) * sizes_[2]);
        }
      }
    }
  }

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    const T *source = reinterpret_cast<const T *>(address(inputs[0]));
    const T *upstream = reinterpret_cast<const T *>(address(inputs[1]));
    T *result = reinterpret_cast<T *>(address(outputs[0]));
    const std::unique_ptr<C[]> images(new C[static_cast<size_t>(batch_ * image_)]);
    const std::unique_ptr<C[]> results(new C[static_cast<size_t>(batch_ * upstream_)]);
    const int64_t terms = static_cast<int64_t>(offsets_.size());
    std::unique_ptr<C[]> sums(new C[static_cast<size_t>(terms * pitch_)]);
    for (int64_t group = 0; group < shape_.groups; ++group) {
      std::fill(sums.get(), sums.get() + terms * pitch_, C(0));
      for (int64_t first = 0; first < shape_.images; first += batch_) {
        const int64_t count = std::min(batch_, shape_.images - first);
        copy(images.get(), results.get(), source, upstream, group, first, count);
        add_up(sums.get(), images.get(), results.get(), count);
      }
      write(result + group * shape_.features * terms, sums.get(), terms);
    }
  }

 private:
  void copy(C *images, C *results, const T *source, const T *upstream, int64_t group, int64_t first,
            int64_t count) const {
    parallel_for(count * shape_.channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t image = first + i / shape_.channels, c = i % shape_.channels;
        const int64_t channel = (image * shape_.groups + group) * shape_.channels + c;
        C *to = images + i * planes_ * plane_;
        for (const Plane &plane : grid_.planes) {
          copy_plane(to, sizes_, source + channel * product(shape_.image), shape_.image, plane);
          to += plane_;
        }
      }
    });
    const int64_t places = product(shape_.result);
    parallel_for(count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T *from = upstream + ((first + i) * shape_.groups + group) * shape_.features * places;
        turn(results + i * upstream_, from, places);
      }
    });
  }

  // (features, places) -> (places, pitch), with zeros behind the features.
  void turn(C *to, const T *from, int64_t places) const {
    constexpr int64_t kBlock = 16;
    for (int64_t p = 0; p < places; p += kBlock) {
      const int64_t end = std::min(places, p + kBlock);
      for (int64_t f = 0; f < shape_.features; ++f) {
        for (int64_t q = p; q < end; ++q) to[q * pitch_ + f] = static_cast<C>(widen(from[f * places + q]));
      }
      for (int64_t q = p; q < end; ++q) {
        std::fill(to + q * pitch_ + shape_.features, to + (q + 1) * pitch_, C(0));
      }
    }
  }

  void add_up(C *sums, const C *images, const C *results, int64_t count) const {
    const Lines lines{starts_.data(), count * grid_.count[0] * grid_.count[1], grid_.count[2]};
    const int64_t terms = static_cast<int64_t>(offsets_.size());
    parallel_for((terms + tiles_.rows - 1) / tiles_.rows, 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin * tiles_.rows; row < std::min(terms, end * tiles_.rows); row += tiles_.rows) {
        const int64_t rows = std::min<int64_t>(tiles_.rows, terms - row);
        for (int64_t f = 0; f < pitch_;) {
          const int64_t vectors = next_part((pitch_ - f) / tiles_.lanes, tiles_.vectors);
          tiles_.weight[rows - 1][vectors - 1](sums + row * pitch_ + f, results + f, pitch_, images,
                                               offsets_.data() + row, lines);
          f += vectors * tiles_.lanes;
        }
      }
    });
  }

  // (terms, pitch) -> (features, terms)
  void write(T *result, const C *sums, int64_t terms) const {
    for (int64_t f = 0; f < shape_.features; ++f) {
      for (int64_t i = 0; i < terms; ++i) {
        if constexpr (std::is_same_v<T, C>) {
          result[f * terms + i] = sums[i * pitch_ + f];
        } else {
          result[f * terms + i] = narrow<T>(sums[i * pitch_ + f]);
        }
      }
    }
  }

  Convolution shape_;
  Grid grid_;
  const TileSet<C> &tiles_;
  Axes sizes_;                    // of a plane
  int64_t plane_, planes_;        // elements of one, and how many there are for a channel
  int64_t pitch_;                 // features of a place, up to whole vectors
  int64_t image_, upstream_;      // elements of the copies for one image
  int64_t batch_;                 // images at a time
  std::vector<int64_t> offsets_;  // of each channel and window place
  std::vector<int64_t> starts_;   // of the lines of places, in the copies of a batch
};

}  // namespace

std::unique_ptr<Plan> build_convolution_weight_gradient(const Request &request) {
  const auto &a = attributes_of<da_attributes_convolution_weight_gradient>(request.attributes);
  const Convolution c =
      convolution_of({request.in(0).dl, request.out().dl, request.in(1).dl, a.stride_count, a.stride,
                      a.padding_count, a.padding, a.dilation_count, a.dilation, a.groups});
  switch (request.out().dtype) {
    case DA_FLOAT16:
      return std::make_unique<WeightGradientPlan<float16, float>>(c);
    case DA_BFLOAT16:
      return std::make_unique<WeightGradientPlan<bfloat16, float>>(c);
    case DA_FLOAT32:
      return std::make_unique<WeightGradientPlan<float, float>>(c);
    default:
      return std::make_unique<WeightGradientPlan<double, double>>(c);
  }
}

}  // namespace reference_cpu
