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
	"time"

	"github.com/parquet-go/parquet-go/format"

	"github.com/plrank/plrank/internal/text"
)

var (
	errInfinite = errors.New("the value is infinite: want a finite number, or null where it is missing")
	errRange    = errors.New("the value is beyond the range of float32")
)

// fault is an error at one of the rows that were asked for.
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
		p.left -= rows // bytes may follow, as some writers pad pages
	}
	return nil
}

// cut cuts the next plain value off.
func (p *pages) cut() (value []byte, err error) {
	switch size := p.size; {
	case p.kind == format.ByteArray:
		value, p.plain, err = p.cutText(p.plain)
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
		if p.coded {
			if numbers := p.dictionary.numbers; int(index) < len(numbers) && numbers[index] != infinite {
				*v = numbers[index]
				return nil
			}
			if plain, err = p.entry(index); err != nil {
				return err
			}
		}
		if p.isNumber() {
			*v, err = p.number(plain)
		} else {
			*v, err = p.field(plain)
		}
		return err
	})
}

// field is a value that is not kept as a number as one. It is parsed for every row, and counted for each.
func (p *pages) field(plain []byte) (float32, error) {
	if err := p.allowed.take(len(plain)); err != nil {
		return 0, err
	}
	b := p.text(plain)
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
		if p.kind == format.ByteArray {
			taken += len(plain)
		}
		to[row] = p.text(plain)
		return nil
	})
	return cmp.Or(err, p.allowed.take(taken))
}

// text is a plain value as text files have it.
func (l *leaf) text(plain []byte) []byte {
	switch l.form {
	case textual:
		return plain
	case decimal:
		return point(l.digits(plain), l.scale)
	case half:
		return float(float64(float16(binary.LittleEndian.Uint16(plain))), 32)
	case uuid:
		return fmt.Appendf(nil, "%x-%x-%x-%x-%x", plain[:4], plain[4:6], plain[6:8], plain[8:10], plain[10:])
	case date:
		return time.Unix(86400*l.whole(plain), 0).UTC().AppendFormat(nil, time.DateOnly)
	case timeOfDay:
		return l.clock(plain)
	case timestamp:
		return append(l.moment(plain).AppendFormat(nil, "2006-01-02T15:04:05.999999999"), l.zone...)
	}
	switch l.kind {
	case format.Float:
		return float(float64(math.Float32frombits(binary.LittleEndian.Uint32(plain))), 32)
	case format.Double:
		return float(math.Float64frombits(binary.LittleEndian.Uint64(plain)), 64)
	}
	return l.digits(plain)
}

// float is a number as text: a whole one as digits, as it may be an id. Tables have such floats where one id is missing.
func float(v float64, bits int) []byte {
	if v == math.Trunc(v) && math.Abs(v) < 1e21 {
		return strconv.AppendFloat(nil, v+0, 'f', -1, bits) // +0 makes 0 of −0
	}
	return strconv.AppendFloat(nil, v, 'g', -1, bits)
}

// id is a value as an id; none for NaN, which stands for a missing id in a column of floats. It returns an error if another id may
// have become the same float.
func (l *leaf) id(value []byte) ([]byte, error) {
	digits := map[format.Type]int{format.Float: 24, format.Double: 53}[l.kind]
	if l.form == half {
		digits = 11
	}
	if digits == 0 || len(value) == 0 {
		return value, nil
	}
	v, err := strconv.ParseFloat(string(value), 64)
	switch {
	case err != nil || v != v:
		return nil, err
	case math.Abs(v) >= math.Ldexp(1, digits):
		return nil, fmt.Errorf("the id %s is kept as a float, which is not exact from 2^%d on: keep ids as whole numbers or text", value, digits)
	}
	return value, nil
}

// point puts a decimal point before the last digits.
func point(digits []byte, scale int) []byte {
	if scale == 0 {
		return digits
	}
	var sign []byte
	if digits[0] == '-' {
		sign, digits = digits[:1:1], digits[1:]
	}
	digits = append(bytes.Repeat([]byte("0"), max(0, 1+scale-len(digits))), digits...)
	at := len(digits) - scale
	return slices.Concat(sign, digits[:at], []byte("."), digits[at:])
}

// moment is the time of a timestamp.
func (l *leaf) moment(plain []byte) time.Time {
	v := l.whole(plain)
	if l.kind == format.Int96 { // nanoseconds of a Julian day
		const epoch = 2440588 // 1970-01-01
		day := int64(binary.LittleEndian.Uint32(plain[8:])) - epoch
		return time.Unix(86400*day, v).UTC()
	}
	second := int64(time.Second / l.unit)
	return time.Unix(v/second, v%second*int64(l.unit)).UTC()
}

// clock is a time of day.
func (l *leaf) clock(plain []byte) []byte {
	v, second := l.whole(plain), int64(time.Second/l.unit)
	hours := v / second / 3600 // one day has 24, and what is not one stays what it is
	rest := time.Unix(v/second%3600, v%second*int64(l.unit)).UTC()
	return append(rest.AppendFormat(fmt.Appendf(nil, "%02d:", hours), "04:05.999999999"), l.zone...)
}

// digits returns all digits of a plain value of a type of whole numbers: it may be an id.
func (l *leaf) digits(plain []byte) []byte {
	switch {
	case l.kind == format.ByteArray || l.kind == format.FixedLenByteArray:
		v := new(big.Int).SetBytes(plain)
		if plain[0]>>7 == 1 { // it is negative
			v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(plain))))
		}
		return v.Append(nil, 10)
	case l.form == unsigned:
		return strconv.AppendUint(nil, uint64(l.whole(plain)), 10)
	}
	return strconv.AppendInt(nil, l.whole(plain), 10)
}

// whole is a plain value of 4 bytes or more as a whole number, or the bits of an unsigned one of 8.
func (l *leaf) whole(plain []byte) int64 {
	switch {
	case l.kind == format.Int32 && l.form == unsigned:
		return int64(binary.LittleEndian.Uint32(plain))
	case l.kind == format.Int32:
		return int64(int32(binary.LittleEndian.Uint32(plain)))
	}
	return int64(binary.LittleEndian.Uint64(plain))
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
