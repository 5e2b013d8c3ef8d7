// Kernels of ops that a host would compose otherwise, for float32: what faults of gradients and of optimiser
// steps stand before. Every plugin of this folder on the CPU offers them; without a fault they are right.
#ifndef FAULTY_COMPOSITES_HPP
#define FAULTY_COMPOSITES_HPP

namespace faulty {

void offer_composites();

}  // namespace faulty

#endif
