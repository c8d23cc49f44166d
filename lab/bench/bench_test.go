package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/lab/internal/markdown"
)

const sample = `goos: linux
goarch: amd64
pkg: example.org/x
cpu: Some Processor @ 2 GHz
BenchmarkStep/batch=1/N=1-2         	     710	    546062 ns/op	   68961 B/op	     314 allocs/op
BenchmarkStep/batch=1/N=1-2         	     828	    437700 ns/op	   68786 B/op	     313 allocs/op
BenchmarkStep/batch=1/N=10-2
    x_test.go:1: a log
BenchmarkStep/batch=1/N=10-2        	     800	    446040 ns/op
BenchmarkEpoch/paper/batch=32/N=1-2 	       2	 175602500 ns/op	         1.928 %fold	         9.069 s/fold
BenchmarkTorn-2  many  1 ns/op
PASS
ok  	example.org/x	27.147s
`

func TestReadResults(t *testing.T) {
	var progress strings.Builder
	r, err := readResults(strings.NewReader(sample), 2, &progress)
	if err != nil || r.processor != "Some Processor @ 2 GHz" || len(r.runs) != 4 || len(r.other) != 8 {
		t.Fatalf("%+v, %v", r, err)
	}
	best := r.fastest()
	want := []result{
		{"Step/batch=1/N=1", map[string]float64{"ns/op": 437700, "B/op": 68786, "allocs/op": 313}},
		{"Step/batch=1/N=10", map[string]float64{"ns/op": 446040}},
		{"Epoch/paper/batch=32/N=1", map[string]float64{"ns/op": 175602500, "%fold": 1.928, "s/fold": 9.069}},
	}
	if !slices.EqualFunc(best, want, func(a, b result) bool { return a.name == b.name && maps.Equal(a.values, b.values) }) {
		t.Errorf("%+v", best)
	}
	if want := "  Step/batch=1/N=1  546 µs\n  Step/batch=1/N=1  438 µs\n"; !strings.HasPrefix(progress.String(), want) {
		t.Errorf("progress %q", progress.String())
	}
	// On one core, names have no number of cores after them.
	if one, ok := parseResult("BenchmarkX/size-2 3 4 ns/op", 1); !ok || one.name != "X/size-2" {
		t.Errorf("%+v", one)
	}
}

func TestDurations(t *testing.T) {
	for ns, want := range map[float64]string{
		0.5: "0.50 ns", 12.34: "12.3 ns", 999.4: "999 ns", 999.6: "1.00 µs", 9.996e3: "10.0 µs", 2.2e7: "22.0 ms", 1.5e9: "1.50 s", 3.2e12: "3200 s",
	} {
		if got := duration(ns); got != want {
			t.Errorf("%v ns: %s, want %s", ns, got, want)
		}
	}
}

func nanoseconds(name string, ns float64) result {
	return result{name, map[string]float64{"ns/op": ns, "B/op": 2000}}
}

var sampled = map[string][]result{
	"kernel": {
		nanoseconds("Query/sd=1/D=125/K=5/N=1000", 1e5), nanoseconds("Query/sd=1/D=24/K=5/N=1", 5e3),
		nanoseconds("Algorithm1/sd=1/D=125/K=5/N=1000", 2e7), nanoseconds("PLRank3/sd=1/D=125/K=5/N=1000", 3e6),
		nanoseconds("PLRank3Given/sd=1/D=125/K=5/N=1000", 3e5), nanoseconds("Given/sd=1/D=125/K=5/N=1000", 4e4),
	},
	"ops": {
		nanoseconds("Estimates/PLRankRB/1x125/N=1", 1e3), nanoseconds("Estimates/PLRankRB/1x125/N=10", 2e3),
		nanoseconds("Estimates/PLRankRB/32x125/N=1", 3e3), nanoseconds("Estimates/PLRankRB/32x125/N=10", 4e3),
	},
	"losses": {nanoseconds("Losses/slow/1x125", 2e3), nanoseconds("Losses/disparity(plrank2)/1x125", 1e3)},
	"step":   {nanoseconds("Step/batch=1/N=1", 1e3), nanoseconds("Step/batch=32/N=1", 5e3)},
	"epoch":  {{"Epoch/paper/batch=1/N=100", map[string]float64{"s/fold": 9.069}}, {"Epoch/paper/batch=1/exact", map[string]float64{"s/fold": 8.5}}},
	"exact":  {{"ExpectationAgainstSamples/sd=1/D=125/K=5", map[string]float64{"ns/op": 1e4, "sampled-ns/op": 8e4}}},
	"cascades": {{"CascadesAgainstSamples/D=125/K=5", map[string]float64{
		"ns/op": 2e5, "drawn-ns/op": 1e5, "dcg-ns/op": 1e4, "relevance-ns/op": 2e4, "err-ns/op": 2.5e4, "ap-ns/op": 4e4}}},
}

var tables = map[string]string{
	"kernel": "| D, K, N | Algorithm 1 | PL-Rank-3 | plrank | ratio | gradient alone: PL-Rank-3 | plrank | ratio |\n|---|---|---|---|---|---|---|---|\n" +
		"| 125, 5, 1000 | 20.0 ms | 3.00 ms | 100 µs | 30.0 | 300 µs | 40.0 µs | 7.50 |\n",
	"ops":    "| op | queries | N = 1 | N = 10 |\n|---|---|---|---|\n| `PLRankRB` | 1 | 1.00 µs | 2.00 µs |\n| `PLRankRB` | 32 | 3.00 µs | 4.00 µs |\n",
	"losses": "| loss | time | memory allocated |\n|---|---|---|\n| `disparity(plrank2)` | 1.00 µs | 2.00 kB |\n| `slow` | 2.00 µs | 2.00 kB |\n",
	"step":   "| queries a step | N = 1 |\n|---|---|\n| 1 | 1.00 µs |\n| 32 | 5.00 µs |\n",
	"exact":  "| D, K | PL-Rank-RB | exact | ratio |\n|---|---|---|---|\n| 125, 5 | 80.0 µs | 10.0 µs | 8.00 |\n",
	"cascades": "| D, K | 1000 rankings | DCG | RR | ERR | AP |\n|---|---|---|---|---|---|\n" +
		"| 125, 5 | 100 µs | 10.0 µs (10.0) | 20.0 µs (5.00) | 25.0 µs (4.00) | 40.0 µs (2.50) |\n",
	"epoch": "| recipe | queries a step | N = 100 | exact |\n|---|---|---|---|\n| paper | 1 | 9.07 s | 8.50 s |\n",
}

func TestTables(t *testing.T) {
	for _, p := range parts {
		got, err := p.table(sampled[p.name])
		if err != nil || got != tables[p.name] {
			t.Errorf("%s: %v\n%swant\n%s", p.name, err, got, tables[p.name])
		}
		if _, err := p.table(nil); err == nil || !strings.Contains(err.Error(), "no result") {
			t.Errorf("%s of nothing: %v", p.name, err)
		}
	}
	for _, c := range []struct {
		part  int
		wrong []result
		want  string
	}{
		{0, []result{nanoseconds("Algorithm1/sd=1/D=1/K=5/N=1", 1)}, "no result of BenchmarkPLRank3 for D=1/K=5/N=1"},
		{2, []result{nanoseconds("Losses/x", 1)}, "want Losses/LOSS/SIZE"},
		{3, []result{nanoseconds("Step/N=1", 1)}, "want 3 elements"},
		{3, []result{nanoseconds("Step/batch=1/N=1", 1), nanoseconds("Step/batch=2/N=2", 1)}, "out of step"},
		{3, []result{nanoseconds("Step/batch=1/N=1", 1), nanoseconds("Step/batch=1/N=2", 1), nanoseconds("Step/batch=2/N=1", 1)}, "row 2 has 2 columns, want 3"},
		{4, []result{nanoseconds("Epoch/paper/batch=1/N=1", 1)}, "has no s/fold"},
		{5, []result{nanoseconds("ExpectationAgainstSamples/sd=1/D=125/K=5", 1)}, "has no sampled-ns/op"},
		{5, []result{nanoseconds("ExpectationAgainstSamples/x", 1)}, "benchmark ExpectationAgainstSamples/x"},
	} {
		if _, err := parts[c.part].table(c.wrong); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.wrong, err, c.want)
		}
	}
}

// pretend is a tester that has measured the samples.
func pretend(_ context.Context, p *part, _, _ int, _ io.Writer) (*results, error) {
	return &results{processor: "Some Processor", runs: sampled[p.name]}, nil
}

func runIn(t *testing.T, test tester, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(context.Background(), args, test, &out, &errs)
	return status, out.String(), errs.String()
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "README.md")
	before := "# Speed\n<!-- bench-kernel -->\nold\n<!-- /bench-kernel -->\nprose\n<!-- bench-ops -->\n<!-- /bench-ops -->\n"
	if err := os.WriteFile(path, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	speed := filepath.Join(t.TempDir(), "speed")
	status, stdout, stderr := runIn(t, pretend, "-parts", "ops, kernel", "-count", "3", "-write", path, "-results", speed)
	if status != 0 || !strings.Contains(stderr, path+": replaced part bench-ops\n") || !strings.Contains(stderr, path+": replaced part bench-kernel\n") {
		t.Fatalf("status %d: %s", status, stderr)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kernel", "ops"} {
		body, err := markdown.Section(string(text), "bench-"+name)
		if err != nil || !strings.HasSuffix(body, ".\n\n"+tables[name]) || !strings.Contains(stdout, body) {
			t.Errorf("%s: %v\n%s", name, err, body)
		}
		if want := "on one core of a machine with "; !strings.Contains(body, want) || !strings.Contains(body, "(Some Processor), "+runtime.Version()+", best of 3 runs.") {
			t.Errorf("%s does not say where it was measured: %s", name, body)
		}
		i := slices.IndexFunc(parts, func(p *part) bool { return p.name == name })
		if saved, measured, err := readSaved(csvPath(speed, parts[i])); err != nil {
			t.Error(err)
		} else if again, err := parts[i].body(saved, measured); err != nil || again != body {
			t.Errorf("%s: %v: the CSV file gives\n%swant\n%s", name, err, again, body)
		}
	}
	if !strings.HasPrefix(string(text), "# Speed\n<!-- bench-kernel -->\nThe gradient") || !strings.Contains(string(text), "\n<!-- /bench-kernel -->\nprose\n<!-- bench-ops -->\n") {
		t.Errorf("the rest has changed:\n%s", text)
	}

	never := func(context.Context, *part, int, int, io.Writer) (*results, error) {
		t.Error("measured before the markers were looked for")
		return nil, errors.New("no")
	}
	if status, _, stderr := runIn(t, never, "-parts", "kernel,step", "-write", path); status != command.ExitError || !strings.Contains(stderr, `bench-step`) || !strings.Contains(stderr, path) {
		t.Errorf("a missing marker: status %d, %s", status, stderr)
	}
	linked := filepath.Join(t.TempDir(), "speed")
	if status, _, stderr := runIn(t, pretend, "-parts", "losses", "-write", path, "-results", linked); status != 0 {
		t.Errorf("a linked part without a marker: status %d, %s", status, stderr)
	}
	if _, _, err := readSaved(filepath.Join(linked, "losses.csv")); err != nil {
		t.Error(err)
	}
	if status, _, stderr := runIn(t, never, "-write", path+".none"); status != command.ExitError || !strings.Contains(stderr, "README.md.none") {
		t.Errorf("a missing file: status %d, %s", status, stderr)
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-parts", "kernel,nets"}, `-parts: no part "nets": want one of kernel, ops, losses, step, epoch`},
		{[]string{"-count", "0"}, "-count 0: want at least 1"},
		{[]string{"-cpu", "100000"}, "-cpu 100000: want 1 to"},
		{[]string{"kernel"}, `unexpected argument "kernel"`},
		{[]string{"-quick"}, "-quick"},
	} {
		if status, _, stderr := runIn(t, pretend, c.args...); status != command.ExitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: status %d, %s", c.args, status, stderr)
		}
	}
	if status, stdout, _ := runIn(t, pretend, "-help"); status != 0 || !strings.Contains(stdout, "-write FILE") {
		t.Errorf("-help: status %d, %s", status, stdout)
	}
	if _, err := parse([]string{"-h"}); !errors.Is(err, flag.ErrHelp) {
		t.Error(err)
	}
}

func TestInterruptKeepsFinishedParts(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var stderr bytes.Buffer
	status := run(ctx, nil, func(context.Context, *part, int, int, io.Writer) (*results, error) {
		cancel()
		return nil, ctx.Err()
	}, io.Discard, &stderr)
	if status != command.ExitInterrupted || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("status %d, %s", status, stderr.String())
	}
}

func TestGoTest(t *testing.T) {
	if testing.Short() {
		t.Skip("runs benchmarks for some seconds")
	}
	small := *parts[5]
	small.pattern = "AgainstSamples$/sd=1$/D=24$/K=5$"
	r, err := goTest(context.Background(), &small, 1, 1, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	table, err := small.table(r.fastest())
	if err != nil || !strings.Contains(table, "| 24, 5 | ") {
		t.Errorf("%v\n%s", err, table)
	}
	small.pkg = "internal/none"
	if _, err := goTest(context.Background(), &small, 1, 1, io.Discard); err == nil || !strings.Contains(err.Error(), "internal/none") {
		t.Errorf("a package that is not there: %v", err)
	}
}

// speed.md has every part as the CSV files of speed have it, or a link to the file of a linked part, and no
// other; the README has the same parts.
func TestDocumentsAreFresh(t *testing.T) {
	texts := map[string]string{}
	for _, path := range []string{"../README.md", "speed.md"} {
		text, err := os.ReadFile("../" + path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	speed := texts["speed.md"]
	known := map[string]bool{}
	for _, p := range parts {
		known["bench-"+p.name] = true
		saved, measured, err := readSaved("../speed/" + p.name + ".csv")
		if err != nil {
			t.Error(err)
			continue
		}
		want, err := p.body(saved, measured)
		if p.linked {
			if link := "](speed/" + p.name + ".csv)"; err != nil || !strings.Contains(speed, link) {
				t.Errorf("speed.md has no link %s (%v)", link, err)
			}
			continue
		}
		if got, missing := markdown.Section(speed, "bench-"+p.name); err != nil || missing != nil || got != want {
			t.Errorf("speed.md: part bench-%s is not what speed/%s.csv gives (%v, %v): go run ./bench -parts %s -write ../README.md,speed.md", p.name, p.name, err, missing, p.name)
		}
	}
	for path, text := range texts {
		for _, name := range markdown.Names(text) {
			if !strings.HasPrefix(name, "bench-") {
				continue // made by others
			}
			if !known[name] {
				t.Errorf("%s has a part %s that no benchmark makes", path, name)
			}
			want, _ := markdown.Section(speed, name)
			if got, err := markdown.Section(text, name); err != nil || got != want {
				t.Errorf("%s: part %s differs from speed.md: %v", path, name, err)
			}
		}
	}
}

// A full is a device without any room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestOutputLost(t *testing.T) {
	for _, args := range [][]string{{"-help"}, {"-parts", "kernel"}} {
		var stderr bytes.Buffer
		if status := run(t.Context(), args, pretend, full{}, &stderr); status != command.ExitError || !strings.HasSuffix(stderr.String(), "bench: standard output: no space left on device\n") {
			t.Errorf("%v: %d, %q", args, status, &stderr)
		}
	}
}
