# What `cmake --install` gives: headers, static libraries, find_package(vernier), pkg-config, programs.
# The libraries are component `library`: vernier::vernier without gRPC and protobuf; vernier::client and vernier::server
# with them. The programs (vernier_program) and what comes with them are component `programs`.
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
if(VERNIER_SERVICE)
  install(EXPORT vernierServiceTargets NAMESPACE vernier:: DESTINATION ${config_dir} COMPONENT library)
endif()
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
set(pc_files vernier)
if(VERNIER_SERVICE)
  list(APPEND pc_files vernier-c vernier-client vernier-server)
endif()
foreach(file ${pc_files})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${file}.pc.in ${PROJECT_BINARY_DIR}/${file}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${file}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
endforeach()

# What comes with the programs: service definitions, guides and examples, man pages, completion, a systemd service.
if(TARGET vernier)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/proto/ DESTINATION ${CMAKE_INSTALL_DATADIR}/vernier/proto
    COMPONENT programs FILES_MATCHING PATTERN "*.proto")
  foreach(section 1 8)
    file(GLOB pages ${PROJECT_SOURCE_DIR}/docs/man/*.${section})
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT programs)
  endforeach()
  install(FILES README.md ARCHITECTURE.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT programs)
  install(FILES docs/benchmarks.md docs/comparison.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT programs)
  install(DIRECTORY docs/guides docs/formats docs/adr docs/research docs/images DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs
    COMPONENT programs)
  install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT programs
    PATTERN "__pycache__" EXCLUDE PATTERN "out" EXCLUDE PATTERN "runs" EXCLUDE)
  install(FILES cmake/vernierd.service DESTINATION lib/systemd/user COMPONENT programs)
  # The command writes its own completion.
  foreach(shell bash zsh fish)
    set(folder_bash bash-completion/completions)
    set(file_bash vernier)
    set(folder_zsh zsh/vendor-completions)
    set(file_zsh _vernier)
    set(folder_fish fish/vendor_completions.d)
    set(file_fish vernier.fish)
    install(CODE "
      execute_process(COMMAND \"$<TARGET_FILE:vernier>\" completion ${shell}
        OUTPUT_FILE \"${PROJECT_BINARY_DIR}/completion.${shell}\" COMMAND_ERROR_IS_FATAL ANY)
      file(INSTALL FILES \"${PROJECT_BINARY_DIR}/completion.${shell}\" RENAME ${file_${shell}}
        DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/${folder_${shell}}\")"
      COMPONENT programs)
  endforeach()
endif()
