package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// ReadOptions says how to read a file; the zero value reads it as it is.
type ReadOptions struct {
	// FeatureIDs, ascending, are the columns wanted: those of a model that is to
	// score the file, say. Ids that the file lacks become columns of zeros. Ids
	// below the first or above the last are an error; others that are not in the
	// list are left out, with a warning. Nil: the ids that occur in the file.
	FeatureIDs []int
}

// ReadFile reads a file of queries in LETOR, SVMlight or SVMrank format:
//
//	label qid:ID id:value id:value … # comment
//
// Queries keep the order of their first rows; rows of a query that comes back
// later in the file join it, with a warning. Where lines have no qid, a file of
// query sizes must lie beside the data under its name plus ".query" or ".group"
// (as for LightGBM and XGBoost); such queries are called "1", "2", ….
//
// A malformed line is an error that says file:line: column: reason; the first
// ten are listed. Numbers become the nearest float32, those beyond its range
// are an error.
func ReadFile(path string, o ReadOptions) (*Dataset, error) {
	t, err := readTable(path, o)
	if err != nil {
		return nil, err
	}
	ids := o.FeatureIDs
	if ids == nil {
		ids = t.ids
	}
	return t.dataset(ids, nil)
}

// table is a file that has been read, in chunks whose columns are their own.
type table struct {
	path    string
	size    int64 // bytes of text
	chunks  []*chunk
	rows    int
	ids     []int // feature ids in use, ascending
	queries []query
	ignored int // values left out
	breaks  int // runs of rows of a query that had already ended
}

// query is where the rows of a query are: runs of rows of the whole file.
type query struct {
	id   string
	rows int
	runs []span
}

type span struct{ from, to int } // rows of the file

func readTable(path string, o ReadOptions) (*table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	defer f.Close()
	t := &table{path: path}
	if t.chunks, t.size, err = parseStream(f, columns{o.FeatureIDs}); err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", path, err)
	}
	if err := t.faults(); err != nil {
		return nil, err
	}
	for _, c := range t.chunks {
		if c.err != nil {
			return nil, fmt.Errorf("datasets: %s: %w", path, c.err)
		}
		t.rows += len(c.labels)
		t.ids = union(t.ids, c.ids)
		t.ignored += c.ignored
		if err := tooSparse(t.rows, len(t.ids), t.size); err != nil {
			return nil, fmt.Errorf("datasets: %s: %w", path, err)
		}
	}
	if t.rows == 0 {
		return nil, fmt.Errorf("datasets: %s: no documents in the file; want lines such as %q", path, "2 qid:1 1:0.5 2:0.1")
	}
	if err := t.group(); err != nil {
		return nil, err
	}
	return t, nil
}

// chunkSize is how much text is parsed at once: large enough to make scheduling
// cheap, small enough to keep few texts in memory. A variable for tests.
var chunkSize = 1 << 20

// parseStream reads r to its end in chunks of whole lines, parsed on all cores.
func parseStream(r io.Reader, known columns) (chunks []*chunk, size int64, err error) {
	workers := runtime.GOMAXPROCS(0)
	work := make(chan *chunk, workers)
	free := make(chan []byte, 2*workers+1) // buffers to use again
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			p := &parser{known: known}
			for c := range work {
				p.parse(c)
				select {
				case free <- c.text:
				default:
				}
				c.text = nil
			}
		})
	}
	defer wg.Wait()
	defer close(work)

	var rest []byte // the beginning of a line whose end is still to be read
	for first := true; ; first = false {
		var buffer []byte
		select {
		case buffer = <-free:
		default:
		}
		text, after, err := readLines(r, buffer[:0], rest)
		size += int64(len(text) - len(rest) + len(after))
		rest = after
		if first {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if len(text) > 0 {
			c := &chunk{text: text}
			chunks = append(chunks, c)
			work <- c
		}
		if err == io.EOF {
			return chunks, size, nil
		}
		if err != nil {
			return nil, 0, err
		}
	}
}

// readLines fills buffer with rest and about chunkSize bytes more, and returns
// the whole lines and a copy of what follows them. At the end of r the last
// line is whole without a newline, and the error is io.EOF.
func readLines(r io.Reader, buffer, rest []byte) (lines, after []byte, err error) {
	buffer = slices.Grow(append(buffer, rest...), chunkSize)
	for {
		start := len(buffer)
		n, err := io.ReadFull(r, buffer[start:cap(buffer)])
		buffer = buffer[:start+n]
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return buffer, nil, io.EOF
		}
		if err != nil {
			return nil, nil, err
		}
		if end := bytes.LastIndexByte(buffer[start:], '\n'); end >= 0 {
			end += start + 1
			return buffer[:end], bytes.Clone(buffer[end:]), nil
		}
		buffer = slices.Grow(buffer, len(buffer)) // a long line
	}
}

// faults is the error for the malformed lines, nil if there are none.
func (t *table) faults() error {
	var lines []string
	count, before := 0, 0 // before: lines before the chunk
	for _, c := range t.chunks {
		for _, f := range c.faults {
			if len(lines) < maxFaults {
				lines = append(lines, fmt.Sprintf("datasets: %s:%d: column %d: %s", t.path, before+f.line+1, f.column+1, f.reason))
			}
		}
		count += c.faultCount
		before += c.lines
	}
	if count == 0 {
		return nil
	}
	if count > len(lines) {
		lines = append(lines, fmt.Sprintf("datasets: %s: %d malformed lines in all", t.path, count))
	}
	return errors.New(strings.Join(lines, "\n"))
}

// group finds the queries, by qid or by a file of sizes.
func (t *table) group() error {
	sizes, sizePath, err := readSizes(t.path)
	if err != nil {
		return err
	}
	if sizes != nil {
		if sum := sumInts(sizes); sum != t.rows {
			return fmt.Errorf("datasets: %s: the sizes sum to %d, but %s has %d rows", sizePath, sum, t.path, t.rows)
		}
	}
	var (
		byID   = map[string]int{}
		named  bool
		line   int // lines before the chunk
		row    int
		latest = -1 // query of the row before
	)
	for _, c := range t.chunks {
		for _, r := range c.runs {
			if row == 0 {
				named = r.named
			}
			if r.named != named {
				return fmt.Errorf("datasets: %s:%d: a line %s qid after lines %s: all lines need one, or none", t.path, line+r.line+1, with(r.named), with(named))
			}
			if !named {
				if sizes == nil {
					return fmt.Errorf("datasets: %s:%d: no qid, and no file %s beside it: want lines such as %q, or the query sizes in that file",
						t.path, line+r.line+1, strings.Join(sizePaths(t.path), " or "), "2 qid:1 1:0.5 2:0.1")
				}
				row += r.rows
				continue
			}
			q, seen := byID[r.query]
			if !seen {
				q = len(t.queries)
				byID[r.query] = q
				t.queries = append(t.queries, query{id: r.query})
			} else if q != latest {
				t.breaks++
			}
			t.queries[q].add(row, r.rows)
			row += r.rows
			latest = q
		}
		line += c.lines
	}
	if !named {
		row := 0
		for i, n := range sizes {
			if n > 0 {
				q := query{id: fmt.Sprint(i + 1)}
				q.add(row, n)
				t.queries = append(t.queries, q)
				row += n
			}
		}
	}
	return nil
}

func with(named bool) string {
	if named {
		return "with"
	}
	return "without"
}

// add gives the query the next rows from the given one on.
func (q *query) add(row, rows int) {
	q.rows += rows
	if n := len(q.runs); n > 0 && q.runs[n-1].to == row {
		q.runs[n-1].to += rows
		return
	}
	q.runs = append(q.runs, span{row, row + rows})
}

// dataset puts the chunks together with the given columns. Queries come in the
// given order; nil: that of the file. The chunks are let go on the way.
func (t *table) dataset(ids []int, order []int) (*Dataset, error) {
	if err := tooSparse(t.rows, len(ids), t.size); err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", t.path, err)
	}
	if order == nil {
		order = make([]int, len(t.queries))
		for q := range order {
			order[q] = q
		}
	}
	d := &Dataset{
		Name:       t.path,
		Features:   make([]float32, t.rows*len(ids)),
		Labels:     make([]float32, t.rows),
		Offsets:    make([]int, 1, len(order)+1),
		QueryIDs:   make([]string, 0, len(order)),
		FeatureIDs: ids,
	}
	moves := make([]move, 0, len(order))
	at := 0
	for _, q := range order {
		for _, s := range t.queries[q].runs {
			moves = append(moves, move{s, at})
			at += s.to - s.from
		}
		d.Offsets = append(d.Offsets, at)
		d.QueryIDs = append(d.QueryIDs, t.queries[q].id)
	}
	slices.SortFunc(moves, func(a, b move) int { return a.rows.from - b.rows.from })
	if slices.ContainsFunc(t.chunks, func(c *chunk) bool { return c.docs != nil }) {
		d.DocumentIDs = make([]string, t.rows)
	}

	row := 0 // of the file
	for i, c := range t.chunks {
		columns := locate(c.ids, ids)
		for len(moves) > 0 && moves[0].rows.from < row+len(c.labels) {
			m := moves[0]
			n := min(m.rows.to, row+len(c.labels)) - m.rows.from
			c.copyTo(d, columns, m.rows.from-row, n, m.to)
			if m.rows.from += n; m.rows.from < m.rows.to {
				moves[0] = move{m.rows, m.to + n}
				break
			}
			moves = moves[1:]
		}
		row += len(c.labels)
		t.chunks[i] = nil
	}
	if t.ignored > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%s: %d values of features that are not wanted were left out", t.path, t.ignored))
	}
	if t.breaks > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%s: %d times a query came back after another one; its rows were put together", t.path, t.breaks))
	}
	return d, nil
}

// move is rows of the file and where they go in the dataset.
type move struct {
	rows span
	to   int
}

// copyTo copies n rows from the given one on to row `to` of d. Column i of the
// chunk is column columns[i] of d.
func (c *chunk) copyTo(d *Dataset, columns []int, from, n, to int) {
	copy(d.Labels[to:to+n], c.labels[from:])
	if c.docs != nil {
		copy(d.DocumentIDs[to:to+n], c.docs[from:])
	}
	width, wide := len(c.ids), d.Width()
	if width == wide {
		copy(d.Features[to*wide:(to+n)*wide], c.values[from*width:])
		return
	}
	for r := range n {
		row := d.Features[(to+r)*wide : (to+r+1)*wide]
		for i, v := range c.values[(from+r)*width : (from+r+1)*width] {
			row[columns[i]] = v
		}
	}
}

// locate is the position in all of each of ids; both ascend, and all holds ids.
func locate(ids, all []int) []int {
	at := make([]int, len(ids))
	j := 0
	for i, id := range ids {
		for all[j] != id {
			j++
		}
		at[i] = j
	}
	return at
}

// union merges two ascending lists.
func union(a, b []int) []int {
	if slices.Equal(a, b) {
		return a
	}
	u := slices.Concat(a, b)
	slices.Sort(u)
	return slices.Compact(u)
}

func sumInts(s []int) int {
	sum := 0
	for _, n := range s {
		sum += n
	}
	return sum
}
