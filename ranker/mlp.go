package ranker

import (
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
}

const mostMembers = 1000

// mlp is the activation and the layers of the members of an MLP, whose arrays are all
// there.
func (f *File) mlp() (forward.Activation, [][]forward.MLPLayer, error) {
	var s mlpSettings
	if err := json.Unmarshal(f.Settings, &s); err != nil {
		return 0, nil, fmt.Errorf("settings of an MLP: %w", err)
	}
	act, err := forward.ParseActivation(s.Activation)
	if err != nil {
		return 0, nil, err
	}
	if s.Features != f.Transform.Width() {
		return 0, nil, fmt.Errorf("a model of %d features and a transform that gives %d do not fit", s.Features, f.Transform.Width())
	}
	if s.Members < 0 || s.Members > mostMembers {
		return 0, nil, fmt.Errorf("%d members: want 1 to %d", s.Members, mostMembers)
	}
	members := forward.MLPLayers(s.Features, s.Hidden, max(1, s.Members))
	arrays := 0
	for _, layers := range members {
		for i, l := range layers {
			shape := []int{l.In, l.Out}
			if i == len(layers)-1 {
				shape = shape[:1]
			}
			if _, err := f.Array(l.W, shape...); err != nil {
				return 0, nil, err
			}
			if _, err := f.Array(l.B, l.Out); err != nil {
				return 0, nil, err
			}
			arrays += 2
		}
	}
	if arrays != len(f.Arrays) {
		return 0, nil, fmt.Errorf("%d arrays, want %d", len(f.Arrays), arrays)
	}
	return act, members, nil
}

func newMLP(f *File) (Forward, error) {
	act, members, err := f.mlp()
	if err != nil {
		return nil, err
	}
	if f.Dtype == "float64" {
		return mlpForward[float64](f, act, members), nil
	}
	return mlpForward[float32](f, act, members), nil
}

// mlpRows is how many documents are scored at a time: what is computed for them stays in
// the cache.
const mlpRows = 128

func mlpForward[T float32 | float64](f *File, act forward.Activation, members [][]forward.MLPLayer) Forward {
	model := forward.NewMLP(act, members, func(name string) []T {
		for _, a := range f.Arrays {
			if a.Name == name {
				return convert(make([]T, 0, len(a.Values)), a.Values)
			}
		}
		return nil // not reached: mlp has looked
	})
	type space struct{ x, scores, scratch []T }
	pool := sync.Pool{New: func() any {
		return &space{nil, make([]T, mlpRows), make([]T, model.Scratch(mlpRows))}
	}}
	return func(scores []float64, x []float32) error {
		s := pool.Get().(*space)
		defer pool.Put(s)
		width := len(x) / len(scores)
		for from := 0; from < len(scores); from += mlpRows {
			part := scores[from:min(from+mlpRows, len(scores))]
			rows := x[from*width:][:len(part)*width]
			in, same := any(rows).([]T)
			if !same {
				s.x = convert(s.x[:0], rows)
				in = s.x
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
