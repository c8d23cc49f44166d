package cache

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"strings"

	"github.com/plrank/plrank/datasets/internal/digest"
	"github.com/plrank/plrank/datasets/internal/files"
	"github.com/plrank/plrank/datasets/internal/memory"
	"github.com/plrank/plrank/datasets/internal/table"
)

// Encode writes the splits of files. Names are kept without the path of the source,
// which may be written differently next time.
func Encode(w io.Writer, key string, splits Splits, of files.Splits) error {
	h := header{Key: key}
	var bodies []body
	addBody := func(b body, count int) int {
		h.Sections = append(h.Sections, section{Length: b.length, Count: int64(count), Checksums: b.checksums()})
		bodies = append(bodies, b)
		return len(bodies) - 1
	}
	add := func(b []byte, count int) int { return addBody(bodyOf(b), count) }
	addStrings := func(list []string) int {
		if list == nil {
			return -1
		}
		return add(digest.AppendStrings(nil, list), len(list))
	}
	addNumbers := func(list []float32) int {
		if list == nil {
			return -1
		}
		return add(memory.Bytes(list), len(list))
	}
	for i, d := range splits {
		if d == nil {
			continue
		}
		h.Splits[i] = &split{
			Features:     addBody(featuresOf(d), d.Rows()*len(d.FeatureIDs)),
			Labels:       add(memory.Bytes(d.Labels), len(d.Labels)),
			Offsets:      add(encodeInts(d.Offsets), len(d.Offsets)),
			FeatureIDs:   add(encodeInts(d.FeatureIDs), len(d.FeatureIDs)),
			Names:        addStrings(append([]string{strings.TrimPrefix(d.Name, of.Source(i))}, d.Warnings...)),
			QueryIDs:     addStrings(d.QueryIDs),
			DocumentIDs:  addStrings(d.DocumentIDs),
			FeatureNames: addStrings(d.FeatureNames),
			Weights:      addNumbers(d.Weights),
			QueryWeights: addNumbers(d.QueryWeights),
			Lines:        -1,
			PartLines:    -1,
			Groups:       -1,
			GroupNames:   addStrings(d.GroupNames),
		}
		if d.Lines != nil {
			h.Splits[i].Lines = add(memory.Bytes(d.Lines), len(d.Lines))
		}
		if d.Parts != nil {
			var before []int
			for _, p := range d.Parts {
				before = append(before, p.Line)
			}
			h.Splits[i].PartLines = add(encodeInts(before), len(before))
		}
		if d.Groups != nil {
			h.Splits[i].Groups = add(encodeInts(raised(d.Groups, 1)), len(d.Groups))
		}
	}

	// Offsets depend on the length of the header, which depends on the offsets'
	// digits: reserve room for the longest, filled with blanks.
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	length := len(text) + 20*len(h.Sections) + 20
	at := int64(introSize + length)
	for i := range h.Sections {
		at = (at + align - 1) / align * align
		h.Sections[i].Offset = at
		at += h.Sections[i].Length
	}
	h.Size = at
	if text, err = json.Marshal(h); err != nil {
		return err
	}
	text = append(text, strings.Repeat(" ", length-len(text))...)

	out := bufio.NewWriterSize(w, 1<<20)
	intro := append(make([]byte, 0, introSize), magic...)
	intro = binary.NativeEndian.AppendUint32(intro, order)
	intro = binary.NativeEndian.AppendUint32(intro, digest.CRC(text))
	intro = binary.NativeEndian.AppendUint64(intro, uint64(length))
	out.Write(intro)
	out.Write(text)
	at = int64(introSize + length)
	for i, b := range bodies {
		out.Write(make([]byte, h.Sections[i].Offset-at))
		b.write(out)
		at = h.Sections[i].Offset + b.length
	}
	return out.Flush() // the first error of all writes
}

func encodeInts(list []int) []byte {
	b := make([]byte, 0, 8*len(list))
	for _, v := range list {
		b = binary.NativeEndian.AppendUint64(b, uint64(v))
	}
	return b
}

// raised is the numbers plus by: groups, among them −1 for none, are written from 0.
func raised(list []int, by int) []int {
	raised := make([]int, len(list))
	for i, v := range list {
		raised[i] = v + by
	}
	return raised
}

// A body is the bytes of a section, in blocks of blockSize.
type body struct {
	length int64
	block  func(i int) []byte
}

func bodyOf(b []byte) body {
	return body{int64(len(b)), func(i int) []byte { return b[i*blockSize : min(len(b), (i+1)*blockSize)] }}
}

// featuresOf is the features of a split, in memory or not.
func featuresOf(d *table.Data) body {
	if d.Source == nil {
		return bodyOf(memory.Bytes(d.Features))
	}
	w := len(d.FeatureIDs)
	return body{int64(d.Rows()) * int64(w) * 4, func(i int) []byte {
		from := i * (blockSize / 4)
		to := min(from+blockSize/4, d.Rows()*w)
		first, last := from/w, (to+w-1)/w // rows, maybe only a part of them
		values := make([]float32, (last-first)*w)
		d.Source.Read(values, first)
		return memory.Bytes(values[from-first*w : to-first*w])
	}}
}

func (b body) blocks() int { return int((b.length + blockSize - 1) / blockSize) }

func (b body) checksums() []uint32 {
	sums := make([]uint32, b.blocks())
	memory.For(len(sums), func(i int) { sums[i] = digest.CRC(b.block(i)) })
	return sums
}

// write writes all blocks; a failed write of out stays failed.
func (b body) write(out *bufio.Writer) {
	for i := range b.blocks() {
		if _, err := out.Write(b.block(i)); err != nil {
			return
		}
	}
}
