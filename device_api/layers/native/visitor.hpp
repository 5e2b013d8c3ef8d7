// What walks over the arguments of a call (`each` of generated/slots.hpp) and does nothing. A visitor derives
// from it and declares the kinds of arguments it cares about.
#ifndef DEVICE_API_LAYERS_VISITOR_HPP
#define DEVICE_API_LAYERS_VISITOR_HPP

namespace device_api::layers {

struct Visitor {
  template <class... T>
  void handle(T...) {}
  template <class... T>
  void number(T...) {}
  template <class... T>
  void pointer(T...) {}
  template <class... T>
  void text(T...) {}
  template <class... T>
  void bytes(T...) {}
  template <class... T>
  void tensor(T...) {}
  template <class... T>
  void tensors(T...) {}
  template <class... T>
  void attributes(T...) {}
  template <class... T>
  void structure(T...) {}
  template <class... T>
  void entry(T...) {}
  template <class... T>
  void function(T...) {}
  template <class... T>
  void out(T...) {}
};

}  // namespace device_api::layers

#endif
