package ranker

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/plrank/plrank/forest/foreign"
)

// WriteSolr writes a forest as a model of Solr, as its model store takes it: see [foreign.Export.Solr]. Its name is plrank_ and
// the digest of the model. Features have their names, or their ids if they have none.
//
// WriteSolr returns an error for what Solr cannot compute: other models than forests, transforms but raw, categories, base scores.
func (m *Model) WriteSolr(w io.Writer) error { return m.writeFor(w, foreign.Export.Solr) }

// WriteElasticsearch writes a forest as a model of the plugins of Elasticsearch and OpenSearch: see
// [foreign.Export.Elasticsearch]. The rest is as for [Model.WriteSolr].
func (m *Model) WriteElasticsearch(w io.Writer) error {
	return m.writeFor(w, foreign.Export.Elasticsearch)
}

func (m *Model) writeFor(w io.Writer, encode func(foreign.Export) ([]byte, error)) error {
	f := m.file
	t := f.Transform
	switch {
	case f.Kind != ForestKind:
		return fmt.Errorf("ranker: search engines compute forests, and not a model of kind %s: want one of -scorer forest", f.Kind)
	case !t.Raw() || len(t.Parts) > 1 || t.Bins != nil || len(t.Categories) > 0:
		const want = "search engines compute forests of raw numbers"
		return fmt.Errorf("ranker: %s, and not with the transform %s and %d categorical features", want, t.Spec, len(t.Categories))
	case f.BaseScores:
		return errors.New("ranker: the model adds to the scores of another ranker, which search engines do not")
	}
	ensemble, err := f.Forest()
	if err != nil {
		return fmt.Errorf("ranker: %w", err)
	}
	e := foreign.Export{Name: "plrank_" + m.Digest(), Forest: ensemble}
	for _, column := range t.Outputs() {
		e.Features = append(e.Features, m.FeatureName(column))
		_, gap := slices.BinarySearch(t.Gaps, column)
		e.Whole = append(e.Whole, t.Gaps != nil && !gap)
	}
	text, err := encode(e)
	if err != nil {
		return fmt.Errorf("ranker: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
