// Writes JSON text, one value after the other.
#ifndef DEVICE_API_LAYERS_JSON_HPP
#define DEVICE_API_LAYERS_JSON_HPP

#include <cstdint>
#include <string>

namespace device_api::layers {

bool is_utf8(const char *text);

class Json {
 public:
  // Opens and closes; `key` names a member of an object, NULL an element of an array.
  void begin_object(const char *key = nullptr);
  void end_object();
  void begin_array(const char *key = nullptr);
  void end_array();

  void text(const char *key, const char *value);  // NULL becomes null
  void text(const char *key, const std::string &value) { text(key, value.c_str()); }
  void number(const char *key, uint64_t value);
  void number(const char *key, int64_t value);
  void number(const char *key, double value);  // what JSON has no number for becomes text
  void boolean(const char *key, bool value);
  void null(const char *key);
  // A handle or an address, as hexadecimal text; NULL becomes null.
  void address(const char *key, const void *value);
  // Bytes as base64 text.
  void bytes(const char *key, const void *data, uint64_t size);

  const std::string &result() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  void key(const char *name);
  void quoted(const char *value);

  std::string text_;
  bool comma_ = false;
};

}  // namespace device_api::layers

#endif
