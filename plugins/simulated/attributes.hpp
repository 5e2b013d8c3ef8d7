// Copies of attribute structs that outlive the call they came with.
#ifndef SIMULATED_ATTRIBUTES_HPP
#define SIMULATED_ATTRIBUTES_HPP

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace simulated {

class Attributes {
 public:
  // Copies `attributes` (NULL: none) of an op, lists and text included.
  Attributes(const std::string &op, const void *attributes);
  Attributes(const Attributes &) = delete;
  Attributes &operator=(const Attributes &) = delete;
  const void *get() const { return words_.empty() ? nullptr : words_.data(); }

 private:
  std::vector<uint64_t> words_;
  std::vector<std::vector<int64_t>> lists_;
  std::deque<std::string> texts_;  // which never moves what it holds
};

}  // namespace simulated

#endif
