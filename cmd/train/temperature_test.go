package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/plrank/plrank/plackett"
)

// -temperature divides the scores of -draw and -exposure, and is in the tags of the run; -scores
// and the ranking by score are those of the model.
func TestTemperature(t *testing.T) {
	_, model := trained(t, fold(t))
	dir := t.TempDir()
	file := filepath.Join(dir, "new.txt")
	write(t, file, "0 qid:1 1:1 4:1 # a\n0 qid:1 1:1 # b\n0 qid:1 2:1 # c\n")
	path := func(name string) string { return filepath.Join(dir, name) }
	// of is a result; drawn rankings are in a file each.
	of := func(name string) (text string) {
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
		for i, line := range strings.Split(strings.TrimSpace(of(name)), "\n") {
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
		must(t, append([]string{"-model", model, "-predict", file, "-scores", path(name + ".s"), "-exposure", path(name + ".e"),
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
		if of("one"+end) != of("same"+end) {
			t.Errorf("%s: temperature 1 is not the default", end)
		}
	}
	scores := numbers("three.s", 0)
	if read(t, path("one.s")) != read(t, path("three.s")) {
		t.Error("-temperature changes -scores")
	}
	if text := of("three.r"); strings.Count(text, " plrank-temperature-3-") != 15 {
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
	moments, err := plackett.EnumerateMoments(divided, make([]float64, 3), []float64{1, 1 / math.Log2(3)})
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
		"-temperature +Inf: want a positive":                           {"-draw", "1", "-run", path("x"), "-temperature", "Inf"},
		"without -draw or -exposure":                                   {"-scores", path("x"), "-temperature", "2"},
		"divided by -temperature 1e-320, is beyond the range of float": {"-draw", "1", "-run", path("x"), "-temperature", "1e-320"},
	} {
		if status, _, stderr := call(append([]string{"-model", model, "-predict", file}, flags...)...); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%v: %d, %s, want %s", flags, status, stderr, want)
		}
	}
	if status, _, stderr := call("-temperature", "2", "-epochs", "1"); status != 2 {
		t.Errorf("training at a temperature: %d, %s", status, stderr)
	}
}
