package ranker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/viterin/vek/vek32"

	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/transforms"
)

// A Model is a trained model. It may be used by several goroutines at once.
type Model struct {
	file   *File
	digest func() string
	scorer
	columns map[string]int         // by name
	levels  []func(string) float32 // [columns], nil where values are numbers
	inputs  sync.Pool              // of *[]float32: transformed features
}

// Open reads a model file. A file that is not a model, is damaged or contradicts itself is an
// error that says what is wrong. A model of a kind that has no [Forward] can be opened:
// only [Model.Score] is then an error.
func Open(path string) (*Model, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("ranker: %w", err)
	}
	return read(path, data)
}

// Read reads a model file from r, to its end: that of an embed.FS, or of an upload. Errors
// are those of [Open], and those of r.
func Read(r io.Reader) (*Model, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("ranker: reading a model: %w", err)
	}
	return read("the model", data)
}

// read makes a model of the bytes of a file of that name.
func read(name string, data []byte) (*Model, error) {
	f, err := decode(name, data)
	if err != nil {
		return nil, err
	}
	digest := digestOf(data)
	return newModel(name, f, nil, func() string { return digest })
}

// New makes a model of the content of a file, which must not change afterwards. Errors are those
// of [Open].
func New(f *File) (*Model, error) { return NewWith(f, nil) }

// NewWith is New with a maker for a kind that has none, such as that of a model which only this
// program knows.
func NewWith(f *File, maker Maker) (*Model, error) {
	const name = "the model"
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("ranker: %s: %w", name, err)
	}
	return newModel(name, f, maker, sync.OnceValue(func() string {
		var data bytes.Buffer
		if err := f.Write(&data); err != nil {
			return ""
		}
		return digestOf(data.Bytes())
	}))
}

func newModel(name string, f *File, maker Maker, digest func() string) (*Model, error) {
	s, err := scorerOf(f, maker)
	if err != nil {
		return nil, fmt.Errorf("ranker: %s: %w", name, err)
	}
	m := &Model{file: f, digest: digest, scorer: s, columns: map[string]int{}, levels: make([]func(string) float32, len(f.FeatureIDs))}
	for column, name := range f.FeatureNames {
		m.columns[name] = column
	}
	for column, levels := range f.Levels {
		if levels != nil {
			m.levels[column] = transforms.LevelValue(levels)
		}
	}
	return m, nil
}

// Digest is the digest of a model file, which is read to its end: the first 16 hexadecimal digits
// of the SHA-256 of its bytes. It tells models apart, whatever the name and the time of the file.
//
//	sha256sum model.npz | cut -c -16
//
// Errors are those of r.
func Digest(r io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return "", fmt.Errorf("ranker: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// digestOf is the digest of a file with these bytes.
func digestOf(data []byte) string {
	digest, _ := Digest(bytes.NewReader(data)) // which has no errors
	return digest
}

// Digest is the digest of the file that the model was read from, or, of a model made by [New], of
// the file that [File.Write] writes. See the function of that name.
func (m *Model) Digest() string { return m.digest() }

// FeatureIDs are the ids of the features of a document, ascending: of the columns of
// a row.
func (m *Model) FeatureIDs() []int { return slices.Clone(m.file.FeatureIDs) }

// FeatureNames are the names of those features, nil where the training data had none.
func (m *Model) FeatureNames() []string { return slices.Clone(m.file.FeatureNames) }

// Column is the column of a row with the feature of that name, and whether there is one.
func (m *Model) Column(name string) (column int, ok bool) {
	column, ok = m.columns[name]
	return column, ok
}

// Level is the value that stands for a text in a column, and whether the feature is one of text.
// A text that the training data did not have is 0, and an empty one is missing.
//
//	city, _ := model.Column("city")
//	row[city], _ = model.Level(city, "Oslo")
func (m *Model) Level(column int, text string) (value float32, ok bool) {
	if m.levels[column] == nil {
		return 0, false
	}
	return m.levels[column](text), true
}

// Columns returns the columns of the training data that are no features, by role: see [File.Columns].
func (m *Model) Columns() map[string]string { return maps.Clone(m.file.Columns) }

// Levels returns the texts of the features that are categorical, nil for others, and nil where none is: see
// datasets.Dataset.
func (m *Model) Levels() [][]string { return m.file.Levels }

// OnBaseScores reports whether the model adds its scores to those of another ranker, see [Model.ScoreOn].
func (m *Model) OnBaseScores() bool { return m.file.BaseScores }

// UsedFeatures returns the FeatureIDs that scores depend on: those of features that varied within a
// query of the training data, and of categorical ones.
func (m *Model) UsedFeatures() []int {
	var used []int
	for _, column := range m.file.Transform.Used() {
		used = append(used, m.file.FeatureIDs[column])
	}
	return used
}

// Seen returns how many of the queries with these digests the model was trained on, 0 where its file does not say
// it: datasets.TrainedOn makes them.
func (m *Model) Seen(digests []uint64) int { return m.file.TrainingQueries.Count(digests) }

// File is the content of the model file; do not change it.
func (m *Model) File() *File { return m.file }

// Save writes the model file, see [File.Save].
func (m *Model) Save(path string) error { return m.file.Save(path) }

// Score appends to dst the scores of the documents of one query, and returns it. The
// features are raw, a row of [Model.FeatureIDs] values for each document, one row after
// another. NaN is a missing value, see [transforms.Transform]. The
// documents of a query must be scored in one call: a transform, or a model, may compare
// them.
//
// A float32 model gives the scores of its training graph, bit for bit. Score allocates
// nothing where dst has room.
//
// Rows of another width are an error, and so are an infinite value, a score that is not
// finite, and a model of a kind that has no [Forward].
func (m *Model) Score(dst []float64, features []float32) ([]float64, error) {
	return m.ScoreContext(context.Background(), dst, features)
}

// ScoreContext is [Model.Score] that ends early, with the error of the context, when that
// ends. Only the built-in kinds of models do so.
func (m *Model) ScoreContext(ctx context.Context, dst []float64, features []float32) ([]float64, error) {
	return m.ScoreOn(ctx, dst, features, nil)
}

// ScoreOn is [Model.ScoreContext] of a model that was trained on base scores, which
// [File.BaseScores] tells: the score of a document is its base score, that of another ranker such
// as the one in production, plus what the model gives. Base has one for each document, in the unit
// that the model was trained with; for other models it is nil. Anything else is an error.
func (m *Model) ScoreOn(ctx context.Context, dst []float64, features, base []float32) ([]float64, error) {
	if m.pass == nil {
		return dst, fmt.Errorf("ranker: models of kind %q have no forward pass: ranker.Register makes one known", m.file.Kind)
	}
	t := m.file.Transform
	if len(features)%t.Inputs != 0 {
		return dst, fmt.Errorf("ranker: %d values are not rows of %d features", len(features), t.Inputs)
	}
	if err := m.checkFeatures(features); err != nil {
		return dst, err
	}
	rows := len(features) / t.Inputs
	if err := m.checkBase(base, rows); err != nil {
		return dst, err
	}
	if rows == 0 {
		return dst, nil
	}
	size := rows * t.Width()
	x, _ := m.inputs.Get().(*[]float32)
	if x == nil {
		x = new([]float32)
	}
	*x = num.Sized(*x, size)
	if size <= model.KeptNumbers {
		defer m.inputs.Put(x)
	}
	inputs := *x
	t.Query(inputs, features)

	first := len(dst)
	dst = slices.Grow(dst, rows)[:first+rows]
	scores := dst[first:]
	if err := m.pass(ctx, scores, inputs); err != nil {
		return dst[:first], fmt.Errorf("ranker: %w", err)
	}
	for d, s := range base {
		scores[d] += float64(s)
	}
	for d, s := range scores {
		if math.IsNaN(s) || math.IsInf(s, 0) {
			return dst[:first], fmt.Errorf("ranker: the score of document %d is %v", d, s)
		}
	}
	return dst, nil
}

// featureName is the name of a feature, or its id if it has none.
func (m *Model) featureName(column int) string {
	if m.file.FeatureNames == nil {
		return strconv.Itoa(m.file.FeatureIDs[column])
	}
	return m.file.FeatureNames[column]
}

// checkBase is an error for base scores of documents that the model lacks, or does not take.
func (m *Model) checkBase(base []float32, rows int) error {
	switch {
	case !m.file.BaseScores && base != nil:
		return errors.New("ranker: the model was trained without base scores, and takes none")
	case m.file.BaseScores && base == nil && rows > 0:
		return errNoBase
	case m.file.BaseScores && len(base) != rows:
		return fmt.Errorf("ranker: %d base scores for %d documents", len(base), rows)
	}
	return nil
}

var errNoBase = errors.New("ranker: no base scores, to which the model adds its own: want one for each document")

// checkFeatures is an error for an infinite value.
func (m *Model) checkFeatures(features []float32) error {
	if sum := vek32.Sum(features); sum-sum == 0 {
		return nil
	}
	for i, v := range features {
		if math.Float32bits(v)<<1 == 0xff<<24 { // ±Inf, by one comparison of whole numbers
			n := m.file.Transform.Inputs
			return fmt.Errorf("ranker: document %d, feature %s: the value is %v, want a finite number, or NaN where it is missing",
				i/n, m.featureName(i%n), v)
		}
	}
	return nil
}

// ComparesDocuments tells whether the score of a document may depend on the other documents of its
// query, which must then be scored in one call: by a transform of each query, such as minmax, or by
// the model, as one with attention does and a custom kind may.
func (m *Model) ComparesDocuments() bool {
	return m.file.Kind != model.MLP || m.file.Transform.ComparesDocuments()
}

// Multiplications is about the number of multiplications for the scores of a query with that
// many documents: one a weight for every document, or several where members of an ensemble share
// weights, and in a model with attention some for every pair of documents. Time is in proportion to it; a service limits requests by it.
func (m *Model) Multiplications(documents int) float64 {
	weights := m.repeated
	for _, a := range m.file.Arrays {
		weights += len(a.Values)
	}
	n := float64(documents)
	return n * (float64(weights) + n*float64(m.pairs))
}
