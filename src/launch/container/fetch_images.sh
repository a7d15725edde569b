#!/bin/sh
# Has a container engine fetch those images that this host does not have.
#
# usage: fetch_images.sh KIND PROGRAM [IMAGE SOURCE FILE]...
#
# FILE is where an engine whose images are files is to have it, else empty. Exit status: 1, an image cannot be fetched, the
# engine says why; 3, the engine itself does not answer.
set -u
kind=$1 program=$2
shift 2

has() {
  case $kind in
    # The time of a file is when it was asked for last; one that the user keeps is his.
    apptainer) [ -e "$3" ] && { [ "$2" = "$3" ] || touch "$3"; } ;;
    *) "$program" image inspect "$1" >/dev/null 2>&1 ;;
  esac
}

fetch() {
  case $kind in
    apptainer) mkdir -p "${3%/*}" && "$program" pull --force "$3.$$" "$2" && mv "$3.$$" "$3" ;;
    *) "$program" pull "$2" ;;
  esac
}

answers() {
  case $kind in
    apptainer) "$program" --version ;;
    *) "$program" info ;;
  esac >/dev/null 2>&1
}

while [ $# -gt 0 ]; do
  if ! has "$@"; then
    echo "fetching image $1"
    if ! fetch "$@"; then
      answers || exit 3
      exit 1
    fi
  fi
  shift 3
done
