package datasets

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/datasets/internal/reader"
	"github.com/plrank/plrank/internal/intents"
	"github.com/plrank/plrank/internal/textfile"
)

// ReadQrels reads TREC relevance judgements ("qrels"), lines of "qid iteration docid label", into a
// dataset without features. Labels are whole numbers; those below 0 become 0, since trec_eval counts them as not relevant. A file
// next to it, with .grades after its name, may give words a grade, by lines such as "Excellent 3".
// The iterations are subtopics, as in TREC's diversity tasks: a label above 0 means that the document is relevant to that
// intent, see Dataset.Intents, and the label of the document is the highest of them. A query may have 1008 subtopics. Lines
// that begin with # are comments. Judgement lists of OpenSearch (JSON), ratings of the Rated Ranking Evaluator (JSON), whose queries
// are its query groups, and of Quepid (CSV, JSON) are read, too, in which labels may be fractions; and preferences, a CSV table of
// query, better and worse, where the grade of a document is how many different numbers of net wins are below its own. In names of
// queries, _ stands for blanks. ReadQrels returns an error for malformed lines, if a document is twice in a subtopic of a query, and if
// the file is empty.
func ReadQrels(path string) (*Dataset, error) {
	judged := newTRECFile(path)
	warnings, err := readJudged(path, func(r record, g grades) error {
		words := r.words
		if len(words) != 4 {
			return fmt.Errorf(`%d words: want "qid 0 docid label" as in TREC judgements`, len(words))
		}
		label, err := g.of(words[3])
		if err != nil {
			return err
		}
		return judged.add(words[0], words[1], words[2], float64(label), r.line)
	})
	if err != nil {
		return nil, err
	}
	ints := 1 // of the intents of a document
	for _, q := range judged.queries {
		ints = max(ints, (len(q.subtopics)+intents.PerInt-1)/intents.PerInt)
	}
	judged.Intents = make([]int, judged.Rows()*ints)
	for row, list := range judged.intents {
		for _, i := range list {
			judged.Intents[row*ints+i/intents.PerInt] |= 1 << (i % intents.PerInt)
		}
		judged.Labels[row] = float32(judged.Gains[row])
	}
	judged.Gains = nil
	d := judged.ByQueries()
	d.Warnings = warnings
	return d, nil
}

// mostSubtopics bounds the subtopics of a query, as every document of the file has a bit for each.
const mostSubtopics = 16 * intents.PerInt

// A trecFile has what a TREC file says of documents.
type trecFile struct {
	Dataset // each document as a query; Gains are scores or grades
	queries map[string]*trecQuery
	intents [][]int // [rows] places in subtopics
}

type trecQuery struct {
	rows      map[string]int    // by document
	lines     map[[2]string]int // by document and subtopic
	subtopics []string
}

func newTRECFile(path string) *trecFile {
	return &trecFile{Dataset: Dataset{Name: path, Offsets: []int{0}, FeatureIDs: []int{}, origin: reader.Origin{Path: path}},
		queries: map[string]*trecQuery{}}
}

// add adds a document of a query, judged for a subtopic; a run has but one.
func (f *trecFile) add(query, subtopic, document string, value float64, line int) error {
	q := f.queries[query]
	if q == nil {
		q = &trecQuery{rows: map[string]int{}, lines: map[[2]string]int{}}
		f.queries[query] = q
	}
	key := [2]string{document, subtopic}
	if first, again := q.lines[key]; again {
		return fmt.Errorf("query %s: duplicate document %q, first in line %d", query, document, first)
	}
	q.lines[key] = line
	intent := slices.Index(q.subtopics, subtopic)
	if intent < 0 {
		intent, q.subtopics = len(q.subtopics), append(q.subtopics, subtopic)
	}
	if intent == mostSubtopics {
		return fmt.Errorf("query %s: more than %d subtopics", query, mostSubtopics)
	}
	row, judged := q.rows[document]
	if !judged {
		row = f.Rows()
		q.rows[document] = row
		f.QueryIDs, f.DocumentIDs, f.Offsets = append(f.QueryIDs, query), append(f.DocumentIDs, document), append(f.Offsets, row+1)
		f.Labels, f.Gains, f.intents = append(f.Labels, 0), append(f.Gains, value), append(f.intents, nil)
		f.origin.Lines = append(f.origin.Lines, int32(line))
	}
	if f.Gains[row] = max(f.Gains[row], value); value > 0 && subtopic != "" {
		f.intents[row] = append(f.intents[row], intent)
	}
	return nil
}

// joinIntents sets the Intents of datasets (nil ones are skipped) from the file of ReadOptions.Subtopics.
func joinIntents(path string, to ...*Dataset) error {
	if path == "" {
		return nil
	}
	judged, err := ReadQrels(path)
	if err != nil {
		return err
	}
	ints, found := len(judged.Intents)/judged.Rows(), map[[2]string][]int{} // by query and document
	judged.eachID(func(row int, ids [2]string) {
		if set := judged.Intents[row*ints : (row+1)*ints]; slices.Max(set) > 0 {
			found[ids] = set
		}
	})
	left := maps.Clone(found)
	for _, d := range to {
		if d == nil {
			continue
		}
		d.Intents = make([]int, d.Rows()*ints)
		d.eachID(func(row int, ids [2]string) {
			copy(d.Intents[row*ints:], found[ids])
			delete(left, ids)
		})
	}
	if len(left) == len(found) {
		return fmt.Errorf("datasets: %s: no document of the data has an intent: the ids of queries and documents must be spelt alike there", path)
	}
	if len(left) > 0 {
		judged.Warnings = append(judged.Warnings,
			fmt.Sprintf("%s: %d of %d documents with an intent are not in the data", path, len(left), len(found)))
	}
	to[0].Warnings = append(to[0].Warnings, judged.Warnings...)
	return nil
}

// eachID calls a function with every row, and the ids of its query and document.
func (d *Dataset) eachID(visit func(row int, ids [2]string)) {
	for q, id := range d.QueryIDs {
		for row := d.Offsets[q]; row < d.Offsets[q+1]; row++ {
			visit(row, [2]string{id, d.documentID(q, row)})
		}
	}
}

// scanWords calls a function with the words of every line that has any. Comments are left out: they begin with #, perhaps after
// blanks. Its errors get the line. It returns an error if the file has no words. A comment that has the form of the line before it,
// such as the document of a query with the id #1, is a warning.
func scanWords(path string, f io.Reader, add func(r record) error) (warnings []string, err error) {
	lines, empty, n := bufio.NewScanner(f), true, 1
	alike, first := 0, 0 // comments that could be documents, and the line of the first
	for ; lines.Scan(); n++ {
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
		if err := add(record{n, words}); err != nil {
			return nil, fmt.Errorf("datasets: %s:%d: %w", path, n, err)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("datasets: %s:%d: a line of more than %d bytes", path, n, bufio.MaxScanTokenSize-1)
	} else if err != nil {
		return nil, fmt.Errorf("datasets: %w", textfile.At(path, err))
	}
	if empty {
		return nil, fmt.Errorf("datasets: %s is empty", path)
	}
	if alike > 0 {
		warnings = append(warnings, fmt.Sprintf("%s:%d: %d lines that begin with # are left out as comments, as by trec_eval, though they "+
			"have the form of a document: no id of a query may begin with #", path, first, alike))
	}
	return warnings, nil
}

// likeDocument reports whether a comment has the form of a document in a run or in judgements.
func likeDocument(words []string) bool {
	number := map[int]int{4: 3, 6: 4}[len(words)] // which word must be one
	_, err := strconv.ParseFloat(words[number], 64)
	return number > 0 && words[0] != "#" && err == nil
}
