# What `cmake --install` gives: headers, static libraries, find_package(vernier), pkg-config, programs.
