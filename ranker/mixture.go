package ranker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/transforms"
)

// MixtureKind is the Kind of files of mixtures, see [Mix].
const MixtureKind = "mixture"

// A mixturePart is a model of a mixture, without what its models share. Its arrays have its number and a slash before
// their names.
type mixturePart struct {
	Weight    float64               `json:"weight"`
	Kind      string                `json:"kind"`
	Settings  json.RawMessage       `json:"settings"`
	Dtype     string                `json:"dtype"`
	Transform *transforms.Transform `json:"transform"`
}

type mixtureSettings struct {
	Parts []mixturePart `json:"parts"`
}

// Mix returns the file of a mixture of models of the same features, whose score is Σ_i weight_i · score_i. Plackett–Luce
// policies multiply where their log-scores add: a document is likely to be first if several models want it there. Base scores are
// added once. Names, texts, gain and grade are of the first model, and the training queries of all. Of a mixture, Mix takes the parts.
//
// Mix returns an error for models of other features or of another order of them, for models with and without base scores, for
// weights that are not finite, and for forests of other libraries that need values changed first.
func Mix(weights []float64, models ...*Model) (*File, error) {
	if len(models) == 0 || len(weights) != len(models) {
		return nil, fmt.Errorf("ranker: %d weights for a mixture of %d models: want one for each, and one model or more",
			len(weights), len(models))
	}
	first := models[0].file
	mixed := *first
	mixed.Kind, mixed.Dtype, mixed.Arrays, mixed.TrainingQueries, mixed.foreign, mixed.source = MixtureKind, "float64", nil, nil, nil, nil
	if r := first.Reference; r != nil {
		mixed.Reference = &Reference{Columns: r.Columns} // scores are others
	}
	mixed.Transform = transforms.Raw(first.Transform.Inputs)
	var s mixtureSettings
	var queries []uint64
	for i, m := range models {
		f := m.file
		if err := checkAlike(models[0], m, i); err != nil {
			return nil, err
		}
		if f.foreign != nil && f.Kind == ForestKind { // whose own bytes are not a part of a file of ours
			ensemble, err := f.Forest()
			if err != nil {
				return nil, fmt.Errorf("ranker: model %d: %w", i, err)
			}
			plain := *f
			if err := plain.SetForest(ensemble); err != nil {
				return nil, fmt.Errorf("ranker: model %d: %w", i, err)
			}
			f = &plain
		}
		parts, err := f.parts()
		if err != nil {
			return nil, fmt.Errorf("ranker: model %d: %w", i, err)
		}
		for _, p := range parts {
			number := strconv.Itoa(len(s.Parts)) + "/"
			s.Parts = append(s.Parts, mixturePart{weights[i] * p.weight, p.file.Kind, p.file.Settings, p.file.Dtype, p.file.Transform})
			for _, a := range p.file.Arrays {
				a.Name = number + a.Name
				mixed.Arrays = append(mixed.Arrays, a)
			}
		}
		queries = append(queries, f.TrainingQueries...)
	}
	if queries != nil {
		mixed.TrainingQueries = NewQueryDigests(queries...)
	}
	var err error
	if mixed.Settings, err = json.Marshal(s); err != nil { // a weight that is not finite
		return nil, fmt.Errorf("ranker: the weights of a mixture are %v: want finite numbers", weights)
	}
	return &mixed, mixed.check()
}

// checkAlike returns an error unless model i takes the same data as the first.
func checkAlike(first, m *Model, i int) error {
	a, b := first.file, m.file
	for k := range min(len(a.FeatureIDs), len(b.FeatureIDs)) {
		if one, other := first.FeatureName(k), m.FeatureName(k); one != other {
			return fmt.Errorf("ranker: column %d is %q of model 0, but %q of model %d: want the same features in the same order", k+1, one, other, i)
		}
	}
	switch {
	case !slices.Equal(a.FeatureIDs, b.FeatureIDs) || !slices.Equal(a.FeatureNames, b.FeatureNames) ||
		!reflect.DeepEqual(a.Levels, b.Levels) || !reflect.DeepEqual(a.Products, b.Products):
		return fmt.Errorf("ranker: models 0 and %d have other features, other texts of categories or other products of vectors: "+
			"train them on the same columns of the same data", i)
	case a.BaseScores != b.BaseScores:
		return fmt.Errorf("ranker: base scores: model 0 %t, model %d %t: want them for both or for neither", a.BaseScores, i, b.BaseScores)
	}
	return nil
}

// Parts returns the weights and the models of a mixture, or nil if the model is not one.
func (m *Model) Parts() (weights []float64, models []*Model, err error) {
	if m.file.Kind != MixtureKind {
		return nil, nil, nil
	}
	parts, err := m.file.parts()
	if err != nil {
		return nil, nil, err
	}
	for _, p := range parts {
		part, err := New(p.file)
		if err != nil {
			return nil, nil, err
		}
		weights, models = append(weights, p.weight), append(models, part)
	}
	return weights, models, nil
}

type part struct {
	weight float64
	file   *File
}

// parts returns the parts of the file of a mixture as files of their own, and other files as they are.
func (f *File) parts() (parts []part, err error) {
	if f.Kind != MixtureKind {
		return []part{{1, f}}, nil
	}
	var s mixtureSettings
	if err := json.Unmarshal(f.Settings, &s); err != nil {
		return nil, fmt.Errorf("the settings of the mixture: %w", err)
	}
	if len(s.Parts) == 0 || !f.Transform.Identity() {
		return nil, errors.New("a mixture needs parts, and raw features, which each part transforms")
	}
	for i, p := range s.Parts {
		if p.Kind == MixtureKind || math.IsNaN(p.Weight) || math.IsInf(p.Weight, 0) {
			return nil, fmt.Errorf("part %d of the mixture is a %s of weight %v: want no mixture, and a finite weight", i, p.Kind, p.Weight)
		}
		alone := *f
		alone.Kind, alone.Settings, alone.Dtype, alone.Transform, alone.Arrays = p.Kind, p.Settings, p.Dtype, p.Transform, nil
		parts = append(parts, part{p.Weight, &alone})
	}
	for _, a := range f.Arrays {
		number, name, _ := strings.Cut(a.Name, "/")
		i, err := strconv.Atoi(number)
		if err != nil || i < 0 || i >= len(parts) || strconv.Itoa(i) != number {
			return nil, fmt.Errorf("array %q belongs to no part of the mixture", a.Name)
		}
		a.Name = name
		parts[i].file.Arrays = append(parts[i].file.Arrays, a)
	}
	for i, p := range parts {
		if err := p.file.check(); err != nil {
			return nil, fmt.Errorf("part %d of the mixture: %w", i, err)
		}
	}
	return parts, nil
}

// mixtureScorer is the scorer of the file of a mixture, whose inputs are raw features.
func (f *File) mixtureScorer(other Maker) (s scorer, err error) {
	parts, err := f.parts()
	if err != nil {
		return s, err
	}
	s = scorer{transform: f.Transform, alone: true, exact: true}
	scorers, sparse := make([]scorer, len(parts)), true
	for i, p := range parts {
		one, err := scorerOf(p.file, other)
		if err == nil && one.pass == nil {
			err = fmt.Errorf("models of kind %q have no forward pass", p.file.Kind)
		}
		if err != nil {
			return s, fmt.Errorf("part %d of the mixture: %w", i, err)
		}
		scorers[i] = one
		s.used = append(s.used, one.used...)
		s.exact, sparse = s.exact && one.exact, sparse && one.sparse != nil
		s.alone = s.alone && one.alone && !one.transform.ComparesDocuments()
		for _, w := range one.forests {
			w.Weight = p.weight
			s.forests = append(s.forests, w)
		}
		if s.gains == nil {
			s.gains, s.splits = one.gains, one.splits
		} else if one.gains != nil {
			floats.Add(s.gains, one.gains)
			for c, n := range one.splits {
				s.splits[c] += n
			}
		}
	}
	slices.Sort(s.used)
	s.used = slices.Compact(s.used)
	sum := func(ctx context.Context, scores []float64, x []float32, rows *Sparse) error {
		own := make([]float64, len(scores))
		clear(scores)
		for i := range scorers {
			if err := scorers[i].score(ctx, own, x, rows); err != nil {
				return err
			}
			floats.AddScaled(scores, parts[i].weight, own)
		}
		return nil
	}
	s.pass = func(ctx context.Context, scores []float64, x []float32) error { return sum(ctx, scores, x, nil) }
	if sparse {
		s.sparse = func(ctx context.Context, scores []float64, rows *Sparse) error { return sum(ctx, scores, nil, rows) }
	}
	return s, nil
}
