package datasets

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/internal/text"
)

// A Run holds the judged queries of a dataset, without features, and the scores of their documents by some ranker.
type Run struct {
	*Dataset
	Scores   []float64 // [rows]
	Unranked []bool    // [rows] judged documents that the ranker did not find; nil: there are none

	// HighestLabel is the highest label of all judgements, also of queries that the run lacks: ERR and
	// graded RBP must use the same one for all runs. 0: the highest of Labels.
	HighestLabel float32
}

// ReadRun reads the scores of judged documents. By its first line, the file is one of three:
//
//   - the scores of all documents, one a line, in the order of the file that they were read
//     from: as LightGBM, XGBoost, SVMrank and plrank score write them;
//   - a TREC run, lines of "qid Q0 docid rank score tag", for judgements of [ReadQrels] or for a
//     dataset, whose documents without an id are called "qid.n" as by [WriteRun];
//   - CSV with the columns query, document and score, which a header may name, in another order and among others: otherwise like a
//     TREC run.
//
// Lines that begin with # are comments. As in trec_eval 10, the ranks in a run do not count: documents are ordered by
// descending score, and documents of equal scores by descending id. Documents that are not judged have the
// label 0, and judged ones that the run lacks are Unranked. Queries without judgements, and judged ones
// that the run lacks, are left out, with a warning. Unlabelled documents are left out, too. A warning says if no document of
// the run is judged: its ids may be spelt otherwise.
//
// ReadRun returns an error for malformed lines, for scores that are not finite, if there is not a score for each document, if
// a document is twice in a query, and if the run has no judged query.
func ReadRun(path string, judged *Dataset) (*Run, error) {
	var scores []float64
	found, form := newTRECFile(path), 0 // words of a line
	warnings, err := readTREC(path, tableOfScores, func(r record) error {
		form = cmp.Or(form, len(r.words))
		switch {
		case len(r.words) != form || form != 1 && form != 6:
			return fmt.Errorf(`%d words: want a score on every line, or "qid Q0 docid rank score tag" as in a TREC run, or "query,document,score"`,
				len(r.words))
		case form == 1:
			score, err := parseScore(r.words[0])
			scores = append(scores, score)
			return err
		}
		score, err := parseScore(r.words[4])
		return cmp.Or(err, found.add(r.words[0], "", r.words[2], score, r.line))
	})
	if err != nil {
		return nil, err
	}
	run := &Run{Dataset: &Dataset{Name: path, Warnings: warnings, Offsets: []int{0}, GroupNames: judged.GroupNames, origin: judged.origin}}
	for _, label := range judged.Labels {
		run.HighestLabel = max(run.HighestLabel, label)
	}
	run.origin.Lines = nil // add appends the lines of documents
	if form != 1 {
		err = run.join(found.ByQueries(), judged)
	} else {
		err = run.take(scores, judged)
	}
	if err != nil {
		return nil, err
	}
	if run.Rows() == 0 {
		why := ""
		known := func(id string) bool { return slices.Contains(found.QueryIDs, id) }
		if found.Queries() > 0 && judged.Queries() > 0 && !slices.ContainsFunc(judged.QueryIDs, known) {
			why = fmt.Sprintf(": ids must be spelt alike: a query is called %q there, and %q here", judged.QueryIDs[0], found.QueryIDs[0])
		}
		return nil, fmt.Errorf("datasets: %s has no labelled document of a query of %s%s", path, judged.Name, why)
	}
	if !slices.Contains(run.Unranked, true) {
		run.Unranked = nil
	}
	return run, nil
}

// tableOfScores returns what reads a table of scores, by how it begins; nil for other files.
func tableOfScores(begin string) export {
	for strings.HasPrefix(begin, "#") {
		_, begin, _ = strings.Cut(begin, "\n")
	}
	first, _, _ := strings.Cut(begin, "\n")
	if !strings.Contains(first, ",") || len(strings.Fields(first)) == 6 {
		return nil
	}
	return func(r io.Reader) (records []record, err error) {
		rows, err := readTable(r, [3][]string{{"query", "qid", "query_id"}, {"document", "docid", "doc_id", "document_id"}, {"score"}}, "")
		for _, row := range rows {
			records = append(records, record{row.line, []string{row.words[0], "Q0", row.words[1], "", strings.TrimSpace(row.words[2]), ""}})
		}
		return records, err
	}
}

func parseScore(word string) (float64, error) {
	score, err := strconv.ParseFloat(word, 64)
	if err != nil || math.IsNaN(score) || math.IsInf(score, 0) {
		return 0, fmt.Errorf("%s is not a score: want a finite number", text.Quote([]byte(word)))
	}
	return score, nil
}

// take makes the run of a score for each document of a dataset.
func (r *Run) take(scores []float64, judged *Dataset) error {
	if len(scores) != judged.Rows() {
		return fmt.Errorf("datasets: %s: %d scores, but %s has %d documents: want the score of each on a line, in the order of that file",
			r.Name, len(scores), judged.Name, judged.Rows())
	}
	byRow := make([]float64, len(scores))
	for i, row := range judged.bySource() {
		byRow[row] = scores[i]
	}
	for q := range judged.Queries() {
		for row := judged.Offsets[q]; row < judged.Offsets[q+1]; row++ {
			r.add(judged, row, judged.documentID(q, row), byRow[row], false)
		}
		r.end(judged, q)
	}
	if left := judged.Rows() - r.Rows(); left > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %d documents without a label are left out", judged.Name, left))
	}
	return nil
}

// join makes the run of what was found, and of the judged documents that were not.
func (r *Run) join(found, judged *Dataset) error {
	if err := judged.checkTREC(); err != nil {
		return err
	}
	numbers := map[string]int{} // of the run's queries
	for q, id := range found.QueryIDs {
		numbers[id] = q
	}
	lacking, known := 0, 0
	strange := "" // an unknown document of a judged query
	for q, id := range judged.QueryIDs {
		number, is := numbers[id]
		if !is {
			lacking++
			continue
		}
		rows := map[string]int{}
		for row := judged.Offsets[q]; row < judged.Offsets[q+1]; row++ {
			rows[judged.documentID(q, row)] = row
		}
		var ranked []int
		for at := found.Offsets[number]; at < found.Offsets[number+1]; at++ {
			ranked = append(ranked, at)
		}
		slices.SortFunc(ranked, func(a, b int) int {
			return cmp.Or(cmp.Compare(found.Gains[b], found.Gains[a]), cmp.Compare(found.DocumentIDs[b], found.DocumentIDs[a]))
		})
		for _, at := range ranked {
			document := found.DocumentIDs[at]
			row, isJudged := rows[document]
			switch {
			case isJudged && judged.Labels[row] != Unlabelled:
				known++
			case !isJudged:
				if row = -1; strange == "" {
					strange = fmt.Sprintf(": ids must be spelt alike: query %s has the document %q there, and %q here",
						id, judged.documentID(q, judged.Offsets[q]), document)
				}
			}
			r.add(judged, row, document, found.Gains[at], false)
			delete(rows, document)
		}
		for row := judged.Offsets[q]; row < judged.Offsets[q+1]; row++ {
			id := judged.documentID(q, row)
			if _, left := rows[id]; left {
				r.add(judged, row, id, 0, true)
			}
		}
		r.end(judged, q)
	}
	if known == 0 && r.Rows() > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: no document of the run is judged by %s, so that no measure says anything of it%s",
			r.Name, judged.Name, strange))
	}
	if lacking > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %d of the %d judged queries are not in the run: they are left out, as by trec_eval "+
			"without -c", r.Name, lacking, judged.Queries()))
	}
	if more := found.Queries() - judged.Queries() + lacking; more > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %d of the %d queries have no judgements: they are left out", r.Name, more,
			found.Queries()))
	}
	return nil
}

// add adds a document with the label, the group and the intents of a row of judged; −1: it has none.
func (r *Run) add(judged *Dataset, row int, id string, score float64, unranked bool) {
	label, group, line, ints := float32(0), -1, int32(0), len(judged.Intents)/max(1, judged.Rows())
	intents := make([]int, ints)
	if row >= 0 {
		if row < len(judged.origin.Lines) {
			line = judged.origin.Lines[row]
		}
		label = judged.Labels[row]
		if judged.Groups != nil {
			group = judged.Groups[row]
		}
		copy(intents, judged.Intents[row*ints:])
	}
	if label == Unlabelled {
		return
	}
	r.Labels, r.DocumentIDs = append(r.Labels, label), append(r.DocumentIDs, id)
	r.Scores, r.Unranked = append(r.Scores, score), append(r.Unranked, unranked)
	r.origin.Lines = append(r.origin.Lines, line)
	if judged.Groups != nil {
		r.Groups = append(r.Groups, group)
	}
	if judged.Intents != nil {
		r.Intents = append(r.Intents, intents...)
	}
}

// end ends query q of judged, if it has documents.
func (r *Run) end(judged *Dataset, q int) {
	if r.Offsets[len(r.Offsets)-1] == r.Rows() {
		return
	}
	r.QueryIDs, r.Offsets = append(r.QueryIDs, judged.QueryIDs[q]), append(r.Offsets, r.Rows())
	if judged.QueryWeights != nil {
		r.QueryWeights = append(r.QueryWeights, judged.QueryWeights[q])
	}
}
