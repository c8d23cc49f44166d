package main

import (
	"cmp"
	"encoding/csv"
	"flag"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/train"
)

// methods turn a log into gains. In the tables "logger" is the ranker of the log, and "labels" what
// is learned with the same recipe from the true attraction of all training documents; "normalized" gains are divided
// by their best value of the query, as the recipe for labels does.
var methods = []struct {
	name       string
	gains      func(l *clicks.Log, seed uint64) (*datasets.Dataset, error)
	normalized bool
}{
	{"naive", estimated(clicks.Naive), false},
	{"ips", estimated(clicks.IPS), false},
	{"policy-aware", estimated(clicks.PolicyAware), false},
	{"dr", estimated(clicks.DR), false},
	{"dr, 1000 samples", func(l *clicks.Log, seed uint64) (*datasets.Dataset, error) { return sampledGains(l, baidu, seed) }, false},
	{"dr, normalized", estimated(clicks.DR), true},
}

func estimated(e clicks.Estimator) func(*clicks.Log, uint64) (*datasets.Dataset, error) {
	return func(l *clicks.Log, _ uint64) (*datasets.Dataset, error) { return clicks.Gains(l, baidu, e) }
}

var curvesHeader = []string{"data", "seed", "impressions", "method", "ndcg@5", "of queries"}

// A curvesFile is what was measured, by everything but the value.
type curvesFile struct {
	path string
	done map[string]bool
}

func openCurves(path string) (*curvesFile, error) {
	f := &curvesFile{path: path, done: map[string]bool{}}
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return f, os.WriteFile(path, []byte(strings.Join(curvesHeader, ",")+"\n"), 0o666)
	}
	text, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	rows, err := csv.NewReader(text).ReadAll()
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		f.done[strings.Join(row[:4], "|")] = true
	}
	return f, nil
}

// add measures what is not there yet, and appends it.
func (f *curvesFile) add(name string, p *production, n int, method string, values func() ([]float64, error)) error {
	row := []string{name, strconv.Itoa(int(p.seed)), strconv.Itoa(n), method}
	if f.done[strings.Join(row, "|")] {
		return nil
	}
	v, err := values()
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(row, ", "), err)
	}
	row = append(row, fmt.Sprintf("%.4f", stat.Mean(v, nil)))
	log.Print(strings.Join(row, ", "))
	row = append(row, strings.Trim(fmt.Sprintf("%.3f", v), "[]"))
	text, err := os.OpenFile(f.path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer text.Close()
	w := csv.NewWriter(text)
	if err := w.Write(row); err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

// curves measures what is learned from a number of clicks.
func curves(arguments []string) error {
	flags := flag.NewFlagSet("curves", flag.ExitOnError)
	data := flags.String("data", "", "`folder` of the collection")
	name := flags.String("name", "", "of the collection in the table")
	out := flags.String("out", "clicks/curves.csv", "`file` that measurements are appended to; what is there is not measured again")
	sizes := flags.String("n", "1000,10000,100000,1000000", "`impressions`")
	seeds := flags.Uint64("seeds", 5, "`number` of seeds")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if *data == "" || *name == "" || flags.NArg() > 0 {
		return errArguments
	}
	f, err := openCurves(*out)
	if err != nil {
		return err
	}
	productions := make([]*production, *seeds)
	for _, size := range strings.Split(*sizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil {
			return err
		}
		for seed := range productions {
			if productions[seed] == nil {
				if productions[seed], err = newProduction(*data, uint64(seed)); err != nil {
					return err
				}
				if err := f.addEnds(*name, productions[seed]); err != nil {
					return err
				}
			}
			if err := f.addMethods(*name, productions[seed], n); err != nil {
				return err
			}
		}
	}
	return nil
}

// addEnds measures what needs no clicks.
func (f *curvesFile) addEnds(name string, p *production) error {
	if err := f.add(name, p, 0, "logger", func() ([]float64, error) { return p.perQuery(p.model, "ndcg@5") }); err != nil {
		return err
	}
	known := p.known(byGrade(p.train))
	normalized := baseConfig(known)
	normalized.NormalizeGains = true
	err := f.add(name, p, 0, "labels", func() ([]float64, error) { return p.learned(known, baseConfig(known)) })
	return cmp.Or(err, f.add(name, p, 0, "labels, normalized", func() ([]float64, error) { return p.learned(known, normalized) }))
}

func (f *curvesFile) addMethods(name string, p *production, n int) error {
	var l *clicks.Log
	for _, m := range methods {
		err := f.add(name, p, n, m.name, func() (v []float64, err error) {
			if l == nil {
				if l, err = p.log(clicks.User{Behaviour: clicks.PositionBased(baidu.Alpha)}, n); err != nil {
					return nil, err
				}
			}
			gains, err := m.gains(l, p.seed)
			if err != nil {
				return nil, err
			}
			c := baseConfig(gains)
			c.NormalizeGains = m.normalized
			return p.learned(gains, c)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// learned is the NDCG@5 of what is trained on gains.
func (p *production) learned(gains *datasets.Dataset, c train.Config) ([]float64, error) {
	model, _, err := p.fit(gains, c, train.Custom{})
	if err != nil {
		return nil, err
	}
	return p.perQuery(model, "ndcg@5")
}
