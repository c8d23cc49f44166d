//go:build purego || !(amd64 || arm64)

package blas

func tiled() []library { return nil }
