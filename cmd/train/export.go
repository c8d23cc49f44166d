package main

import (
	"io"

	"github.com/plrank/plrank/ranker"
)

// export writes a model in ONNX format.
func export(o *options, stdout io.Writer) error {
	model, err := ranker.Open(o.model)
	if err != nil {
		return err
	}
	return writeNew(stdout, []output{{o.onnx, model.WriteONNX}})
}
