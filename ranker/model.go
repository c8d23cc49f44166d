package ranker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/viterin/vek/vek32"
	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/sparse"
	"github.com/plrank/plrank/internal/text"
)

// A Model is a trained model. It may be used by several goroutines at once.
type Model struct {
	file   *File
	digest func() string
	scorer
	columns map[string]int // by name
	blocks  []int          // by column, the first of its block
	levels  []*text.Levels // [columns], nil where values are numbers
}

// Open reads a model file, or a model of another library, which it recognises by content: see package forest/foreign. It
// returns an error that says what is wrong if the file is not a model, is damaged or contradicts itself. A model of a kind
// without a [Forward] can be opened, but [Model.Score] returns an error.
func Open(path string) (*Model, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("ranker: %w", err)
	}
	return read(path, data)
}

// Read reads a model file from r, to its end, such as a file in an embed.FS or an upload. It returns
// the same errors as [Open], and the errors of r.
func Read(r io.Reader) (*Model, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("ranker: reading a model: %w", err)
	}
	return read("the model", data)
}

// read makes a model from the bytes of a file of that name.
func read(name string, data []byte) (*Model, error) {
	f, err := decode(name, data)
	if err != nil {
		return nil, err
	}
	digest, _ := Digest(bytes.NewReader(data)) // which has no errors
	return newModel(name, f, nil, func() string { return digest })
}

// New returns a model with the content of a file, which must not change afterwards. It returns the
// same errors as [Open].
func New(f *File) (*Model, error) { return NewWith(f, nil) }

// NewWith returns a model as [New] does. It uses maker if no maker is registered for the kind, which
// only this program may know.
func NewWith(f *File, maker Maker) (*Model, error) {
	const name = "the model"
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("ranker: %s: %w", name, err)
	}
	return newModel(name, f, maker, sync.OnceValue(func() string {
		sum := sha256.New()
		if err := f.Write(sum); err != nil {
			return ""
		}
		return shortened(sum)
	}))
}

func newModel(name string, f *File, maker Maker, digest func() string) (*Model, error) {
	s, err := scorerOf(f, maker)
	if err != nil {
		return nil, fmt.Errorf("ranker: %s: %w", name, err)
	}
	m := &Model{file: f, digest: digest, scorer: s, columns: map[string]int{}, levels: make([]*text.Levels, len(f.FeatureIDs)),
		blocks: blocksOf(f, s.used)}
	for column, name := range f.FeatureNames {
		m.columns[name] = column
	}
	for column, levels := range f.Levels {
		if levels != nil {
			m.levels[column] = text.FixedLevels(levels, slices.Contains(f.NumberLevels, f.FeatureIDs[column]))
		}
	}
	return m, nil
}

// Digest reads a model file to its end, and returns the first 16 hexadecimal digits of the SHA-256 of
// its bytes. It identifies a model, whatever the name and the time of the file.
//
//	sha256sum model.npz | cut -c -16
//
// It returns the errors of r.
func Digest(r io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return "", fmt.Errorf("ranker: %w", err)
	}
	return shortened(sum), nil
}

func shortened(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil)[:8]) }

// Digest returns the [Digest] of the file that the model was read from. For a model made by [New] it
// is the digest of the file that [File.Write] writes.
func (m *Model) Digest() string { return m.digest() }

// FeatureIDs returns the ids of the features of a document, ascending: one for each column of a row.
func (m *Model) FeatureIDs() []int { return slices.Clone(m.file.FeatureIDs) }

// FeatureNames returns the names of the features, nil if the training data had none.
func (m *Model) FeatureNames() []string { return slices.Clone(m.file.FeatureNames) }

// Column returns the column of the feature of that name, and whether there is one.
func (m *Model) Column(name string) (column int, ok bool) {
	column, ok = m.columns[name]
	return column, ok
}

// Level returns the value that stands for a text in a column, and whether the column has texts, as it is for a field of
// separated values. A text is itself, byte for byte. Of those that are not in the training data, an empty one, NA, NaN, NULL
// and ? are missing, and others are 0.
//
//	city, _ := model.Column("city")
//	row[city], _ = model.Level(city, "Oslo")
func (m *Model) Level(column int, word string) (value float32, ok bool) {
	if m.levels[column] == nil {
		return 0, false
	}
	return m.levels[column].Value([]byte(word), text.Cell), true
}

// NumberLevel is [Model.Level] for a number, or for true or false. If the training data have it in one other spelling, such as
// 7.0 for 7 or True for true, the value is of that.
func (m *Model) NumberLevel(column int, word string) (value float32, ok bool) {
	if m.levels[column] == nil {
		return 0, false
	}
	return m.levels[column].Value([]byte(word), text.Numeral), true
}

// ZeroLevel returns what [Model.NumberLevel] does for a value of LETOR text that is 0, as those are that a line leaves out.
func (m *Model) ZeroLevel(column int) float32 {
	if m.levels[column] == nil {
		return 0
	}
	return m.levels[column].NumberValue(0)
}

// Columns returns the names of the columns of the training data that are not features, by role: see [File.Columns].
func (m *Model) Columns() map[string]string { return maps.Clone(m.file.Columns) }

// Levels returns the texts of the categorical features, nil for others, and nil if there are none: see
// datasets.Dataset.
func (m *Model) Levels() [][]string { return m.file.Levels }

// NumberLevels returns the ids of features whose Levels are numbers in any spelling: see datasets.Dataset.
func (m *Model) NumberLevels() []int { return m.file.NumberLevels }

// OnBaseScores reports whether the model adds to the scores of another ranker, see [Model.ScoreOn].
func (m *Model) OnBaseScores() bool { return m.file.BaseScores }

// UsedFeatures returns the FeatureIDs that scores depend on: of features that varied in the training data, and of a
// forest those that its trees ask for. Those of models by older versions varied within a query, or were categorical.
func (m *Model) UsedFeatures() []int {
	var used []int
	for _, column := range m.used {
		used = append(used, m.file.FeatureIDs[column])
	}
	return used
}

// Gains returns, for each of [Model.FeatureIDs], what the splits by it gained of the objective when the trees of a forest were
// grown, or of all forests of a mixture. It is nil if the model has no trees, or if its file does not say, as files of
// CatBoost and of older versions.
func (m *Model) Gains() []float64 {
	if floats.Sum(m.gains) == 0 {
		return nil
	}
	return slices.Clone(m.gains)
}

// Splits returns, for each of [Model.FeatureIDs], how many nodes of the trees of a forest, or of all forests of a mixture, ask for
// it. It is nil if the model has no forest.
func (m *Model) Splits() []int { return slices.Clone(m.splits) }

// Seen returns how many of the queries with these digests the model was trained on, 0 if its file does not say.
// datasets.Dataset.CountSeen makes digests.
func (m *Model) Seen(digests []uint64) int { return m.file.TrainingQueries.Count(digests) }

// File returns the content of the model file, which must not be changed.
func (m *Model) File() *File { return m.file }

// Save writes the model file, see [File.Save].
func (m *Model) Save(path string) error { return m.file.Save(path) }

// Score appends to dst the scores of the documents of one query, and returns it. The features
// are raw, row after row: each document has one value for each of [Model.FeatureIDs]. NaN is a
// missing value, see [transforms.Transform]. The documents of a query must be scored in one
// call: a transform, or a model, may compare them.
//
// A float32 model gives the scores of its training graph, bit for bit. Score allocates
// nothing if dst has room.
//
// Score returns an error if the rows have another width, if a value is infinite, which models of other
// libraries take, if a score is not finite, or if the kind of the model has no [Forward].
func (m *Model) Score(dst []float64, features []float32) ([]float64, error) {
	return m.ScoreContext(context.Background(), dst, features)
}

// ScoreContext computes the scores of [Model.Score]. If the context ends first, models of the
// built-in kinds stop early, and ScoreContext returns the error of the context.
func (m *Model) ScoreContext(ctx context.Context, dst []float64, features []float32) ([]float64, error) {
	return m.ScoreOn(ctx, dst, features, nil)
}

// ScoreOn computes the scores of [Model.ScoreContext] for a model that was trained on base scores,
// see [Model.OnBaseScores]. The score of a document is the output of the model plus a base score:
// the score of another ranker, such as the one in production. base has one for each document, in the
// unit of the training data. For other models it must be nil.
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
	return m.scoreOn(ctx, dst, len(features)/t.Inputs, features, nil, base)
}

// Sparse holds the features of documents that are mostly 0, see datasets.Sparse. Columns are in the order of [Model.FeatureIDs].
type Sparse = sparse.Rows

// TakesSparse reports whether [Model.ScoreSparse] takes time and memory by values that are not 0, as for forests on features as they
// are.
func (m *Model) TakesSparse() bool { return m.sparse != nil }

// ScoreSparse computes the scores of [Model.ScoreOn] for sparse documents. It returns an error for models that do not take these.
func (m *Model) ScoreSparse(ctx context.Context, dst []float64, rows *Sparse, base []float32) ([]float64, error) {
	if !m.TakesSparse() {
		return dst, errors.New("ranker: the model needs dense documents: want Score")
	}
	if err := rows.Check(m.file.Transform.Inputs); err != nil {
		return dst, fmt.Errorf("ranker: %w", err)
	}
	for i, v := range rows.Values {
		if m.file.foreign == nil && math.IsInf(float64(v), 0) {
			return dst, fmt.Errorf("ranker: feature %s: a value is %v, want a finite number, or NaN where it is missing",
				m.FeatureName(int(rows.Columns[i])), v)
		}
	}
	return m.scoreOn(ctx, dst, rows.Len(), nil, rows, base)
}

// scoreOn appends the scores of n documents, whose features are x or sparse, on top of base scores.
func (m *Model) scoreOn(ctx context.Context, dst []float64, n int, x []float32, sparse *Sparse, base []float32) ([]float64, error) {
	if err := m.checkBase(base, n); err != nil || n == 0 {
		return dst, err
	}
	first := len(dst)
	dst = slices.Grow(dst, n)[:first+n]
	scores := dst[first:]
	if err := m.score(ctx, scores, x, sparse); err != nil {
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

// FeatureName returns the name of a feature, or its id if it has none.
func (m *Model) FeatureName(column int) string {
	if m.file.FeatureNames == nil || m.file.FeatureNames[column] == "" {
		return strconv.Itoa(m.file.FeatureIDs[column])
	}
	return m.file.FeatureNames[column]
}

// checkBase returns an error unless there is a base score for each document, or none if the model takes none.
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

var errNoBase = errors.New("ranker: no base scores: the model adds to the scores of another ranker: want one for each document")

// checkFeatures returns an error if a value is infinite, which forests of other libraries score.
func (m *Model) checkFeatures(features []float32) error {
	if m.file.foreign != nil {
		return nil
	}
	if sum := vek32.Sum(features); sum-sum == 0 {
		return nil
	}
	for i, v := range features {
		if math.Float32bits(v)<<1 == 0xff<<24 { // ±Inf, by one comparison of whole numbers
			n := m.file.Transform.Inputs
			return fmt.Errorf("ranker: document %d, feature %s: the value is %v, want a finite number, or NaN where it is missing",
				i/n, m.FeatureName(i%n), v)
		}
	}
	return nil
}

// ComparesDocuments reports whether the score of a document may depend on the other documents of its
// query, which must then be scored in one call. Transforms of each query, such as minmax, compare
// documents, and so do models with attention. Custom kinds of models may.
func (m *Model) ComparesDocuments() bool {
	return !m.alone || m.file.Transform.ComparesDocuments()
}
