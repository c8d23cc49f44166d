package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// ReadOptions says how to read a file; the zero value reads it as it is.
type ReadOptions struct {
	// FeatureIDs, ascending, are the columns wanted: those of a model that is to
	// score the file, say. Ids that the file lacks become columns of zeros. Ids
	// below the first or above the last are an error; others that are not in the
	// list are left out, with a warning. Nil: the ids that occur in the file.
	FeatureIDs []int

	// FeatureNames are the names of FeatureIDs, in the same order. A file with a
	// header is then read by name: it must have all these columns, and others are
	// left out, with a warning. Nil: columns count from 1, left to right.
	FeatureNames []string

	// Duplicates says what to do with a second value for a feature in one line:
	// "error" (or empty), or "last": the last value counts.
	Duplicates string

	// LabelColumn, QueryColumn and DocumentColumn name columns of a file with a
	// header. Empty: the usual names, such as label, qid and docid. There must be
	// a query id; and a label, unless FeatureIDs are given: a file to be scored
	// may have none.
	LabelColumn, QueryColumn, DocumentColumn string

	// GroupColumn is where the groups of documents are, for fairness: the name of a
	// column of a file with a header, which is then no feature; or, in LETOR text,
	// the id of a feature (which stays one) of at most 1000 values, each of which is
	// a group. Empty: see Groups.
	GroupColumn string
	// Groups is a file with the group of one row a line. Empty: the file's name plus
	// ".groups", if there is such a file; else there are no groups. Beside a
	// GroupColumn no such file is looked for.
	//
	// A group is any word or text. Groups are numbered from 0 in the order in which
	// they come, through all splits of a collection; Dataset.GroupNames keeps what
	// they were called. Empty, −1 and a missing value are no group.
	Groups string
}

func (o ReadOptions) check() error {
	if o.Duplicates != "" && o.Duplicates != "error" && o.Duplicates != "last" {
		return fmt.Errorf("datasets: unknown way with duplicates %q: want error or last", o.Duplicates)
	}
	if o.FeatureNames != nil && len(o.FeatureNames) != len(o.FeatureIDs) {
		return fmt.Errorf("datasets: %d names for %d feature ids", len(o.FeatureNames), len(o.FeatureIDs))
	}
	if o.GroupColumn != "" && o.Groups != "" {
		return fmt.Errorf("datasets: groups are in column %q or in file %s, not in both", o.GroupColumn, o.Groups)
	}
	return nil
}

// ReadFile reads a file of queries: LETOR, SVMlight or SVMrank text,
//
//	label qid:ID id:value id:value … # comment
//
// or separated values (comma, tab or semicolon) with a header that names a label
// column, a query id column, maybe a document id column, and the features. Which
// of these it is, and whether it is compressed (gzip or zstd), its first bytes
// tell, not its name.
//
// Queries keep the order of their first rows; rows of a query that comes back
// later in the file join it, with a warning; Dataset.SourceRows then tells where they
// were. Where lines have no qid, a file of
// query sizes must lie beside the data under its name plus ".query" or ".group"
// (as for LightGBM and XGBoost); such queries are called "1", "2", ….
//
// Groups of documents come from a column or from another file beside the data, see
// ReadOptions.GroupColumn and Groups.
//
// In LETOR text a feature that a line does not mention is 0; NULL, NaN, NA, ?
// and an empty separated value are missing, kept as NaN (see Transform for what
// becomes of them). A comment "docid = X" names the document. Label −1 (or an
// empty separated value) is Unlabelled.
//
// A malformed line is an error that says file:line: column: reason; the first
// ten are listed. Numbers become the nearest float32; infinite ones and those
// beyond its range are an error.
func ReadFile(path string, o ReadOptions) (*Dataset, error) {
	t, err := readTable(path, o, &groupNumbers{})
	if err != nil {
		return nil, err
	}
	ids := o.FeatureIDs
	if ids == nil {
		ids = t.ids
	}
	d, err := t.dataset(ids, nil)
	if err == nil && t.breaks > 0 {
		d.SourceRows = t.sourceRows()
	}
	return d, err
}

// sourceRows is the row of the file that each row of the dataset is.
func (t *table) sourceRows() []int {
	rows := make([]int, 0, t.rows)
	for _, q := range t.queries {
		for _, s := range q.runs {
			for r := s.from; r < s.to; r++ {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// table is a file that has been read, in chunks whose columns are their own.
type table struct {
	path string
	text
	rows     int
	ids      []int // feature ids in use, ascending
	queries  []query
	breaks   int           // runs of rows of a query that had already ended
	groups   *groupNumbers // of the rows; nil: they are of none
	warnings []string
}

// text is what was parsed.
type text struct {
	chunks []*chunk
	size   int64   // bytes, decompressed
	header *header // of separated values, else nil
}

// free gives the memory of the chunks back.
func (t *text) free() {
	for _, c := range t.chunks {
		c.values.free()
	}
	t.chunks = nil
}

// query is where the rows of a query are: runs of rows of the whole file.
type query struct {
	id   string
	rows int
	runs []span
}

type span struct{ from, to int } // rows of the file

// readTable reads a file, and numbers its groups together with those before.
func readTable(path string, o ReadOptions, groups *groupNumbers) (*table, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	f, err := openSource(path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", at(path, err))
	}
	defer f.close()
	sizes, sizePath, err := readSizes(path)
	if err != nil {
		return nil, err
	}
	t, err := newTable(path, f, sizes, sizePath, o)
	if err != nil {
		return nil, err
	}
	if err := t.setGroups(o, groups); err != nil {
		t.free()
		return nil, err
	}
	return t, nil
}

// newTable reads the text of a table. The sizes are those of its queries, nil if
// there is no such file.
func newTable(path string, r io.Reader, sizes []int, sizePath string, o ReadOptions) (*table, error) {
	t := &table{path: path}
	var err error
	if t.text, err = parseStream(r, o); err != nil {
		return nil, fmt.Errorf("datasets: %w", at(path, err))
	}
	if err := t.check(sizes, sizePath); err != nil {
		t.free()
		return nil, err
	}
	return t, nil
}

// at is err with the path, unless it has it already.
func at(path string, err error) error {
	if pathError := new(fs.PathError); errors.As(err, &pathError) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// check gathers what the chunks say, and finds the queries.
func (t *table) check(sizes []int, sizePath string) error {
	if err := t.faults(); err != nil {
		return err
	}
	ignored := 0
	for _, c := range t.chunks {
		if c.err != nil {
			return fmt.Errorf("datasets: %s: %w", t.path, c.err)
		}
		t.rows += len(c.labels)
		t.ids = union(t.ids, c.ids)
		ignored += c.ignored
		if err := tooSparse(t.rows, len(t.ids), t.size); err != nil {
			return fmt.Errorf("datasets: %s: %w", t.path, err)
		}
	}
	if t.rows == 0 {
		return fmt.Errorf("datasets: %s: no documents in the file; want lines such as %q", t.path, "2 qid:1 1:0.5 2:0.1")
	}
	if err := t.group(sizes, sizePath); err != nil {
		return err
	}
	if ignored > 0 {
		t.warn("%d values of features that are not wanted were left out", ignored)
	}
	if t.header != nil && len(t.header.ignored) > 0 {
		t.warn("columns that are not wanted were left out: %s", listNames(t.header.ignored))
	}
	if t.breaks > 0 {
		t.warn("%d times a query came back after another one; its rows were put together", t.breaks)
	}
	return nil
}

func (t *table) warn(format string, args ...any) {
	t.warnings = append(t.warnings, t.path+": "+fmt.Sprintf(format, args...))
}

// chunkSize is how much text is parsed at once: large enough to make scheduling
// cheap, small enough to keep few texts in memory. A variable for tests.
var chunkSize = 1 << 20

const maxLine = 1 << 26

// parseStream reads r to its end in chunks of whole lines, parsed on all cores.
func parseStream(r io.Reader, o ReadOptions) (t text, err error) {
	workers := runtime.GOMAXPROCS(0)
	work := make(chan *chunk, workers)
	free := make(chan []byte, 2*workers+1) // buffers to use again
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			var p *parser
			for c := range work {
				if p == nil { // the header is known by now
					p = &parser{known: columns{o.FeatureIDs}, header: t.header, lastWins: o.Duplicates == "last"}
				}
				buffer := c.text
				p.parse(c)
				c.text = nil
				select {
				case free <- buffer:
				default:
				}
			}
		})
	}
	defer func() {
		close(work)
		wg.Wait()
		if err != nil {
			t.free()
		}
	}()

	var rest []byte // the beginning of a line whose end is still to be read
	headerLines := 0
	for begun := false; ; {
		var buffer []byte
		select {
		case buffer = <-free:
		default:
		}
		lines, after, err := readLines(r, buffer[:0], rest)
		if err != nil && err != io.EOF {
			return t, err
		}
		t.size += int64(len(lines) - len(rest) + len(after))
		rest = after
		if !begun {
			lines = bytes.TrimPrefix(lines, []byte("\ufeff"))
			var n int
			var herr error
			if t.header, n, begun, herr = begin(lines, o); herr != nil {
				return t, herr
			}
			headerLines += bytes.Count(lines[:n], []byte("\n"))
			lines = lines[n:]
		}
		if len(lines) > 0 {
			c := &chunk{text: lines, first: headerLines}
			headerLines = 0
			t.chunks = append(t.chunks, c)
			work <- c
		}
		if err == io.EOF {
			return t, nil
		}
	}
}

// begin looks for the first line that is not blank or a comment. Where that is
// a header, n is the length of the text up to its end; begun says whether there
// is such a line (if not, n is all of the text).
func begin(text []byte, o ReadOptions) (h *header, n int, begun bool, err error) {
	for n < len(text) {
		line, _, _ := bytes.Cut(text[n:], []byte("\n"))
		length := min(len(line)+1, len(text)-n)
		line = bytes.TrimSuffix(line, []byte("\r"))
		if i := skipBlanks(line, 0); i == len(line) || line[i] == '#' {
			n += length
			continue
		}
		if h, err = readHeader(line, o); h == nil || err != nil {
			return nil, 0, true, err
		}
		return h, n + length, true, nil
	}
	return nil, len(text), false, nil
}

// readLines fills buffer with rest and about chunkSize bytes more, and returns
// the whole lines and a copy of what follows them. At the end of r the last
// line is whole without a newline, and the error is io.EOF.
func readLines(r io.Reader, buffer, rest []byte) (lines, after []byte, err error) {
	buffer = slices.Grow(append(buffer, rest...), chunkSize)
	for {
		start := len(buffer)
		for len(buffer) < cap(buffer) && err == nil { // not io.ReadFull: a compressed file cut short is no end
			var n int
			n, err = r.Read(buffer[len(buffer):cap(buffer)])
			buffer = buffer[:len(buffer)+n]
		}
		if err != nil {
			return buffer, nil, err
		}
		if end := bytes.LastIndexByte(buffer[start:], '\n'); end >= 0 {
			end += start + 1
			return buffer[:end], bytes.Clone(buffer[end:]), nil
		}
		if len(buffer) > maxLine {
			return nil, nil, fmt.Errorf("a line of more than %d MB", maxLine>>20)
		}
		buffer = slices.Grow(buffer, len(buffer)) // a long line
	}
}

// faults is the error for the malformed lines, nil if there are none: a line for
// each of the first maxFaults, then their number. A file of other features than
// those wanted is malformed as a whole, which one line says.
func (t *table) faults() error {
	var lines []string
	count, before := 0, 0 // before: lines before the chunk
	foreign := false
	for _, c := range t.chunks {
		before += c.first
		for _, f := range c.faults {
			if len(lines) == 0 {
				foreign = f.foreign
			}
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
	if foreign && count > 1 {
		return fmt.Errorf("%s (%d such lines)", lines[0], count)
	}
	if count > len(lines) {
		lines = append(lines, fmt.Sprintf("datasets: %s: %d malformed lines in all", t.path, count))
	}
	return errors.New(strings.Join(lines, "\n"))
}

// group finds the queries, by qid or by the sizes.
func (t *table) group(sizes []int, sizePath string) error {
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
		line += c.first
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
		t.free()
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
		Offsets:    make([]int, 1, len(order)+1),
		QueryIDs:   make([]string, 0, len(order)),
		FeatureIDs: ids,
		Warnings:   t.warnings,
	}
	var moves []move
	rows := 0
	for _, q := range order {
		for _, s := range t.queries[q].runs {
			moves = append(moves, move{s, rows})
			rows += s.to - s.from
		}
		d.Offsets = append(d.Offsets, rows)
		d.QueryIDs = append(d.QueryIDs, t.queries[q].id)
	}
	slices.SortFunc(moves, func(a, b move) int { return a.rows.from - b.rows.from })
	d.Features = uncleared(rows * len(ids)) // copyTo writes all of it
	d.Labels = make([]float32, rows)
	if slices.ContainsFunc(t.chunks, func(c *chunk) bool { return c.docs != nil }) {
		d.DocumentIDs = make([]string, rows)
	}
	if t.groups != nil {
		d.Groups = make([]int, rows)
		d.GroupNames = append([]string{}, t.groups.names...)
	}
	if t.header != nil {
		for _, id := range ids {
			d.FeatureNames = append(d.FeatureNames, t.header.names[id])
		}
	}

	// The moves of each chunk, with rows counted from its first.
	byChunk := make([][]move, len(t.chunks))
	first := 0
	for i, c := range t.chunks {
		for len(moves) > 0 && moves[0].rows.from < first+len(c.labels) {
			m := &moves[0]
			to := min(m.rows.to, first+len(c.labels))
			byChunk[i] = append(byChunk[i], move{span{m.rows.from - first, to - first}, m.to})
			m.to += to - m.rows.from
			if m.rows.from = to; to < m.rows.to {
				break
			}
			moves = moves[1:]
		}
		first += len(c.labels)
	}
	parallel(len(t.chunks), func(i int) {
		c := t.chunks[i]
		columns := locate(c.ids, ids)
		for _, m := range byChunk[i] {
			c.copyTo(d, columns, m)
		}
		c.values.free()
	})
	t.chunks = nil
	return d, nil
}

// uncleared makes n numbers of any value. For a matrix that reuses some of the
// heap, make would clear all of it and so have it resident before the chunks are
// let go: twice the memory. A strings.Builder is the one way to memory that is
// not cleared.
func uncleared(n int) []float32 {
	if n == 0 {
		return []float32{}
	}
	var b strings.Builder
	b.Grow(n * 4)
	b.WriteByte(0)
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.StringData(b.String()))), n)
}

// move is rows of a file and where they go in the dataset.
type move struct {
	rows span
	to   int
}

// copyTo copies rows to d. Column i of the chunk is column columns[i] of d.
func (c *chunk) copyTo(d *Dataset, columns []int, m move) {
	from, n := m.rows.from, m.rows.to-m.rows.from
	copy(d.Labels[m.to:m.to+n], c.labels[from:])
	if c.docs != nil {
		copy(d.DocumentIDs[m.to:m.to+n], c.docs[from:])
	}
	if d.Groups != nil {
		copy(d.Groups[m.to:m.to+n], c.groups[from:])
	}
	width, wide, values := len(c.ids), d.Width(), c.values.values
	if width == wide {
		copy(d.Features[m.to*wide:(m.to+n)*wide], values[from*width:])
		return
	}
	for r := range n {
		row := d.Features[(m.to+r)*wide : (m.to+r+1)*wide]
		clear(row)
		for i, v := range values[(from+r)*width : (from+r+1)*width] {
			row[columns[i]] = v
		}
	}
}

// dropUnlabelled takes the rows without a label out of the queries, and the
// queries that have no others.
func (t *table) dropUnlabelled() error {
	dropped := 0
	for _, c := range t.chunks {
		dropped += c.unlabelled
	}
	if dropped == 0 {
		return nil
	}
	if dropped == t.rows {
		return fmt.Errorf("datasets: %s: no document has a label: all are %d", t.path, Unlabelled)
	}
	labels := make([]float32, 0, t.rows)
	for _, c := range t.chunks {
		labels = append(labels, c.labels...)
	}
	queries := t.queries[:0]
	for _, old := range t.queries {
		q := query{id: old.id}
		for _, s := range old.runs {
			for r := s.from; r < s.to; r++ {
				if labels[r] != Unlabelled {
					q.add(r, 1)
				}
			}
		}
		if q.rows > 0 {
			queries = append(queries, q)
		}
	}
	t.queries = queries
	t.warn("%d documents without a label (%d) were left out", dropped, Unlabelled)
	return nil
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
