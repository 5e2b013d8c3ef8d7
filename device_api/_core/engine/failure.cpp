#include "failure.hpp"

namespace device_api {

Failure *translate(const da_error_interface *errors, da_error *error, const char *entry) {
  if (error == nullptr) return nullptr;
  if (error == host_error())
    return fail(DA_STATUS_OUT_OF_MEMORY, entry, "the host could not serve scratch memory");
  int32_t code = errors->code(error);
  const char *text = errors->message(error);
  std::string message = text != nullptr && text[0] != '\0' ? text : "the plugin gave no message";
  errors->destroy(error);
  return fail(code, entry, std::move(message));
}

Failure *fail(int32_t code, const char *entry, std::string message) {
  return new Failure{code, entry, std::move(message)};
}

da_error *host_error() {
  static char place;
  return reinterpret_cast<da_error *>(&place);
}

}  // namespace device_api
