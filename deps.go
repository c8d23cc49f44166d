package plrank

import (
	_ "github.com/klauspost/compress/gzip"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/sbinet/npyio/npz"
	_ "github.com/schollz/progressbar/v3"
	_ "github.com/sjwhitworth/golearn/base"
	_ "github.com/sjwhitworth/golearn/trees"
	_ "go4.org/unsafe/assume-no-moving-gc"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "gonum.org/v1/gonum/blas/blas32"
	_ "gonum.org/v1/gonum/stat/distuv"
	_ "gonum.org/v1/plot/plotter"
	_ "gonum.org/v1/plot/vg/vgimg"
	_ "gonum.org/v1/plot/vg/vgsvg"
	_ "gorgonia.org/gorgonia"
	_ "gorgonia.org/tensor"
	_ "pgregory.net/rapid"
)
