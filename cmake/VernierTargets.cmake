# Loops over arrays are what the target does, so that -O3 pays.
function(vernier_numerical target)
  # «omp simd» alone, for sums whose order is free; no threads, no library.
  target_compile_options(${target} PRIVATE -fopenmp-simd)
  # At -O3, GCC 12 takes members of structs for uninitialised that are not.
  target_compile_options(${target} PRIVATE
    $<$<CONFIG:RelWithDebInfo>:-O3>
    $<$<AND:$<CONFIG:RelWithDebInfo>,$<CXX_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized>)
  if(VERNIER_SANITIZE)  # The presets of sanitizers may optimise nothing else, which takes two thirds of the time.
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# Compiles forty files of a target at a time: most of the time goes into headers and templates, which files share. So names at the
# level of files, in unnamed namespaces too, are unique in a target (tools/check_names.py).
function(vernier_merge target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${VERNIER_MERGE_FILES} UNITY_BUILD_BATCH_SIZE 40)
endfunction()

# vernier_headers(NAME HEADER … [DEPS …] [NUMERICAL])
#   A precompiled header for the libraries that are given HEADERS NAME. Owned by a library: what is compiled into programs is
#   placed otherwise.
function(vernier_headers name)
  cmake_parse_arguments(arg "NUMERICAL" "" "DEPS" ${ARGN})
  add_library(vernier_headers_${name} STATIC ${PROJECT_SOURCE_DIR}/cmake/headers/precompiled.cc)
  target_link_libraries(vernier_headers_${name} PRIVATE ${arg_DEPS} vernier_warnings)
  target_compile_options(vernier_headers_${name} PRIVATE ${VERNIER_PRECOMPILED_OPTIONS})
  if(arg_NUMERICAL)
    vernier_numerical(vernier_headers_${name})
  endif()
  target_precompile_headers(vernier_headers_${name} PRIVATE ${arg_UNPARSED_ARGUMENTS})
endfunction()

# vernier_library(NAME SOURCES … [DEPS …] [PRIVATE_DEPS …] [NO_EXPORT | SERVICE] [NUMERICAL | COLD] [HEADERS NAME])
#   One static library for each folder: target vernier_NAME, alias vernier::NAME. Exported with the package: as a part of
#   vernier::vernier, or, since it needs gRPC (SERVICE), of vernier::client and vernier::server. NO_EXPORT: of nothing.
#   COLD: runs seldom, so that less optimisation, which takes two thirds of the time to compile, slows nothing.
#   HEADERS: the precompiled header, of vernier_headers; numerical, service or common, if not given.
function(vernier_library name)
  cmake_parse_arguments(arg "NO_EXPORT;SERVICE;NUMERICAL;COLD" "HEADERS" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(vernier_${name} STATIC ${arg_SOURCES})
  add_library(vernier::${name} ALIAS vernier_${name})
  set_target_properties(vernier_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(vernier_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(vernier_${name} PUBLIC cxx_std_20)
  target_link_libraries(vernier_${name}
    PUBLIC ${arg_DEPS}
    PRIVATE ${arg_PRIVATE_DEPS} $<BUILD_INTERFACE:vernier_warnings>)
  if(arg_NUMERICAL)
    vernier_numerical(vernier_${name})
    set(arg_HEADERS numerical)
  elseif(arg_SERVICE AND (NOT arg_HEADERS OR VERNIER_SANITIZE MATCHES thread))
    set(arg_HEADERS service)  # Under ThreadSanitizer, what knows gRPC is compiled without a macro that the others have.
  elseif(NOT arg_HEADERS)
    set(arg_HEADERS common)
  endif()
  if(NOT arg_NUMERICAL OR VERNIER_SANITIZE)  # What is inlined where decides the last bits of numbers, which sanitizers may change.
    vernier_merge(vernier_${name})
  endif()
  target_precompile_headers(vernier_${name} REUSE_FROM vernier_headers_${arg_HEADERS})
  target_compile_options(vernier_${name} PRIVATE ${VERNIER_PRECOMPILED_OPTIONS}
    $<$<AND:$<BOOL:${arg_COLD}>,$<CONFIG:RelWithDebInfo>>:-O1>)
  if(arg_SERVICE)
    install(TARGETS vernier_${name} EXPORT vernierServiceTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
      COMPONENT library)
  elseif(NOT arg_NO_EXPORT)
    install(TARGETS vernier_${name} EXPORT vernierTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
      COMPONENT library)
    set_property(GLOBAL APPEND PROPERTY VERNIER_EXPORTED ${name})  # Leaves first, as they are defined.
  endif()
endfunction()

# vernier_program(NAME SOURCES … DEPS …)
#   A program that is installed.
function(vernier_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} vernier_warnings)
  vernier_link_sanitizer(${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)
endfunction()

function(vernier_link_sanitizer name)
  if(VERNIER_SANITIZE MATCHES thread)
    target_link_libraries(${name} PRIVATE vernier_tsan)
  endif()
endfunction()

# The value of an option that was not given.
macro(vernier_default option value)
  if(NOT ${option})
    set(${option} ${value})
  endif()
endmacro()

# vernier_test(NAME SOURCES … [DEPS …] [LABELS …] [TIMEOUT seconds] [COST seconds] [ENVIRONMENT …] [OPTIMISED] [ONE_THREAD])
#   One GoogleTest program, each of its tests known to ctest. LABELS default to unit. Compiling a test well takes longer than
#   running it badly, so its own files are not optimised, unless they compute much, or share inline functions with code
#   whose numbers depend on how it is compiled (Eigen). ONE_THREAD: starts no thread and nor does what it tests, so that
#   ThreadSanitizer has nothing to see and does without it. COST: about how long the program takes, if long; ctest starts the
#   longest first, so that none is left alone at the end.
function(vernier_test name)
  cmake_parse_arguments(arg "OPTIMISED;ONE_THREAD" "TIMEOUT;COST" "SOURCES;DEPS;LABELS;ENVIRONMENT" ${ARGN})
  if(arg_ONE_THREAD AND VERNIER_SANITIZE MATCHES thread)
    return()
  endif()
  vernier_default(arg_LABELS unit)
  vernier_default(arg_TIMEOUT 60)
  vernier_default(arg_COST 0)
  add_executable(${name} ${arg_SOURCES})
  list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL APPEND PROPERTY VERNIER_TEST_SOURCES ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} GTest::gmock GTest::gtest GTest::gtest_main vernier_warnings)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(arg_OPTIMISED)
    target_compile_options(${name} PRIVATE ${VERNIER_OPTIMISED_TEST_OPTIONS} ${VERNIER_TEST_OPTIONS})
    target_precompile_headers(${name} REUSE_FROM vernier_test_headers_optimised)
  else()
    target_compile_options(${name} PRIVATE -O0 ${VERNIER_TEST_OPTIONS})
    target_precompile_headers(${name} REUSE_FROM vernier_test_headers)
  endif()
  vernier_merge(${name})
  target_compile_options(${name} PRIVATE ${VERNIER_PRECOMPILED_OPTIONS})
  vernier_link_sanitizer(${name})
  vernier_discover_tests(${name} LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} COST ${arg_COST}
    ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()

# vernier_discover_tests(PROGRAM LABELS … TIMEOUT seconds [COST seconds] [PREFIX prefix] [FILTER filter] [ENVIRONMENT …])
#   Makes the tests of a GoogleTest program that FILTER selects known to ctest, as PREFIX and their names. With sanitizers a program
#   starts slowly: there a test is a share of the program's tests, as many as six files have.
function(vernier_discover_tests program)
  cmake_parse_arguments(arg "" "TIMEOUT;COST;PREFIX;FILTER" "LABELS;ENVIRONMENT" ${ARGN})
  vernier_default(arg_COST 0)
  if(NOT VERNIER_SANITIZE)
    include(GoogleTest)
    if(NOT arg_LABELS STREQUAL "unit")
      set(load PROCESSORS 2)  # As LOAD of vernier_program_test, beside which these are run.
    endif()
    # Names alone: values would be printed as bytes, addresses among them.
    gtest_discover_tests(${program} DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES
      TEST_PREFIX "${arg_PREFIX}" TEST_FILTER "${arg_FILTER}"
      PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} COST ${arg_COST}
        ENVIRONMENT "${arg_ENVIRONMENT}" ${load})
    return()
  endif()
  if(arg_FILTER)
    set(filter --gtest_filter=${arg_FILTER})
  endif()
  get_target_property(files ${program} SOURCES)
  list(LENGTH files files)
  math(EXPR shares "(${files} + 5) / 6")
  foreach(share RANGE 1 ${shares})
    math(EXPR index "${share} - 1")
    set(name ${arg_PREFIX}${program}.${share})
    add_test(NAME ${name} COMMAND ${program} --gtest_brief=1 ${filter})
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 900 COST ${arg_COST}
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${shares};GTEST_SHARD_INDEX=${index};${arg_ENVIRONMENT}")
  endforeach()
endfunction()

# vernier_program_test(NAME COMMAND … [LABELS …] [TIMEOUT seconds] [LOAD halves] [COST seconds] [ALONE_WITH resource]
#     [ENVIRONMENT …] [MAY_SKIP])
#   A test that runs programs as a user would. LABELS default to integration, TIMEOUT to 300. LOAD: cores that it keeps busy, in
#   halves; default 2. COST: as of vernier_test. ALONE_WITH: something of the host that one test at a time may use. MAY_SKIP: it exits
#   with 77 where it cannot run.
function(vernier_program_test name)
  cmake_parse_arguments(arg "MAY_SKIP" "TIMEOUT;LOAD;COST;ALONE_WITH" "COMMAND;LABELS;ENVIRONMENT" ${ARGN})
  vernier_default(arg_LABELS integration)
  vernier_default(arg_TIMEOUT 300)
  vernier_default(arg_LOAD 2)
  vernier_default(arg_COST 0)
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_LOAD} COST ${arg_COST}
    ENVIRONMENT "${arg_ENVIRONMENT}" RESOURCE_LOCK "${arg_ALONE_WITH}")
  if(arg_MAY_SKIP)
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endfunction()
