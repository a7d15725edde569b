#!/usr/bin/env bash
# Installs the library to a folder of its own, builds the embedding examples against it, runs them.
#   usage: embed_test.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
source=$1
build=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cmake --install "$build" --prefix "$folder/prefix" --component library >/dev/null
examples="embed_c embed_ask_tell embed_scheduler embed_own_algorithm embed_own_stopping_rule embed_server"
export PATH=$build/bin:$PATH  # Where vernier-supervisor is.
for example in $examples; do
  cmake -S "$source/examples/$example" -B "$folder/$example" -G Ninja -DCMAKE_PREFIX_PATH="$folder/prefix" >/dev/null
  cmake --build "$folder/$example" >/dev/null
  "$folder/$example/$example"
done

# The same through pkg-config, for builds that know no CMake.
PKG_CONFIG_PATH=$(dirname "$(find "$folder/prefix" -name vernier.pc)")
export PKG_CONFIG_PATH
cc "$source/examples/embed_c/main.c" -o "$folder/embed_c.by_pkg_config" $(pkg-config --cflags --libs vernier-c) -lm
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH") "$folder/embed_c.by_pkg_config"
for example in ${examples#embed_c }; do
  modules=vernier
  [ $example = embed_server ] && modules="vernier-client vernier-server"
  g++ $(pkg-config --cflags $modules) "$source/examples/$example"/*.cc -o "$folder/$example.by_pkg_config" $(pkg-config --libs $modules)
  "$folder/$example.by_pkg_config"
done
