# Language level, warnings, sanitizers: the only place where compiler flags are set.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

# Wider vectors make the Gaussian process faster: 1.6 times at 100 trials with AVX2. Not by default: the program then
# runs on any x86-64, and suggestions are the same bits on all of them (the instruction set is part of the fingerprint
# that replay compares).
set(VERNIER_MARCH "" CACHE STRING "Instruction set to build for: x86-64-v3 (AVX2), x86-64-v4 (AVX-512), native; empty: any")
if(VERNIER_MARCH)
  add_compile_options(-march=${VERNIER_MARCH})
endif()

find_program(VERNIER_CCACHE ccache)
if(VERNIER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths are made relative, so that every build folder and checkout of the same depth shares the cache; with precompiled
  # headers it only works if it may overlook __TIME__ and macros that they do not use.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${VERNIER_CCACHE})
endif()
# Of all that share a precompiled header: some would have -pthread and FMT_SHARED from their libraries, others not; and ccache
# looks into those of GCC only with -fpch-preprocess. GCC 12 warns of copies inside std::string that cannot go wrong, and
# takes them for ours once they come from a precompiled header.
set(VERNIER_PRECOMPILED_OPTIONS -pthread -DFMT_SHARED)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND VERNIER_PRECOMPILED_OPTIONS -fpch-preprocess
    -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
endif()
find_program(VERNIER_MOLD mold)
if(VERNIER_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
# A linker leaves out what a program does not call by sections, and an object holds forty files.
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections)

option(VERNIER_WERROR "Treat warnings as errors" OFF)
add_library(vernier_warnings INTERFACE)
target_compile_options(vernier_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wno-missing-field-initializers)
if(VERNIER_MARCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns of its own AVX-512 header.
  target_compile_options(vernier_warnings INTERFACE -Wno-uninitialized -Wno-maybe-uninitialized)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(vernier_warnings INTERFACE -Wthread-safety)
endif()
if(VERNIER_WERROR)
  target_compile_options(vernier_warnings INTERFACE -Werror)
endif()

if(VERNIER_SANITIZE)
  # Null and misaligned accesses cost a quarter of the compile time; a null one ends the program anyway.
  set(VERNIER_SANITIZER_OPTIONS -fsanitize=${VERNIER_SANITIZE} -fno-sanitize=null,alignment -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  if(VERNIER_SANITIZE MATCHES address AND NOT VERNIER_MARCH)
    # As Eigen has it without AddressSanitizer: libraries and tests, which are compiled without, free each other's blocks of memory.
    list(APPEND VERNIER_SANITIZER_OPTIONS -DEIGEN_MALLOC_ALREADY_ALIGNED=1)
  endif()
  add_compile_options(${VERNIER_SANITIZER_OPTIONS})
  add_link_options(-fsanitize=${VERNIER_SANITIZE})
endif()

# Of tests in the release build, which takes longer with lines for a debugger: GoogleTest says itself where a test failed.
set(VERNIER_TEST_OPTIONS $<$<CONFIG:RelWithDebInfo>:-g0>)

# Of the directory that calls it, and those that it adds: compiled without sanitizers, and with the options of the release preset, so
# that ccache has the objects if that was built before. For code that is not ours, and for tests, where half of the compile time goes.
# What a test's code does itself is then not looked at; what it calls is.
macro(vernier_compile_as_release)
  set(CMAKE_CXX_FLAGS_DEBUG "-O2 -g1 -DNDEBUG")
  set(VERNIER_TEST_OPTIONS -g0)
  get_directory_property(vernier_options COMPILE_OPTIONS)
  list(REMOVE_ITEM vernier_options ${VERNIER_SANITIZER_OPTIONS} -U__SANITIZE_THREAD__)
  set_directory_properties(PROPERTIES COMPILE_OPTIONS "${vernier_options}")
endmacro()
