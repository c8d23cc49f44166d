package ranker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/sparse"
	"github.com/plrank/plrank/transforms"
)

// A Forward computes the scores of the documents of one query from their transformed
// features. x has row after row, with as many values as the model's transform gives. It may be
// called by several goroutines at once.
type Forward func(scores []float64, x []float32) error

// A Maker returns the forward pass of the model in a file, or an error if the settings and the
// arrays do not fit.
type Maker func(*File) (Forward, error)

var makers sync.Map // Maker by kind

// others stands for all kinds without a maker. No file has it.
const others = ""

// Register sets the maker of the forward pass for a kind of models that are opened later. It
// replaces an earlier one. A kind that package nn knows needs none in a program with package
// train, which runs its graphs.
func Register(kind string, maker Maker) { makers.Store(kind, maker) }

// RegisterOthers sets the maker for all kinds without one. If it returns nil, the kind has no
// forward pass. Package train registers one that runs graphs.
func RegisterOthers(maker Maker) { makers.Store(others, maker) }

func registered(kind string) Maker {
	maker, _ := makers.Load(kind)
	m, _ := maker.(Maker)
	return m
}

// A scorer is a forward pass.
type scorer struct {
	transform *transforms.Transform
	pass      model.Pass       // from transformed features; nil: the kind has none
	sparse    model.SparsePass // from raw features; nil: documents must be dense
	used      []int            // raw columns that scores depend on
	gains     []float64        // by raw column, of the splits of forests; nil: there is no forest
	splits    []int            // by raw column, of forests; nil: there is no forest
	alone     bool             // scores do not depend on the inputs of other documents
	forests   []WeightedForest // of a forest or a mixture
	exact     bool             // the score is the weighted sum of the forests
}

var inputs sync.Pool // of *[]float32: transformed features

// score sets the scores of documents with these raw features: x, or rows if they are not nil.
func (s *scorer) score(ctx context.Context, scores []float64, x []float32, rows *Sparse) error {
	t := s.transform
	switch {
	case rows != nil:
		return s.sparse(ctx, scores, rows)
	case t.Identity():
		return s.pass(ctx, scores, x)
	}
	own, _ := inputs.Get().(*[]float32)
	if own == nil {
		own = new([]float32)
	}
	*own = num.Sized(*own, len(scores)*t.Width())
	if cap(*own) <= model.KeptNumbers {
		defer inputs.Put(own)
	}
	t.Query(*own, x)
	return s.pass(ctx, scores, *own)
}

// scorerOf returns the scorer of a file. For a kind without a maker it uses other, or if that is nil
// the maker of RegisterOthers.
func scorerOf(f *File, other Maker) (s scorer, err error) {
	switch f.Kind {
	case ForestKind:
		return f.forestScorer()
	case MixtureKind:
		return f.mixtureScorer(other)
	}
	s.transform, s.used = f.Transform, f.Transform.Used()
	maker := registered(f.Kind)
	if maker == nil && slices.Contains(model.BuiltIn, f.Kind) {
		settings, err := f.builtIn()
		switch {
		case err != nil:
		case f.Dtype == "float64":
			s.pass, s.sparse = model.NewPasses(settings, f.values)
		default:
			s.pass, s.sparse = model.NewPasses(settings, f.values32)
		}
		if inner := s.sparse; inner != nil && f.Transform.KeepsZeros() {
			s.sparse = func(ctx context.Context, scores []float64, rows *sparse.Rows) error {
				return inner(ctx, scores, f.Transform.Sparse(rows))
			}
		} else {
			s.sparse = nil
		}
		s.alone = f.Kind == model.MLP
		return s, err
	}
	if maker == nil {
		maker = other
	}
	if maker == nil {
		maker = registered(others)
	}
	if maker == nil {
		return s, nil
	}
	forward, err := maker(f)
	if forward != nil {
		s.pass = func(_ context.Context, scores []float64, x []float32) error { return forward(scores, x) }
	}
	return s, err
}

// builtIn returns the settings of a model of a built-in kind, or an error if the transform or the arrays of its file do not
// fit them.
func (f *File) builtIn() (model.Settings, error) {
	s, err := model.Read(f.Kind, f.Settings)
	if errors.Is(err, model.ErrDropped) {
		return s, fmt.Errorf("%w: want plrank %s, which wrote the file, or a model trained anew", err, cmp.Or(f.Version, "before v0.1.0"))
	}
	if err != nil {
		return s, err
	}
	if err := checkInputs(s, f); err != nil {
		return s, err
	}
	want := s.Arrays()
	for _, a := range want {
		if _, err := f.Array(a.Name, a.Shape...); err != nil {
			return s, err
		}
	}
	if len(f.Arrays) != len(want) {
		return s, fmt.Errorf("%d arrays, want %d", len(f.Arrays), len(want))
	}
	return s, nil
}

// values returns the weights of one of the arrays, which must exist.
func (f *File) values(name string) []float64 {
	return f.Arrays[slices.IndexFunc(f.Arrays, func(a Array) bool { return a.Name == name })].Values
}

func (f *File) values32(name string) []float32 {
	values := f.values(name)
	narrow := make([]float32, len(values))
	for i, v := range values {
		narrow[i] = float32(v)
	}
	return narrow
}

// checkInputs returns an error if the transform of the file gives other inputs than the model takes.
// There is one embedding for every category.
func checkInputs(s model.Settings, f *File) error {
	t := f.Transform
	if t.Raw() {
		return errors.New("the part raw of the transform, which leaves values missing, is for forests")
	}
	if s.Features != t.Width() {
		return fmt.Errorf("a model of %d features and a transform that gives %d do not fit", s.Features, t.Width())
	}
	if len(s.Embeddings) != len(t.Categories) {
		return fmt.Errorf("a model of %d embeddings and a transform of %d categories do not fit", len(s.Embeddings), len(t.Categories))
	}
	if bins := t.BinCounts(); !slices.Equal(s.Bins, bins) {
		return fmt.Errorf("a model of bins %v and a transform of bins %v do not fit", s.Bins, bins)
	}
	for i, e := range s.Embeddings {
		if codes := t.Categories[i].Codes(); e.Codes != codes {
			return fmt.Errorf("embedding %d has %d codes and a width of %d: want %d codes, as many as the transform gives",
				i, e.Codes, e.Width, codes)
		}
	}
	return nil
}
