package model

import (
	"context"

	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/internal/forward"
)

// A transformer is a network that sees all documents of a query, with weights that stay as
// they are, or the mean of several. It may be used by several goroutines at once.
type transformer[T blas.Float] struct {
	members     []transformerMember[T]
	attention   forward.Attention[T]
	latentCross bool
	widest      int // of the hidden layers
}

type transformerMember[T blas.Float] struct {
	hidden []*forward.Layer[T]
	blocks []transformerBlock[T]
	last   norm[T]
	score  *forward.Layer[T]
}

type transformerBlock[T blas.Float] struct {
	first, second        norm[T]
	qkv, merge, up, down *forward.Layer[T]
}

type norm[T blas.Float] struct{ gain, bias []T }

// newTransformer makes one of the arrays of these names.
func newTransformer[T blas.Float](s Settings, array func(name string) []T) *transformer[T] {
	t := &transformer[T]{attention: forward.Attention[T]{Width: s.Width(), Heads: s.Heads()}, latentCross: s.LatentCross}
	dense := func(a forward.Activation, d Dense) *forward.Layer[T] {
		return forward.NewLayer(a, d.In, d.Out, array(d.W), array(d.B))
	}
	normOf := func(n Norm) norm[T] { return norm[T]{array(n.Gain), array(n.Bias)} }
	for _, m := range s.Layers() {
		member := transformerMember[T]{last: normOf(m.Last), score: dense(forward.Identity, m.Score)}
		for _, l := range m.Hidden {
			member.hidden = append(member.hidden, dense(s.Activation, l))
			t.widest = max(t.widest, l.Out)
		}
		for _, b := range m.Blocks {
			member.blocks = append(member.blocks, transformerBlock[T]{
				normOf(b.First), normOf(b.Second), dense(forward.Identity, b.QKV), dense(forward.Identity, b.Merge), dense(s.Activation, b.Up), dense(forward.Identity, b.Down),
			})
		}
		t.members = append(t.members, member)
	}
	return t
}

// pairs is how many multiplications the scores take for every pair of documents.
func (t *transformer[T]) pairs() int {
	return 2 * t.attention.Width * len(t.members) * len(t.members[0].blocks)
}

// scratch is the size of the scratch space of run for that many rows.
func (t *transformer[T]) scratch(rows int) int { return rows * (2*t.widest + 6*t.attention.Width + 1) }

// run sets the score of every row of x, the documents of one query. Where the context ends,
// so does run, with its error.
func (t *transformer[T]) run(ctx context.Context, x, scores, scratch []T) error {
	n, width := len(scores), t.attention.Width
	rest := scratch
	take := func(columns int) []T {
		part := rest[:n*columns]
		rest = rest[n*columns:]
		return part
	}
	odd, even := take(t.widest), take(t.widest)
	h, y, wide, sum := take(width), take(width), take(3*width), take(1)
	for i, m := range t.members {
		in := x
		for _, l := range m.hidden {
			l.Run(in, even[:n*l.Out])
			in, even, odd = even[:n*l.Out], odd, even
		}
		copy(h, in)
		for _, b := range m.blocks {
			forward.NormalizeRows(b.first.gain, b.first.bias, h, y)
			b.qkv.Run(y, wide)
			if err := t.attention.RunQuery(ctx, wide, y); err != nil {
				return err
			}
			b.merge.Run(y, wide[:n*width])
			forward.Add(h, wide[:n*width])
			forward.NormalizeRows(b.second.gain, b.second.bias, h, y)
			b.up.Run(y, wide[:upwards*n*width])
			b.down.Run(wide[:upwards*n*width], y)
			forward.Add(h, y)
		}
		forward.NormalizeRows(m.last.gain, m.last.bias, h, h)
		if t.latentCross {
			for e, v := range in {
				h[e] = v + T(h[e]*v)
			}
		}
		m.score.Run(h, sum)
		if i == 0 {
			copy(scores, sum)
			continue
		}
		forward.Add(scores, sum)
	}
	if members := len(t.members); members > 1 {
		share := 1 / T(members)
		for r := range scores {
			scores[r] *= share
		}
	}
	return nil
}
