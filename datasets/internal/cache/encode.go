package cache

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"strings"

	"github.com/plrank/plrank/datasets/internal/digest"
	"github.com/plrank/plrank/datasets/internal/files"
	"github.com/plrank/plrank/datasets/internal/memory"
)

// Encode writes the splits of files. Names are kept without the path of the source,
// which may be written differently next time.
func Encode(ctx context.Context, w io.Writer, key string, splits Splits, of files.Splits) error {
	h := header{Key: key}
	var bodies []body
	for i, d := range splits {
		if d == nil {
			continue
		}
		c := content{Data: *d, names: append([]string{strings.TrimPrefix(d.Name, of.Source(i))}, d.Warnings...)}
		for _, p := range d.Parts {
			c.parts = append(c.parts, p.Line)
		}
		for _, list := range c.lists() {
			b, ok := bodyOf(list)
			if !ok {
				h.Splits[i] = append(h.Splits[i], nil)
				continue
			}
			h.Splits[i] = append(h.Splits[i], &section{Length: b.length, Count: int64(b.count), Checksums: b.checksums()})
			bodies = append(bodies, b)
		}
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<20)
	intro := append(make([]byte, 0, introSize), magic...)
	intro = binary.NativeEndian.AppendUint32(intro, order)
	intro = binary.NativeEndian.AppendUint32(intro, digest.CRC(text))
	intro = binary.NativeEndian.AppendUint64(intro, uint64(len(text)))
	out.Write(intro)
	out.Write(text)
	last := int64(introSize + len(text))
	for _, b := range bodies {
		out.Write(make([]byte, padding(last)))
		if err := b.write(ctx, out); err != nil {
			return err
		}
		last = b.length
	}
	return out.Flush() // the first error of all writes
}

// A body is the bytes of a section, in blocks of blockSize, and the number of its values.
type body struct {
	count  int
	length int64
	block  func(i int) []byte
}

// bodyOf is the body of a list, of which it gets the pointer; not ok for nil.
func bodyOf(list any) (b body, ok bool) {
	var bytes []byte
	switch list := list.(type) {
	case *[]float32:
		bytes, b.count, ok = memory.Bytes(*list), len(*list), *list != nil
	case *[]int32:
		bytes, b.count, ok = memory.Bytes(*list), len(*list), *list != nil
	case *[]string:
		bytes, b.count, ok = digest.AppendStrings(nil, *list), len(*list), *list != nil
	case *[]int:
		for _, v := range *list {
			bytes = binary.NativeEndian.AppendUint64(bytes, uint64(v))
		}
		b.count, ok = len(*list), *list != nil
	}
	b.length = int64(len(bytes))
	b.block = func(i int) []byte { return bytes[i*blockSize : min(len(bytes), (i+1)*blockSize)] }
	return b, ok
}

func (b body) blocks() int { return int((b.length + blockSize - 1) / blockSize) }

func (b body) checksums() []uint32 {
	sums := make([]uint32, b.blocks())
	memory.For(len(sums), func(i int) { sums[i] = digest.CRC(b.block(i)) })
	return sums
}

// write writes all blocks, unless the context is done.
func (b body) write(ctx context.Context, out *bufio.Writer) error {
	for i := range b.blocks() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := out.Write(b.block(i)); err != nil {
			return err
		}
	}
	return nil
}
