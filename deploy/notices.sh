#!/usr/bin/env bash
# Prints the notices that binaries of plrank must carry: the licences of Go and of all linked modules.
# It fails if a module has no licence. The images have the result in THIRD_PARTY_NOTICES.
set -euo pipefail
cd "$(dirname "$0")/.."
printf 'The program plrank contains code of Go and of these modules, under the licences that follow.\n\n---------- Go\n\n'
cat "$(go env GOROOT)/LICENSE"
go list -deps -tags mpi -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/plrank | sort -u |
	while read -r path version dir; do
		printf '\n---------- %s %s\n\n' "$path" "$version"
		find "$dir" -maxdepth 1 -type f -iregex '.*/\(licen[cs]e\|notice\|copying\|patents\)[^/]*' ! -name '*.go' | LC_ALL=C sort | xargs -r cat | grep . || {
			echo "no licence in $dir" >&2
			exit 1
		}
	done
