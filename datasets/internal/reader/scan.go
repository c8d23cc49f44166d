package reader

import (
	"fmt"
	"hash/maphash"

	"github.com/plrank/plrank/datasets/schema"
	"github.com/plrank/plrank/internal/text"
)

// A scan makes a table of the chunks of a file as they come. A run of rows with one query id
// is a query when it ends; rows without ids are, when there are as many as the next size says.
type scan struct {
	*Table
	consumed func() int64   // how many bytes of the file have been read
	sizes    *querySizes    // nil: there is no file of them
	called   map[int]string // the names of features in the file next to it; nil: there is none
	files    []*rowFile     // of groups and optional columns

	lacksGroups bool // the feature of groups must be in the file, and has not come

	byID map[string]int      // queries, which may come back; nil: they may not, as
	seen map[uint64]struct{} // the hashes of ids tell
	seed maphash.Seed

	open   Run   // the run of the last row
	runs   int   // that have ended
	failed error // what was wrong with the first of them that does not fit
	next   int   // the first row that is in no query, among
	rows   int   // those in the chunks
	size   int   // the first of sizes that has neither made a query nor agreed with a run

	mostVectors int // numbers of vectors to make room for at once
}

func newScan(path string, o FileOptions, names *Names) *scan {
	return &scan{
		Table: &Table{Origin: Origin{Path: path}, Options: o.Options, Names: names, Has: make([]bool, len(numbers)), Unknown: text.Tally{},
			Words: newWords()},
	}
}

// add adds the next chunk.
func (s *scan) add(c *Chunk, l *Layout) error {
	s.Add(c)
	s.rows += len(c.Labels)
	if s.Layout == nil {
		s.Layout = l
		if label := l.Roles[schema.Label]; label != "" && s.Options.Labels != UnusedLabels {
			s.LabelColumns = []string{label}
		}
		if err := s.openGroups(); err != nil {
			return err
		}
		if err := s.openNumbers(); err != nil {
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
		if err := s.checkGroups(c); err != nil {
			return err
		}
		if err := s.addVectors(c, l); err != nil {
			return err
		}
		for _, f := range s.files {
			f.set(c)
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
			if n := sizes[s.size]; n > 0 {
				s.addRows(sizedID(s.size), n)
			}
		}
	}
	return nil
}

// sizedID is the id of the i-th query if only its size is known.
func sizedID(i int) string { return fmt.Sprint(i + 1) }

// checkNew is ErrReturns for a query that was there before, unless queries may come back.
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
	if s.open.Query != "" {
		s.addRows(s.open.Query, s.open.Rows)
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

// end checks the whole.
func (s *scan) end() error {
	if err := s.Check(); err != nil {
		return err
	}
	s.endRun()
	if err := s.sizes.check(s.Table); err != nil {
		return err
	}
	if s.failed != nil {
		return s.failed
	}
	if err := s.errorOfGroups(); err != nil {
		return err
	}
	for _, f := range s.files {
		if err := f.end(s.Table); err != nil {
			return err
		}
	}
	if err := s.checkVectorFiles(); err != nil {
		return err
	}
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
	return nil
}
