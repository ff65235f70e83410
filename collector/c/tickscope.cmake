# find_package(tickscope CONFIG REQUIRED)
# target_link_libraries(app PRIVATE tickscope::tickscope)           # libtickscope.a
# target_link_libraries(app PRIVATE tickscope::shared)              # libtickscope.so
# target_compile_options(app PRIVATE -finstrument-functions)        # every function of app, without a line of code
if(NOT TARGET tickscope::tickscope)
  find_package(Threads REQUIRED)
  add_library(tickscope::tickscope STATIC IMPORTED)
  set_target_properties(tickscope::tickscope PROPERTIES
    IMPORTED_LOCATION "@LIBDIR@/libtickscope.a"
    INTERFACE_INCLUDE_DIRECTORIES "@INCLUDEDIR@"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
  add_library(tickscope::shared SHARED IMPORTED)
  set_target_properties(tickscope::shared PROPERTIES
    IMPORTED_LOCATION "@LIBDIR@/libtickscope.so"
    IMPORTED_SONAME "libtickscope.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "@INCLUDEDIR@")
endif()
