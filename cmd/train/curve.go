package main

import (
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/plrank/plrank/internal/atomicfile"
	"github.com/plrank/plrank/train"
)

const curveFile = "curve.png"

// drawCurve draws the validation metric after each epoch, of the ranking and
// expected under the policy, and marks the best epoch.
func drawCurve(path, metric string, history []train.Epoch) error {
	p := plot.New()
	p.X.Label.Text = "epoch"
	p.Y.Label.Text = "validation"
	p.Legend.Top = false
	p.Add(plotter.NewGrid())
	plain, expected := train.Twins(metric)
	colors := []color.Color{color.RGBA{B: 178, G: 114, A: 255}, color.RGBA{R: 213, G: 94, A: 255}} // Okabe & Ito's blue and vermilion
	for i, name := range []string{plain, expected} {
		var points plotter.XYs
		var best plotter.XYs
		for _, e := range history {
			at := plotter.XY{X: float64(e.Epoch), Y: float64(e.Vali[name])}
			points = append(points, at)
			if e.Best {
				best = plotter.XYs{at}
			}
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return fmt.Errorf("train: %s: %w", path, err)
		}
		line.Color, line.Width = colors[i], vg.Points(1.5)
		p.Add(line)
		p.Legend.Add(name, line)
		mark, err := plotter.NewScatter(best)
		if err != nil {
			return fmt.Errorf("train: %s: %w", path, err)
		}
		mark.Color, mark.Radius = colors[i], vg.Points(4)
		p.Add(mark)
	}
	png, err := p.WriterTo(16*vg.Centimeter, 10*vg.Centimeter, "png")
	if err != nil {
		return fmt.Errorf("train: %s: %w", path, err)
	}
	err = atomicfile.Write(path, func(w io.Writer) error {
		_, err := png.WriteTo(w)
		return err
	})
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}
