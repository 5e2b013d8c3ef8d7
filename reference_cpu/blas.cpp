// See blas.hpp.
#include "blas.hpp"

#include <dlfcn.h>
#if defined(__linux__)
#include <link.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

namespace reference_cpu {
namespace {

std::atomic<const da_host *> log_host{nullptr};

constexpr const char *kLibrary = "libscipy_openblas.so";

std::string plugin_folder() {
  Dl_info found;
  if (dladdr(reinterpret_cast<void *>(&plugin_folder), &found) == 0 || found.dli_fname == nullptr) return ".";
  const std::string path = found.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// The site-packages folders among the paths of what this process has loaded, each once.
std::vector<std::string> package_folders() {
  std::vector<std::string> folders;
#if defined(__linux__)
  const auto visit = [](dl_phdr_info *object, size_t, void *context) {
    auto &found = *static_cast<std::vector<std::string> *>(context);
    const std::string path = object->dlpi_name == nullptr ? "" : object->dlpi_name;
    const std::string name = "/site-packages/";
    const size_t place = path.find(name);
    if (place == std::string::npos) return 0;
    const std::string folder = path.substr(0, place + name.size());
    if (std::find(found.begin(), found.end(), folder) == found.end()) found.push_back(folder);
    return 0;
  };
  dl_iterate_phdr(visit, &folders);
#endif
  return folders;
}

std::vector<std::string> candidates() {
#ifdef __GLIBC__
  const char *chosen = secure_getenv("DEVICE_API_CPU_BLAS");  // it names code to load
#else
  const char *chosen = std::getenv("DEVICE_API_CPU_BLAS");
#endif
  if (chosen != nullptr && *chosen != '\0') return {chosen};
  std::vector<std::string> folders = package_folders();
  folders.insert(folders.begin(), plugin_folder() + "/../");
  for (std::string &folder : folders) folder += std::string("scipy_openblas32/lib/") + kLibrary;
  return folders;
}

bool resolve(void *library, Blas &table) {
  const auto find = [library](const char *name, auto &slot) {
    slot = reinterpret_cast<std::decay_t<decltype(slot)>>(dlsym(library, name));
    return slot != nullptr;
  };
  void (*set_threads)(int) = nullptr;
  if (!find("scipy_openblas_set_num_threads", set_threads) || !find("scipy_cblas_sgemm", table.sgemm) ||
      !find("scipy_cblas_dgemm", table.dgemm) || !find("scipy_cblas_cgemm", table.cgemm) ||
      !find("scipy_cblas_zgemm", table.zgemm)) {
    return false;
  }
  set_threads(1);
  return true;
}

const Blas *open_blas() {
  std::string problems;
  for (const std::string &path : candidates()) {
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      problems += std::string("; ") + dlerror();
      continue;
    }
    static Blas table;
    if (resolve(library, table)) return &table;
    dlclose(library);
    problems += "; " + path + " lacks a scipy_cblas_?gemm function";
  }
  const da_host *host = log_host.load();
  if (host != nullptr) {
    const std::string text =
        "reference_cpu: OpenBLAS was not found, so large matrix products run on slower "
        "loops; install scipy-openblas32 beside the plugin or set DEVICE_API_CPU_BLAS" +
        problems;
    host->log(host->context, DA_LOG_WARNING, text.c_str());
  }
  return nullptr;
}

}  // namespace

const Blas *blas() {
  static const Blas *const found = open_blas();
  return found;
}

void set_blas_log(const da_host *host) { log_host.store(host); }

}  // namespace reference_cpu
