package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go/format"

	"github.com/plrank/plrank/datasets/internal/text"
)

var (
	errInfinite = errors.New("the value is infinite: want a finite number, or null where it is missing")
	errRange    = errors.New("the value is beyond the range of float32")
)

// fault is an error at a row, of those that were asked for.
type fault struct {
	row int
	error
}

// room is what a reader of values uses again.
type room struct {
	present, indexes []uint32
}

// each takes n rows, and calls set with those that are not null: with an index of the dictionary, or
// with plain bytes.
func (p *pages) each(n int, space *room, set func(row int, index uint32, plain []byte) error) error {
	for row := 0; row < n; {
		if err := p.next(); err != nil {
			return err
		}
		rows := min(n-row, p.left)
		space.present = slices.Grow(space.present[:0], rows)[:rows]
		values := rows
		if p.nulls {
			if err := p.present.read(space.present); err != nil {
				return err
			}
			values = 0
			for _, is := range space.present {
				values += int(is)
			}
		}
		space.indexes = slices.Grow(space.indexes[:0], values)[:values]
		if p.coded {
			if err := p.indexes.read(space.indexes); err != nil {
				return err
			}
		}
		used := 0
		for i := range rows {
			if p.nulls && space.present[i] == 0 {
				continue
			}
			var plain []byte
			var err error
			if !p.coded {
				plain, err = p.cut()
			}
			if err == nil {
				err = set(row+i, space.indexes[used], plain)
			}
			if err != nil {
				return fault{row + i, err}
			}
			used++
		}
		row += rows
		p.left -= rows
	}
	return nil
}

// cut cuts the next plain value off.
func (p *pages) cut() (value []byte, err error) {
	switch size := p.size; {
	case p.kind == format.ByteArray:
		value, p.plain, err = cutText(p.plain)
		return value, err
	case p.kind == format.Boolean:
		if len(p.plain) == 0 {
			return nil, errDamaged
		}
		value = bits[p.plain[0]>>p.bit&1]
		if p.bit++; p.bit == 8 {
			p.bit, p.plain = 0, p.plain[1:]
		}
		return value, nil
	case len(p.plain) < size:
		return nil, errDamaged
	default:
		value, p.plain = p.plain[:size], p.plain[size:]
		return value, nil
	}
}

// bits are booleans, as numbers of 8 bytes.
var bits = [2][]byte{make([]byte, 8), binary.LittleEndian.AppendUint64(nil, 1)}

// numbers sets every stride-th of to, for n rows, to the values of features.
func (p *pages) numbers(to []float32, stride, n int, space *room) error {
	for i := range n {
		to[i*stride] = text.Missing
	}
	return p.each(n, space, func(row int, index uint32, plain []byte) (err error) {
		v := &to[row*stride]
		switch {
		case !p.coded && p.isText():
			*v, err = p.field(plain)
		case !p.coded:
			*v, err = p.number(plain)
		case int(index) < len(p.dictionary.numbers):
			if *v = p.dictionary.numbers[index]; *v == infinite {
				*v, err = p.number(p.dictionary.plain[int(index)*p.size:])
			}
		default:
			if plain, err = p.entry(index); err == nil {
				*v, err = p.field(plain)
			}
		}
		return err
	})
}

// field is text as a number. It is parsed for every row, and counted for each.
func (p *pages) field(b []byte) (float32, error) {
	if err := p.allowed.take(len(b)); err != nil {
		return 0, err
	}
	v, err := text.Field(b)
	if err != nil {
		err = fmt.Errorf("%s is %w", text.Quote(b), err)
	}
	return v, err
}

// texts sets n rows to the values as text, nil for null. Rows may have one text of a dictionary, which
// is copied for each of them later: it counts for each.
func (p *pages) texts(to [][]byte, n int, space *room) error {
	clear(to[:n])
	taken := 0
	err := p.each(n, space, func(row int, index uint32, plain []byte) error {
		if p.coded {
			var err error
			if plain, err = p.entry(index); err != nil {
				return err
			}
		}
		if p.isText() {
			taken += len(plain)
		}
		to[row] = p.text(plain)
		return nil
	})
	return cmp.Or(err, p.allowed.take(taken))
}

// text is a plain value as text files have it.
func (l leaf) text(plain []byte) []byte {
	switch {
	case l.kind == format.ByteArray:
		return plain
	case l.half:
		return strconv.AppendFloat(nil, float64(half(binary.LittleEndian.Uint16(plain))), 'g', -1, 32)
	case l.kind == format.Float:
		return strconv.AppendFloat(nil, float64(math.Float32frombits(binary.LittleEndian.Uint32(plain))), 'g', -1, 32)
	case l.kind == format.Double:
		return strconv.AppendFloat(nil, math.Float64frombits(binary.LittleEndian.Uint64(plain)), 'g', -1, 64)
	case l.scale == 0:
		return l.digits(plain)
	}
	digits := l.digits(plain)
	var sign []byte
	if digits[0] == '-' {
		sign, digits = digits[:1:1], digits[1:]
	}
	digits = append(bytes.Repeat([]byte("0"), max(0, 1+l.scale-len(digits))), digits...)
	point := len(digits) - l.scale
	return slices.Concat(sign, digits[:point], []byte("."), digits[point:])
}

// digits are those of a plain value of a type of whole numbers, all of them: it may be an id.
func (l leaf) digits(plain []byte) []byte {
	switch {
	case l.kind == format.FixedLenByteArray:
		v := new(big.Int).SetBytes(plain[:l.size])
		if plain[0]>>7 == 1 { // it is negative
			v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*l.size)))
		}
		return v.Append(nil, 10)
	case l.kind == format.Int32 && l.unsigned:
		return strconv.AppendUint(nil, uint64(binary.LittleEndian.Uint32(plain)), 10)
	case l.kind == format.Int32:
		return strconv.AppendInt(nil, int64(int32(binary.LittleEndian.Uint32(plain))), 10)
	case l.unsigned:
		return strconv.AppendUint(nil, binary.LittleEndian.Uint64(plain), 10)
	}
	return strconv.AppendInt(nil, int64(binary.LittleEndian.Uint64(plain)), 10)
}

// runs are numbers of a few bits: repeated ones, or bit-packed ones by eight.
type runs struct {
	b      []byte
	width  uint   // bits
	left   int    // numbers of the run
	packed []byte // the run, if it is not of one number
	at     int    // the next number of packed
	value  uint32
}

// read reads as many numbers as there is room for.
func (r *runs) read(to []uint32) error {
	for len(to) > 0 {
		if r.left == 0 {
			if err := r.next(); err != nil {
				return err
			}
		}
		n := min(len(to), r.left)
		if r.packed == nil {
			for i := range to[:n] {
				to[i] = r.value
			}
		} else {
			for i := range to[:n] {
				to[i] = r.unpack(r.at + i)
			}
			r.at += n
		}
		to, r.left = to[n:], r.left-n
	}
	return nil
}

// next begins the next run.
func (r *runs) next() error {
	header, n := binary.Uvarint(r.b)
	if n <= 0 || header>>1 > math.MaxInt32 || header>>1 == 0 {
		return fmt.Errorf("%w: a run of %d numbers", errDamaged, header>>1)
	}
	r.b, r.left, r.packed, r.at = r.b[n:], int(header>>1), nil, 0
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
	r.value = 0
	for i, c := range r.b[:size] {
		r.value |= uint32(c) << (8 * i)
	}
	r.b = r.b[size:]
	return nil
}

// unpack is the i-th number of the packed ones.
func (r *runs) unpack(i int) uint32 {
	bit := uint(i) * r.width
	at := r.packed[bit/8:]
	var v uint64
	if len(at) >= 8 {
		v = binary.LittleEndian.Uint64(at)
	} else {
		for j, c := range at {
			v |= uint64(c) << (8 * j)
		}
	}
	return uint32(v >> (bit % 8) & (1<<r.width - 1))
}
