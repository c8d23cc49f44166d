package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	mathbits "math/bits"
	"slices"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/plrank/plrank/datasets/internal/reader"
)

// mostPage bounds the bytes of a page, and so does mostRatio where it is compressed.
const (
	mostPage  = 1 << 28
	mostRatio = 2000
	smallPage = 1 << 20
)

// plainDictionary is what older writers call format.RLEDictionary.
const plainDictionary format.Encoding = 2

// pages are the pages of a column in a row group. Values are taken from them one after another.
type pages struct {
	leaf
	codec      format.CompressionCodec
	allowed    *allowance
	rest       []byte // the pages that follow
	read       int    // pages so far
	dictionary *vector

	left    int  // entries of the page: rows, or the numbers of lists, and lists without numbers
	repeats runs // by entry of a column of lists: 0 where a row begins, 1 elsewhere
	levels  runs // by entry: deepest for a value, less for null
	values  *vector
	indexes runs           // of values
	lists   reader.Vectors // of a column of lists: the rows that follow, as far as they are decoded

	room
}

// room is what was read last of a column. The next reading uses its memory again.
type room struct {
	present, starts, places []uint32  // by entry: levels, and repeats of lists; indexes of values
	floats                  []float32 // of lists
	texts                   [][]byte  // by row
	vectors                 reader.Vectors
	bytes                   []byte   // of a page of lists
	large                   [][]byte // numbers that float32 may not keep, the first ones
}

// next goes to the next page of data.
func (p *pages) next() error {
	for p.left == 0 {
		if len(p.rest) == 0 {
			return fmt.Errorf("%w: too few values", errDamaged)
		}
		h := new(format.PageHeader)
		n, err := decode(p.rest, h)
		if err != nil {
			return err
		}
		size, full := int(h.CompressedPageSize), int(h.UncompressedPageSize)
		if p.rest = p.rest[n:]; size < 0 || size > len(p.rest) || full < 0 || full > mostPage || full > max(smallPage, mostRatio*size) {
			return errDamaged
		}
		if err := p.allowed.take(full); err != nil {
			return err
		}
		body := p.rest[:size:size]
		p.rest = p.rest[size:]
		if p.read++; h.CRC != 0 && crc32.ChecksumIEEE(body) != uint32(h.CRC) { // 0: the writer gave none
			return fmt.Errorf("%w: the checksum of page %d is %08x, but its header says %08x",
				errDamaged, p.read, crc32.ChecksumIEEE(body), uint32(h.CRC))
		}
		switch {
		case h.DictionaryPageHeader.Valid:
			err = p.setDictionary(body, full, int(h.DictionaryPageHeader.V.NumValues))
		case h.DataPageHeader.Valid:
			err = p.setV1(body, full, &h.DataPageHeader.V)
		case h.DataPageHeaderV2.Valid:
			err = p.setV2(body, full, &h.DataPageHeaderV2.V)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *pages) setV1(body []byte, full int, h *format.DataPageHeader) error {
	b, err := p.decompress(p.codec, body, full)
	if err != nil {
		return err
	}
	var repeats, levels []byte
	if p.isList {
		if repeats, b, err = cutLevels(b, h.RepetitionLevelEncoding); err != nil {
			return err
		}
	}
	if p.deepest > 0 {
		if levels, b, err = cutLevels(b, h.DefinitionLevelEncoding); err != nil {
			return err
		}
	}
	return p.setValues(repeats, levels, b, int(h.NumValues), h.Encoding)
}

// cutLevels returns the levels at the beginning of a page, whose length stands before them, and the rest.
func cutLevels(b []byte, encoding format.Encoding) (levels, rest []byte, err error) {
	if encoding != format.RLE || len(b) < 4 {
		return nil, nil, fmt.Errorf("%w: levels are encoded as %v", errDamaged, encoding)
	}
	n := binary.LittleEndian.Uint32(b)
	if b = b[4:]; uint64(n) > uint64(len(b)) {
		return nil, nil, errDamaged
	}
	return b[:n], b[n:], nil
}

func (p *pages) setV2(body []byte, full int, h *format.DataPageHeaderV2) error {
	n, repeated := int(h.DefinitionLevelsByteLength), int(h.RepetitionLevelsByteLength)
	// Checksums are not of headers, but in these a column that is not nested leaves little choice.
	if n < 0 || repeated < 0 || n > min(len(body), full)-repeated ||
		!p.isList && (repeated != 0 || n > 0 && p.deepest == 0 || h.NumRows != h.NumValues) {
		return errDamaged
	}
	repeats, levels, body := body[:repeated], body[repeated:repeated+n], body[repeated+n:]
	if n == 0 { // all values are there
		levels = nil
	}
	codec := p.codec
	if h.IsCompressed.Valid && !h.IsCompressed.V {
		codec = format.Uncompressed
	}
	b, err := p.decompress(codec, body, full-repeated-n)
	if err != nil {
		return err
	}
	return p.setValues(repeats, levels, b, int(h.NumValues), h.Encoding)
}

// setValues begins the values of a page. Levels say which entries have one; nil: all have.
func (p *pages) setValues(repeats, levels, b []byte, rows int, encoding format.Encoding) error {
	if rows < 0 {
		return errDamaged
	}
	p.left, p.repeats, p.levels = rows, runs{b: repeats, width: 1}, runs{left: rows, value: p.deepest}
	if levels != nil {
		p.levels = runs{b: levels, width: uint(mathbits.Len32(p.deepest))}
	}
	switch {
	case encoding == format.RLE && p.kind == format.Boolean:
		if len(b) < 4 {
			return errDamaged
		}
		p.values, p.indexes = p.vector([]byte{2}, 2), runs{b: b[4:], width: 1} // of the bits 0 and 1
	case encoding == plainDictionary || encoding == format.RLEDictionary:
		if p.dictionary == nil {
			return fmt.Errorf("%w: no dictionary", errDamaged)
		}
		p.values, p.indexes = p.dictionary, runs{}
		if len(b) > 0 { // else all are null
			if b[0] > 32 {
				return errDamaged
			}
			p.indexes = runs{b: b[1:], width: uint(b[0])}
		}
	default:
		plain, err := p.decode(b, rows, encoding)
		if err != nil {
			return err
		}
		p.values, p.indexes = p.vector(plain, rows), runs{left: rows, step: 1}
	}
	return nil
}

func (p *pages) setDictionary(body []byte, full, entries int) error {
	b, err := p.decompress(p.codec, body, full)
	if err != nil {
		return err
	}
	p.bytes = nil // the dictionary keeps them
	if p.kind == format.Boolean || entries < 0 {
		return errDamaged
	}
	d := p.vector(b, entries)
	if d.n < entries {
		return errDamaged
	}
	p.dictionary = d
	if p.isNumber() {
		d.numbers = make([]float32, entries)
		for i := range d.numbers {
			v, err := p.at(d, i)
			if err != nil {
				return err
			}
			if d.numbers[i], err = p.number(v); err != nil {
				d.numbers[i] = infinite
			}
		}
	}
	return nil
}

var infinite = float32(math.Inf(1))

// vector is the values of a page or of a dictionary.
type vector struct {
	plain   []byte
	n       int       // values
	starts  []uint32  // of values in plain that have lengths of their own
	numbers []float32 // of a dictionary of numbers; infinite for one that cannot be a feature
}

// vector finds the values among plain ones, most of them at most.
func (l *leaf) vector(plain []byte, most int) *vector {
	v := &vector{plain: plain}
	switch {
	case l.kind == format.Boolean:
		v.n = min(most, 8*len(plain))
	case l.kind != format.ByteArray:
		v.n = min(most, len(plain)/l.size)
	default:
		v.starts = make([]uint32, 0, min(most, len(plain)/4))
		for at := 0; len(v.starts) < most && at <= len(plain)-4; {
			size := int(binary.LittleEndian.Uint32(plain[at:]))
			if size > len(plain)-4-at {
				break
			}
			v.starts = append(v.starts, uint32(at))
			at += 4 + size
		}
		v.n = len(v.starts)
	}
	return v
}

// at returns the i-th value.
func (l *leaf) at(v *vector, i int) ([]byte, error) {
	switch {
	case i >= v.n:
		return nil, errDamaged
	case l.kind == format.Boolean:
		return bits[v.plain[i/8]>>(i%8)&1], nil
	case l.kind != format.ByteArray:
		return v.plain[i*l.size : (i+1)*l.size], nil
	}
	value := v.plain[v.starts[i]:]
	n := binary.LittleEndian.Uint32(value)
	if l.form == decimal && (n == 0 || n > mostDecimal) {
		return nil, errDamaged
	}
	return value[4 : 4+n : 4+n], nil
}

// bits are booleans, as numbers of 8 bytes.
var bits = [2][]byte{make([]byte, 8), binary.LittleEndian.AppendUint64(nil, 1)}

var newZstd = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0))
})

// codecs unpack bytes to where there is room for all of them, and return their number.
var codecs = map[format.CompressionCodec]func(to, b []byte) (int, error){
	format.Snappy: func(to, b []byte) (int, error) {
		if n, err := snappy.DecodedLen(b); err != nil || n != len(to) {
			return 0, errDamaged
		}
		_, err := snappy.Decode(to, b)
		return len(to), err
	},
	format.Zstd: func(to, b []byte) (int, error) {
		z, err := newZstd()
		if err != nil {
			return 0, err
		}
		to, err = z.DecodeAll(b, to[:0])
		return len(to), err
	},
	format.Gzip: func(to, b []byte) (int, error) {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return 0, err
		}
		return io.ReadFull(z, to)
	},
	format.Brotli: func(to, b []byte) (int, error) { return io.ReadFull(brotli.NewReader(bytes.NewReader(b)), to) },
	format.Lz4Raw: func(to, b []byte) (int, error) { return lz4.UncompressBlock(b, to) },
}

// decompress gives the bytes of a page, full of them. They stay, except the numbers of lists, which are copied.
func (p *pages) decompress(codec format.CompressionCodec, b []byte, full int) ([]byte, error) {
	if codec == format.Uncompressed {
		if len(b) != full {
			return nil, errDamaged
		}
		return b, nil
	}
	unpack, known := codecs[codec]
	if !known {
		return nil, fmt.Errorf("%w: the compression %v: want Snappy, Zstandard, gzip, Brotli, LZ4_RAW or none", errUnread, codec)
	}
	to := p.bytes
	if cap(to) < full {
		to = make([]byte, full)
	}
	to = to[:full]
	if p.isList {
		p.bytes = to
	}
	if n, err := unpack(to, b); err != nil || n != full {
		return nil, errDamaged
	}
	return to, nil
}

// runs are numbers of a few bits: repeated ones, or bit-packed ones by eight.
type runs struct {
	b      []byte
	width  uint   // bits
	left   int    // numbers of the run
	packed []byte // the run, if it is not of one number
	at     int    // the next number of packed
	value  uint32
	step   uint32 // from each value to the next: 0 in files
}

// read sets the numbers that come next, n of them, in a slice that it may make longer.
func (r *runs) read(to []uint32, n int) ([]uint32, error) {
	all := slices.Grow(to[:0], n)[:n]
	for to = all; len(to) > 0; {
		if r.left == 0 {
			if err := r.next(); err != nil {
				return all, err
			}
		}
		n := min(len(to), r.left)
		if r.packed == nil {
			for i := range to[:n] {
				to[i] = r.value
				r.value += r.step
			}
		} else {
			for i := range to[:n] {
				to[i] = uint32(unpack(r.packed, uint(r.at+i), r.width))
			}
			r.at += n
		}
		to, r.left = to[n:], r.left-n
	}
	return all, nil
}

// next begins the next run.
func (r *runs) next() error {
	header, n := binary.Uvarint(r.b)
	if n <= 0 || header>>1 > math.MaxInt32 || header>>1 == 0 {
		return fmt.Errorf("%w: a run of %d numbers", errDamaged, header>>1)
	}
	*r = runs{b: r.b[n:], width: r.width, left: int(header >> 1)}
	size := int(r.width+7) / 8
	if header&1 == 1 {
		size = r.left * int(r.width)
		if r.left *= 8; size > len(r.b) { // the last run may lack what is not used
			size = len(r.b)
			if r.width > 0 {
				r.left = 8 * size / int(r.width)
			}
		}
		r.packed, r.b = r.b[:size:size], r.b[size:]
		if r.left == 0 {
			return errDamaged
		}
		return nil
	}
	if size > len(r.b) {
		return errDamaged
	}
	for i, c := range r.b[:size] {
		r.value |= uint32(c) << (8 * i)
	}
	if r.b = r.b[size:]; r.value>>r.width != 0 {
		return fmt.Errorf("%w: a run of %d in %d bits", errDamaged, r.value, r.width)
	}
	return nil
}
