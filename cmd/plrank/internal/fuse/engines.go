package fuse

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/fusion"
	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/transforms"
)

// An engine is a search engine, with what it can compute.
type engine struct {
	name  string
	forms map[fusion.Form]string // what it calls them
	runs  int                    // that it can combine, 0: any number
	paste func(form string, w fusion.Weights, runs []string) string
	lacks string // what it cannot express
}

var engines = []engine{
	{"OpenSearch", map[fusion.Form]string{fusion.MinMax: "min_max", fusion.L2: "l2", fusion.ZScore: "z_score", fusion.Reciprocal: "rrf"}, 0,
		openSearch, "The weights stand in the order of the queries of the hybrid query. k is a whole number. min_max gives the last " +
			"document of a run .001 instead of 0. z_score needs version 3.0, and weights of rrf a newer one."},
	{"Elasticsearch", map[fusion.Form]string{fusion.MinMax: "minmax", fusion.L2: "l2_norm", fusion.Reciprocal: "rrf"}, 0,
		elasticsearch, "There is no z-score and no dbsf. k is a whole number. rank_window_size must be the length of the runs. " +
			"Version 9.2 has all of this."},
	{"Vespa", map[fusion.Form]string{fusion.MinMax: "normalize_linear", fusion.Reciprocal: "reciprocal_rank"}, 0,
		vespa, "Minima and ranks are over the rerank-count hits, which all have every feature: no document is missing from a run. There is no " +
			"l2, z-score or dbsf."},
	{"Weaviate", map[fusion.Form]string{fusion.MinMax: "RELATIVE_SCORE"}, 2,
		weaviate, "It has two searches only: alpha is the weight of the second run, which must be the vector search. rankedFusion has k = 60 " +
			"only."},
}

// printEngines prints what to paste into each engine: of the forms that it has, the one that is best by cross-validation, or the one that
// was learned.
func (o *options) printEngines(w io.Writer, m *fusion.Model, k float64) {
	for _, e := range engines {
		fmt.Fprintf(w, "\n%s\n", e.name)
		if e.runs > 0 && e.runs != len(o.runs) {
			cli.PrintNote(w, fmt.Sprintf("It cannot combine %d runs.", len(o.runs)))
			continue
		}
		best, known := m.Weights, e.forms[m.Form] != ""
		for _, other := range m.Forms {
			if !known && e.forms[other.Form] != "" {
				best, known = other, true
				cli.PrintNote(w, fmt.Sprintf("It cannot compute %s. With %s:", describe(m.Weights), describe(best)))
			}
		}
		fmt.Fprintln(w, e.paste(e.forms[best.Form], best, o.runs))
		cli.PrintNote(w, e.lacks)
	}
	fmt.Fprintf(w, "\nQdrant\n{\"prefetch\": [%s], \"query\": {\"rrf\": {\"k\": %.0f}}}\n", each(o.runs, `{…%s…}`), k+1)
	cli.PrintNote(w, "This is rrf(tuned), not learned. Qdrant counts ranks from 0, so its k is one more. Its weights divide ranks, "+
		"1/(rank/weight + k − 1), and are not these. It normalises scores by dbsf alone, without weights.")
}

// each joins a text for each run.
func each(runs []string, format string) string {
	var list []string
	for _, path := range runs {
		list = append(list, fmt.Sprintf(format, path))
	}
	return strings.Join(list, ", ")
}

// decimals returns the weights to three decimals, whose sum is 1.
func decimals(weights []float64) (texts []string) {
	before, sum := 0.0, 0.0
	for _, weight := range weights {
		sum += weight
		rounded := math.Round(sum * 1000)
		texts = append(texts, strconv.FormatFloat((rounded-before)/1000, 'f', 3, 64))
		before = rounded
	}
	return texts
}

func wholeK(w fusion.Weights) int { return max(1, int(math.Round(w.K))) }

func openSearch(form string, w fusion.Weights, _ []string) string {
	weights := strings.Join(decimals(w.Runs), ", ")
	if w.Form == fusion.Reciprocal {
		return fmt.Sprintf(`PUT /_search/pipeline/fused
{"phase_results_processors": [{"score-ranker-processor": {"combination": {
  "technique": "rrf", "rank_constant": %d, "parameters": {"weights": [%s]}}}}]}`, wholeK(w), weights)
	}
	return fmt.Sprintf(`PUT /_search/pipeline/fused
{"phase_results_processors": [{"normalization-processor": {
  "normalization": {"technique": %q},
  "combination": {"technique": "arithmetic_mean", "parameters": {"weights": [%s]}}}}]}`, form, weights)
}

func elasticsearch(form string, w fusion.Weights, runs []string) string {
	kind, constant, normalizer := "linear", "", fmt.Sprintf(`, "normalizer": %q`, form)
	if w.Form == fusion.Reciprocal {
		kind, constant, normalizer = "rrf", fmt.Sprintf(`"rank_constant": %d, `, wholeK(w)), ""
	}
	var list []string
	for r, weight := range decimals(w.Runs) {
		list = append(list, fmt.Sprintf(`  {"retriever": {…%s…}, "weight": %s%s}`, runs[r], weight, normalizer))
	}
	return fmt.Sprintf(`{"retriever": {%q: {%s"rank_window_size": 100, "retrievers": [
%s]}}}`, kind, constant, strings.Join(list, ",\n"))
}

func vespa(form string, w fusion.Weights, runs []string) string {
	constant := ""
	if w.Form == fusion.Reciprocal {
		constant = fmt.Sprintf(", %.4g", w.K)
	}
	var functions, terms []string
	for r, weight := range decimals(w.Runs) {
		functions = append(functions, fmt.Sprintf("  function run%d() { expression: … }  # the score of %s", r+1, runs[r]))
		terms = append(terms, fmt.Sprintf("%s * %s(run%d%s)", weight, form, r+1, constant))
	}
	return fmt.Sprintf(`rank-profile fused {
%s
  global-phase {
    rerank-count: 100
    expression: %s
  }
}`, strings.Join(functions, "\n"), strings.Join(terms, " + "))
}

func weaviate(form string, w fusion.Weights, _ []string) string {
	return fmt.Sprintf("collection.query.hybrid(query=…, alpha=%s, fusion_type=HybridFusion.%s)", decimals(w.Runs)[1], form)
}

// writeModel writes a linear model of the features of the runs, which are named by the file and the form.
func (o *options) writeModel(w io.Writer, m *fusion.Model) error {
	s := model.Settings{Features: len(o.runs), Activation: forward.ReLU, Hidden: []int{}}
	settings, err := json.Marshal(s)
	if err != nil {
		return err
	}
	f := &ranker.File{Kind: model.MLP, Settings: settings, Dtype: "float64", Gain: "exp2"}
	example := &transforms.Data{Offsets: []int{0, 2}, Features: make([]float32, 2*len(o.runs))} // of features that vary
	for r, path := range o.runs {
		example.Features[r] = 1
		f.FeatureIDs, f.FeatureNames = append(f.FeatureIDs, r+1), append(f.FeatureNames, string(m.Form)+"("+path+")")
	}
	example.FeatureIDs = f.FeatureIDs
	if f.Transform, err = transforms.Fit("none", example); err != nil {
		return err
	}
	for _, a := range s.Arrays() {
		values := m.Runs
		if a.Bias {
			values = []float64{0}
		}
		f.Arrays = append(f.Arrays, ranker.Array{Name: a.Name, Shape: a.Shape, Values: values})
	}
	return f.Write(w)
}
