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

	"github.com/plrank/plrank/datasets/internal/reader"
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

// take reads the next n entries of a page: their levels, and the indexes of the values that they have.
func (p *pages) take(n int) (err error) {
	p.left -= n // bytes may follow, as some writers pad pages
	if p.present, err = p.levels.read(p.present, n); err != nil {
		return err
	}
	values := 0
	for _, level := range p.present {
		if level == p.deepest {
			values++
		}
	}
	p.places, err = p.indexes.read(p.places, values)
	return err
}

// each takes n rows, and calls set with each row that is not null and the index of its value.
func (p *pages) each(n int, set func(row, i int) error) (err error) {
	for row := 0; row < n; {
		if err := p.next(); err != nil {
			return err
		}
		if err := p.take(min(n-row, p.left)); err != nil {
			return err
		}
		used := 0
		for i, level := range p.present {
			if level != p.deepest {
				continue
			}
			if err := set(row+i, int(p.places[used])); err != nil {
				return fault{row + i, err}
			}
			used++
		}
		row += len(p.present)
	}
	return nil
}

// numbers sets every stride-th of to, for n rows, to the values of features, and notes the first large ones.
func (p *pages) numbers(to []float32, stride, n int) error {
	p.large = p.large[:0]
	for i := range n {
		to[i*stride] = text.Missing
	}
	return p.each(n, func(row, i int) error {
		v, err := p.feature(i)
		to[row*stride] = v
		if err == nil && max(v, -v) >= reader.Inexact && len(p.large) < reader.MostLarge {
			plain, _ := p.at(p.values, i) // which feature has found
			p.large = append(p.large, p.text(plain))
		}
		return err
	})
}

// feature returns the i-th value of a page as a feature.
func (p *pages) feature(i int) (float32, error) {
	if known := p.values.numbers; i < len(known) && known[i] != infinite {
		return known[i], nil
	}
	plain, err := p.at(p.values, i)
	if err != nil {
		return 0, err
	}
	return p.number(plain)
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

// readTexts sets the texts to the next n rows, nil for null. Rows may have one text of a dictionary, which
// is copied for each of them later: it counts for each.
func (p *pages) readTexts(n int) error {
	p.texts = slices.Grow(p.texts[:0], n)[:n]
	clear(p.texts)
	taken := 0
	err := p.each(n, func(row, i int) error {
		plain, err := p.at(p.values, i)
		if err != nil {
			return err
		}
		if p.kind == format.ByteArray {
			taken += len(plain)
		}
		p.texts[row] = p.text(plain)
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
