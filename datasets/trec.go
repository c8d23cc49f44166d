package datasets

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/plrank/plrank/internal/num"
)

// WriteRun writes scores [rows] as a TREC run, which trec_eval and its relatives
// read: "qid Q0 docid rank score tag", ranks from 1 by descending score, equal
// scores in row order. Documents without an id are called "qid.n", n from 1 in
// row order. Those programs ignore the ranks, and order equal scores by document id. WriteRun returns an error for what they
// refuse or misread: a score that is not finite, an id that is empty or has blanks or control characters, a query id that
// begins with #, and duplicate queries or documents of a query.
func WriteRun(w io.Writer, d *Dataset, scores []float64, tag string) error {
	if err := d.checkTREC(); err != nil {
		return err
	}
	if len(scores) != d.Rows() {
		return fmt.Errorf("datasets: %s: %d scores for %d rows", d.Name, len(scores), d.Rows())
	}
	if tag == "" || strings.ContainsAny(tag, " \t\r\n") {
		return fmt.Errorf("datasets: the tag of a run must be a word, not %q", tag)
	}
	for r, s := range scores {
		if math.IsNaN(s) || math.IsInf(s, 0) {
			return fmt.Errorf("datasets: %s: the score is %g: it must be finite", d.Where(r), s)
		}
	}
	out := bufio.NewWriter(w)
	for q, id := range d.QueryIDs {
		first := d.Offsets[q]
		for rank, document := range num.DescendingOrder(nil, scores[first:d.Offsets[q+1]]) {
			r := first + document
			fmt.Fprintf(out, "%s Q0 %s %d %s %s\n", id, d.documentID(q, r), rank+1, strconv.FormatFloat(scores[r], 'g', -1, 64), tag)
		}
	}
	return flush(out, d)
}

// WriteQrels writes labels as TREC relevance judgements ("qrels"), "qid 0 docid label",
// with document ids as by [WriteRun]. Unlabelled documents are left out. It returns the errors of WriteRun, and an error for
// labels that are not whole numbers.
func WriteQrels(w io.Writer, d *Dataset) error {
	if err := d.checkTREC(); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	for q, id := range d.QueryIDs {
		for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
			label := d.Labels[r]
			if label == Unlabelled {
				continue
			}
			if label != float32(math.Trunc(float64(label))) {
				return fmt.Errorf("datasets: %s: label %g: TREC judgements are whole numbers", d.Where(r), label)
			}
			fmt.Fprintf(out, "%s 0 %s %.0f\n", id, d.documentID(q, r), label)
		}
	}
	return flush(out, d)
}

// documentID is the id of row r of query q, made up if there is none.
func (d *Dataset) documentID(q, r int) string {
	if d.DocumentIDs != nil && d.DocumentIDs[r] != "" {
		return d.DocumentIDs[r]
	}
	return fmt.Sprintf("%s.%d", d.QueryIDs[q], r-d.Offsets[q]+1)
}

// checkTREC finds ids that would break a TREC file.
func (d *Dataset) checkTREC() error {
	if n := len(d.Offsets); n > 0 && d.Offsets[n-1] != d.Rows() {
		return fmt.Errorf("datasets: %s: %d labels for %d documents: want Unlabelled where there is none", d.Name, d.Rows(), d.Offsets[n-1])
	}
	queries, documents := map[string]bool{}, map[string]int{}
	for q, query := range d.QueryIDs {
		first, end := d.Offsets[q], d.Offsets[q+1]
		if first == end {
			continue // nothing is written
		}
		if err := checkTRECID("query", query); err != nil {
			return fmt.Errorf("datasets: %s: %w", d.Where(first), err)
		}
		if queries[query] {
			return fmt.Errorf("datasets: %s: duplicate query %q: TREC files need an id of its own for each", d.Where(first), query)
		}
		queries[query] = true
		clear(documents)
		for r := first; r < end; r++ {
			id := d.documentID(q, r)
			if err := checkTRECID("document", id); err != nil {
				return fmt.Errorf("datasets: %s: query %s: %w", d.Where(r), query, err)
			}
			if other, again := documents[id]; again {
				return fmt.Errorf("datasets: %s: query %s: duplicate document %q, first at %s: TREC files need an id of its own for each",
					d.Where(r), query, id, d.Where(other))
			}
			documents[id] = r
		}
	}
	return nil
}

// checkTRECID returns an error if an id is not one word for the programs that read TREC files.
func checkTRECID(what, id string) error {
	if id == "" {
		return fmt.Errorf("the %s id is empty, which TREC files cannot hold", what)
	}
	if what == "query" && strings.HasPrefix(id, "#") {
		return fmt.Errorf("the query id %q begins with #, as a comment does in TREC files", id)
	}
	if strings.ContainsFunc(id, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return fmt.Errorf("the %s id %q has a blank or a control character, which TREC files cannot hold", what, id)
	}
	return nil
}
