package cache

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/datasets/internal/digest"
	"github.com/plrank/plrank/datasets/internal/memory"
	"github.com/plrank/plrank/datasets/internal/table"
	"github.com/plrank/plrank/internal/mapped"
)

// errStale is the error of a valid cache of files that have changed.
var errStale = errors.New("the cache is stale")

// Decode makes splits of the bytes of a cache, and shares the memory of its
// numbers. It trusts nothing: whatever the bytes, the result is a consistent
// set of datasets or an error (errStale: for another key).
func Decode(ctx context.Context, b []byte, key string) (s Splits, err error) {
	h, err := decodeHeader(b)
	if err != nil {
		return s, err
	}
	if h.Key != key {
		return s, errStale
	}
	if h.Size != int64(len(b)) {
		return s, fmt.Errorf("%d bytes instead of %d", len(b), h.Size)
	}
	if err := h.verify(ctx, b); err != nil {
		return s, err
	}
	return h.splits(b)
}

func decodeHeader(b []byte) (*header, error) {
	if len(b) < introSize || string(b[:8]) != magic || binary.NativeEndian.Uint32(b[8:]) != order {
		return nil, errors.New("not a cache of this kind of machine")
	}
	length := binary.NativeEndian.Uint64(b[16:])
	if length > mostHeader || length > uint64(len(b)-introSize) {
		return nil, errors.New("truncated")
	}
	text := b[introSize : introSize+int(length)]
	if digest.CRC(text) != binary.NativeEndian.Uint32(b[12:]) {
		return nil, errors.New("the checksum of the header is wrong")
	}
	h := &header{}
	if err := json.Unmarshal(text, h); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	for i, s := range h.Sections {
		if s.Offset < 0 || s.Length < 0 || s.Offset > int64(len(b)) || s.Length > int64(len(b))-s.Offset ||
			s.Offset%align != 0 || s.Count < 0 || s.Count > s.Length {
			return nil, fmt.Errorf("section %d is out of place", i)
		}
	}
	return h, nil
}

// verify checks the checksums of all sections.
func (h *header) verify(ctx context.Context, b []byte) error {
	type block struct {
		bytes []byte
		sum   uint32
	}
	var blocks []block
	for i, s := range h.Sections {
		if int64(len(s.Checksums)) != (s.Length+blockSize-1)/blockSize {
			return fmt.Errorf("section %d has %d checksums", i, len(s.Checksums))
		}
		rest := b[s.Offset : s.Offset+s.Length]
		for _, sum := range s.Checksums {
			n := min(blockSize, len(rest))
			blocks = append(blocks, block{rest[:n], sum})
			rest = rest[n:]
		}
	}
	wrong := make([]bool, len(blocks))
	memory.For(len(blocks), func(i int) {
		wrong[i] = ctx.Err() == nil && digest.CRC(blocks[i].bytes) != blocks[i].sum
		mapped.Done(blocks[i].bytes)
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	if i := slices.Index(wrong, true); i >= 0 {
		return fmt.Errorf("the checksum of block %d is wrong", i)
	}
	return nil
}

// splits makes the datasets of sections that are in place.
func (h *header) splits(b []byte) (all Splits, err error) {
	c := reader{b: b, sections: h.Sections}
	for i, s := range h.Splits {
		if s != nil {
			all[i] = c.data(s)
		}
	}
	if c.err == nil && (all[0] == nil || all[1] == nil) {
		c.err = errors.New("a split is absent")
	}
	if c.err != nil {
		return Splits{}, c.err
	}
	return all, nil
}

// reader takes values out of sections; the first error stays.
type reader struct {
	b        []byte
	sections []section
	err      error
}

func (c *reader) data(s *split) *table.Data {
	d := &table.Data{
		Features:     valuesOf[float32](c, s.Features),
		Labels:       valuesOf[float32](c, s.Labels),
		Weights:      valuesOf[float32](c, s.Weights),
		QueryWeights: valuesOf[float32](c, s.QueryWeights),
		Offsets:      c.ints(s.Offsets),
		FeatureIDs:   c.ints(s.FeatureIDs),
		QueryIDs:     c.strings(s.QueryIDs),
		DocumentIDs:  c.strings(s.DocumentIDs),
		FeatureNames: c.strings(s.FeatureNames),
		GroupNames:   c.strings(s.GroupNames),
	}
	d.Lines = valuesOf[int32](c, s.Lines)
	if s.Groups != -1 {
		d.Groups = raised(c.ints(s.Groups), -1)
	}
	if s.PartLines != -1 {
		for _, line := range c.ints(s.PartLines) {
			d.Parts = append(d.Parts, table.Part{Line: line})
		}
	}
	names := c.strings(s.Names)
	if c.err != nil {
		return nil
	}
	if len(names) > 0 {
		d.Name, d.Warnings = names[0], names[1:]
	}
	if len(d.Warnings) == 0 {
		d.Warnings = nil
	}
	if c.err = d.Validate(); c.err == nil && d.Lines != nil && len(d.Lines) != d.Rows() {
		c.err = fmt.Errorf("%d lines for %d rows", len(d.Lines), d.Rows())
	}
	if c.err != nil {
		return nil
	}
	return d
}

func (c *reader) section(i, size int) ([]byte, int) {
	if c.err == nil && (i < 0 || i >= len(c.sections)) {
		c.err = fmt.Errorf("no section %d", i)
	}
	if c.err != nil {
		return nil, 0
	}
	s := c.sections[i]
	if size > 0 && s.Length != s.Count*int64(size) {
		c.err = fmt.Errorf("section %d has the wrong size", i)
		return nil, 0
	}
	return c.b[s.Offset : s.Offset+s.Length], int(s.Count)
}

// valuesOf are the numbers of a section, in the memory of the file; −1 stands for nil.
func valuesOf[T memory.Number](c *reader, i int) []T {
	if i == -1 {
		return nil
	}
	b, n := c.section(i, 4)
	if n == 0 {
		return []T{}
	}
	return memory.Numbers[T](b)
}

func (c *reader) ints(i int) []int {
	b, n := c.section(i, 8)
	list := make([]int, n)
	for j := range list {
		v := binary.NativeEndian.Uint64(b[8*j:])
		if v > math.MaxInt {
			c.err = fmt.Errorf("section %d: a number is out of range", i)
			return nil
		}
		list[j] = int(v)
	}
	return list
}

// strings reads a list of strings; −1 stands for nil.
func (c *reader) strings(i int) []string {
	if i == -1 {
		return nil
	}
	b, n := c.section(i, 0)
	text := string(b)
	list := make([]string, n)
	for j := range list {
		length, used := binary.Uvarint(b)
		if used <= 0 || length > uint64(len(b)-used) {
			c.err = fmt.Errorf("section %d: the strings do not fit", i)
			return nil
		}
		list[j] = text[used : used+int(length)]
		text, b = text[used+int(length):], b[used+int(length):]
	}
	return list
}
