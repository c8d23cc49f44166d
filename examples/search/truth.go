package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/viz"
)

// Truth measures rankings by what only a simulation knows.
type Truth struct {
	shop *Shop
	hits map[string][]Hit // by text of the query
}

func newTruth(shop *Shop, engine *Engine) (*Truth, error) {
	t := &Truth{shop, map[string][]Hit{}}
	for _, q := range shop.Queries {
		hits, err := engine.Search(context.Background(), q.Text, Facets{})
		if err != nil {
			return nil, err
		}
		t.hits[q.Text] = hits
	}
	return t, nil
}

// fill sets the true values of a day: of what was drawn, by the log, and of rankings by score for all queries and segments, by how
// often they are asked.
func (t *Truth) fill(r *Record, log *clicks.Log, model *ranker.Model) error {
	known := map[string]Query{}
	var total float64
	for i, q := range t.shop.Queries {
		known[q.Text] = q
		weight := t.shop.popularity(i) / float64(len(segments))
		for _, segment := range segments {
			hits := t.hits[q.Text]
			byBM25 := slices.SortedStableFunc(slices.Values(hits), func(a, b Hit) int { return cmp.Compare(b.BM25, a.BM25) })
			order, err := byScore(model, features(Search{Text: q.Text, Segment: segment}, hits))
			if err != nil {
				return err
			}
			r.ByScore += weight * value(q, segment, products(inOrder(hits, order)))
			r.Fused += weight * value(q, segment, products(hits))
			r.BM25 += weight * value(q, segment, products(byBM25))
			r.Best += weight * value(q, segment, best(q, segment, hits))
		}
	}
	for i := range log.Impressions {
		im := &log.Impressions[i]
		text, rest, _ := strings.Cut(im.Query, "|")
		segment, _, _ := strings.Cut(rest, "|")
		q, ok := known[text]
		if !ok || im.Interleaving != nil { // of somebody at the page, or not drawn
			continue
		}
		total++
		var ranking []*Product
		for k, d := range im.Shown {
			ranking = append(ranking, t.shop.ByID[im.Documents[d]])
			r.Clicks += im.Clicks[k]
		}
		r.Drawn += value(q, segment, ranking)
	}
	r.Clicks, r.Drawn = r.Clicks/max(total, 1), r.Drawn/max(total, 1)
	return nil
}

// curve shows the true value of what was shown, day after day.
func curve(records []Record) viz.Plot {
	p := viz.Plot{X: "day", Y: "true clicks a search"}
	for _, line := range []struct {
		name  string
		style viz.Style
		of    func(Record) float64
	}{
		{"the model, by score", viz.LinePoints, func(r Record) float64 { return r.ByScore }},
		{"what was drawn", viz.LinePoints, func(r Record) float64 { return r.Drawn }},
		{"words and meaning fused", viz.Line, func(r Record) float64 { return r.Fused }},
		{"BM25", viz.Line, func(r Record) float64 { return r.BM25 }},
		{"best order of the candidates", viz.Guide, func(r Record) float64 { return r.Best }},
	} {
		s := viz.Series{Name: line.name, Style: line.style}
		for _, r := range records {
			s.X, s.Y = append(s.X, float64(r.Day)), append(s.Y, line.of(r))
		}
		p.Series = append(p.Series, s)
	}
	return p
}
