package reading

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"

	"github.com/plrank/plrank/datasets/internal/table"
	"github.com/plrank/plrank/datasets/internal/text"
	"github.com/plrank/plrank/internal/textfile"
)

// ErrReturns is the error of [Blocks] for a query that comes back after another one.
var ErrReturns = errors.New("comes back after another one: its documents must stand together")

// Blocks reads a file in blocks of whole queries; see datasets.ReadBlocks.
func Blocks(path string, o Options, yield func(block *table.Data, read int64) error) (warnings []string, err error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.FeatureIDs == nil {
		return nil, fmt.Errorf("datasets: %s: to read it in blocks, the feature ids must be given", path)
	}
	defer func() {
		if stopped := o.Stopped(path); err != nil && stopped != nil {
			err = stopped // rather than that the file is closed
		}
	}()
	ctx, cancel := context.WithCancel(o.Ctx())
	defer cancel()
	f, err := textfile.Open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", textfile.At(path, err))
	}
	defer f.Close()
	sizes, err := readSizes(path)
	if err != nil {
		return nil, err
	}
	b := &blocks{
		options: o.Options, sizes: sizes, Tally: table.Tally{Path: path}, check: runCheck{path: path, sizes: sizes},
		seed: maphash.MakeSeed(), seen: map[uint64]struct{}{},
		yield: func(d *table.Data) error { return yield(d, f.Consumed()) },
	}
	defer func() {
		b.free()
		if b.groups != nil {
			b.groups.close()
		}
	}()
	err = parseChunks(path, f, sizes, o, func(c *table.Chunk, l *table.Layout) error {
		err := b.add(c, l)
		if err != nil {
			cancel() // which ends the reading
		}
		return err
	})
	if err == nil {
		err = b.end()
	}
	if err != nil {
		return nil, err
	}
	if warnings, err = b.LeftOut(b.layout); err != nil {
		return nil, err
	}
	return append(warnings, unused(path)...), nil
}

// blocks makes datasets of whole queries of the chunks of a file.
type blocks struct {
	options table.Options
	yield   func(*table.Data) error
	sizes   *querySizes
	table.Tally
	layout *table.Layout
	groups *groups // nil: the rows have none
	all    table.GroupNames
	check  runCheck
	failed error // what check found first

	seed maphash.Seed
	seen map[uint64]struct{} // hashes of query ids

	chunks []*table.Chunk // whose rows are not all in blocks yet: first those of
	whole  []table.Query  // and then so many
	left   int            // of a query whose end is still to be read
	open   table.Run      // the run of the last row
	sized  int            // queries that were made of the sizes alone
}

// add takes the next chunk, and yields the queries that are whole now.
func (b *blocks) add(c *table.Chunk, l *table.Layout) error {
	b.chunks = append(b.chunks, c)
	b.Add(c)
	if b.layout == nil {
		b.layout = l
		var err error
		if b.groups, err = newGroups(b.Path, b.options, b.layout, &b.all); err != nil {
			return err
		}
	}
	if b.FaultCount == 0 && b.Err == nil && b.groups != nil {
		if err := b.groups.set(c); err != nil {
			return err
		}
	}
	for _, r := range c.Runs {
		r.Line += c.Line
		if r.Continues(b.open) {
			b.open.Rows += r.Rows
		} else {
			b.endRun()
			b.open = r
			if err := b.checkNew(r); err != nil {
				return err
			}
		}
		b.left += r.Rows
	}
	return b.give()
}

// checkNew is ErrReturns for a query that was there before.
func (b *blocks) checkNew(r table.Run) error {
	if !r.Named {
		return nil
	}
	hash := maphash.String(b.seed, r.Query)
	if _, returns := b.seen[hash]; returns {
		return fmt.Errorf("datasets: %s:%d: query %s %w", b.Path, r.Line, text.Quote([]byte(r.Query)), ErrReturns)
	}
	b.seen[hash] = struct{}{}
	return nil
}

// endRun checks the run that has ended, and makes a query of it if it has an id.
func (b *blocks) endRun() {
	if b.open.Rows == 0 {
		return
	}
	if b.failed == nil {
		b.failed = b.check.add(b.open)
	}
	if b.open.Named {
		b.addQuery(b.open.Query, b.left)
	}
}

// addQuery makes the next rows a query.
func (b *blocks) addQuery(id string, rows int) {
	from := 0
	if n := len(b.whole); n > 0 {
		from = b.whole[n-1].Runs[0].To
	}
	q := table.Query{ID: id}
	q.Add(from, rows)
	b.whole = append(b.whole, q)
	b.left -= rows
}

// give yields the queries that are whole, unless there was an error.
func (b *blocks) give() error {
	if b.sizes != nil && !b.open.Named {
		for ; b.sized < len(b.sizes.sizes) && b.sizes.sizes[b.sized] <= b.left; b.sized++ {
			if n := b.sizes.sizes[b.sized]; n > 0 {
				b.addQuery(sizedID(b.sized), n)
			}
		}
	}
	if b.FaultCount > 0 || b.Err != nil || b.failed != nil { // the rest is read for its faults
		b.free()
		return nil
	}
	if len(b.whole) == 0 {
		return nil
	}
	t := &table.Table{
		Options: b.options, Tally: table.Tally{Path: b.Path}, Layout: b.layout, Chunks: b.chunks, Queries: b.whole,
		HasWeights: b.options.WeightColumn != "",
	}
	b.chunks, b.whole = nil, nil
	if b.left > 0 { // they are all of the last chunk: a query that began before it has just ended
		last := t.Chunks[len(t.Chunks)-1]
		b.chunks = append(b.chunks, last.Split(len(last.Labels)-b.left))
	}
	for _, c := range t.Chunks {
		t.Rows += len(c.Labels)
		t.Size += c.Size
	}
	if b.groups != nil {
		t.Groups = &b.all
	}
	d, err := t.Data(b.options.FeatureIDs, nil)
	if err != nil {
		return err
	}
	return b.yield(d)
}

// end yields the last queries, and checks the whole.
func (b *blocks) end() error {
	if err := b.Tally.Check(); err != nil {
		return err
	}
	b.endRun()
	if err := b.give(); err != nil {
		return err
	}
	if err := b.sizes.check(&b.Tally); err != nil {
		return err
	}
	if b.failed != nil {
		return b.failed
	}
	if b.groups != nil {
		return b.groups.end(&b.Tally)
	}
	return nil
}

// free gives the memory of the chunks back.
func (b *blocks) free() {
	for _, c := range b.chunks {
		c.Values.Free()
	}
	b.chunks, b.whole, b.left = nil, nil, 0
}
