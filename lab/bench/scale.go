package main

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/viz"
)

// scaleTables are generated parts of scale.md.
var scaleTables = []documentPart[*scaleModel]{
	{"scale-ranks", (*scaleModel).ranksTable},
	{"scale-costs", (*scaleModel).costTable},
	{"scale-held-out", (*scaleModel).heldOutTable},
	{"scale-epoch", (*scaleModel).epochTable},
	{"scale-limits", (*scaleModel).limitsTable},
}

// scale fits the cost model, and prints the tables of scale.md.
var scale = tablesCommand[*scaleModel]{
	name:  "scale",
	about: "fit the cost model of training by many processes, and print the tables of scale.md; with -write, write epoch.csv and epoch.svg to -results, too",
	read:  readScale,
	parts: scaleTables,
	files: (*scaleModel).files,
}

// ranksTable compares two ranks with one, and one with a process without MPI, round by round.
func (m *scaleModel) ranksTable() (string, error) {
	seconds := func(name string) []float64 { return m.epochs[name] }
	cores := func(name string) (mean []float64) {
		for i, v := range seconds(name + ", core 0") {
			mean = append(mean, (v+seconds(name + ", core 1")[i])/2)
		}
		return mean
	}
	two := seconds("two ranks, a core each")
	rows := [][]string{{"seconds of an epoch", "mean of the rounds", "lowest and highest", "by two ranks: mean, lowest and highest"}}
	for _, of := range []struct {
		name string
		v    []float64
	}{
		{"one process without MPI, mean of the cores", cores("one process")}, {"one rank, mean of the cores", cores("one rank")},
		{"two ranks, a core each", two}, {"one process, two threads, one shard", seconds("one process, two threads, one shard")},
	} {
		if len(of.v) != len(two) || len(two) == 0 {
			return "", fmt.Errorf("%s was measured %d times, two ranks %d times", of.name, len(of.v), len(two))
		}
		var ratios []float64
		for i, v := range of.v {
			ratios = append(ratios, v/two[i])
		}
		rows = append(
			rows,
			[]string{of.name, significant(stat.Mean(of.v, nil)), significant(slices.Min(of.v)) + ", " + significant(slices.Max(of.v)),
				fmt.Sprintf("%.2f, %.2f–%.2f", stat.Mean(of.v, nil)/stat.Mean(two, nil), slices.Min(ratios), slices.Max(ratios))},
		)
	}
	return markdownTable(rows), nil
}

var linkNames = map[string]string{
	"memory":    "shared memory",
	"loopback":  "TCP, one host",
	"ethernet":  "TCP, a host each",
	gigabitLink: "the same at 1 Gbit/s",
}

// costTable has the fitted costs.
func (m *scaleModel) costTable() (string, error) {
	rows := [][]string{{"recipe", "gradient", "step", "shard", "document", "busy", "noise: median, 90 %, 99 %"}}
	for _, recipe := range scaleRecipes {
		c := m.steps[recipe]
		at := func(q float64) string { return significant(c.noise[int(q*float64(len(c.noise)-1))]) }
		rows = append(
			rows,
			[]string{
				recipe,
				fmt.Sprintf("%.0f kB", 4*c.weights/1e3),
				duration(c.step * 1e9),
				duration(c.shard * 1e9),
				duration(c.document * 1e9),
				significant(c.busy),
				at(.5) + ", " + at(.9) + ", " + at(.99),
			},
		)
	}
	links := [][]string{{"between the ranks", "message", "byte"}}
	for _, link := range scaleLinks {
		links = append(
			links,
			[]string{linkNames[link], duration(m.exchanges[link].message * 1e9), fmt.Sprintf("%.2f ns", m.exchanges[link].byte*1e9)},
		)
	}
	return markdownTable(rows) + "\n" + markdownTable(links), nil
}

// heldOutTable compares predictions with measurements.
func (m *scaleModel) heldOutTable() (string, error) {
	rows := [][]string{{"mean time of", "measured", "predicted", "error", ""}}
	add := func(what string, measured, predicted float64, fitted bool) {
		how := "not fitted"
		if fitted {
			how = "fitted"
		}
		rows = append(
			rows,
			[]string{what, duration(measured * 1e9), duration(predicted * 1e9), fmt.Sprintf("%+.0f %%", 100*(predicted/measured-1)), how},
		)
	}
	for _, recipe := range scaleRecipes {
		for _, run := range m.runs[recipe] {
			if run.ranks != "1" {
				add(fmt.Sprintf("a step of %s, %s ranks, %s", recipe, run.ranks, linkNames[run.link]), run.mean, m.predict(recipe, run), run.fitsBusy())
			}
		}
	}
	factors := [][]string{{"exchanges, 1 KB and more", "2 and 8 ranks", "4 ranks, not fitted"}}
	for _, link := range append(slices.Clone(scaleLinks), gigabitLink) {
		fitted, held := m.exchangeErrors(link)
		factors = append(factors, []string{linkNames[link], fmt.Sprintf("%.2f", fitted), fmt.Sprintf("%.2f", held)})
	}
	return markdownTable(rows) + "\n" + markdownTable(factors), nil
}

const drawnDocuments = 1e9

var drawnRanks = []int{1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000}

// clusters are those that the model is drawn to.
var clusters = []cluster{
	{name: "default, cores as here, 10 Gbit/s", recipe: "default", rate: 10 * gigabit, queries: 4},
	{name: "default, steady cores, 10 Gbit/s", recipe: "default", rate: 10 * gigabit, queries: 4, steady: true},
	{name: "default, steady cores, 1 Gbit/s", recipe: "default", rate: gigabit, queries: 4, steady: true},
	{
		name:    "default, steady cores, 10 Gbit/s, shards in random orders",
		recipe:  "default",
		rate:    10 * gigabit,
		queries: 4,
		steady:  true,
		random:  true,
	},
	{
		name:    "default, steady cores, 10 Gbit/s, 32 queries of a rank in a step",
		recipe:  "default",
		rate:    10 * gigabit,
		queries: 32,
		steady:  true,
	},
	{name: "wide, steady cores, 10 Gbit/s", recipe: "wide", rate: 10 * gigabit, queries: 4, steady: true},
}

// epochTable has the minutes of an epoch, and how much of it is lost with 1,000 ranks.
func (m *scaleModel) epochTable() (string, error) {
	rows := [][]string{{"minutes of an epoch over 10⁹ documents", "1 rank", "10", "100", "1,000", "of 1,000: waiting", "exchanging"}}
	for _, k := range clusters {
		row := []string{k.name}
		var waiting, exchanging float64
		for _, ranks := range []int{1, 10, 100, 1000} {
			var minutes float64
			minutes, waiting, exchanging = m.epoch(k, drawnDocuments, ranks)
			row = append(row, significant(minutes))
		}
		rows = append(rows, append(row, fmt.Sprintf("%.0f %%", 100*waiting), fmt.Sprintf("%.0f %%", 100*exchanging)))
	}
	return markdownTable(rows), nil
}

// limitsTable has what drawnDocuments and the most ranks need, with steady cores.
func (m *scaleModel) limitsTable() (string, error) {
	const features, documentBytes, hosts, queries = 136, 40, 64, 4
	recipe, ranks := m.steps["default"], drawnRanks[len(drawnRanks)-1]
	perQuery := stat.Mean(m.sizes, nil)
	return markdownTable([][]string{
		{"at 10⁹ documents and 1,000 ranks", ""},
		{"features, as float32", fmt.Sprintf("%.0f GB", drawnDocuments*features*4/1e9)},
		{
			fmt.Sprintf("what every rank has of the documents, %d bytes of each", documentBytes),
			fmt.Sprintf("%.0f GB", drawnDocuments*documentBytes/1e9),
		},
		{fmt.Sprintf("a check of the cache by %d hosts, read in all", hosts), fmt.Sprintf("%.0f TB", drawnDocuments*features*4*hosts/1e12)},
		{"messages of an exchange, default recipe", duration(2 * float64(ranks-1) * m.exchanges["ethernet"].message * 1e9)},
		{
			fmt.Sprintf("computing a step of %d queries of a rank, default recipe", queries),
			duration(recipe.seconds(rankStep{1, queries * perQuery, 0}) * 1e9),
		},
		{"gradients of all shards, default recipe", fmt.Sprintf("%.0f MB", float64(ranks)*4*recipe.weights/1e6)},
	}), nil
}

// files are the curves of the model as a CSV file and as a picture.
func (m *scaleModel) files() (map[string]string, error) {
	var csv strings.Builder
	csv.WriteString("cluster,ranks,minutes,waiting,exchanging\n")
	plot := viz.Plot{Title: "An epoch over 1 billion documents, by the cost model", X: "ranks", Y: "minutes", LogX: true, LogY: true}
	ideal := viz.Series{Name: "the first, divided by the ranks", Style: viz.Guide}
	for i, k := range clusters {
		s := viz.Series{Name: k.name}
		for _, ranks := range drawnRanks {
			minutes, waiting, exchanging := m.epoch(k, drawnDocuments, ranks)
			s.X, s.Y = append(s.X, float64(ranks)), append(s.Y, minutes)
			fmt.Fprintf(&csv, "%q,%d,%.4g,%.3f,%.3f\n", k.name, ranks, minutes, waiting, exchanging)
			if i == 0 {
				ideal.X, ideal.Y = append(ideal.X, float64(ranks)), append(ideal.Y, s.Y[0]/float64(ranks))
			}
		}
		plot.Series = append(plot.Series, s)
	}
	plot.Series = append(plot.Series, ideal)
	return map[string]string{"epoch.csv": csv.String(), "epoch.svg": plot.SVG()}, nil
}
