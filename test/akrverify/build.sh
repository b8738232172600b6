#!/bin/sh
# Builds akrverify, which judges assertions with snapd's own library, from Debian packages alone:
#   apt-get install --no-install-recommends golang-go golang-github-snapcore-snapd-dev \
#       golang-golang-x-crypto-dev golang-golang-x-sys-dev golang-gopkg-tomb.v2-dev golang-gopkg-yaml.v2-dev
# It is a tool for tests: it links snapd's code, which is under the GPL, and is no part of the product.
# Usage: build.sh OUTPUT [PROGRAM [TAGS]], a folder beside this one, or a program of the library by its path; then, for this one, one of
#   OUTPUT [-strict] [-account ID] [-name NAME] < request        one account-key-request (exit 0 = valid)
#   OUTPUT -trusted ROOTS < stream                               a whole stream, as `snap ack` would add it
# GOCODE: where Debian's Go sources are, if not in /usr/share/gocode.
set -eu
out=$(realpath -m "${1:?usage: build.sh OUTPUT}")
program=${2:-akrverify}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
case $program in
*/*) ;;
*) mkdir -p "$work/src/$program" && cp "$(dirname "$0")/../$program"/*.go "$work/src/$program/" ;;
esac
export GO111MODULE=off GOPATH="$work:${GOCODE:-/usr/share/gocode}" GOFLAGS= GOPROXY=off CGO_ENABLED=0 GOCACHE="${GOCACHE:-$work/cache}"
cd "$work" && go build -trimpath -tags "${3:-}" -o "$out" "$program"
