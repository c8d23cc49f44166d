package reader

import (
	"fmt"
	"hash/maphash"
	"strconv"

	"github.com/plrank/plrank/datasets/schema"
	"github.com/plrank/plrank/internal/text"
)

// A scan makes a table of the chunks of files as they come. A run of rows with one query id
// is a query when it ends; rows without ids are, when there are as many as the next size says.
type scan struct {
	*Table
	o        FileOptions
	consumed func() int64 // how many bytes of the file have been read

	byID map[string]int      // queries, which may come back; nil: they may not, as
	seen map[uint64]struct{} // the hashes of ids tell
	seed maphash.Seed

	next  int // the first row that is in no query, among
	rows  int // those in the chunks
	sized int // the number that the last query without an id is called by

	mostVectors int // numbers of vectors to make room for at once

	fileScan
}

// fileScan holds what is known about the file at hand.
type fileScan struct {
	sizes  *querySizes    // nil: there is no file of them
	called map[int]string // the names of features in the file next to it; nil: there is none
	files  []rowFile      // of groups and optional columns
	from   place

	open   Run   // the run of the last row
	runs   int   // that have ended
	failed error // what was wrong with the first of them that does not fit
	size   int   // the first of sizes that has neither made a query nor agreed with a run
}

// place is where in a table a file begins.
type place struct{ chunk, row, query, line, warning int }

func newScan(path string, o FileOptions, names *Names) *scan {
	return &scan{o: o, Table: &Table{Origin: Origin{Path: path}, Options: o.Options, Names: names, Has: make([]bool, len(numbers)),
		Unknown: text.Tally{}, Words: newWords()}}
}

// begin begins a file, with counts of its own for warnings.
func (s *scan) begin(path string) {
	s.fileScan = fileScan{from: place{len(s.Chunks), s.Rows, len(s.Queries), s.Lines(), len(s.Warnings)}}
	s.Path, s.Options, s.Layout = path, s.o.Options, nil
	s.Groups, s.HasQueryWeights, s.Breaks, s.Ignored, s.Commented = nil, false, 0, 0, 0
	s.Unknown, s.Words = text.Tally{}, newWords()
	clear(s.Has)
}

// start starts the file, when its layout is known.
func (s *scan) start(l *Layout) error {
	s.Layout = l
	return s.addFiles()
}

// add adds the next chunk.
func (s *scan) add(c *Chunk, l *Layout) error {
	first := s.Rows - s.from.row
	s.Add(c)
	s.rows += len(c.Labels)
	if s.Layout == nil {
		if err := s.start(l); err != nil {
			return err
		}
	}
	if s.err == nil && !l.sparse(s.Options) {
		s.err = tooSparse(s.Rows, len(s.IDs), s.Size)
	}
	if !s.Failed() {
		if err := s.Names.Renumber(c, l, s.Unknown); err != nil {
			return fmt.Errorf("datasets: %s: %w", s.Path, err)
		}
		if err := s.addVectors(c, l); err != nil {
			return err
		}
		for _, f := range s.files {
			f.set(c, first)
		}
	}
	for _, r := range c.Runs {
		r.Line += c.Line
		if s.open.Rows > 0 && r.Query == s.open.Query {
			s.open.Rows += r.Rows
			continue
		}
		s.endRun()
		s.open = r
		if err := s.checkNew(r); err != nil {
			return err
		}
	}
	if s.sizes != nil && s.open.Query == "" {
		sizes := s.sizes.sizes
		for ; s.size < len(sizes) && sizes[s.size] <= s.rows-s.next; s.size++ {
			if s.sized++; s.from.row > 0 && sizes[s.size] == 0 {
				s.sized-- // queries of later files are counted on
			}
			if n := sizes[s.size]; n > 0 {
				s.addRows(strconv.Itoa(s.sized), n)
			}
		}
	}
	c.Line += s.from.line
	return nil
}

// checkNew returns ErrReturns for a query that was there before, unless queries may come back.
func (s *scan) checkNew(r Run) error {
	if s.byID != nil || r.Query == "" {
		return nil
	}
	hash := maphash.String(s.seed, r.Query)
	if _, returns := s.seen[hash]; returns {
		return fmt.Errorf("datasets: %s:%d: query %s %w", s.Path, r.Line, text.Quote([]byte(r.Query)), ErrReturns)
	}
	s.seen[hash] = struct{}{}
	return nil
}

// endRun checks the run that has ended, and makes a query of it if it has an id.
func (s *scan) endRun() {
	if s.open.Rows == 0 {
		return
	}
	if s.failed == nil {
		s.failed = s.checkRun(s.open)
	}
	s.runs++
	if id := s.open.Query; id != "" {
		if q, known := s.byID[id]; known && q < s.from.query && s.failed == nil {
			s.failed = fmt.Errorf("datasets: query %s is in %s, and in a file before it: want all documents of a query in one part, and other "+
				"ids for other queries", text.Quote([]byte(id)), s.Path)
		}
		s.addRows(id, s.open.Rows)
	}
}

// addRows gives a query the next rows.
func (s *scan) addRows(id string, rows int) {
	q, known := s.byID[id]
	if known {
		s.Breaks++
	} else {
		q = len(s.Queries)
		s.Queries = append(s.Queries, Query{ID: id})
	}
	if s.byID != nil {
		s.byID[id] = q
	}
	s.Queries[q].Add(s.next, rows)
	s.next += rows
}

// checkRun checks that a run fits those before, and the sizes of queries.
func (s *scan) checkRun(r Run) error {
	named := r.Query != ""
	if s.runs == 0 {
		s.Sized = !named
	}
	switch {
	case named == s.Sized:
		with := map[bool]string{true: "with", false: "without"}
		return fmt.Errorf("datasets: %s:%d: a line %s qid after lines %s: all lines need one, or none", s.Path, r.Line, with[named], with[!named])
	case !named && s.sizes == nil:
		return fmt.Errorf("datasets: %s:%d: no qid, and no file %s next to it: want lines such as %q, or the query sizes in that file",
			s.Path, r.Line, QuerySizes.Sidecar(s.Path)+" or "+GroupSizes.Sidecar(s.Path), "2 qid:1 1:0.5 2:0.1")
	case !named || s.sizes == nil:
		return nil
	}
	sizes := s.sizes.sizes
	for s.size < len(sizes) && sizes[s.size] == 0 {
		s.size++
	}
	if s.size == len(sizes) {
		return nil // their sum will tell
	}
	if n := sizes[s.size]; n != r.Rows {
		return fmt.Errorf("datasets: %s: the size of query %d is %d, but %s has %d documents with query id %s from line %d on: "+
			"please correct the sizes, or remove the file, as the ids are enough",
			s.sizes.path, s.size+1, n, s.Path, r.Rows, text.Quote([]byte(r.Query)), r.Line)
	}
	s.size++
	return nil
}

// end checks the whole file.
func (s *scan) end() error {
	if err := s.Check(); err != nil {
		return err
	}
	if s.Layout == nil { // the file has no lines
		if err := s.start(&Layout{}); err != nil {
			return err
		}
	}
	s.endRun()
	if err := s.checkSizes(); err != nil {
		return err
	}
	if s.failed != nil {
		return s.failed
	}
	if err := s.checkFiles(); err != nil {
		return err
	}
	if s.byID != nil { // blocks do without
		if err := s.setWeights(); err != nil {
			return err
		}
	}
	if s.Rows == s.from.row {
		s.Warnings = s.Warnings[:s.from.warning]
		return fmt.Errorf("datasets: %s: %w: want rows, or lines such as %q", s.Path, ErrEmpty, "2 qid:1 1:0.5 2:0.1")
	}
	if err := s.checkVectorFiles(); err != nil {
		return err
	}
	if label := s.Layout.Roles[schema.Label]; label != "" && s.Options.Labels != UnusedLabels {
		s.LabelColumns = append(s.LabelColumns, label)
	}
	return s.warn()
}

// warn adds the warnings of the file.
func (s *scan) warn() error {
	if err := s.WarnOfColumns(); err != nil {
		return err
	}
	for _, warning := range s.Unknown.Unknown(s.featureName) {
		s.Warn("%s", warning)
	}
	s.warnOfWords()
	if s.Breaks > 0 {
		s.Warn("queries are not contiguous: documents were moved to earlier ones of their query %d times", s.Breaks)
	}
	for _, kind := range []Kind{NameFile, Positions} {
		path, err := kind.Find(s.Path)
		switch {
		case err != nil:
			return err
		case kind == Positions:
			s.warnUnused(path, "positions are for LightGBM")
		case s.called != nil && s.Layout.IDs != nil:
			s.warnUnused(path, "columns have names of their own")
		}
	}
	return nil
}
