# The version of the ABI, read from the header that defines it. One major is compatible in both directions at run
# time; to compile, the headers must be at least as new as the minor that the plugin asks for.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../include/device_api/base.h" _device_api_lines
     REGEX "^#define DA_ABI_(MAJOR|MINOR) +[0-9]+")
string(REGEX REPLACE ".*DA_ABI_MAJOR +([0-9]+).*" "\\1" _device_api_major "${_device_api_lines}")
string(REGEX REPLACE ".*DA_ABI_MINOR +([0-9]+).*" "\\1" _device_api_minor "${_device_api_lines}")
set(PACKAGE_VERSION "${_device_api_major}.${_device_api_minor}")
set(PACKAGE_VERSION_COMPATIBLE FALSE)
if("${PACKAGE_FIND_VERSION}" STREQUAL "")
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
elseif("${PACKAGE_FIND_VERSION_MAJOR}" STREQUAL "${_device_api_major}"
       AND NOT "${PACKAGE_FIND_VERSION_MINOR}" GREATER "${_device_api_minor}")
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if("${PACKAGE_FIND_VERSION_MINOR}" STREQUAL "${_device_api_minor}")
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
