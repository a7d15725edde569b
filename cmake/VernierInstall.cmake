# What `cmake --install` gives: headers, static libraries, find_package(vernier), pkg-config, programs.
# The library half (no gRPC, no protobuf) is component `library`; the programs are component `programs`.
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/vernier DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT library FILES_MATCHING PATTERN "*.h")

# vernier::vernier: everything that a program which embeds Vernier links.
get_property(exported GLOBAL PROPERTY VERNIER_EXPORTED)
add_library(vernier_vernier INTERFACE)
add_library(vernier::vernier ALIAS vernier_vernier)
set_target_properties(vernier_vernier PROPERTIES EXPORT_NAME vernier)
list(TRANSFORM exported PREPEND vernier_ OUTPUT_VARIABLE exported_targets)
target_link_libraries(vernier_vernier INTERFACE ${exported_targets})
install(TARGETS vernier_vernier EXPORT vernierTargets COMPONENT library)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/vernier)
install(EXPORT vernierTargets NAMESPACE vernier:: DESTINATION ${config_dir} COMPONENT library)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/vernierConfig.cmake.in
  ${PROJECT_BINARY_DIR}/vernierConfig.cmake INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/vernierConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/vernierConfig.cmake ${PROJECT_BINARY_DIR}/vernierConfigVersion.cmake
  DESTINATION ${config_dir} COMPONENT library)

# Static libraries are linked users first.
set(libraries ${exported})
list(REVERSE libraries)
list(TRANSFORM libraries PREPEND "-lvernier_")
list(JOIN libraries " " VERNIER_PC_LIBRARIES)
# Found from where the file is, so that the package may be moved.
file(RELATIVE_PATH VERNIER_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/vernier.pc.in ${PROJECT_BINARY_DIR}/vernier.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/vernier.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)

foreach(program vernier vernierd vernier-supervisor)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)
  endif()
endforeach()
