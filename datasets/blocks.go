package datasets

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
)

// ErrReturns is the error of [ReadBlocks] for a file in which a query comes back after
// another one. ReadFile puts its documents together.
var ErrReturns = errors.New("comes back after another one: its documents must stand together")

// ReadBlocks reads a file of any length in blocks of whole queries, in the order of the
// file, and calls yield with each block and with how many bytes of the file, compressed
// ones, have been read so far. An error of yield ends the reading, and is the result.
//
// All is as for [ReadFile], with these exceptions. FeatureIDs must be given, because the
// columns of the first block are those of the last. A query that comes back is
// [ErrReturns]. The file of weights is not read, because only its end tells whose weights
// it has. Warnings are about the whole file, and come at the end. After a malformed line
// there are no more blocks, but the rest of the file is read for the others.
//
// In memory are a few megabytes of the file, or as much as its largest query, and some
// bytes for the id or the size of each query.
func ReadBlocks(path string, o ReadOptions, yield func(block *Dataset, read int64) error) (warnings []string, err error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.FeatureIDs == nil {
		return nil, fmt.Errorf("datasets: %s: to read it in blocks, the feature ids must be given", path)
	}
	defer func() {
		if stopped := o.stopped(path); err != nil && stopped != nil {
			err = stopped // rather than that the file is closed
		}
	}()
	ctx, cancel := context.WithCancel(o.context())
	defer cancel()
	f, err := openSource(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", at(path, err))
	}
	defer f.close()
	sizes, err := readSizes(path)
	if err != nil {
		return nil, err
	}
	b := &blocks{
		options: o, sizes: sizes, tally: tally{path: path}, check: runCheck{path: path, sizes: sizes},
		seed: maphash.MakeSeed(), seen: map[uint64]struct{}{},
		yield: func(d *Dataset) error { return yield(d, f.read()) },
	}
	defer func() {
		b.free()
		if b.groups != nil {
			b.groups.close()
		}
	}()
	err = parseFile(path, f, sizes, o, func(c *chunk) error {
		err := b.add(c)
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
	if warnings, err = b.leftOut(b.layout); err != nil {
		return nil, err
	}
	for _, unused := range unusedPaths(path) {
		if _, err := os.Stat(unused); err == nil {
			warnings = append(warnings, fmt.Sprintf("%s: %s is not used", path, unused))
		}
	}
	return warnings, nil
}

// blocks makes datasets of whole queries of the chunks of a file.
type blocks struct {
	options ReadOptions
	yield   func(*Dataset) error
	sizes   *querySizes
	tally
	layout *layout
	groups *groups // nil: the rows have none
	all    groupNumbers
	check  runCheck
	failed error // what check found first

	seed maphash.Seed
	seen map[uint64]struct{} // hashes of query ids

	chunks []*chunk // whose rows are not all in blocks yet: first those of
	whole  []query  // and then so many
	left   int      // of a query whose end is still to be read
	open   run      // the run of the last row
	sized  int      // queries that were made of the sizes alone
}

// add takes the next chunk, and yields the queries that are whole now.
func (b *blocks) add(c *chunk) error {
	b.chunks = append(b.chunks, c)
	b.tally.add(c)
	if b.layout == nil {
		b.layout = c.layout
		var err error
		if b.groups, err = newGroups(b.path, b.options, b.layout, &b.all); err != nil {
			return err
		}
	}
	if b.faultCount == 0 && b.err == nil && b.groups != nil {
		if err := b.groups.set(c); err != nil {
			return err
		}
	}
	for _, r := range c.runs {
		r.line += c.line
		if r.continues(b.open) {
			b.open.rows += r.rows
		} else {
			b.endRun()
			b.open = r
			if err := b.checkNew(r); err != nil {
				return err
			}
		}
		b.left += r.rows
	}
	return b.give()
}

// checkNew is ErrReturns for a query that was there before.
func (b *blocks) checkNew(r run) error {
	if !r.named {
		return nil
	}
	hash := maphash.String(b.seed, r.query)
	if _, returns := b.seen[hash]; returns {
		return fmt.Errorf("datasets: %s:%d: query %s %w", b.path, r.line, quote([]byte(r.query)), ErrReturns)
	}
	b.seen[hash] = struct{}{}
	return nil
}

// endRun looks at the run that has ended, and makes a query of it if it has an id.
func (b *blocks) endRun() {
	if b.open.rows == 0 {
		return
	}
	if b.failed == nil {
		b.failed = b.check.add(b.open)
	}
	if b.open.named {
		b.addQuery(b.open.query, b.left)
	}
}

// addQuery makes the next rows a query.
func (b *blocks) addQuery(id string, rows int) {
	from := 0
	if n := len(b.whole); n > 0 {
		from = b.whole[n-1].runs[0].to
	}
	q := query{id: id}
	q.add(from, rows)
	b.whole = append(b.whole, q)
	b.left -= rows
}

// give yields the queries that are whole, unless something was wrong by now.
func (b *blocks) give() error {
	if b.sizes != nil && !b.open.named {
		for ; b.sized < len(b.sizes.sizes) && b.sizes.sizes[b.sized] <= b.left; b.sized++ {
			if n := b.sizes.sizes[b.sized]; n > 0 {
				b.addQuery(sizedID(b.sized), n)
			}
		}
	}
	if b.faultCount > 0 || b.err != nil || b.failed != nil { // the rest is read for its faults
		b.free()
		return nil
	}
	if len(b.whole) == 0 {
		return nil
	}
	t := &table{
		options: b.options, tally: tally{path: b.path}, layout: b.layout, chunks: b.chunks, queries: b.whole,
		weights: weightsOf{documents: b.options.WeightColumn != ""},
	}
	b.chunks, b.whole = nil, nil
	if b.left > 0 { // they are all of the last chunk: a query that began before it has just ended
		last := t.chunks[len(t.chunks)-1]
		b.chunks = append(b.chunks, last.cut(len(last.labels)-b.left))
	}
	for _, c := range t.chunks {
		t.rows += len(c.labels)
		t.size += c.size
	}
	if b.groups != nil {
		t.groups = &b.all
	}
	d, err := t.dataset(b.options.FeatureIDs, nil)
	if err != nil {
		return err
	}
	return b.yield(d)
}

// end yields the last queries, and looks at the whole.
func (b *blocks) end() error {
	if err := b.tally.check(); err != nil {
		return err
	}
	b.endRun()
	if err := b.give(); err != nil {
		return err
	}
	if err := b.sizes.check(&b.tally); err != nil {
		return err
	}
	if b.failed != nil {
		return b.failed
	}
	if b.groups != nil {
		return b.groups.end(&b.tally)
	}
	return nil
}

// free gives the memory of the chunks back.
func (b *blocks) free() {
	for _, c := range b.chunks {
		c.values.free()
	}
	b.chunks, b.whole, b.left = nil, nil, 0
}
