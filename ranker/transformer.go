package ranker

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/plrank/plrank/internal/forward"
)

// transformerKind is the kind of nn.Transformer.
const transformerKind = "attention"

// A transformer is what this package needs to know of an nn.TransformerConfig, besides
// what an MLP has.
type transformer struct {
	Blocks      int  `json:"blocks"`
	Heads       int  `json:"heads"`
	LatentCross bool `json:"latentCross"`

	act     forward.Activation
	members []forward.TransformerMember
}

const mostBlocks = 1000

// transformer reads the settings of one, whose arrays are all there.
func (f *File) transformer() (t transformer, err error) {
	s, act, err := f.mlpSettings("a transformer")
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(f.Settings, &t); err != nil {
		return t, fmt.Errorf("settings of a transformer: %w", err)
	}
	t.act, t.Heads = act, max(1, t.Heads)
	switch {
	case len(s.Hidden) == 0:
		return t, fmt.Errorf("a transformer without hidden layers")
	case t.Blocks < 0 || t.Blocks > mostBlocks:
		return t, fmt.Errorf("%d blocks: want 0 to %d", t.Blocks, mostBlocks)
	case s.Hidden[len(s.Hidden)-1]%t.Heads != 0:
		return t, fmt.Errorf("%d heads: want a number that divides the width %d", t.Heads, s.Hidden[len(s.Hidden)-1])
	}
	if err := f.checkCount(forward.TransformerArrays(len(s.Hidden), t.Blocks, s.Members) + len(s.Embeddings)); err != nil {
		return t, err
	}
	t.members = forward.TransformerMembers(s.inputs(), s.Hidden, t.Blocks, s.Members)
	return t, f.checkArrays(append(transformerArrays(s.inputs(), s.Hidden, t.Blocks, s.Members), s.embeddingArrays()...))
}

// transformerArrays are the arrays of a transformer, without values.
func transformerArrays(features int, hidden []int, blocks, members int) []Array {
	all := mlpArrays(forward.MLPLayers(features, hidden, members))
	for _, m := range forward.TransformerMembers(features, hidden, blocks, members) {
		for _, l := range m.Dense() {
			all = append(all, Array{Name: l.W, Shape: []int{l.In, l.Out}}, Array{Name: l.B, Shape: []int{l.Out}})
		}
		for _, n := range m.Norms() {
			all = append(all, Array{Name: n.Gain, Shape: []int{n.Width}}, Array{Name: n.Bias, Shape: []int{n.Width}})
		}
	}
	return all
}

func newTransformer(f *File) (scorer, error) {
	t, err := f.transformer()
	if err != nil {
		return scorer{}, err
	}
	if f.Dtype == "float64" {
		return transformerForward[float64](f, t), nil
	}
	return transformerForward[float32](f, t), nil
}

func transformerForward[T float32 | float64](f *File, t transformer) scorer {
	model := forward.NewTransformer(t.act, t.members, t.Heads, t.LatentCross, arrayOf[T](f))
	inputs := newInputs[T](f)
	type space struct{ x, scores, scratch []T }
	pool := sync.Pool{New: func() any { return new(space) }}
	return scorer{pairs: model.Pairs(), pass: func(ctx context.Context, scores []float64, x []float32) error {
		need := model.Scratch(len(scores))
		var s *space
		if need+len(x) <= keptNumbers {
			s = pool.Get().(*space)
			defer pool.Put(s)
		} else {
			s = new(space)
		}
		in, err := inputs.of(x, &s.x)
		if err != nil {
			return err
		}
		s.scores, s.scratch = slices.Grow(s.scores[:0], len(scores))[:len(scores)], slices.Grow(s.scratch[:0], need)[:need]
		if err := model.Run(ctx, in, s.scores, s.scratch); err != nil {
			return err
		}
		for i, v := range s.scores {
			scores[i] = float64(v)
		}
		return nil
	}}
}
