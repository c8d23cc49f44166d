package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
	index "github.com/blevesearch/bleve_index_api"
)

// boosts are the hand-set weights of the fields: what the shop ranked by before it learned.
var boosts = []struct {
	field string
	boost float64
}{{"title", 3}, {"brand", 1}, {"category", 2}, {"description", 1}}

const brandFacet, categoryFacet = "brand_facet", "category_facet"

// candidates is the number of documents that each part of the search finds, to be ranked again.
const candidates = 30

// leastCosine is the cosine below which a product has another meaning.
const leastCosine = .1

// An Engine finds products by words, with an index, and by meaning, with vectors.
type Engine struct {
	shop    atomic.Pointer[Shop] // which changes with the season
	index   bleve.Index
	vectors *Vectors
}

// openEngine opens the index of a folder. If there is none, it makes one, which appears complete or not at all.
func openEngine(folder string, shop *Shop, vectors *Vectors) (*Engine, error) {
	path := filepath.Join(folder, "index")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if err := makeIndex(path+".part", shop); err != nil {
			return nil, err
		}
		if err := os.Rename(path+".part", path); err != nil {
			return nil, err
		}
	}
	opened, err := bleve.OpenUsing(path, map[string]any{"bolt_timeout": "2s"})
	if err != nil {
		return nil, fmt.Errorf("%s: %w (a timeout means that another process has it)", path, err)
	}
	if n, err := opened.DocCount(); err != nil || n != uint64(len(shop.Products)) {
		return nil, errors.Join(fmt.Errorf("%s has %d products, want %d: name another -state", path, n, len(shop.Products)), err, opened.Close())
	}
	e := &Engine{index: opened, vectors: vectors}
	e.shop.Store(shop)
	return e, nil
}

func makeIndex(path string, shop *Shop) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	made, err := bleve.New(path, indexMapping())
	if err != nil {
		return err
	}
	for part := range slices.Chunk(shop.Products, 1000) {
		batch := made.NewBatch()
		for _, p := range part {
			document := map[string]any{"title": p.Title, "brand": p.Brand, "category": p.Category, "description": p.Description,
				brandFacet: p.Brand, categoryFacet: p.Category}
			if err := batch.Index(p.ID, document); err != nil {
				return err
			}
		}
		if err := made.Batch(batch); err != nil {
			return err
		}
	}
	return made.Close()
}

func indexMapping() mapping.IndexMapping {
	m := bleve.NewIndexMapping()
	m.ScoringModel = index.BM25Scoring
	m.DefaultMapping = bleve.NewDocumentStaticMapping()
	for _, b := range boosts {
		text := bleve.NewTextFieldMapping()
		text.Analyzer, text.Store, text.IncludeInAll = en.AnalyzerName, false, false
		m.DefaultMapping.AddFieldMappingsAt(b.field, text)
	}
	for _, field := range []string{brandFacet, categoryFacet} {
		word := bleve.NewKeywordFieldMapping()
		word.Store, word.IncludeInAll = false, false
		m.DefaultMapping.AddFieldMappingsAt(field, word)
	}
	return m
}

// Facets are what the user chose next to the results; "" is everything.
type Facets struct{ Brand, Category string }

// question returns the query for a text: BM25 of the fields, by their boosts.
func question(text string, chosen Facets) query.Query {
	fields := bleve.NewDisjunctionQuery()
	for _, b := range boosts {
		fields.AddQuery(match(b.field, text, b.boost))
	}
	all := bleve.NewConjunctionQuery(fields)
	for field, value := range map[string]string{brandFacet: chosen.Brand, categoryFacet: chosen.Category} {
		if value != "" {
			only := bleve.NewTermQuery(value)
			only.SetField(field)
			only.SetBoost(0)
			all.AddQuery(only)
		}
	}
	return all
}

// Search returns the candidates for a text, the best by the fusion first.
func (e *Engine) Search(ctx context.Context, text string, chosen Facets) ([]Hit, error) {
	words, err := e.byWords(ctx, text, chosen)
	if err != nil {
		return nil, err
	}
	query := e.vectors.embed(text)
	hits := fuse(words, e.byMeaning(query, chosen))
	for i, h := range hits {
		hits[i].Meaning = e.vectors.Cosine(query, h.Product)
	}
	return hits, e.wordScores(ctx, text, hits)
}

// byWords returns the best products by BM25, with their scores.
func (e *Engine) byWords(ctx context.Context, text string, chosen Facets) (map[*Product]float64, error) {
	request := bleve.NewSearchRequestOptions(question(text, chosen), candidates, 0, false)
	request.SortBy([]string{"-_score", "_id"})
	found, err := e.index.SearchInContext(ctx, request)
	if err != nil {
		return nil, err
	}
	scores := map[*Product]float64{}
	for _, h := range found.Hits {
		scores[e.shop.Load().ByID[h.ID]] = h.Score
	}
	return scores, nil
}

// byMeaning returns the products with the largest cosines to the vector of a query.
func (e *Engine) byMeaning(query []float64, chosen Facets) map[*Product]float64 {
	type near struct {
		*Product
		cosine float64
	}
	var found []near
	shop := e.shop.Load()
	for i := range shop.Products {
		p := &shop.Products[i]
		if x := e.vectors.Cosine(query, p); x > leastCosine && (chosen.Brand == "" || chosen.Brand == p.Brand) &&
			(chosen.Category == "" || chosen.Category == p.Category) {
			found = append(found, near{p, x})
		}
	}
	slices.SortFunc(found, func(a, b near) int { return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.ID, b.ID)) })
	scores := map[*Product]float64{}
	for _, n := range found[:min(candidates, len(found))] {
		scores[n.Product] = n.cosine
	}
	return scores
}

// Count returns how many documents have words of a text, by brand and by category.
func (e *Engine) Count(ctx context.Context, text string, chosen Facets) (search.FacetResults, error) {
	request := bleve.NewSearchRequestOptions(question(text, chosen), 0, 0, false)
	request.AddFacet("brand", bleve.NewFacetRequest(brandFacet, len(brands)))
	request.AddFacet("category", bleve.NewFacetRequest(categoryFacet, 8))
	found, err := e.index.SearchInContext(ctx, request)
	if err != nil {
		return nil, err
	}
	return found.Facets, nil
}

func match(field, text string, boost float64) *query.MatchQuery {
	m := bleve.NewMatchQuery(text)
	m.SetField(field)
	m.SetBoost(boost)
	return m
}

// wordScores asks for the scores of the candidates by BM25, and by each field alone. Those found by meaning may have some, too.
func (e *Engine) wordScores(ctx context.Context, text string, hits []Hit) error {
	place := map[string]int{}
	ids := make([]string, len(hits))
	for i, h := range hits {
		place[h.ID], ids[i], hits[i].Fields = i, h.ID, make([]float64, len(boosts))
	}
	only := bleve.NewDocIDQuery(ids)
	only.SetBoost(0)
	ask := func(q query.Query, put func(h *Hit, score float64)) error {
		question := bleve.NewConjunctionQuery(q, only)
		found, err := e.index.SearchInContext(ctx, bleve.NewSearchRequestOptions(question, len(hits), 0, false))
		if err != nil {
			return err
		}
		for _, h := range found.Hits {
			put(&hits[place[h.ID]], h.Score)
		}
		return nil
	}
	for f, b := range boosts {
		if err := ask(match(b.field, text, 1), func(h *Hit, score float64) { h.Fields[f] = score }); err != nil {
			return err
		}
	}
	return ask(question(text, Facets{}), func(h *Hit, score float64) { h.BM25 = score })
}
