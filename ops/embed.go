package ops

import (
	"errors"
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/op"
)

// Embed looks up the vectors learnt for the values of categorical features, in one pass over
// the rows. The last columns of x [rows, features] are codes, one column for each of the
// tables: whole numbers from 0 to the length of the table minus one. Tables are [codes,
// width]. The result has, for every row, the columns of x before the codes, and then from
// each table the row of the code. All are float32 or all float64.
//
// Gradients reach the tables: a row of a table gets the sum of what comes in at its code, in
// the order of the documents, the same for any GOMAXPROCS. They pass the columns before the codes.
//
// Embed returns an error if shapes or dtypes do not fit; the run returns one that names the row if a
// table does not have a code. Its value lasts until the next run.
func Embed(x *G.Node, tables G.Nodes) (*G.Node, error) {
	const name = "ops: Embed"
	embeddings, err := checkEmbed(x, tables)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	features := x.Shape()[1]
	settings := fmt.Sprint(embeddings)
	numbers := op.Pure(name+"NumbersVJP", settings, numbersVJP[float32](features, embeddings), numbersVJP[float64](features, embeddings))
	f := &op.Func{
		Name: name, Settings: settings,
		Shape: func(in []tensor.Shape) tensor.Shape {
			return tensor.Shape{in[0][0], forward.EmbeddedWidth(features, embeddings)}
		},
		Do:   op.CheckedByDtype(embed[float32](features, embeddings), embed[float64](features, embeddings)),
		VJPs: []*op.Term{numbers.Of(op.Input(0), op.Incoming)},
	}
	for i := range tables {
		slope := op.Pure(name+"VJP", fmt.Sprint(settings, i),
			embedVJP[float32](features, embeddings, i), embedVJP[float64](features, embeddings, i))
		f.VJPs = append(f.VJPs, slope.Of(op.Input(0), op.Incoming))
	}
	return f.Apply(append(G.Nodes{x}, tables...)...)
}

func checkEmbed(x *G.Node, tables G.Nodes) (embeddings []forward.Embedding, err error) {
	if err := op.CheckNode("x", x, 2, tensor.Float32, tensor.Float64); err != nil {
		return nil, err
	}
	if len(tables) == 0 {
		return nil, errors.New("no tables: want one for each of the last columns")
	}
	if features := x.Shape()[1]; len(tables) > features {
		return nil, fmt.Errorf("%d tables for %d columns", len(tables), features)
	}
	for i, t := range tables {
		if err := op.CheckNode(fmt.Sprintf("tables[%d]", i), t, 2, x.Dtype()); err != nil {
			return nil, err
		}
		embeddings = append(embeddings, forward.Embedding{Codes: t.Shape()[0], Width: t.Shape()[1]})
	}
	return embeddings, nil
}

func embed[T op.Float](features int, embeddings []forward.Embedding) op.Checked[T] {
	return func(_ []op.Tensor, x [][]T, y []T) error {
		if err := forward.Embed(features, embeddings, x[1:], x[0], y); err != nil {
			return fmt.Errorf("ops: Embed: %w", err)
		}
		return nil
	}
}

// numbersVJP is x, dy → the derivative by x, 0 by codes.
func numbersVJP[T op.Float](features int, embeddings []forward.Embedding) op.Kernel[T] {
	width, numbers := forward.EmbeddedWidth(features, embeddings), features-len(embeddings)
	return func(_ []op.Tensor, x [][]T, dx []T) {
		clear(dx)
		for r := range len(dx) / features {
			copy(dx[r*features:][:numbers], x[1][r*width:])
		}
	}
}

// embedVJP is x, dy → the derivative by table i.
func embedVJP[T op.Float](features int, embeddings []forward.Embedding, i int) op.Kernel[T] {
	return func(_ []op.Tensor, x [][]T, dtable []T) {
		forward.EmbedVJP(features, embeddings, i, x[0], x[1], dtable)
	}
}
