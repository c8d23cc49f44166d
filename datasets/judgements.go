package datasets

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/plrank/plrank/internal/text"
)

// A Judgement is the grade that somebody gave to a document of a query.
type Judgement struct {
	Query, Document string
	Grade           float32 // 0 or more
	Probability     float64 // with which the pair was drawn to be judged; 0: the file does not say
	Line            int
}

// leastProbability bounds what a judgement counts, 1/probability.
const leastProbability = 1e-12

// ReadJudgements reads judgements of pairs that may have been drawn. The words of all lines have one of these forms:
//
//   - "qid 0 docid grade", TREC's judgements, whose second word is 0 or Q0 on all lines;
//   - "qid docid probability grade", what plrank judge writes, with grades;
//   - "qid 0 docid grade probability";
//   - "qid docid grade method probability", TREC's prels.
//
// Grades are as in [ReadQrels], which has the other kinds of files, too. ReadJudgements returns an error for malformed lines, probabilities
// below 1e-12 or above 1, duplicate pairs, and an empty file.
func ReadJudgements(path string) ([]Judgement, []string, error) {
	var lines [][]string
	var list []Judgement
	var ofWords grades
	warnings, err := readJudged(path, func(r record, g grades) error {
		words := r.words
		ofWords = g
		switch {
		case len(words) == 3:
			return fmt.Errorf("3 words: the pair %s %s has no grade: want it as a fourth word, of every pair that was drawn", words[0],
				words[1])
		case len(words) < 4 || len(words) > 5 || len(lines) > 0 && len(words) != len(lines[0]):
			return fmt.Errorf(`%d words: want "qid 0 docid grade" or "qid docid probability grade" on every line, or five words, the last a `+
				"probability", len(words))
		}
		lines, list = append(lines, words), append(list, Judgement{Query: words[0], Line: r.line})
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	iterations := !slices.ContainsFunc(lines, func(words []string) bool { return words[1] != "0" && words[1] != "Q0" })
	document, grade, probability := 1, 2, 4
	switch {
	case iterations:
		document, grade = 2, 3
	case len(lines[0]) == 4:
		grade, probability = 3, 2
	}
	seen := map[[2]string]int{}
	for i, words := range lines {
		j := &list[i]
		j.Document = words[document]
		j.Grade, err = ofWords.of(words[grade])
		if probability < len(words) {
			p, wrong := strconv.ParseFloat(words[probability], 64)
			if wrong != nil || !(p >= leastProbability && p <= 1) {
				err = cmp.Or(err, fmt.Errorf("%s is not a probability from 1e-12 to 1; where there is none, the second word of every line is 0",
					text.Quote([]byte(words[probability]))))
			}
			j.Probability = p
		}
		pair := [2]string{j.Query, j.Document}
		if first := seen[pair]; first > 0 {
			err = cmp.Or(err, fmt.Errorf("query %s: duplicate document %q, first in line %d", j.Query, j.Document, first))
		}
		if seen[pair] = j.Line; err != nil {
			return nil, nil, fmt.Errorf("datasets: %s:%d: %w", path, j.Line, err)
		}
	}
	return list, warnings, nil
}
