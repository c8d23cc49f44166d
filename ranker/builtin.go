package ranker

import (
	"fmt"

	"github.com/plrank/plrank/internal/model"
)

func init() {
	register(model.MLP, newBuiltIn)
	register(model.Transformer, newBuiltIn)
}

// newBuiltIn makes the forward pass of a built-in kind.
func newBuiltIn(f *File) (scorer, error) {
	n, err := builtInOf(f)
	if err != nil {
		return scorer{}, err
	}
	var s scorer
	if f.Dtype == "float64" {
		s.pass, s.pairs = model.NewPass(n.settings, n.array)
	} else {
		s.pass, s.pairs = model.NewPass(n.settings, func(name string) []float32 { return narrow(n.array(name)) })
	}
	return s, nil
}

// A builtIn is a model of a built-in kind.
type builtIn struct {
	settings model.Settings
	arrays   map[string]*Array
}

// builtInOf is the model of a file, after a check that its transform and its arrays fit the settings.
func builtInOf(f *File) (n builtIn, err error) {
	if n.settings, err = model.Read(f.Kind, f.Settings); err != nil {
		return n, err
	}
	if err := checkInputs(n.settings, f); err != nil {
		return n, err
	}
	if err := n.settings.CheckCount(len(f.Arrays)); err != nil {
		return n, err
	}
	n.arrays = map[string]*Array{}
	for i := range f.Arrays {
		n.arrays[f.Arrays[i].Name] = &f.Arrays[i]
	}
	want := n.settings.Arrays()
	for _, a := range want {
		var shape []int
		if has := n.arrays[a.Name]; has != nil {
			shape = has.Shape
		}
		if err := model.CheckShape(a.Name, shape, a.Shape); err != nil {
			return n, err
		}
	}
	if len(f.Arrays) != len(want) {
		return n, fmt.Errorf("%d arrays, want %d", len(f.Arrays), len(want))
	}
	return n, nil
}

// array is the weights of one of the arrays, which is there.
func (n builtIn) array(name string) []float64 { return n.arrays[name].Values }

// checkInputs is an error where the transform of the file gives other inputs than the model takes:
// there is one embedding for every category.
func checkInputs(s model.Settings, f *File) error {
	t := f.Transform
	if s.Features != t.Width() {
		return fmt.Errorf("a model of %d features and a transform that gives %d do not fit", s.Features, t.Width())
	}
	if len(s.Embeddings) != len(t.Categories) {
		return fmt.Errorf("a model of %d embeddings and a transform of %d categories do not fit", len(s.Embeddings), len(t.Categories))
	}
	for i, e := range s.Embeddings {
		if codes := t.Categories[i].Codes(); e.Codes != codes {
			return fmt.Errorf("embedding %d has %d codes and a width of %d: want %d codes, as many as the transform gives", i, e.Codes, e.Width, codes)
		}
	}
	return nil
}

func narrow(values []float64) []float32 {
	n := make([]float32, len(values))
	for i, v := range values {
		n[i] = float32(v)
	}
	return n
}
