package datasets

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/datasets/internal/reader"
	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/internal/textfile"
)

// ReadQrels reads TREC relevance judgements ("qrels"), lines of "qid iteration docid label", into a
// dataset without features. Labels are whole numbers; those below 0 become 0, as they are not
// relevant to trec_eval. Lines that begin with # are comments. Malformed lines, a document that is twice in a query, and an empty file
// are errors.
func ReadQrels(path string) (*Dataset, error) {
	var judged trecFile
	warnings, err := readWords(path, func(line int, words []string) error {
		if len(words) != 4 {
			return fmt.Errorf(`%d words: want "qid 0 docid label" as in TREC judgements`, len(words))
		}
		label, err := strconv.ParseInt(words[3], 10, 32)
		if err != nil {
			return fmt.Errorf("%s is not a label: want a whole number", text.Quote([]byte(words[3])))
		}
		return judged.add(words[0], trecDocument{words[2], float64(max(0, label)), line})
	})
	if err != nil {
		return nil, err
	}
	d := &Dataset{Name: path, Warnings: warnings, Offsets: []int{0}, FeatureIDs: []int{}, origin: reader.Origin{Path: path}}
	for _, id := range judged.queries {
		for _, document := range judged.of[id].documents {
			d.Labels, d.DocumentIDs = append(d.Labels, float32(document.value)), append(d.DocumentIDs, document.id)
			d.origin.Lines = append(d.origin.Lines, int32(document.line))
		}
		d.QueryIDs, d.Offsets = append(d.QueryIDs, id), append(d.Offsets, d.Rows())
	}
	if lines := d.origin.Lines; !slices.IsSorted(lines) { // a query came back after another one
		sorted := slices.Sorted(slices.Values(lines))
		for _, line := range lines {
			row, _ := slices.BinarySearch(sorted, line)
			d.SourceRows = append(d.SourceRows, row)
		}
	}
	return d, nil
}

// A trecFile is what a TREC file has of each query.
type trecFile struct {
	queries []string // by first line
	of      map[string]*trecQuery
}

type trecQuery struct {
	documents []trecDocument
	lines     map[string]int // by document
}

type trecDocument struct {
	id    string
	value float64 // its score or label
	line  int
}

// add adds a document of a query.
func (f *trecFile) add(query string, d trecDocument) error {
	if f.of == nil {
		f.of = map[string]*trecQuery{}
	}
	q := f.of[query]
	if q == nil {
		q = &trecQuery{lines: map[string]int{}}
		f.queries, f.of[query] = append(f.queries, query), q
	}
	if first, again := q.lines[d.id]; again {
		return fmt.Errorf("query %s: document %q is there twice, first in line %d", query, d.id, first)
	}
	q.documents, q.lines[d.id] = append(q.documents, d), d.line
	return nil
}

// readWords calls a function with the number and the words of every line that has any. Comments are left out: they begin
// with #, perhaps after blanks. Its errors get the line. It returns an error if the file has no words. A comment that has the form of
// the line before it, such as the document of a query with the id #1, is a warning.
func readWords(path string, line func(number int, words []string) error) (warnings []string, err error) {
	f, err := textfile.Open(context.Background(), path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", textfile.At(path, err))
	}
	defer f.Close()
	lines, empty := bufio.NewScanner(f), true
	alike, first := 0, 0 // comments that could be documents, and the line of the first
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			continue
		}
		if strings.HasPrefix(words[0], "#") {
			if likeDocument(words) {
				first = cmp.Or(first, n)
				alike++
			}
			continue
		}
		empty = false
		if err := line(n, words); err != nil {
			return nil, fmt.Errorf("datasets: %s:%d: %w", path, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("datasets: %w", textfile.At(path, err))
	}
	if empty {
		return nil, fmt.Errorf("datasets: %s is empty", path)
	}
	if alike > 0 {
		warnings = append(warnings, fmt.Sprintf("%s:%d: %d lines that begin with # are left out as comments, as by trec_eval, though they have the form of a document: no id of a query may begin with #", path, first, alike))
	}
	return warnings, nil
}

// likeDocument reports whether a comment has the form of a document in a run or in judgements.
func likeDocument(words []string) bool {
	number := map[int]int{4: 3, 6: 4}[len(words)] // which word must be one
	_, err := strconv.ParseFloat(words[number], 64)
	return number > 0 && words[0] != "#" && err == nil
}
