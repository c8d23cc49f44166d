package reader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/plrank/plrank/datasets/schema"
	"github.com/plrank/plrank/internal/memory"
	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/transforms"
)

// Vectors is a column of vectors of a chunk: row r has Values[Ends[r-1]:Ends[r]], from 0 for the first. An empty one is missing.
type Vectors struct {
	Values []float32
	Ends   []int
}

func (v *Vectors) row(r int) []float32 {
	from := 0
	if r > 0 {
		from = v.Ends[r-1]
	}
	return v.Values[from:v.Ends[r]]
}

// onlyColumn is the file of a vector that is in a column of its name, or else in the only one of lists.
const onlyColumn = "*"

// NoVector is the place of a vector that is missing.
const NoVector = -1

// A VectorBlock holds the vectors of all files of a collection, each once.
type VectorBlock struct {
	Values []float32
	at     map[uint64]int // where a vector begins, by its hash
	seed   maphash.Seed
	files  map[string]*vectorFile // by name of the vector
}

// A vectorFile has where the vectors of the queries, or of the documents, of a file begin.
type vectorFile struct {
	path        string
	ofDocuments bool
	dimension   int
	at          map[string]int
	ids, found  bool // a row has an id, and one has a vector
	rows, lack  int  // rows of the file that is read, and how many have no vector
}

func newVectorBlock() *VectorBlock {
	return &VectorBlock{at: map[uint64]int{}, seed: maphash.MakeSeed(), files: map[string]*vectorFile{}}
}

// add returns where a vector is, and adds it if it is new. Rows is how many rows may still come, 0 if this is not known.
func (b *VectorBlock) add(v []float32, rows int) int {
	if len(v) == 0 {
		return NoVector
	}
	hash := maphash.Bytes(b.seed, memory.Bytes(v))
	at, known := b.at[hash]
	if known && at+len(v) <= len(b.Values) && bytes.Equal(memory.Bytes(b.Values[at:at+len(v)]), memory.Bytes(v)) {
		return at
	}
	if need := len(b.Values) + len(v); need > cap(b.Values) {
		room := memory.Unwritten(max(need+need/4, len(b.Values)+rows*len(v))) // which takes none until it is written
		b.Values = room[:copy(room, b.Values)]
	}
	b.at[hash] = len(b.Values)
	b.Values = append(b.Values, v...)
	return b.at[hash]
}

// checkVector returns an error unless a vector has the dimension and finite numbers.
func checkVector(v []float32, dimension int) error {
	if len(v) != dimension {
		return fmt.Errorf("the vector has the dimension %d, want %d as others have", len(v), dimension)
	}
	for i, x := range v {
		if x-x != 0 {
			return fmt.Errorf("number %d of the vector is %v: want finite numbers, or an empty vector where it is missing", i+1, x)
		}
	}
	return nil
}

// addVectors moves the vectors of a chunk to the block of the collection, and makes the products of each row.
func (s *scan) addVectors(c *Chunk, l *Layout) error {
	width, rows, block := len(l.Vectors), len(c.Labels), s.Names.Vectors
	if width == 0 || rows == 0 {
		return nil
	}
	kept := len(block.Values)
	c.VectorAt = make([]int, rows*width)
	for k := range l.Vectors {
		vector := &l.Vectors[k]
		if file := block.files[vector.Name]; file != nil {
			s.findVectors(c, file, k, width)
			continue
		}
		last, at := []float32(nil), NoVector
		for r := range rows {
			v := c.Vectors[k].row(r)
			if len(v) > 0 && vector.Dimension == 0 {
				vector.Dimension = len(v)
			}
			if len(v) == 0 || !slices.Equal(v, last) {
				if err := checkVector(v, vector.Dimension); len(v) > 0 && err != nil {
					return fmt.Errorf("datasets: %s:%d: column %q: %w", s.Path, c.Line+int(c.At[r]), vector.Name, err)
				}
				last, at = v, block.add(v, min(c.Remaining, s.mostVectors/max(1, len(v)))+rows)
			}
			c.VectorAt[r*width+k] = at
		}
	}
	c.Vectors = nil
	if err := s.multiply(c, l); err != nil {
		return err
	}
	if s.seen != nil { // blocks of queries have the products alone
		block.Values, c.VectorAt = block.Values[:kept], nil
		clear(block.at)
	}
	return nil
}

// ids returns the id of the query, or of the document, of each row; "": it has none.
func (c *Chunk) ids(ofDocuments bool) (ids []string) {
	switch {
	case ofDocuments && c.DocumentIDs != nil:
		return c.DocumentIDs
	case ofDocuments:
		return make([]string, len(c.Labels))
	}
	for _, run := range c.Runs {
		ids = append(ids, slices.Repeat([]string{run.Query}, run.Rows)...)
	}
	return ids
}

// findVectors finds the vectors of the rows in a file, by the ids of queries or of documents.
func (s *scan) findVectors(c *Chunk, file *vectorFile, k, width int) {
	for r, id := range c.ids(file.ofDocuments) {
		at, found := file.at[id]
		if file.rows++; !found {
			at = NoVector
			file.lack++
		}
		c.VectorAt[r*width+k], file.ids, file.found = at, file.ids || id != "", file.found || found
	}
}

// multiply sets the features of a chunk that are products of vectors.
func (s *scan) multiply(c *Chunk, l *Layout) error {
	vector := func(r, k int) []float32 {
		if at := c.VectorAt[r*len(l.Vectors)+k]; at >= 0 {
			return s.Names.Vectors.Values[at : at+l.Vectors[k].Dimension]
		}
		return nil
	}
	for i := range l.Products {
		p := &l.Products[i]
		a, b, err := p.Check(l.Vectors)
		if err != nil {
			return fmt.Errorf("datasets: %s: %w", s.Path, err)
		}
		column, width := slices.Index(c.IDs, l.ProductIDs[i]), len(c.IDs)
		const together = 64 // rows
		memory.For((len(c.Labels)+together-1)/together, func(block int) {
			for r := block * together; r < min((block+1)*together, len(c.Labels)); r++ {
				c.Values.Values[r*width+column] = p.Value(vector(r, a), vector(r, b))
			}
		})
	}
	return nil
}

// checkVectorFiles returns an error if no row has a vector of a file, and warns if most have none.
func (s *scan) checkVectorFiles() error {
	for _, v := range s.Layout.Vectors {
		f := s.Names.Vectors.files[v.Name]
		whose, all := "query", "queries"
		if f != nil && f.ofDocuments {
			whose, all = "document", "documents"
		}
		switch {
		case f == nil || f.found:
		case !f.ids:
			return fmt.Errorf("datasets: %s: no %s ids, by which %s has vectors", s.Path, whose, f.path)
		default:
			return fmt.Errorf("datasets: %s: none of its %s has a vector in %s: want the same ids", s.Path, all, f.path)
		}
		if f != nil {
			if f.lack > f.rows/2 {
				s.Warn("%d of %d documents have no vector by the id of their %s in %s", f.lack, f.rows, whose, f.path)
			}
			f.rows, f.lack = 0, 0
		}
	}
	return nil
}

// What columns without a number in Layout.Vectors have instead.
const (
	noVector      = -1
	leftOutVector = -2
)

// takeVectors finds the columns of vectors: columns that options name, and lists.
func (f *finder) takeVectors(look Look) error {
	f.Vector, f.Layout.Vectors = slices.Repeat([]int{noVector}, len(f.names)), slices.Clone(f.o.Vectors)
	take := func(k, column int) (err error) {
		f.Vector[column] = k
		if v := &f.Layout.Vectors[k]; v.Dimension == 0 {
			v.Dimension, err = look.Dimension(column)
		}
		return err
	}
	for k, v := range f.o.Vectors {
		column := slices.Index(f.names, v.Name)
		if list := slices.Index(look.Lists, true); column < 0 && v.File == onlyColumn && list >= 0 {
			if !slices.Contains(look.Lists[list+1:], true) {
				column = list
			}
		}
		switch {
		case v.File != "" && v.File != onlyColumn:
			if column >= 0 {
				f.Vector[column] = leftOutVector
			}
			continue
		case column < 0:
			return fmt.Errorf("header: no column of vectors %q: there are %s (-vector %[1]s=FILE reads them from a file)", v.Name,
				text.List(f.names))
		}
		if err := take(k, column); err != nil {
			return err
		}
	}
	for column, is := range look.Lists {
		name := f.names[column]
		switch {
		case !is || f.Vector[column] != noVector:
			continue
		case says(slices.Concat(f.o.Ignore, f.o.Unasked), name):
			f.Vector[column], f.Unasked = leftOutVector, append(f.Unasked, name)
			continue
		case f.o.FeatureIDs != nil:
			f.Vector[column] = leftOutVector
			f.LeaveOut(name, outUnwanted)
			continue
		}
		f.Layout.Vectors = append(f.Layout.Vectors, transforms.Vector{Name: name})
		if err := take(len(f.Layout.Vectors)-1, column); err != nil {
			return err
		}
	}
	return nil
}

// describe adds the vectors to what the schema is told.
func (l *Layout) describe(h schema.Header) schema.Header {
	for _, v := range l.Vectors {
		h.Vectors, h.Dimensions = append(h.Vectors, v.Name), append(h.Dimensions, v.Dimension)
	}
	return h
}

// addProducts gives the products ids: the ones that the options list for their names, or else the largest ids, which no column has.
func (l *Layout) addProducts(o *Options, found *schema.Columns) error {
	products := o.Products
	if products == nil && o.FeatureIDs == nil {
		for _, name := range found.Products {
			products = append(products, transforms.Product{Name: name})
		}
	}
	for i, p := range products {
		if _, _, err := p.Check(l.Vectors); err != nil {
			return err
		}
		id := text.MaxFeatureID - len(products) + 1 + i
		if at := slices.Index(o.FeatureNames, p.Name); at >= 0 {
			id = o.FeatureIDs[at]
		}
		if !o.Wants(id) {
			l.LeaveOut(p.Name, outUnwanted)
			continue
		}
		l.Products, l.ProductIDs, l.Names[id] = append(l.Products, p), append(l.ProductIDs, id), p.Name
	}
	return nil
}

// parseVector appends the numbers of a text such as [0.1, 0.2], 0.1 0.2 or 0.1,0.2, which may have line breaks, to a list. Nothing,
// or a text that stands for a missing value, has none.
func parseVector(to []float32, b []byte) ([]float32, error) {
	b = bytes.TrimSpace(b)
	if v, err := text.Field(b); len(b) == 0 || err == nil && v != v {
		return to, nil
	}
	if inner, is := bytes.CutPrefix(b, []byte("[")); is {
		if b, is = bytes.CutSuffix(inner, []byte("]")); !is {
			return to, errors.New("no ] at the end of the vector")
		}
	}
	for {
		b = bytes.TrimLeft(b, " \t\r\n")
		if len(b) == 0 {
			return to, nil
		}
		v, n, err := text.Float32(b)
		if err == nil && n < len(b) && !bytes.ContainsRune([]byte(", \t\r\n"), rune(b[n])) {
			err = text.ErrNumber
		}
		if err != nil {
			word, _, _ := bytes.Cut(b, []byte(","))
			return to, fmt.Errorf("%s in a vector is %w", text.Quote(word), err)
		}
		to = append(to, v)
		b = bytes.TrimPrefix(bytes.TrimLeft(b[n:], " \t\r\n"), []byte(","))
	}
}

// dimensionOf returns how many numbers the text of a vector has, 0 if it is none.
func dimensionOf(b []byte) int {
	v, err := parseVector(nil, b)
	if err != nil {
		return 0
	}
	return len(v)
}

// loadVectors reads the files of vectors, once for all files of a collection, and completes their dimensions in the options.
func (s *scan) loadVectors(ctx context.Context, o *Options) error {
	o.Vectors = slices.Clone(o.Vectors)
	for i := range o.Vectors {
		v := &o.Vectors[i]
		if v.File == "" || v.File == onlyColumn {
			continue
		}
		file := s.Names.Vectors.files[v.Name]
		if file == nil {
			var err error
			if file, err = s.Names.Vectors.load(ctx, *v, *o); err != nil {
				return err
			}
			s.Names.Vectors.files[v.Name] = file
		}
		v.Dimension = file.dimension
	}
	return nil
}

// load reads a table of ids of queries or documents and vectors.
func (b *VectorBlock) load(ctx context.Context, v transforms.Vector, o Options) (*vectorFile, error) {
	own := FileOptions{Options: Options{FeatureIDs: []int{}, Labels: UnusedLabels, Schema: o.Schema, Context: ctx, Roles: o.Roles,
		Vectors: []transforms.Vector{{Name: v.Name, Dimension: v.Dimension, File: onlyColumn}}}}
	s := newScan(v.File, own, &Names{Vectors: b})
	s.sizes = new(querySizes) // which it needs none of
	file := &vectorFile{path: v.File, dimension: v.Dimension, at: map[string]int{}}
	bad := func(line int, format string, args ...any) error {
		return fmt.Errorf("datasets: %s:%d: %s", v.File, line, fmt.Sprintf(format, args...))
	}
	err := s.parse(ctx, own, func(c *Chunk, l *Layout) error {
		if s.Add(c); s.Failed() {
			return s.Check()
		}
		s.Layout = l
		if file.ofDocuments = l.Roles[schema.Document] != ""; !file.ofDocuments && l.Roles[schema.Query] == "" {
			return fmt.Errorf("datasets: %s: %w: want a column of query ids or of document ids beside the vectors", v.File, ErrColumns)
		}
		if err := s.addVectors(c, l); err != nil {
			return err
		}
		for r, id := range c.ids(file.ofDocuments) {
			at, twice := file.at[id]
			if id == "" {
				return bad(c.Line+int(c.At[r]), "an empty id beside a vector")
			}
			if twice && at != c.VectorAt[r] {
				return bad(c.Line+int(c.At[r]), "%s has two vectors", text.Quote([]byte(id)))
			}
			if c.VectorAt[r] != NoVector {
				file.at[id] = c.VectorAt[r]
			}
		}
		file.dimension = l.Vectors[0].Dimension
		c.Free()
		s.Chunks = nil
		return nil
	})
	if err == nil && len(file.at) == 0 {
		err = fmt.Errorf("datasets: %s: no vectors", v.File)
	}
	return file, err
}
