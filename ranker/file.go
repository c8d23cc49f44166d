package ranker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/plrank/plrank/forest/foreign"
	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/internal/filekind"
	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/internal/npzfile"
	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/internal/version"
	"github.com/plrank/plrank/transforms"
)

// A File holds the content of a model file.
type File struct {
	// Version is the version of plrank that wrote the file, "" in files of format 1. Save and Write set it.
	Version string `json:"plrank"`

	// Kind is the kind of the model, such as "mlp".
	Kind string `json:"kind"`
	// Settings describe the model, see nn.Scorer.
	Settings json.RawMessage `json:"settings"`
	// Dtype is the dtype of the weights: float32 or float64.
	Dtype string `json:"dtype"`
	// Arrays are the weights.
	Arrays []Array `json:"-"`

	// Transform makes the inputs of the model from raw features.
	Transform *transforms.Transform `json:"transform"`
	// FeatureIDs are the ids of the raw features, ascending.
	FeatureIDs []int `json:"featureIDs"`
	// FeatureNames are their names; nil: they have none.
	FeatureNames []string `json:"featureNames,omitempty"`
	// Levels are the texts of features whose values are text, nil for others; nil: there are no such features. See
	// datasets.Dataset.Levels.
	Levels [][]string `json:"levels,omitempty"`
	// NumberLevels are the ids of features whose Levels are numbers, see datasets.Dataset.
	NumberLevels []int `json:"-"`
	// Vectors are the vectors that a product of the data was made of, with their dimensions, and Products the features that are.
	Vectors  []transforms.Vector  `json:"vectors,omitempty"`
	Products []transforms.Product `json:"products,omitempty"`
	// Gain says how labels became gains in training: a name of package metrics.
	Gain string `json:"gain"`
	// Grade is the highest label of the collection, for ERR and graded RBP. 0: not known, as in files of older versions.
	Grade float64 `json:"grade,omitempty"`

	// Columns names the columns of the training data that are not features, by role, see datasets.Dataset.Roles. nil: they had
	// no names, or an older version wrote the file.
	Columns map[string]string `json:"columns,omitempty"`

	// Sparse says that the training documents were sparse: a feature that a document does not name is 0.
	Sparse bool `json:"sparse,omitempty"`

	// BaseScores says that the model adds to the scores of another ranker, see [Model.ScoreOn].
	BaseScores bool `json:"baseScores,omitempty"`

	// TrainingQueries are the digests of the queries that the model was trained on. nil: not known.
	TrainingQueries QueryDigests `json:"queryDigests,omitempty"`

	// Reference describes the training documents, see [Drift]. nil: not known.
	Reference *Reference `json:"reference,omitempty"`

	foreign *foreign.Model // of a file of another library
	source  []byte         // which this is
}

// An Array is one named array of a model's weights.
type Array struct {
	// Name tells the array from the others of the file.
	Name string
	// Shape is one length, or rows and columns.
	Shape []int
	// Values are in row-major order, and finite.
	Values []float64
}

const (
	fileFormat  = "plrank model"
	fileVersion = 2
)

// A fileHeader is the JSON text of a model file.
type fileHeader struct {
	Format  string `json:"format"`
	Version int    `json:"version"` // of the format
	File
	MLP json.RawMessage `json:"mlp,omitempty"` // the settings in format 1

	// Files of older versions with Levels have no NumberLevels: numbers were the same in any spelling wherever they stood.
	NumberLevels *[]int `json:"numberLevels,omitempty"`

	UsedQueries QueryDigests `json:"trainingQueries,omitempty"` // of older versions: by the features in use, which other queries may share
}

// Save writes the file, complete or not at all, and replaces an existing one. See [File.Write].
func (f *File) Save(path string) error {
	if err := file.Write(path, f.Write); err != nil {
		return fmt.Errorf("ranker: %w", err)
	}
	return nil
}

// Write writes the file. The same content gives the same bytes. Write returns an error if [Read]
// would refuse the content, for example a weight that is not finite. A file of another library is written as it was read.
func (f *File) Write(w io.Writer) error {
	if f.foreign != nil {
		_, err := w.Write(f.source)
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	h := fileHeader{Format: fileFormat, Version: fileVersion, File: *f}
	h.File.Version = version.String()
	if f.Levels != nil {
		numbers := append([]int{}, f.NumberLevels...) // not nil
		h.NumberLevels = &numbers
	}
	var arrays []npzfile.Array
	for _, a := range f.Arrays {
		arrays = append(arrays, npzfile.Array{Name: a.Name, Shape: a.Shape, Data: a.Values})
	}
	return npzfile.Encode(w, h, arrays)
}

// decode reads a file of that name from its bytes.
func decode(name string, data []byte) (*File, error) {
	if kind, _ := filekind.Of(data); kind.Name != filekind.NPZ {
		return decodeForeign(name, data)
	}
	var h fileHeader
	npz, err := npzfile.Decode(name, data, &h)
	if err != nil {
		return nil, fmt.Errorf("ranker: %w", err)
	}
	switch {
	case h.Format != fileFormat:
		return nil, fmt.Errorf("ranker: %s: not a model file: its format is %q, want %q", name, h.Format, fileFormat)
	case h.Version == 1:
		h.Kind, h.Settings = model.MLP, h.MLP // the only kind of that version
	case h.Version != fileVersion:
		return nil, fmt.Errorf("ranker: %s: version %d of the model format, but this program reads versions 1 to %d", name, h.Version,
			fileVersion)
	}
	f := &h.File
	if h.NumberLevels != nil {
		f.NumberLevels = *h.NumberLevels
	} else if f.Levels != nil {
		f.NumberLevels = f.FeatureIDs
	}
	for _, a := range npz.Arrays {
		f.Arrays = append(f.Arrays, Array{Name: a.Name, Shape: a.Shape, Values: a.Data})
	}
	if f.TrainingQueries == nil && f.Transform != nil && len(f.Transform.Used()) == len(f.FeatureIDs) {
		f.TrainingQueries = h.UsedQueries
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("ranker: %s: %w", name, err)
	}
	return f, nil
}

// check reports parts of a file that do not fit together. Whether the arrays fit the settings,
// the forward pass of the kind checks.
func (f *File) check() error {
	switch {
	case f.Kind == "":
		return errors.New("no kind of model")
	case !json.Valid(f.Settings):
		return fmt.Errorf("the settings of the model are not JSON: %q", f.Settings)
	case f.Dtype != "float32" && f.Dtype != "float64":
		return fmt.Errorf("dtype %q, want float32 or float64", f.Dtype)
	case !(f.Grade >= 0 && f.Grade <= math.MaxFloat32):
		return fmt.Errorf("the highest grade is %v, want a finite number that is not negative", f.Grade)
	case f.Transform == nil:
		return errors.New("no transform of the features")
	case f.FeatureNames != nil && len(f.FeatureNames) != len(f.FeatureIDs):
		return fmt.Errorf("%d feature names for %d feature ids", len(f.FeatureNames), len(f.FeatureIDs))
	case f.Levels != nil && len(f.Levels) != len(f.FeatureIDs):
		return fmt.Errorf("levels of %d features for %d feature ids", len(f.Levels), len(f.FeatureIDs))
	}
	for _, name := range f.Columns {
		if !utf8.ValidString(name) { // which JSON would change
			return fmt.Errorf("the column name %q is not in UTF-8", name)
		}
	}
	for _, text := range slices.Concat(f.FeatureNames, slices.Concat(f.Levels...)) {
		if !utf8.ValidString(text) {
			return fmt.Errorf("the feature name or text %q is not in UTF-8", text)
		}
	}
	if err := text.CheckFeatureIDs(f.FeatureIDs); err != nil {
		return err
	}
	if err := f.TrainingQueries.check(); err != nil {
		return err
	}
	if err := f.Transform.Validate(); err != nil {
		return err
	}
	for i, p := range f.Products {
		if _, _, err := p.Check(f.Vectors); err != nil {
			return err
		}
		if at := len(f.FeatureNames) - len(f.Products) + i; at < 0 || f.FeatureNames[at] != p.Name {
			return fmt.Errorf("the product %s is not among the last features, in order", p.Name)
		}
	}
	if f.Transform.Inputs != len(f.FeatureIDs) {
		return fmt.Errorf("%d feature ids and a transform of %d features do not fit", len(f.FeatureIDs), f.Transform.Inputs)
	}
	if f.Transform.Width() == 0 {
		return errors.New("the transform leaves no features")
	}
	if err := f.Reference.check(f); err != nil {
		return err
	}
	return f.checkArrays()
}

// checkArrays reports arrays that cannot be written.
func (f *File) checkArrays() error {
	names := map[string]bool{npzfile.HeaderName: true}
	for _, a := range f.Arrays {
		if a.Name == "" || names[a.Name] {
			return fmt.Errorf("array %q: want a name that no other array has", a.Name)
		}
		names[a.Name] = true
		size := 1
		for _, n := range a.Shape {
			size *= max(0, n)
		}
		if len(a.Shape) < 1 || len(a.Shape) > 2 || size != len(a.Values) || size == 0 {
			return fmt.Errorf("array %q has shape %v and %d values: want one length or two, and as many values", a.Name, a.Shape, len(a.Values))
		}
		if err := (npzfile.Array{Name: a.Name, Data: a.Values}).CheckFinite(); err != nil {
			return err
		}
	}
	return nil
}

// Array returns the values of the array of that name, or an error if it is missing or has another shape.
func (f *File) Array(name string, shape ...int) ([]float64, error) {
	for _, a := range f.Arrays {
		if a.Name == name {
			return a.Values, model.CheckShape(name, a.Shape, shape)
		}
	}
	return nil, model.CheckShape(name, nil, shape)
}

// QueryDigests identifies the training queries of a model by numbers of datasets.Dataset.TrainingDigests,
// ascending, without duplicates and 0. In a model file each takes 8 bytes, in base64.
type QueryDigests []uint64

// NewQueryDigests returns these digests sorted, without duplicates and zeros.
func NewQueryDigests(queries ...uint64) QueryDigests {
	list := slices.DeleteFunc(slices.Clone(queries), func(d uint64) bool { return d == 0 })
	slices.Sort(list)
	return slices.Compact(list)
}

// Count returns how many of these queries are among the digests.
func (l QueryDigests) Count(queries []uint64) (n int) {
	for _, d := range queries {
		if _, found := slices.BinarySearch(l, d); found {
			n++
		}
	}
	return n
}

func (l QueryDigests) check() error {
	for i, d := range l {
		if d == 0 || i > 0 && d <= l[i-1] {
			return errors.New("the digests of the training queries do not ascend from 1")
		}
	}
	return nil
}

// MarshalJSON writes the digests as in a model file.
func (l QueryDigests) MarshalJSON() ([]byte, error) {
	b, err := binary.Append(nil, binary.LittleEndian, []uint64(l))
	if err != nil {
		return nil, err
	}
	return json.Marshal(b)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *QueryDigests) UnmarshalJSON(text []byte) error {
	var b []byte
	if err := json.Unmarshal(text, &b); err != nil {
		return err
	}
	if len(b)%8 != 0 {
		return fmt.Errorf("the digests of the training queries take %d bytes: want 8 each", len(b))
	}
	*l = make(QueryDigests, len(b)/8)
	_, err := binary.Decode(b, binary.LittleEndian, *l)
	return err
}
