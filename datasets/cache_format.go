package datasets

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/plrank/plrank/internal/mapped"
)

// A cache file is
//
//	magic      8 bytes
//	order      uint32, to tell the byte order of the machine that wrote it
//	checksum   uint32, CRC-32C of the header
//	length     uint64, of the header
//	header     JSON: cacheHeader
//	sections   each at a multiple of 64 bytes
//
// with numbers in the byte order of the machine. The header has the checksums
// of the sections.
type cacheHeader struct {
	Key      string
	Size     int64 // of the file
	Splits   [3]*cacheSplit
	Sections []cacheSection
}

// cacheSplit names the sections of a split by their index.
type cacheSplit struct {
	Features, Labels    int // float32
	Weights             int // float32; −1: none
	QueryWeights        int // float32; −1: none
	Lines               int // int32; −1: none
	PartLines           int // int64: the line before each part; −1: there is one file
	Offsets, FeatureIDs int // int64
	Names               int // strings: Name, Warnings
	QueryIDs            int // strings
	DocumentIDs         int // strings; −1: none
	FeatureNames        int // strings; −1: none
	Groups              int // int64, each 1 higher; −1: none
	GroupNames          int // strings; −1: none
}

type cacheSection struct {
	Offset, Length int64    // bytes
	Count          int64    // of values
	Checksums      []uint32 // CRC-32C of each block
}

const (
	cacheMagic   = "plrankds"
	cacheOrder   = 0x01020304
	cacheIntro   = 24
	cacheAlign   = 64
	cacheBlock   = 1 << 22
	cacheMaxHead = 1 << 28
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encodeCache writes the splits. Names are kept without the path of the source,
// which may be written differently next time.
func encodeCache(w io.Writer, key string, s *Splits, files splitFiles) error {
	h := cacheHeader{Key: key}
	var bodies []cacheBody
	addBody := func(body cacheBody, count int) int {
		section := cacheSection{Length: body.length, Count: int64(count), Checksums: body.checksums()}
		h.Sections = append(h.Sections, section)
		bodies = append(bodies, body)
		return len(bodies) - 1
	}
	add := func(body []byte, count int) int { return addBody(bodyOf(body), count) }
	addStrings := func(list []string) int {
		if list == nil {
			return -1
		}
		return add(encodeStrings(list), len(list))
	}
	addNumbers := func(list []float32) int {
		if list == nil {
			return -1
		}
		return add(bytesOf(list), len(list))
	}
	for i, d := range s.all() {
		if d == nil {
			continue
		}
		h.Splits[i] = &cacheSplit{
			Features:     addBody(featuresOf(d), d.Rows()*d.Width()),
			Labels:       add(bytesOf(d.Labels), len(d.Labels)),
			Offsets:      add(encodeInts(d.Offsets), len(d.Offsets)),
			FeatureIDs:   add(encodeInts(d.FeatureIDs), len(d.FeatureIDs)),
			Names:        addStrings(append([]string{strings.TrimPrefix(d.Name, files.source(i))}, d.Warnings...)),
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
		if d.lines != nil {
			h.Splits[i].Lines = add(bytesOf(d.lines), len(d.lines))
		}
		if d.parts != nil {
			var before []int
			for _, p := range d.parts {
				before = append(before, p.line)
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
	at := int64(cacheIntro + length)
	for i := range h.Sections {
		at = (at + cacheAlign - 1) / cacheAlign * cacheAlign
		h.Sections[i].Offset = at
		at += h.Sections[i].Length
	}
	h.Size = at
	if text, err = json.Marshal(h); err != nil {
		return err
	}
	text = append(text, strings.Repeat(" ", length-len(text))...)

	out := bufio.NewWriterSize(w, 1<<20)
	intro := append(make([]byte, 0, cacheIntro), cacheMagic...)
	intro = binary.NativeEndian.AppendUint32(intro, cacheOrder)
	intro = binary.NativeEndian.AppendUint32(intro, crc32.Checksum(text, castagnoli))
	intro = binary.NativeEndian.AppendUint64(intro, uint64(length))
	out.Write(intro)
	out.Write(text)
	at = int64(cacheIntro + length)
	for i, body := range bodies {
		out.Write(make([]byte, h.Sections[i].Offset-at))
		body.write(out)
		at = h.Sections[i].Offset + body.length
	}
	return out.Flush() // the first error of all writes
}

// decodeCache makes splits of the bytes of a cache, whose numbers stay where
// they are. It trusts nothing: whatever the bytes, the result is a consistent
// set of datasets or an error (errStale: for another key).
func decodeCache(ctx context.Context, b []byte, key string) (*Splits, error) {
	h, err := decodeCacheHeader(b)
	if err != nil {
		return nil, err
	}
	if h.Key != key {
		return nil, errStale
	}
	if h.Size != int64(len(b)) {
		return nil, fmt.Errorf("%d bytes instead of %d", len(b), h.Size)
	}
	if err := h.verify(ctx, b); err != nil {
		return nil, err
	}
	return h.splits(b)
}

func decodeCacheHeader(b []byte) (*cacheHeader, error) {
	if len(b) < cacheIntro || string(b[:8]) != cacheMagic || binary.NativeEndian.Uint32(b[8:]) != cacheOrder {
		return nil, errors.New("not a cache of this kind of machine")
	}
	length := binary.NativeEndian.Uint64(b[16:])
	if length > cacheMaxHead || length > uint64(len(b)-cacheIntro) {
		return nil, errors.New("truncated")
	}
	text := b[cacheIntro : cacheIntro+int(length)]
	if crc32.Checksum(text, castagnoli) != binary.NativeEndian.Uint32(b[12:]) {
		return nil, errors.New("the checksum of the header is wrong")
	}
	h := &cacheHeader{}
	if err := json.Unmarshal(text, h); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	for i, s := range h.Sections {
		if s.Offset < 0 || s.Length < 0 || s.Offset > int64(len(b)) || s.Length > int64(len(b))-s.Offset ||
			s.Offset%cacheAlign != 0 || s.Count < 0 || s.Count > s.Length {
			return nil, fmt.Errorf("section %d is out of place", i)
		}
	}
	return h, nil
}

// verify checks the checksums of all sections.
func (h *cacheHeader) verify(ctx context.Context, b []byte) error {
	type block struct {
		bytes []byte
		sum   uint32
	}
	var blocks []block
	for i, s := range h.Sections {
		if int64(len(s.Checksums)) != (s.Length+cacheBlock-1)/cacheBlock {
			return fmt.Errorf("section %d has %d checksums", i, len(s.Checksums))
		}
		rest := b[s.Offset : s.Offset+s.Length]
		for _, sum := range s.Checksums {
			n := min(cacheBlock, len(rest))
			blocks = append(blocks, block{rest[:n], sum})
			rest = rest[n:]
		}
	}
	wrong := make([]bool, len(blocks))
	parallel(len(blocks), func(i int) {
		wrong[i] = ctx.Err() == nil && crc32.Checksum(blocks[i].bytes, castagnoli) != blocks[i].sum
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
func (h *cacheHeader) splits(b []byte) (*Splits, error) {
	c := cacheReader{b: b, sections: h.Sections}
	var all [3]*Dataset
	for i, s := range h.Splits {
		if s != nil {
			all[i] = c.dataset(s)
		}
	}
	if c.err == nil && (all[0] == nil || all[1] == nil) {
		c.err = errors.New("a split is absent")
	}
	if c.err != nil {
		return nil, c.err
	}
	return &Splits{all[0], all[1], all[2]}, nil
}

// cacheReader takes values out of sections; the first error stays.
type cacheReader struct {
	b        []byte
	sections []cacheSection
	err      error
}

func (c *cacheReader) dataset(s *cacheSplit) *Dataset {
	d := &Dataset{
		Features:     valuesOf[float32](c, s.Features),
		Labels:       valuesOf[float32](c, s.Labels),
		Weights:      valuesOf[float32](c, s.Weights),
		QueryWeights: valuesOf[float32](c, s.QueryWeights),
		lines:        valuesOf[int32](c, s.Lines),
		Offsets:      c.ints(s.Offsets),
		FeatureIDs:   c.ints(s.FeatureIDs),
		QueryIDs:     c.strings(s.QueryIDs),
		DocumentIDs:  c.strings(s.DocumentIDs),
		FeatureNames: c.strings(s.FeatureNames),
		GroupNames:   c.strings(s.GroupNames),
	}
	if s.Groups != -1 {
		d.Groups = raised(c.ints(s.Groups), -1)
	}
	if s.PartLines != -1 {
		for _, line := range c.ints(s.PartLines) {
			d.parts = append(d.parts, part{line: line})
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
	if c.err = d.Validate(); c.err == nil && d.lines != nil && len(d.lines) != d.Rows() {
		c.err = fmt.Errorf("%d lines for %d rows", len(d.lines), d.Rows())
	}
	if c.err != nil {
		return nil
	}
	return d
}

func (c *cacheReader) section(i, size int) ([]byte, int) {
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

// valuesOf are the numbers of a section, where they are; −1 is the one that is nil.
func valuesOf[T float32 | int32](c *cacheReader, i int) []T {
	if i == -1 {
		return nil
	}
	b, n := c.section(i, 4)
	if n == 0 {
		return []T{}
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
}

func (c *cacheReader) ints(i int) []int {
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

// strings reads a list of strings; −1 is the one that is nil.
func (c *cacheReader) strings(i int) []string {
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

func encodeStrings(list []string) []byte {
	var b []byte
	for _, s := range list {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}

func encodeInts(list []int) []byte {
	b := make([]byte, 0, 8*len(list))
	for _, v := range list {
		b = binary.NativeEndian.AppendUint64(b, uint64(v))
	}
	return b
}

// raised is the numbers plus by: groups, of which −1 is none, are written from 0.
func raised(list []int, by int) []int {
	raised := make([]int, len(list))
	for i, v := range list {
		raised[i] = v + by
	}
	return raised
}

func bytesOf[T float32 | int32](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 4*len(values))
}

// A cacheBody is the bytes of a section, in blocks of cacheBlock.
type cacheBody struct {
	length int64
	block  func(i int) []byte
}

func bodyOf(b []byte) cacheBody {
	return cacheBody{int64(len(b)), func(i int) []byte { return b[i*cacheBlock : min(len(b), (i+1)*cacheBlock)] }}
}

// featuresOf is the features of a dataset, wherever they are.
func featuresOf(d *Dataset) cacheBody {
	if d.rows == nil {
		return bodyOf(bytesOf(d.Features))
	}
	w := d.Width()
	return cacheBody{int64(d.Rows()) * int64(w) * 4, func(i int) []byte {
		from := i * (cacheBlock / 4)
		to := min(from+cacheBlock/4, d.Rows()*w)
		first, last := from/w, (to+w-1)/w // rows, maybe only a part of them
		values := make([]float32, (last-first)*w)
		d.rows.read(values, first)
		return bytesOf(values[from-first*w : to-first*w])
	}}
}

func (b cacheBody) blocks() int { return int((b.length + cacheBlock - 1) / cacheBlock) }

func (b cacheBody) checksums() []uint32 {
	sums := make([]uint32, b.blocks())
	parallel(len(sums), func(i int) { sums[i] = crc32.Checksum(b.block(i), castagnoli) })
	return sums
}

// write writes all blocks; a failed write of out stays failed.
func (b cacheBody) write(out *bufio.Writer) {
	for i := range b.blocks() {
		if _, err := out.Write(b.block(i)); err != nil {
			return
		}
	}
}
