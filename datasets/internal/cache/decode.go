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
	if err := h.verify(ctx); err != nil {
		return s, err
	}
	return h.splits()
}

// decodeHeader reads the header, and finds the bytes of the sections.
func decodeHeader(b []byte) (*header, error) {
	if len(b) < introSize || string(b[:8]) != magic || binary.NativeEndian.Uint32(b[8:]) != order {
		return nil, errors.New("not a cache of this kind of machine")
	}
	length := binary.NativeEndian.Uint64(b[16:])
	if length > mostHeader || length > uint64(len(b)-introSize) {
		return nil, errors.New("truncated")
	}
	at := introSize + int64(length)
	text := b[introSize:at]
	if digest.CRC(text) != binary.NativeEndian.Uint32(b[12:]) {
		return nil, errors.New("the checksum of the header is wrong")
	}
	h := &header{}
	if err := json.Unmarshal(text, h); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	for i, s := range h.sections() {
		at += padding(at)
		if s.Length < 0 || s.Length > int64(len(b))-at || s.Count < 0 || s.Count > s.Length {
			return nil, fmt.Errorf("section %d is out of place", i)
		}
		if int64(len(s.Checksums)) != (s.Length+blockSize-1)/blockSize {
			return nil, fmt.Errorf("section %d has %d checksums", i, len(s.Checksums))
		}
		s.bytes = b[at : at+s.Length]
		at += s.Length
	}
	if at != int64(len(b)) {
		return nil, fmt.Errorf("%d bytes instead of %d", len(b), at)
	}
	return h, nil
}

// sections are those of all splits, in the order of the file.
func (h *header) sections() []*section {
	all := slices.Concat(h.Splits[:]...)
	return slices.DeleteFunc(all, func(s *section) bool { return s == nil })
}

// verify checks the checksums of all sections.
func (h *header) verify(ctx context.Context) error {
	var blocks [][]byte
	var sums []uint32
	for _, s := range h.sections() {
		blocks = slices.AppendSeq(blocks, slices.Chunk(s.bytes, blockSize))
		sums = append(sums, s.Checksums...)
	}
	wrong := make([]bool, len(blocks))
	memory.For(len(blocks), func(i int) {
		wrong[i] = ctx.Err() == nil && digest.CRC(blocks[i]) != sums[i]
		mapped.Done(blocks[i])
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
func (h *header) splits() (all Splits, err error) {
	for i, sections := range h.Splits {
		if sections == nil {
			continue
		}
		if all[i], err = decodeData(sections); err != nil {
			return Splits{}, err
		}
	}
	if all[0] == nil || all[1] == nil {
		return Splits{}, errors.New("a split is absent")
	}
	return all, nil
}

// decodeData makes a split of its sections.
func decodeData(sections []*section) (*table.Data, error) {
	c := &content{}
	lists := c.lists()
	if len(sections) != len(lists) {
		return nil, fmt.Errorf("%d sections of a split, want %d", len(sections), len(lists))
	}
	for i, s := range sections {
		if s == nil {
			continue
		}
		if err := s.decode(lists[i]); err != nil {
			return nil, fmt.Errorf("section %d: %w", i, err)
		}
	}
	for _, line := range c.parts {
		c.Parts = append(c.Parts, table.Part{Line: line})
	}
	if len(c.names) > 0 {
		c.Name = c.names[0]
	}
	if len(c.names) > 1 {
		c.Warnings = c.names[1:]
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Lines != nil && len(c.Lines) != c.Rows() {
		return nil, fmt.Errorf("%d lines for %d rows", len(c.Lines), c.Rows())
	}
	return &c.Data, nil
}

// decode sets the list that a pointer points to.
func (s *section) decode(list any) (err error) {
	switch list := list.(type) {
	case *[]float32:
		*list, err = numbers[float32](s)
	case *[]int32:
		*list, err = numbers[int32](s)
	case *[]int:
		*list, err = s.ints()
	case *[]string:
		*list, err = s.strings()
	}
	return err
}

// numbers are those of a section, in the memory of the file.
func numbers[T memory.Number](s *section) ([]T, error) {
	if s.Length != 4*s.Count {
		return nil, fmt.Errorf("%d numbers of 4 bytes in %d bytes", s.Count, s.Length)
	}
	if s.Count == 0 {
		return []T{}, nil
	}
	return memory.Numbers[T](s.bytes), nil
}

func (s *section) ints() ([]int, error) {
	if s.Length != 8*s.Count {
		return nil, fmt.Errorf("%d numbers of 8 bytes in %d bytes", s.Count, s.Length)
	}
	list := make([]int, s.Count)
	for i := range list {
		v := int64(binary.NativeEndian.Uint64(s.bytes[8*i:]))
		if v < -1 || v > math.MaxInt { // −1 is the group of documents without one
			return nil, errors.New("a number is out of range")
		}
		list[i] = int(v)
	}
	return list, nil
}

func (s *section) strings() ([]string, error) {
	text := string(s.bytes)
	list := make([]string, s.Count)
	for i := range list {
		length, used := binary.Uvarint(s.bytes[len(s.bytes)-len(text):])
		if used <= 0 || length > uint64(len(text)-used) {
			return nil, errors.New("the strings do not fit")
		}
		list[i], text = text[used:used+int(length)], text[used+int(length):]
	}
	return list, nil
}
