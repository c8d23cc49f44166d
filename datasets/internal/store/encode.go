package store

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"reflect"
	"slices"

	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/internal/memory"
)

// Save writes a cache file. A machine that goes down may leave one with bytes that were never
// written; its checksums tell.
func Save(ctx context.Context, path string, key Key, lists Lists) error {
	return file.WriteUnsynced(path, key.permissions(), func(w io.Writer) error {
		return encode(ctx, w, key.text(), lists)
	})
}

func encode(ctx context.Context, w io.Writer, key string, lists Lists) error {
	h := header{Key: key}
	for i, split := range lists {
		for _, list := range split {
			h.Splits[i] = append(h.Splits[i], newSection(list))
		}
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<20)
	intro := append(make([]byte, 0, introSize), magic...)
	intro = binary.NativeEndian.AppendUint32(intro, order)
	intro = binary.NativeEndian.AppendUint32(intro, CRC(text))
	intro = binary.NativeEndian.AppendUint64(intro, uint64(len(text)))
	_, _ = out.Write(append(intro, text...)) // an error stays until Flush
	last := int64(introSize + len(text))
	for _, s := range h.sections() {
		_, _ = out.Write(make([]byte, padding(last)))
		for block := range s.blocks() {
			if err := ctx.Err(); err != nil {
				return err
			}
			if _, err := out.Write(block); err != nil {
				return err
			}
		}
		last = s.Length
	}
	return out.Flush()
}

// newSection returns the section of the list that a pointer points to; nil for a nil list.
func newSection(list any) *section {
	if reflect.ValueOf(list).Elem().IsNil() {
		return nil
	}
	s := &section{}
	switch list := list.(type) {
	case *[]float32:
		s.bytes = memory.Bytes(*list)
	case *[]float64:
		s.bytes = memory.Bytes(*list)
	case *[]int32:
		s.bytes = memory.Bytes(*list)
	case *[]int:
		s.bytes = memory.Bytes(*list)
	case *[]string:
		s.bytes = appendStrings(nil, *list)
	default:
		s.bytes, _ = json.Marshal(list) // names and numbers alone
	}
	s.Length = int64(len(s.bytes))
	blocks := slices.Collect(s.blocks())
	s.Checksums = make([]uint32, len(blocks))
	memory.For(len(blocks), func(i int) { s.Checksums[i] = CRC(blocks[i]) })
	return s
}
