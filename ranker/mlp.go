package ranker

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/plrank/plrank/internal/forward"
)

// mlpSettings are what this package needs to know of an nn.MLPConfig.
type mlpSettings struct {
	Features   int    `json:"features"`
	Hidden     []int  `json:"hidden"`
	Activation string `json:"activation"`
	Members    int    `json:"members"`

	Embeddings []forward.Embedding `json:"embeddings"`
}

// inputs are the columns that the hidden layers see.
func (s mlpSettings) inputs() int { return forward.EmbeddedWidth(s.Features, s.Embeddings) }

const mostMembers = 1000

// mlp is the activation and the layers of the members of an MLP, whose arrays are all
// there.
func (f *File) mlp() (forward.Activation, [][]forward.MLPLayer, error) {
	s, act, err := f.mlpSettings("an MLP")
	if err != nil {
		return 0, nil, err
	}
	if err := f.checkCount(forward.MLPArrays(len(s.Hidden), s.Members) + len(s.Embeddings)); err != nil {
		return 0, nil, err
	}
	members := forward.MLPLayers(s.inputs(), s.Hidden, s.Members)
	return act, members, f.checkArrays(append(mlpArrays(members), s.embeddingArrays()...))
}

// mlpSettings reads the settings of a model that begins with the hidden layers of an MLP.
func (f *File) mlpSettings(model string) (s mlpSettings, act forward.Activation, err error) {
	if err := json.Unmarshal(f.Settings, &s); err != nil {
		return s, 0, fmt.Errorf("settings of %s: %w", model, err)
	}
	if act, err = forward.ParseActivation(s.Activation); err != nil {
		return s, 0, err
	}
	if s.Features != f.Transform.Width() {
		return s, 0, fmt.Errorf("a model of %d features and a transform that gives %d do not fit", s.Features, f.Transform.Width())
	}
	if err := s.checkEmbeddings(f.Transform); err != nil {
		return s, 0, err
	}
	if s.Members < 0 || s.Members > mostMembers {
		return s, 0, fmt.Errorf("%d members: want 1 to %d", s.Members, mostMembers)
	}
	s.Members = max(1, s.Members)
	return s, act, nil
}

// mlpArrays are the arrays of an MLP, without values.
func mlpArrays(members [][]forward.MLPLayer) (all []Array) {
	for _, layers := range members {
		for i, l := range layers {
			shape := []int{l.In, l.Out}
			if i == len(layers)-1 {
				shape = shape[:1]
			}
			all = append(all, Array{Name: l.W, Shape: shape}, Array{Name: l.B, Shape: []int{l.Out}})
		}
	}
	return all
}

// checkCount is an error where the settings ask for far more arrays than the file has. Settings
// multiply: it comes before the arrays are named, which takes memory. With about as many, those
// that are missing have names.
func (f *File) checkCount(want int) error {
	if n := len(f.Arrays); want > 2*n+100 {
		return fmt.Errorf("%d arrays, want %d", n, want)
	}
	return nil
}

// checkArrays is an error where the file has other arrays than these.
func (f *File) checkArrays(want []Array) error {
	has := f.byName()
	for _, a := range want {
		if _, err := has.array(a.Name, a.Shape...); err != nil {
			return err
		}
	}
	if len(f.Arrays) != len(want) {
		return fmt.Errorf("%d arrays, want %d", len(f.Arrays), len(want))
	}
	return nil
}

// arrayOf gives the arrays of a file by their names.
func arrayOf[T float32 | float64](f *File) func(name string) []T {
	has := f.byName()
	return func(name string) []T {
		values := has[name].Values
		return convert(make([]T, 0, len(values)), values)
	}
}

func newMLP(f *File) (scorer, error) {
	act, members, err := f.mlp()
	if err != nil {
		return scorer{}, err
	}
	if f.Dtype == "float64" {
		return scorer{pass: mlpForward[float64](f, act, members)}, nil
	}
	return scorer{pass: mlpForward[float32](f, act, members)}, nil
}

// How many documents are scored at a time: what is computed for them stays in the cache, and of
// very wide layers takes no more than the weights or so.
const (
	mlpRows   = 128
	mlpValues = 1 << 22 // that are computed for them, where one document does not take more
)

func mlpForward[T float32 | float64](f *File, act forward.Activation, members [][]forward.MLPLayer) pass {
	model, inputs := forward.NewMLP(act, members, arrayOf[T](f)), newInputs[T](f)
	most := min(mlpRows, max(1, mlpValues/model.Scratch(1)))
	type space struct{ x, scores, scratch []T }
	pool := sync.Pool{New: func() any {
		return &space{nil, make([]T, most), make([]T, model.Scratch(most))}
	}}
	return func(ctx context.Context, scores []float64, x []float32) error {
		s := pool.Get().(*space)
		defer pool.Put(s)
		width := len(x) / len(scores)
		for from := 0; from < len(scores); from += most {
			if err := ctx.Err(); err != nil {
				return err
			}
			part := scores[from:min(from+most, len(scores))]
			rows := x[from*width:][:len(part)*width]
			in, err := inputs.of(rows, &s.x)
			if err != nil {
				return err
			}
			model.Run(in, s.scores[:len(part)], s.scratch)
			for i, v := range s.scores[:len(part)] {
				part[i] = float64(v)
			}
		}
		return nil
	}
}

// convert appends the values to dst.
func convert[T, F float32 | float64](dst []T, values []F) []T {
	for _, v := range values {
		dst = append(dst, T(v))
	}
	return dst
}
