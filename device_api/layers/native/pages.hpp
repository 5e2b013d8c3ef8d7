// Memory of the layer's own, straight from the system. What a layer remembers for long must not lie between
// the blocks of the plugin it watches: one small node behind each freed block would keep the plugin's heap
// from shrinking.
#ifndef DEVICE_API_LAYERS_PAGES_HPP
#define DEVICE_API_LAYERS_PAGES_HPP

#include <sys/mman.h>

#include <memory_resource>
#include <new>

namespace device_api::layers {

class Pages final : public std::pmr::memory_resource {
 private:
  void *do_allocate(size_t bytes, size_t) override {
    void *place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw std::bad_alloc();
    return place;
  }
  void do_deallocate(void *place, size_t bytes, size_t) override { munmap(place, bytes); }
  bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override { return this == &other; }
};

}  // namespace device_api::layers

#endif
