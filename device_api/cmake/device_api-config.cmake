# The CMake package for vendors: the headers, as the target device_api::headers. There is no library to link: a
# plugin has no undefined host symbol.
#
#     find_package(device_api 0.9 REQUIRED)
#     add_library(acme MODULE plugin.c)
#     target_link_libraries(acme PRIVATE device_api::headers)
#
# The version asked for is that of the ABI (DA_ABI_MAJOR.DA_ABI_MINOR in base.h), not of the Python package.
get_filename_component(device_api_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/../include" ABSOLUTE)
if(NOT TARGET device_api::headers)
  add_library(device_api::headers INTERFACE IMPORTED)
  set_target_properties(device_api::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${device_api_INCLUDE_DIR}")
endif()
