package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A result is one run of a benchmark: "Step/batch=1/N=10" and its values by unit.
type result struct {
	name   string
	values map[string]float64
}

// results are what go test -bench printed.
type results struct {
	processor string
	runs      []result // in the order in which they ran
	other     []string // lines that are no result
}

// readResults reads the format of go test -bench, as the Go proposal 14313
// (benchmark data format) has it: lines "key: value" that say where it ran, and
// lines of a name, the number of iterations, and values each with its unit. A
// name ends in the number of cores, unless that is 1. Other lines are none of it.
func readResults(r io.Reader, cores int, progress io.Writer) (*results, error) {
	found := &results{processor: "an unknown processor"}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		if processor, ok := strings.CutPrefix(line, "cpu: "); ok {
			found.processor = processor
			continue
		}
		one, ok := parseResult(line, cores)
		if !ok {
			found.other = append(found.other, line)
			continue
		}
		found.runs = append(found.runs, one)
		fmt.Fprintf(progress, "  %s  %s\n", one.name, duration(one.values["ns/op"]))
	}
	return found, lines.Err()
}

// parseResult reads a line such as
//
//	BenchmarkStep/batch=1/N=10-2   828   437700 ns/op   313 allocs/op
func parseResult(line string, cores int) (result, bool) {
	fields := strings.Fields(line)
	if len(fields) < 4 || len(fields)%2 != 0 {
		return result{}, false
	}
	name, ok := strings.CutPrefix(fields[0], "Benchmark")
	if !ok {
		return result{}, false
	}
	if _, err := strconv.Atoi(fields[1]); err != nil {
		return result{}, false
	}
	if cores != 1 {
		name = strings.TrimSuffix(name, "-"+strconv.Itoa(cores))
	}
	one := result{name, map[string]float64{}}
	for i := 2; i < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return result{}, false
		}
		one.values[fields[i+1]] = v
	}
	return one, true
}

// fastest is the run of each benchmark with the least time an operation, in the
// order in which they first ran.
func (r *results) fastest() []result {
	var best []result
	for _, one := range r.runs {
		i := slices.IndexFunc(best, func(b result) bool { return b.name == one.name })
		switch {
		case i < 0:
			best = append(best, one)
		case one.values["ns/op"] < best[i].values["ns/op"]:
			best[i] = one
		}
	}
	return best
}
