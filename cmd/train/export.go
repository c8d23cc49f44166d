package main

import (
	"fmt"
	"io"

	"github.com/plrank/plrank/ranker"
)

// export writes a model in ONNX format.
func export(o *options, stdout io.Writer) error {
	model, err := ranker.Open(o.model)
	if err != nil {
		return err
	}
	var files outputs
	defer files.remove()
	out, err := files.open(o.onnx)
	if err != nil {
		return err
	}
	if err := model.WriteONNX(out); err != nil {
		return fmt.Errorf("train: %s: %w", o.onnx, err)
	}
	return files.publish(stdout)
}
