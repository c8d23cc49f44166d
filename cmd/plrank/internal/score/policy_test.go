package score

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/metrics"
)

// Drawn rankings have the frequencies of the policy, and the exposures are its own.
func TestDrawsHaveTheFrequenciesOfThePolicy(t *testing.T) {
	t.Parallel()
	_, _, model := training.Shared(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "new.txt")
	const queries, files, draws = 400, 50, 400 * 50
	var text strings.Builder
	for q := range queries { // of the same documents
		fmt.Fprintf(&text, "0 qid:%[1]d 1:1 4:1 # a\n0 qid:%[1]d 1:1 # b\n0 qid:%[1]d 2:1 # c\n", q+1)
	}
	write(t, file, text.String())
	path := func(name string) string { return filepath.Join(dir, name) }
	must(t, "-model", model, "-data", file, "-out", path("s"), "-exposure", path("e"), "-cutoff", "2", "-run", path("r"), "-draw", strconv.Itoa(files), "-seed", "7")
	numbers := func(name string) (list []float64) {
		for line := range strings.Lines(read(t, path(name))) {
			v, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, v)
		}
		return list
	}
	scores, discounts := numbers("s")[:3], []float64{1, 1 / math.Log2(3)}
	moments, err := testkit.EnumerateMoments(scores, make([]float64, 3), discounts)
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]float64{} // how often a document stands first
	for i := range files {
		lines := strings.Split(strings.TrimSpace(read(t, path(fmt.Sprintf("r.%d", i+1)))), "\n")
		if len(lines) != 3*queries {
			t.Fatalf("%d lines, want %d", len(lines), 3*queries)
		}
		seen := map[string]bool{} // trec_eval takes each document of a query once
		for _, line := range lines {
			f := strings.Fields(line)
			if seen[f[2]] = true; f[5] != fmt.Sprintf("plrank-%d", i+1) {
				t.Errorf("tag %s", f[5])
			}
			if f[3] == "1" {
				_, document, _ := strings.Cut(f[2], ".")
				first[document] += 1. / draws
			}
		}
		if len(seen) != len(lines) {
			t.Errorf("file %d has documents twice", i+1)
		}
	}
	sum := 0.0
	for _, s := range scores {
		sum += math.Exp(s)
	}
	for i, e := range numbers("e")[:3] {
		if math.Abs(e-moments.Exposure[i]) > 1e-5 { // scores are written as float32
			t.Errorf("document %d: exposure %v, want %v", i, e, moments.Exposure[i])
		}
		p, id := math.Exp(scores[i])/sum, strconv.Itoa(i+1)
		if got := first[id]; math.Abs(got-p) > 4*math.Sqrt(p*(1-p)/draws)+1e-4 {
			t.Errorf("document %s is first in %v of the draws, want %v", id, got, p)
		}
	}
	if status, _, stderr := call("-model", model, "-data", file, "-out", path("t"), "-draw", "3"); status != 2 || !strings.Contains(stderr, "-run") {
		t.Errorf("%d, %s", status, stderr)
	}
	for args, want := range map[string]string{"- 2": "a file of its own", "r2 1001": "-draw 1001: want 0 to 1000", "r2 -1": "0 to 1000"} {
		run, n, _ := strings.Cut(args, " ")
		if status, stdout, stderr := call("-model", model, "-data", file, "-run", run, "-draw", n); status != 2 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d, %s", args, status, stderr)
		}
	}
	must(t, "-model", model, "-data", file, "-run", path("one"), "-draw", "1", "-seed", "7")
	if read(t, path("one")) != read(t, path("r.1")) {
		t.Error("the only ranking is not the first of several")
	}
	if status, _, stderr := call("-model", model, "-data", file, "-out", path("t"), "-seed", "3"); status != 2 || !strings.Contains(stderr, "without -draw") {
		t.Errorf("%d, %s", status, stderr)
	}
}

// With -cutoff all, or 0, every rank of a list gives exposure, however long it is, whatever other
// queries the file has.
func TestExposureOfEveryRank(t *testing.T) {
	t.Parallel()
	_, _, model := training.Shared(t)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	sizes := []int{40, 3, 100}
	rng := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	for q, documents := range sizes {
		for range documents {
			fmt.Fprintf(&text, "0 qid:%d 1:%d 4:%.3f\n", q+1, rng.IntN(2), rng.Float64())
		}
	}
	write(t, path("all.txt"), text.String())
	write(t, path("first.txt"), strings.Join(strings.SplitAfter(text.String(), "\n")[:40], ""))
	exposure := func(name, data string, flags ...string) string {
		must(t, append([]string{"-model", model, "-data", path(data), "-exposure", path(name)}, flags...)...)
		return read(t, path(name))
	}
	all := exposure("all", "all.txt", "-cutoff", "all")
	if exposure("0", "all.txt", "-cutoff", "0") != all {
		t.Error("-cutoff 0 is not -cutoff all")
	}
	if !strings.HasPrefix(all, exposure("first", "first.txt", "-cutoff", "all")) {
		t.Error("the exposures of a query depend on the others")
	}
	lines := strings.Fields(all)
	for _, documents := range sizes {
		sum := 0.0
		for _, line := range lines[:documents] {
			v, err := strconv.ParseFloat(line, 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += v
		}
		if want := floats.Sum(metrics.Discounts(documents)); math.Abs(sum-want) > 1e-6*want {
			t.Errorf("%d documents share an exposure of %v, want %v", documents, sum, want)
		}
		lines = lines[documents:]
	}
	for discounts, want := range map[string]string{
		"precision": `discounts "precision": it counts all ranks alike`,
		"arp":       "-discounts arp needs a number for -cutoff, not all",
		"1,0.5":     "2 numbers where every rank counts: want a cutoff of 2",
	} {
		if status, _, stderr := call("-model", model, "-data", path("all.txt"), "-exposure", path("x"), "-cutoff", "all", "-discounts", discounts); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d, %s", discounts, status, stderr)
		}
	}
}

// -temperature divides the scores of -draw and -exposure, and is in the tags of the run; -scores
// and the ranking by score follow the model.
func TestTemperatureDividesTheScoresOfThePolicy(t *testing.T) {
	t.Parallel()
	_, _, model := training.Shared(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "new.txt")
	write(t, file, "0 qid:1 1:1 4:1 # a\n0 qid:1 1:1 # b\n0 qid:1 2:1 # c\n")
	path := func(name string) string { return filepath.Join(dir, name) }
	// of is a result; drawn rankings are in a file each.
	result := func(name string) (text string) {
		if filepath.Ext(name) != ".r" {
			return read(t, path(name))
		}
		for i := range 5 {
			text += read(t, path(fmt.Sprintf("%s.%d", name, i+1)))
		}
		return text
	}
	numbers := func(name string, field int) map[string]float64 {
		list := map[string]float64{}
		for i, line := range strings.Split(strings.TrimSpace(result(name)), "\n") {
			f := strings.Fields(line)
			v, err := strconv.ParseFloat(f[field], 64)
			if err != nil {
				t.Fatal(err)
			}
			id := fmt.Sprintf("1.%d", i+1)
			if field > 0 {
				id = f[2] + " " + f[5][strings.LastIndex(f[5], "-"):]
			}
			list[id] = v
		}
		return list
	}
	predict := func(name string, flags ...string) {
		t.Helper()
		must(t, append([]string{"-model", model, "-data", file, "-out", path(name + ".s"), "-exposure", path(name + ".e"),
			"-cutoff", "2", "-run", path(name + ".r"), "-draw", "5", "-seed", "7"}, flags...)...)
		all := ""
		for i := range 5 {
			all += read(t, path(fmt.Sprintf("%s.r.%d", name, i+1)))
		}
		write(t, path(name+".r"), all)
	}
	predict("one")
	predict("same", "-temperature", "1")
	predict("three", "-temperature", "3")
	for _, end := range []string{".s", ".e", ".r"} {
		if result("one"+end) != result("same"+end) {
			t.Errorf("%s: temperature 1 is not the default", end)
		}
	}
	scores := numbers("three.s", 0)
	if read(t, path("one.s")) != read(t, path("three.s")) {
		t.Error("-temperature changes -scores")
	}
	if text := result("three.r"); strings.Count(text, " plrank-temperature-3-") != 15 {
		t.Errorf("the tags lack the temperature: %s", text)
	}
	sums := numbers("one.r", 4)
	for id, v := range numbers("three.r", 4) {
		document, _, _ := strings.Cut(id, " ")
		if want := sums[id] - scores[document] + scores[document]/3; math.Abs(v-want) > 1e-4*math.Abs(scores[document])+1e-4 {
			t.Errorf("document %s: %v, want %v", id, v, want)
		}
	}
	divided := make([]float64, 3)
	for i := range divided {
		divided[i] = scores[fmt.Sprintf("1.%d", i+1)] / 3
	}
	moments, err := testkit.EnumerateMoments(divided, make([]float64, 3), []float64{1, 1 / math.Log2(3)})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range moments.Exposure {
		if got := numbers("three.e", 0)[fmt.Sprintf("1.%d", i+1)]; math.Abs(got-want) > 1e-5 {
			t.Errorf("document %d: exposure %v, want %v", i, got, want)
		}
	}
	for want, flags := range map[string][]string{
		"-temperature 0: want a positive":                              {"-draw", "1", "-run", path("x"), "-temperature", "0"},
		"-temperature NaN: want a positive":                            {"-draw", "1", "-run", path("x"), "-temperature", "NaN"},
		"-temperature Inf: want a positive":                            {"-draw", "1", "-run", path("x"), "-temperature", "Inf"},
		"without -draw or -exposure":                                   {"-out", path("x"), "-temperature", "2"},
		"divided by -temperature 1e-320, is beyond the range of float": {"-draw", "1", "-run", path("x"), "-temperature", "1e-320"},
	} {
		if status, _, stderr := call(append([]string{"-model", model, "-data", file}, flags...)...); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%v: %d, %s, want %s", flags, status, stderr, want)
		}
	}
}
