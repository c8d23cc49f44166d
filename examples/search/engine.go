package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

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

// candidates is the number of documents that are ranked again.
const candidates = 40

// A Hit is a candidate with its scores.
type Hit struct {
	*Product
	Score  float64   // of the engine
	Fields []float64 // the scores of the fields, in the order of boosts; 0 where nothing matches
}

// An Engine is an index of the products.
type Engine struct {
	shop  *Shop
	index bleve.Index
}

// openEngine opens the index of a folder. If there is none, it makes one, which appears complete or not at all.
func openEngine(folder string, shop *Shop) (*Engine, error) {
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
	return &Engine{shop, opened}, nil
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

// Search returns the candidates for a text, the best by BM25 first.
func (e *Engine) Search(ctx context.Context, text string, chosen Facets) ([]Hit, error) {
	request := bleve.NewSearchRequestOptions(question(text, chosen), candidates, 0, false)
	request.SortBy([]string{"-_score", "_id"})
	found, err := e.index.SearchInContext(ctx, request)
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, len(found.Hits))
	for i, h := range found.Hits {
		hits[i] = Hit{e.shop.ByID[h.ID], h.Score, make([]float64, len(boosts))}
	}
	return hits, e.fieldScores(ctx, text, hits)
}

// Count returns how many documents there are for a text, by brand and by category.
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

// fieldScores asks for the scores of the candidates by each field alone.
func (e *Engine) fieldScores(ctx context.Context, text string, hits []Hit) error {
	place := map[string]int{}
	ids := make([]string, len(hits))
	for i, h := range hits {
		place[h.ID], ids[i] = i, h.ID
	}
	only := bleve.NewDocIDQuery(ids)
	only.SetBoost(0)
	for f, b := range boosts {
		question := bleve.NewConjunctionQuery(match(b.field, text, 1), only)
		found, err := e.index.SearchInContext(ctx, bleve.NewSearchRequestOptions(question, len(hits), 0, false))
		if err != nil {
			return err
		}
		for _, h := range found.Hits {
			hits[place[h.ID]].Fields[f] = h.Score
		}
	}
	return nil
}
