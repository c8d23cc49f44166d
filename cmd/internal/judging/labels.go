// Package judging measures runs by labels of a judge, such as a language model, and labels of people for some queries or pairs.
package judging

import (
	"fmt"
	"strings"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/judges"
)

// A pair is a query and a document.
type pair struct{ query, document string }

// judgement is the grade by people.
type judgement struct {
	grade       float32
	probability float64 // 0: the file does not say
	round       int     // the number of the file, from 1
}

// Labels holds labels of a judge, and labels of people for some pairs.
type Labels struct {
	union   *datasets.Dataset // the pairs that either judged, with the labels of the judge, or 0
	judge   map[pair]bool     // the pairs that the judge judged
	people  map[pair]judgement
	drawn   bool // a file has probabilities
	highest float32
	files   []string

	Agreement judges.Agreement
	Warnings  []string
}

// whole returns an error if a label is a fraction, as some judgement tools have them.
func whole(labels ...float32) error {
	for _, label := range labels {
		if label != float32(int(label)) {
			return fmt.Errorf("the rating %v is a fraction: want grades, such as by a file with .grades after its name, with lines such as \"%v 1\"",
				label, label)
		}
	}
	return nil
}

// Read reads labels of a judge from TREC judgements, and labels of people from files with commas between them, "": there are none.
func Read(judge, people string) (*Labels, error) {
	byJudge, err := datasets.ReadQrels(judge)
	if err != nil {
		return nil, err
	}
	if err := whole(byJudge.Labels...); err != nil {
		return nil, fmt.Errorf("%s: %w", judge, err)
	}
	l := &Labels{judge: map[pair]bool{}, people: map[pair]judgement{}, Warnings: byJudge.Warnings}
	documents, labels := map[string][]string{}, map[pair]float32{}
	for q, id := range byJudge.QueryIDs {
		for row := byJudge.Offsets[q]; row < byJudge.Offsets[q+1]; row++ {
			p := pair{id, byJudge.DocumentIDs[row]}
			documents[id], labels[p], l.judge[p] = append(documents[id], p.document), byJudge.Labels[row], true
			l.highest = max(l.highest, labels[p])
		}
	}
	if people != "" {
		l.files = strings.Split(people, ",")
	}
	queries := byJudge.QueryIDs
	for i, path := range l.files {
		list, warnings, err := datasets.ReadJudgements(path)
		if err != nil {
			return nil, err
		}
		l.Warnings = append(l.Warnings, warnings...)
		for _, j := range list {
			if err := whole(j.Grade); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, j.Line, err)
			}
			p := pair{j.Query, j.Document}
			if _, again := l.people[p]; again {
				return nil, fmt.Errorf("%s:%d: query %s, document %s was judged in %s already", path, j.Line, j.Query, j.Document,
					l.files[l.people[p].round-1])
			}
			l.people[p] = judgement{j.Grade, j.Probability, i + 1}
			l.drawn, l.highest = l.drawn || j.Probability > 0, max(l.highest, j.Grade)
			if l.judge[p] {
				continue
			}
			if documents[p.query] == nil {
				queries = append(queries, p.query)
			}
			documents[p.query] = append(documents[p.query], p.document)
		}
	}
	both := l.unite(judge, queries, documents, labels)
	if l.files != nil && len(both[0]) == 0 {
		return nil, fmt.Errorf("%s: no pair is judged by %s, too: ids must be spelt alike", people, judge)
	}
	if l.Agreement, err = judges.Agree(both[0], both[1]); err != nil {
		return nil, fmt.Errorf("%s, %s: %w", judge, people, err)
	}
	return l, nil
}

// unite sets the union of what the judge, whose file and labels these are, and people judged. It returns the grades of pairs that both
// judged, by the judge and by people.
func (l *Labels) unite(judge string, queries []string, documents map[string][]string, labels map[pair]float32) (both [2][]int) {
	l.union = &datasets.Dataset{Name: judge, Offsets: []int{0}, FeatureIDs: []int{}}
	for _, id := range queries {
		for _, document := range documents[id] {
			p := pair{id, document}
			l.union.Labels, l.union.DocumentIDs = append(l.union.Labels, labels[p]), append(l.union.DocumentIDs, document)
			if h, judged := l.people[p]; judged && l.judge[p] {
				both[0], both[1] = append(both[0], int(labels[p])), append(both[1], int(h.grade))
			}
		}
		l.union.QueryIDs, l.union.Offsets = append(l.union.QueryIDs, id), append(l.union.Offsets, len(l.union.Labels))
	}
	return both
}
