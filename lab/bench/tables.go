package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// kernelTable compares PL-Rank-RB with the algorithms of the two papers.
func kernelTable(all []result) (string, error) {
	rows := [][]string{{"D, K, N", "Algorithm 1", "PL-Rank-3", "plrank", "ratio", "gradient alone: PL-Rank-3", "plrank", "ratio"}}
	for _, first := range all {
		size, ok := strings.CutPrefix(first.name, "Algorithm1/sd=1/")
		if !ok {
			continue
		}
		var d, k, n int
		if _, err := fmt.Sscanf(size, "D=%d/K=%d/N=%d", &d, &k, &n); err != nil {
			return "", fmt.Errorf("benchmark %s: %w", first.name, err)
		}
		row := []string{fmt.Sprintf("%d, %d, %d", d, k, n), duration(first.values["ns/op"])}
		for _, pair := range [][2]string{{"PLRank3", "Query"}, {"PLRank3Given", "Given"}} {
			var ns [2]float64
			for i, name := range pair {
				at := slices.IndexFunc(all, func(r result) bool { return r.name == name+"/sd=1/"+size })
				if at < 0 {
					return "", fmt.Errorf("no result of Benchmark%s for %s", name, size)
				}
				ns[i] = all[at].values["ns/op"]
				row = append(row, duration(ns[i]))
			}
			row = append(row, significant(ns[0]/ns[1]))
		}
		rows = append(rows, row)
	}
	if len(rows) == 1 {
		return "", fmt.Errorf("no result of BenchmarkAlgorithm1")
	}
	return markdownTable(rows), nil
}

// exactTable compares the exact gradient with PL-Rank-RB; they were measured in turn.
func exactTable(all []result) (string, error) {
	rows := [][]string{{"D, K", "PL-Rank-RB", "exact", "ratio"}}
	for _, r := range all {
		var d, k int
		if _, err := fmt.Sscanf(r.name, "ExpectationAgainstSamples/sd=1/D=%d/K=%d", &d, &k); err != nil {
			return "", fmt.Errorf("benchmark %s: %w", r.name, err)
		}
		sampled, exact := r.values["sampled-ns/op"], r.values["ns/op"]
		if sampled == 0 {
			return "", fmt.Errorf("benchmark %s has no sampled-ns/op", r.name)
		}
		rows = append(rows, []string{fmt.Sprintf("%d, %d", d, k), duration(sampled), duration(exact), significant(sampled / exact)})
	}
	if len(rows) == 1 {
		return "", fmt.Errorf("no result of BenchmarkExpectationAgainstSamples")
	}
	return markdownTable(rows), nil
}

// cascadesTable compares exact gradients of metrics with the drawing of rankings; they were measured in turn.
func cascadesTable(all []result) (string, error) {
	rows := [][]string{{"D, K", "1000 rankings", "DCG", "RR", "ERR", "AP"}}
	for _, r := range all {
		var d, k int
		if _, err := fmt.Sscanf(r.name, "CascadesAgainstSamples/D=%d/K=%d", &d, &k); err != nil {
			return "", fmt.Errorf("benchmark %s: %w", r.name, err)
		}
		drawn := r.values["drawn-ns/op"]
		row := []string{fmt.Sprintf("%d, %d", d, k), duration(drawn)}
		for _, kind := range []string{"dcg", "relevance", "err", "ap"} {
			ns := r.values[kind+"-ns/op"]
			if ns == 0 || drawn == 0 {
				return "", fmt.Errorf("benchmark %s has no %s-ns/op or drawn-ns/op", r.name, kind)
			}
			row = append(row, fmt.Sprintf("%s (%s)", duration(ns), significant(drawn/ns)))
		}
		rows = append(rows, row)
	}
	if len(rows) == 1 {
		return "", fmt.Errorf("no result of BenchmarkCascadesAgainstSamples")
	}
	return markdownTable(rows), nil
}

// opsTable has a row for each estimate and number of queries.
func opsTable(all []result) (string, error) {
	return ladder(all, "ns/op", duration, []string{"op", "queries"}, func(name []string) []string {
		queries, _, _ := strings.Cut(name[2], "x")
		return []string{"`" + name[1] + "`", queries}
	})
}

// lossesTable has a row for each loss, the fastest first.
func lossesTable(all []result) (string, error) {
	rows := [][]string{{"loss", "time", "memory allocated"}}
	for _, r := range slices.SortedStableFunc(slices.Values(all), func(a, b result) int { return cmp.Compare(a.values["ns/op"], b.values["ns/op"]) }) {
		name := strings.Split(r.name, "/")
		if len(name) != 3 {
			return "", fmt.Errorf("benchmark %s: want Losses/LOSS/SIZE", r.name)
		}
		rows = append(rows, []string{"`" + name[1] + "`", duration(r.values["ns/op"]), significant(r.values["B/op"]/1e3) + " kB"})
	}
	if len(rows) == 1 {
		return "", fmt.Errorf("no result of BenchmarkLosses")
	}
	return markdownTable(rows), nil
}

// stepTable has a row for each number of queries a step.
func stepTable(all []result) (string, error) {
	return ladder(all, "ns/op", duration, []string{"queries a step"}, func(name []string) []string {
		return []string{strings.TrimPrefix(name[1], "batch=")}
	})
}

// epochTable has a row for each recipe.
func epochTable(all []result) (string, error) {
	seconds := func(v float64) string { return significant(v) + " s" }
	return ladder(all, "s/fold", seconds, []string{"recipe", "queries a step"}, func(name []string) []string {
		return []string{name[1], strings.TrimPrefix(name[2], "batch=")}
	})
}

// ladder is a table with a column for each N, or for exact, the last element of the
// benchmarks' names, and rows named after the elements before it, of which a name has one
// more than there are heads.
func ladder(all []result, unit string, format func(float64) string, heads []string, row func(name []string) []string) (string, error) {
	rows := [][]string{slices.Clone(heads)}
	for _, r := range all {
		name := strings.Split(r.name, "/")
		column := name[len(name)-1]
		samples, ok := strings.CutPrefix(column, "N=")
		if ok {
			column = "N = " + samples
		}
		if !ok && column != "exact" || len(name) != len(heads)+2 {
			return "", fmt.Errorf("benchmark %s: want %d elements, the last N=… or exact", r.name, len(heads)+2)
		}
		value, ok := r.values[unit]
		if !ok {
			return "", fmt.Errorf("benchmark %s has no %s", r.name, unit)
		}
		head := row(name)
		if last := rows[len(rows)-1]; len(rows) == 1 || !slices.Equal(last[:len(heads)], head) {
			rows = append(rows, head)
		}
		if len(rows) == 2 {
			rows[0] = append(rows[0], column)
		}
		last := len(rows) - 1
		if at := len(rows[last]); at >= len(rows[0]) || rows[0][at] != column {
			return "", fmt.Errorf("benchmark %s is out of step: every row has the N of the first", r.name)
		}
		rows[last] = append(rows[last], format(value))
	}
	if len(rows) == 1 {
		return "", fmt.Errorf("no result")
	}
	for _, r := range rows {
		if len(r) != len(rows[0]) {
			return "", fmt.Errorf("row %s has %d columns, want %d", strings.Join(r[:len(heads)], ", "), len(r), len(rows[0]))
		}
	}
	return markdownTable(rows), nil
}

// markdownTable is a table whose first row is its head.
func markdownTable(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
		}
	}
	return b.String()
}

// duration writes nanoseconds in the unit that suits them.
func duration(ns float64) string {
	units := []string{"ns", "µs", "ms", "s"}
	i := 0
	for ; i+1 < len(units) && ns >= 999.5; i++ {
		ns /= 1000
	}
	return significant(ns) + " " + units[i]
}

// significant writes three digits, or all before the point.
func significant(v float64) string {
	switch {
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
