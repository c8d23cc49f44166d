package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/command"
)

const scaleFolder = "../scale"

// scale.md and the picture are what the measurements give.
func TestScaleIsFresh(t *testing.T) {
	m, err := readScale(scaleFolder)
	if err != nil {
		t.Fatal(err)
	}
	areFresh(t, scale, m, "scale.md")
}

// writeScale writes measurements of a machine that keeps to the model, with the given costs.
func writeScale(t *testing.T, step, shard, document, busy, message, perByte float64) (folder string) {
	t.Helper()
	folder = t.TempDir()
	write := func(name string, lines []string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	exchange := func(ranks int, bytes, rate float64) float64 {
		t := (2*float64(ranks-1)*message + 2*bytes*float64(ranks-1)/float64(ranks)*perByte) * float64(ranks) / 2
		if rate > 0 {
			t += 2 * bytes * float64(ranks-1) / float64(ranks) / rate
		}
		return t
	}
	for link, rate := range map[string]float64{"memory": 0, "loopback": 0, "ethernet": 0, "gigabitethernet": 117.5e6} {
		lines := []string{"link,ranks,bytes,fastest,median"}
		for _, ranks := range []int{2, 4, 8} {
			for _, bytes := range []float64{1 << 10, 1 << 20, 1 << 26} {
				lines = append(lines, fmt.Sprintf("%s,%d,%.0f,0,%.12g", link, ranks, bytes, exchange(ranks, bytes, rate)))
			}
		}
		write("exchange-"+link+".csv", lines)
	}
	for _, recipe := range scaleRecipes {
		lines := []string{"recipe,round,link,ranks,core,batch,weights,step,rank,runs,documents,compute,exchange"}
		for round := range 2 {
			for _, batch := range []int{8, 32} {
				for s := range 5 {
					runs, documents := min(8, batch), batch*(100+10*s)
					lines = append(lines, fmt.Sprintf("%s,%d,memory,1,0,%d,1000,%d,0,%d,%d,%.12g,0", recipe, round, batch, s, runs-s%2, documents, step+shard*float64(runs-s%2)+document*float64(documents)))
				}
			}
			for _, ranks := range []int{2, 4} {
				for s := range 5 {
					for rank := range ranks {
						compute := busy * (step + shard*8/float64(ranks) + document*float64(100*(s+1)))
						if ranks == 4 {
							compute *= 2 // they share the cores
						}
						lines = append(lines, fmt.Sprintf("%s,%d,memory,%d,-1,32,1000,%d,%d,%d,%d,%.12g,%.12g", recipe, round, ranks, s, rank, 8/ranks, 100*(s+1), compute, exchange(ranks, 4000, 0)))
					}
				}
			}
		}
		write("steps-"+recipe+".csv", lines)
	}
	write("ranks.csv", []string{"run,seconds", `"one process, core 0",2`, `"one process, core 1",4`, `"one rank, core 0",2`, `"one rank, core 1",3`, `"two ranks, a core each",1.5`, `"one process, two threads, one shard",1.2`})
	return folder
}

// The costs of a machine that keeps to the model are found, and its runs are predicted.
func TestScaleModelFindsTheCosts(t *testing.T) {
	const step, shard, document, busy, message, perByte = 1e-3, 4e-4, 6e-6, 1.3, 2e-5, 1e-9
	m, err := readScale(writeScale(t, step, shard, document, busy, message, perByte))
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-6*want {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	for _, recipe := range scaleRecipes {
		c := m.steps[recipe]
		near("step", c.step, step)
		near("shard", c.shard, shard)
		near("document", c.document, document)
		near("busy", c.busy, busy)
		for _, run := range m.runs[recipe] {
			if run.ranks != "1" {
				near("a step of "+run.ranks+" ranks", m.predict(recipe, run), run.mean)
			}
		}
	}
	for _, link := range scaleLinks {
		near("message", m.exchanges[link].message, message)
		near("byte", m.exchanges[link].byte, perByte)
		fitted, held := m.exchangeErrors(link)
		near("error", fitted, 1)
		near("error", held, 1)
	}
	// One rank has neither to wait nor to exchange; with more, an epoch is shorter, but not
	// by their number.
	k := cluster{recipe: "wide", queries: 4, steady: true, rate: 1e9}
	alone, waiting, exchanging := m.epoch(k, 1e6, 1)
	mean := 0.0
	for _, n := range m.sizes {
		mean += n / float64(len(m.sizes))
	}
	if want := 1e6 / mean / 4 * busy * (step + shard + document*4*mean) / 60; math.Abs(alone-want) > 0.05*want || waiting > 0.05 || exchanging != 0 {
		t.Errorf("%v minutes, want %v; waiting %v, exchanging %v", alone, want, waiting, exchanging)
	}
	ten, _, _ := m.epoch(k, 1e6, 10)
	k.random = true
	if random, waiting, _ := m.epoch(k, 1e6, 10); !(ten < alone && ten > alone/10 && random > 1.05*ten && waiting > 0.1) {
		t.Errorf("%v minutes alone, %v with ten ranks, %v in random orders, where %v of it is waiting", alone, ten, random, waiting)
	}
	table, err := m.ranksTable()
	if err != nil || !strings.Contains(table, "| one rank, mean of the cores | 2.50 | 2.50, 2.50 | 1.67, 1.67–1.67 |") {
		t.Errorf("%v\n%s", err, table)
	}
}

func TestScaleCommand(t *testing.T) {
	folder := writeScale(t, 1e-3, 4e-4, 6e-6, 1.3, 2e-5, 1e-9)
	document := filepath.Join(t.TempDir(), "scale.md")
	var text strings.Builder
	for _, table := range scaleTables {
		fmt.Fprintf(&text, "<!-- %s -->\n<!-- /%s -->\n", table.name, table.name)
	}
	if err := os.WriteFile(document, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := readScale(folder)
	if err != nil {
		t.Fatal(err)
	}
	if stale, err := scale.stale(m, folder, document); err != nil || len(stale) != len(scaleTables)+2 {
		t.Errorf("stale before: %v, %v", stale, err)
	}
	if status, _, stderr := runIn(t, pretend, "scale", "-results", folder, "-write", document); status != 0 {
		t.Fatal(stderr)
	}
	if stale, err := scale.stale(m, folder, document); err != nil || stale != nil {
		t.Errorf("stale after: %v, %v", stale, err)
	}
	if status, _, stderr := runIn(t, pretend, "scale", "-results", folder+"/none"); status != command.ExitError || !strings.Contains(stderr, "none") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
