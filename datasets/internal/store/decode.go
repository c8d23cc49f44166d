package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/internal/memory"
)

// ErrStale is the error of a valid cache of files that have changed.
var ErrStale = errors.New("the cache is stale")

// Load maps a cache file, and sets the lists of the splits that it has. Their numbers are
// read-only. It trusts nothing: whatever the bytes, the lists are of their types, or there is
// an error (ErrStale: for another key). After unmap they must not be used.
func Load(ctx context.Context, path string, key Key, lists Lists) (has [3]bool, unmap func(), err error) {
	b, err := file.Map(path)
	if err != nil {
		return has, nil, err
	}
	h, err := decodeHeader(b)
	if err == nil && h.Key != key.text() {
		err = ErrStale
	}
	if err == nil {
		err = h.verify(ctx)
	}
	if err == nil {
		has, err = h.decode(lists)
	}
	unmap = func() { file.Unmap(b) }
	if err != nil {
		unmap()
	}
	return has, unmap, err
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
	if CRC(text) != binary.NativeEndian.Uint32(b[12:]) {
		return nil, errors.New("the checksum of the header is wrong")
	}
	h := &header{}
	if err := json.Unmarshal(text, h); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	for i, s := range h.sections() {
		at += padding(at)
		if s.Length < 0 || s.Length > int64(len(b))-at {
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

// verify checks the checksums of all sections.
func (h *header) verify(ctx context.Context) error {
	var blocks [][]byte
	var sums []uint32
	for _, s := range h.sections() {
		blocks = slices.AppendSeq(blocks, s.blocks())
		sums = append(sums, s.Checksums...)
	}
	wrong := make([]bool, len(blocks))
	memory.For(len(blocks), func(i int) {
		wrong[i] = ctx.Err() == nil && CRC(blocks[i]) != sums[i]
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	if i := slices.Index(wrong, true); i >= 0 {
		return fmt.Errorf("the checksum of block %d is wrong", i)
	}
	return nil
}

// decode sets the lists of sections that are in place.
func (h *header) decode(lists Lists) (has [3]bool, err error) {
	for i, sections := range h.Splits {
		has[i] = sections != nil
		if has[i] && len(sections) != len(lists[i]) {
			return has, fmt.Errorf("%d sections of a split, want %d", len(sections), len(lists[i]))
		}
		for j, s := range sections {
			if s == nil {
				continue
			}
			if err := s.decode(lists[i][j]); err != nil {
				return has, fmt.Errorf("section %d: %w", j, err)
			}
		}
	}
	return has, nil
}

// decode sets the list that a pointer points to.
func (s *section) decode(list any) (err error) {
	switch list := list.(type) {
	case *[]float32:
		*list, err = numbers[float32](s.bytes)
	case *[]float64:
		*list, err = numbers[float64](s.bytes)
	case *[]int32:
		*list, err = numbers[int32](s.bytes)
	case *[]int:
		*list, err = numbers[int](s.bytes)
		*list = slices.Clone(*list) // a program may change them, unlike a mapped file
	case *[]string:
		*list, err = words(s.bytes)
	default:
		err = json.Unmarshal(s.bytes, list)
	}
	return err
}

// numbers returns the numbers of a section, in the memory of the file.
func numbers[T memory.Number](b []byte) ([]T, error) {
	if size := int(unsafe.Sizeof(*new(T))); len(b)%size != 0 {
		return nil, fmt.Errorf("numbers of %d bytes in %d bytes", size, len(b))
	}
	if len(b) == 0 {
		return []T{}, nil
	}
	return memory.Numbers[T](b), nil
}

// words are the strings of a section. They share its memory.
func words(b []byte) (list []string, err error) {
	list = []string{}
	for text := string(b); text != ""; {
		length, used := binary.Uvarint(b[len(b)-len(text):])
		if used <= 0 || length > uint64(len(text)-used) {
			return nil, errors.New("the strings do not fit")
		}
		list, text = append(list, text[used:used+int(length)]), text[used+int(length):]
	}
	return list, nil
}
