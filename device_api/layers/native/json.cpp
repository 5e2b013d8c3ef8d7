#include "json.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace device_api::layers {

namespace {

// The length of the UTF-8 sequence at `text`, 0 when there is none.
size_t sequence_length(const unsigned char *text) {
  const unsigned char lead = text[0];
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xc2 && lead < 0xe0 ? 2
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                                                      : 0;
  for (size_t i = 1; i < length; ++i)
    if ((text[i] & 0xc0) != 0x80) return 0;
  return length;
}

}  // namespace

bool is_utf8(const char *text) {
  for (const unsigned char *c = reinterpret_cast<const unsigned char *>(text); *c != 0;) {
    const size_t length = sequence_length(c);
    if (length == 0) return false;
    c += length;
  }
  return true;
}

void Json::key(const char *name) {
  if (comma_) text_ += ',';
  comma_ = true;
  if (name == nullptr) return;
  quoted(name);
  text_ += ':';
}

void Json::quoted(const char *value) {
  text_ += '"';
  for (const unsigned char *c = reinterpret_cast<const unsigned char *>(value); *c != 0;) {
    const size_t length = sequence_length(c);
    if (length == 0) {
      text_ += "\\ufffd";
      ++c;
    } else if (length > 1) {
      text_.append(reinterpret_cast<const char *>(c), length);
      c += length;
    } else {
      if (*c == '"' || *c == '\\') {
        text_ += '\\';
        text_ += static_cast<char>(*c);
      } else if (*c < 0x20) {
        char escaped[8];
        std::snprintf(escaped, sizeof(escaped), "\\u%04x", *c);
        text_ += escaped;
      } else {
        text_ += static_cast<char>(*c);
      }
      ++c;
    }
  }
  text_ += '"';
}

void Json::begin_object(const char *name) {
  key(name);
  text_ += '{';
  comma_ = false;
}

void Json::end_object() {
  text_ += '}';
  comma_ = true;
}

void Json::begin_array(const char *name) {
  key(name);
  text_ += '[';
  comma_ = false;
}

void Json::end_array() {
  text_ += ']';
  comma_ = true;
}

void Json::text(const char *name, const char *value) {
  key(name);
  if (value == nullptr) {
    text_ += "null";
  } else {
    quoted(value);
  }
}

void Json::number(const char *name, uint64_t value) {
  key(name);
  text_ += std::to_string(value);
}

void Json::number(const char *name, int64_t value) {
  key(name);
  text_ += std::to_string(value);
}

void Json::number(const char *name, double value) {
  key(name);
  char text[40];
  std::snprintf(text, sizeof(text), std::isfinite(value) ? "%.17g" : "\"%g\"", value);
  text_ += text;
}

void Json::boolean(const char *name, bool value) {
  key(name);
  text_ += value ? "true" : "false";
}

void Json::null(const char *name) {
  key(name);
  text_ += "null";
}

void Json::address(const char *name, const void *value) {
  if (value == nullptr) return null(name);
  key(name);
  char text[24];
  std::snprintf(text, sizeof(text), "\"0x%llx\"",
                static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(value)));
  text_ += text;
}

void Json::bytes(const char *name, const void *data, uint64_t size) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  key(name);
  text_ += '"';
  const unsigned char *in = static_cast<const unsigned char *>(data);
  for (uint64_t i = 0; i < size; i += 3) {
    const uint64_t left = size - i;
    const uint32_t group = static_cast<uint32_t>(in[i]) << 16 |
                           (left > 1 ? static_cast<uint32_t>(in[i + 1]) << 8 : 0) |
                           (left > 2 ? static_cast<uint32_t>(in[i + 2]) : 0);
    text_ += digits[group >> 18];
    text_ += digits[group >> 12 & 63];
    text_ += left > 1 ? digits[group >> 6 & 63] : '=';
    text_ += left > 2 ? digits[group & 63] : '=';
  }
  text_ += '"';
}

}  // namespace device_api::layers
