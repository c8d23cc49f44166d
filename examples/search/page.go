package main

import (
	"bytes"
	"cmp"
	"html/template"
	"net/http"
	"slices"

	"github.com/blevesearch/bleve/v2/search"
)

var page = template.Must(template.New("page.html").ParseFS(files, "page.html"))

// A Column is a ranking of the comparison.
type Column struct {
	Title, Version string
	Rows           []Row
	Value          float64 // true clicks a search; 0: the program does not know what the query means
}

// A Row is a hit in a Column.
type Row struct {
	Hit
	Up, Down int // ranks moved since yesterday
}

// View is what the page shows.
type View struct {
	Search
	Segments []string
	Answer   *Answer // nil: nothing was asked
	Facets   search.FacetResults
	Compared []Column
	Queries  []Query // examples
}

func (s *Server) servePage(w http.ResponseWriter, r *http.Request) error {
	q, err := asked(r)
	if err != nil {
		return err
	}
	v := View{Search: q, Segments: segments, Queries: s.shop.Queries[:min(6, len(s.shop.Queries))]}
	if v.Text != "" {
		if v.Answer, err = s.answer(r, q); err != nil {
			return err
		}
		if v.Facets, err = s.engine.Count(r.Context(), v.Text, q.Facets); err != nil {
			return err
		}
		if v.Compared, err = s.compare(v.Search, v.Answer); err != nil {
			return err
		}
	}
	return show(w, "page.html", v)
}

// show answers with a part of the page, or with an error and nothing else.
func show(w http.ResponseWriter, name string, data any) error {
	var text bytes.Buffer
	if err := page.ExecuteTemplate(&text, name, data); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, err := text.WriteTo(w)
	return err
}

// compare ranks the candidates by score with today's and with yesterday's model.
func (s *Server) compare(q Search, a *Answer) ([]Column, error) {
	today, before := s.live.Model(), s.before.Load()
	now, err := byScore(today, a.features)
	then, err2 := byScore(before, a.features)
	columns := []Column{{Title: "Today", Version: version(today)}, {Title: "Yesterday", Version: version(before)}}
	for c, order := range [][]int{now, then} {
		for rank, i := range order[:min(shown, len(order))] {
			moved := slices.Index(then, i) - rank
			columns[c].Rows = append(columns[c].Rows, Row{a.hits[i], max(0, moved), max(0, -moved)})
		}
		known := slices.IndexFunc(s.shop.Queries, func(known Query) bool { return known.Text == q.Text })
		if known >= 0 {
			columns[c].Value = value(s.shop.Queries[known], q.Segment, products(inOrder(a.hits, order)))
		}
	}
	return columns, cmp.Or(err, err2)
}

// serveDays shows the curve and the days that are over: a part of the page, which asks for it again and again.
func (s *Server) serveDays(w http.ResponseWriter, r *http.Request) error {
	records := *s.records.Load()
	return show(w, "days", map[string]any{
		"Day": s.day.Load(), "Logged": s.logged.Load(), "Records": records, "Curve": template.HTML(curve(records).SVG()),
	})
}
