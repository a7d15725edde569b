# Debian packages: `vernier` (programs, protos, guides, man pages, completion) and `libvernier-dev` (the library).
# scripts/package builds what they hold and runs cpack.
set(VERNIER_PACKAGE_CONTACT "Vernier packages <packages@vernier.invalid>" CACHE STRING
  "Maintainer field of the Debian packages: a name and an address")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME vernier)
set(CPACK_PACKAGE_CONTACT ${VERNIER_PACKAGE_CONTACT})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL programs library)
# cpack installs by components, one package for each.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME vernier)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS "python3")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SUGGESTS "podman, python3-venv, python3-xgboost, python3-torch, bash-completion")
set(CPACK_COMPONENT_PROGRAMS_DESCRIPTION
"Chooses hyperparameters, runs each choice as a training job on this machine,
reads the metrics that the job prints, stops what is not promising and goes
on. Every decision is recorded and survives a crash.
This package has the command vernier, the daemon vernierd, the definitions of
the gRPC service and the guides.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libvernier-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
# The library is static: whoever links it needs what it was built with.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS
  "libabsl-dev, libeigen3-dev, libfmt-dev, libnlopt-dev, libnlopt-cxx-dev, libre2-dev, libspdlog-dev, libcurl4-openssl-dev, libsqlite3-dev, libssl-dev, libyaml-cpp-dev, nlohmann-json3-dev")
# For vernier::client and vernier::server.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "libcli11-dev, libgrpc++-dev, libprotobuf-dev, protobuf-compiler-grpc")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
"The libraries of Vernier for programs that embed it: headers, static
libraries, a CMake package and pkg-config files.")

include(CPack)
