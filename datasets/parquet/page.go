package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"

	"github.com/plrank/plrank/internal/text"
)

// mostPage bounds the bytes of a page, and so does mostRatio where it is compressed.
const (
	mostPage  = 1 << 28
	mostRatio = 2000
	smallPage = 1 << 20
)

// pages are the pages of a column in a row group. Values are taken from them one after another.
type pages struct {
	leaf
	codec      format.CompressionCodec
	allowed    *allowance
	rest       []byte // the pages that follow
	read       int    // pages so far
	dictionary *dictionary

	left    int  // rows of the page
	nulls   bool // there may be some
	present runs // if so: 1 for a value, 0 for null
	indexes runs // of values in the dictionary, or of booleans
	coded   bool // values are indexes
	plain   []byte
	bit     uint // of plain booleans
}

// dictionary is the values that pages refer to.
type dictionary struct {
	plain   []byte
	entries int
	starts  []uint32  // of entries in plain that have lengths of their own
	numbers []float32 // of other types of numbers; infinite for one that cannot be a feature
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
			return fmt.Errorf("%w: the checksum of page %d is %08x, but its header says %08x", errDamaged, p.read, crc32.ChecksumIEEE(body), uint32(h.CRC))
		}
		switch {
		case h.DictionaryPageHeader.Valid:
			err = p.setDictionary(body, full, &h.DictionaryPageHeader.V)
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
	b, err := decompress(p.codec, body, full)
	if err != nil {
		return err
	}
	if p.nulls = p.optional; p.nulls {
		if h.DefinitionLevelEncoding != format.RLE || len(b) < 4 {
			return fmt.Errorf("%w: nulls are encoded as %v", errDamaged, h.DefinitionLevelEncoding)
		}
		n := binary.LittleEndian.Uint32(b)
		if b = b[4:]; uint64(n) > uint64(len(b)) {
			return errDamaged
		}
		p.present, b = runs{b: b[:n], width: 1}, b[n:]
	}
	return p.setValues(b, int(h.NumValues), h.Encoding)
}

func (p *pages) setV2(body []byte, full int, h *format.DataPageHeaderV2) error {
	levels, repeated := int(h.DefinitionLevelsByteLength), int(h.RepetitionLevelsByteLength)
	// Checksums are not of headers, but in these a column that is not nested leaves little choice.
	if levels < 0 || repeated != 0 || levels > 0 && !p.optional || h.NumRows != h.NumValues || levels > len(body) || levels > full {
		return errDamaged
	}
	p.nulls = levels > 0
	p.present = runs{b: body[:levels], width: 1}
	codec := p.codec
	if h.IsCompressed.Valid && !h.IsCompressed.V {
		codec = format.Uncompressed
	}
	b, err := decompress(codec, body[levels:], full-levels)
	if err != nil {
		return err
	}
	return p.setValues(b, int(h.NumValues), h.Encoding)
}

// setValues begins the values of a page.
func (p *pages) setValues(b []byte, rows int, encoding format.Encoding) error {
	if rows < 0 {
		return errDamaged
	}
	p.left, p.plain, p.bit, p.coded = rows, nil, 0, true
	switch {
	case encoding == format.Plain:
		p.plain, p.coded = b, false
	case encoding == format.RLE && p.kind == format.Boolean:
		if len(b) < 4 {
			return errDamaged
		}
		p.indexes = runs{b: b[4:], width: 1}
		p.dictionary = &dictionary{entries: 2, numbers: []float32{0, 1}}
	//lint:ignore SA1019 files of older writers have the deprecated name
	case encoding == format.PlainDictionary || encoding == format.RLEDictionary:
		if p.dictionary == nil {
			return fmt.Errorf("%w: no dictionary", errDamaged)
		}
		p.indexes = runs{}
		if len(b) > 0 { // else all are null
			if b[0] > 32 {
				return errDamaged
			}
			p.indexes = runs{b: b[1:], width: uint(b[0])}
		}
	default:
		return fmt.Errorf("%w: the encoding %v: want plain values or a dictionary, as most programs write unless told otherwise", errUnread, encoding)
	}
	return nil
}

func (p *pages) setDictionary(body []byte, full int, h *format.DictionaryPageHeader) error {
	b, err := decompress(p.codec, body, full)
	if err != nil {
		return err
	}
	n, size := int(h.NumValues), p.size
	least := size // bytes of an entry
	if p.kind == format.ByteArray {
		least = 4
	}
	if n < 0 || least == 0 || n > len(b)/least {
		return errDamaged
	}
	d := &dictionary{plain: b, entries: n}
	p.dictionary = d
	switch {
	case p.kind == format.ByteArray:
		d.starts = make([]uint32, n)
		for i := range d.starts {
			d.starts[i] = uint32(len(d.plain) - len(b))
			if _, b, err = p.cutText(b); err != nil {
				return err
			}
		}
	case p.isNumber():
		d.numbers = make([]float32, n)
		for i := range d.numbers {
			if d.numbers[i], err = p.number(b[i*size : (i+1)*size]); err != nil {
				d.numbers[i] = infinite
			}
		}
	}
	return nil
}

var infinite = float32(math.Inf(1))

// entry is a plain value of the dictionary.
func (p *pages) entry(index uint32) ([]byte, error) {
	d := p.dictionary
	switch i := int(index); {
	case i >= d.entries:
		return nil, errDamaged
	case p.kind == format.ByteArray:
		value, _, err := p.cutText(d.plain[d.starts[i]:])
		return value, err
	case p.kind == format.Boolean:
		return bits[i], nil
	default:
		return d.plain[i*p.size : (i+1)*p.size], nil
	}
}

// cutText cuts the first value off plain ones that have lengths of their own.
func (l *leaf) cutText(b []byte) (value, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errDamaged
	}
	n := binary.LittleEndian.Uint32(b)
	if b = b[4:]; uint64(n) > uint64(len(b)) || l.form == decimal && (n == 0 || n > mostDecimal) {
		return nil, nil, errDamaged
	}
	return b[:n:n], b[n:], nil
}

// number is a plain value as a feature.
func (l *leaf) number(b []byte) (float32, error) {
	var v float64
	switch {
	case l.form == decimal:
		v, _, err := text.Float32(l.text(b))
		return v, err
	case l.form == half:
		v = float64(float16(binary.LittleEndian.Uint16(b)))
	case l.kind == format.Float:
		v = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case l.kind == format.Double:
		v = math.Float64frombits(binary.LittleEndian.Uint64(b))
	case l.form == unsigned:
		return float32(uint64(l.whole(b))), nil
	default:
		return float32(l.whole(b)), nil
	}
	if f := float32(v); f-f == 0 || v != v {
		return f, nil
	}
	if math.IsInf(v, 0) {
		return 0, errInfinite
	}
	return 0, errRange
}

// float16 is the number with these bits of IEEE's binary16.
func float16(bits uint16) float32 {
	v := math.Float32frombits(uint32(bits&0x7fff)<<13) * 0x1p112 // the bias of exponents is 15, not 127
	if v >= 0x1p16 {
		v = math.Float32frombits(uint32(bits&0x3ff)<<13 | 0x7f800000) // infinite or NaN
	}
	if bits>>15 == 1 {
		v = -v
	}
	return v
}

var unzip = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0))
})

// decompress gives the bytes of a page, full of them.
func decompress(codec format.CompressionCodec, b []byte, full int) ([]byte, error) {
	if full < 0 {
		return nil, errDamaged
	}
	var err error
	switch codec {
	case format.Uncompressed:
	case format.Snappy:
		if n, fault := snappy.DecodedLen(b); fault != nil || n != full {
			return nil, errDamaged
		}
		b, err = snappy.Decode(make([]byte, full), b)
	case format.Zstd:
		var z *zstd.Decoder
		if z, err = unzip(); err == nil {
			b, err = z.DecodeAll(b, make([]byte, 0, full))
		}
	case format.Gzip:
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(b)); err == nil {
			b = make([]byte, full)
			_, err = io.ReadFull(z, b)
		}
	default:
		return nil, fmt.Errorf("%w: the compression %v: want Snappy, Zstandard, gzip or none", errUnread, codec)
	}
	if err != nil || len(b) != full {
		return nil, errDamaged
	}
	return b, nil
}
