package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/clicks"
)

// sessionRanks are the ranks of sessions that are used.
const sessionRanks = 10

// A session is a ranking that was shown once: the grade and the type of each result, from the top, and
// the results clicked, from 0.
type session struct {
	Request string   `json:"reqid"`
	Grades  []string `json:"rel"`
	Types   []string `json:"sntypes"`
	Clicks  []int    `json:"clicks"`
}

// kind is the kind of the result at rank k+1.
func (s *session) kind(k int) string { return s.Grades[k] + " " + s.Types[k] }

func (s *session) ranks() int { return min(sessionRanks, len(s.Grades)) }

// clicked is 1 if the result at rank k+1 was clicked.
func (s *session) clicked(k int) float64 {
	if slices.Contains(s.Clicks, k) {
		return 1
	}
	return 0
}

// sessions fits the position-based model to one file of sessions, and prints θ and the perplexity of another,
// the mean over ranks. Requests that are in both are left out.
func sessions(arguments []string) error {
	if len(arguments) != 2 {
		return errArguments
	}
	first, err := readSessions(arguments[0])
	if err != nil {
		return err
	}
	second, err := readSessions(arguments[1])
	if err != nil {
		return err
	}
	for id := range first {
		if _, both := second[id]; both {
			delete(first, id)
			delete(second, id)
		}
	}
	bias, _, err := clicks.EstimateBias(sessionLog(first), clicks.RegressionEM)
	if err != nil {
		return err
	}
	attraction := attractions(first, bias.Alpha)
	var bits, shown [sessionRanks]float64
	for _, s := range second {
		for k := range s.ranks() {
			p := bias.Alpha[k] * attraction[s.kind(k)]
			if s.clicked(k) == 0 {
				p = 1 - p
			}
			bits[k] -= math.Log2(max(p, 1e-9))
			shown[k]++
		}
	}
	fmt.Println("fit,rank 1,rank 2,rank 3,rank 4,rank 5,rank 6,rank 7,rank 8,rank 9,rank 10,perplexity")
	row := []string{"plrank em"}
	perplexity := 0.0
	for k, a := range bias.Alpha {
		perplexity += math.Exp2(bits[k]/shown[k]) / sessionRanks
		row = append(row, fmt.Sprintf("%.3f", a))
	}
	fmt.Println(strings.Join(append(row, fmt.Sprintf("%.4f", perplexity)), ","))
	return nil
}

// readSessions returns the sessions of a file, whose lines have JSON in the third column, by request.
func readSessions(path string) (map[string]*session, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	all := map[string]*session{}
	for lines := bufio.NewScanner(text); ; {
		if !lines.Scan() {
			return all, lines.Err()
		}
		columns := strings.SplitN(lines.Text(), "\t", 3)
		s := new(session)
		if err := json.Unmarshal([]byte(columns[len(columns)-1]), s); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all[s.Request] = s
	}
}

// sessionLog is a log without scores, each session a query of its own. A document has a feature for
// each kind, 1 for its own: the regression of EM is then free for each.
func sessionLog(all map[string]*session) *clicks.Log {
	kinds := map[string]int{}
	for _, s := range all {
		for k := range s.ranks() {
			kinds[s.kind(k)] = 0
		}
	}
	for i, kind := range slices.Sorted(maps.Keys(kinds)) {
		kinds[kind] = i
	}
	l := &clicks.Log{}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		s := all[id]
		im := clicks.Impression{ID: id, Query: id, Cutoff: s.ranks(), Features: make([]float32, s.ranks()*len(kinds))}
		for k := range s.ranks() {
			im.Documents, im.Shown, im.Clicks = append(im.Documents, strconv.Itoa(k)), append(im.Shown, k), append(im.Clicks, s.clicked(k))
			im.Features[k*len(kinds)+kinds[s.kind(k)]] = 1
		}
		l.Impressions = append(l.Impressions, im)
	}
	return l
}

// attractions are by kind: where the likelihood of its clicks is highest, if rank k+1 is examined with
// probability alpha[k].
func attractions(all map[string]*session, alpha []float64) map[string]float64 {
	clicked, missed := map[string]float64{}, map[string][sessionRanks]float64{} // the latter by rank
	for _, s := range all {
		for k := range s.ranks() {
			kind := s.kind(k)
			c := s.clicked(k)
			m := missed[kind]
			m[k] += 1 - c
			clicked[kind], missed[kind] = clicked[kind]+c, m
		}
	}
	of := map[string]float64{}
	for kind, m := range missed {
		low, high := 0., 1.
		for range 50 {
			r := (low + high) / 2
			slope := clicked[kind] / r
			for k, n := range m {
				slope -= n * alpha[k] / (1 - alpha[k]*r)
			}
			if slope > 0 {
				low = r
			} else {
				high = r
			}
		}
		of[kind] = low
	}
	return of
}
