package parquet

import (
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/parquet-go/parquet-go/format"
)

// decode returns the values of a page of the given number of rows as plain ones.
func (p *pages) decode(b []byte, rows int, encoding format.Encoding) (plain []byte, err error) {
	numbers := p.kind == format.Int32 || p.kind == format.Int64
	texts := p.kind == format.ByteArray || p.kind == format.FixedLenByteArray
	switch {
	case encoding == format.Plain:
		return b, nil
	case encoding == format.ByteStreamSplit && p.size > 0:
		n := len(b) / p.size
		plain = make([]byte, n*p.size)
		for k := range p.size {
			for i, c := range b[k*n : (k+1)*n] {
				plain[i*p.size+k] = c
			}
		}
		return plain, nil
	case encoding == format.DeltaBinaryPacked && numbers:
		values, _, err := p.deltas(b, rows)
		for _, v := range values {
			if plain = binary.LittleEndian.AppendUint64(plain, uint64(v)); p.size == 4 {
				plain = plain[:len(plain)-4]
			}
		}
		return plain, err
	case encoding == format.DeltaLengthByteArray && p.kind == format.ByteArray:
		return p.suffixes(b, nil, rows)
	case encoding == format.DeltaByteArray && texts:
		shared, b, err := p.deltas(b, rows)
		if err != nil {
			return nil, err
		}
		return p.suffixes(b, shared, rows)
	}
	return nil, fmt.Errorf("%w: %v in the encoding %v", errUnread, p.kind, encoding)
}

// deltas decodes numbers that are kept as differences, most of them at most, and returns the bytes that follow.
func (p *pages) deltas(b []byte, most int) (values []int64, rest []byte, err error) {
	var head [4]uint64 // numbers of a block, its parts, numbers in all, and the first one
	for i := range head {
		if head[i], b, err = varint(b); err != nil {
			return nil, nil, err
		}
	}
	block, parts, count, value := head[0], head[1], head[2], zigzag(head[3])
	if block > 1<<20 || parts == 0 || parts > block || block%(8*parts) != 0 || count > uint64(most) {
		return nil, nil, fmt.Errorf("%w: %d differences in blocks of %d, with %d parts", errDamaged, count, block, parts)
	}
	if err := p.allowed.take(8 * int(count)); err != nil {
		return nil, nil, err
	}
	values = make([]int64, 0, count)
	if count > 0 {
		values = append(values, value)
	}
	for len(values) < int(count) {
		least, after, err := varint(b)
		if err != nil || uint64(len(after)) < parts {
			return nil, nil, errDamaged
		}
		widths := after[:parts]
		b = after[parts:]
		for _, width := range widths {
			n := min(int(block/parts), int(count)-len(values))
			if n == 0 {
				break // parts that are not used have any width, and no bytes
			}
			if need := (n*int(width) + 7) / 8; width > 64 || need > len(b) {
				return nil, nil, errDamaged
			}
			for i := range n {
				value += zigzag(least) + int64(unpack(b, uint(i), uint(width)))
				values = append(values, value)
			}
			b = b[min(len(b), int(block/parts)*int(width)/8):]
		}
	}
	return values, b, nil
}

// suffixes decodes texts. Each begins with the first bytes of the text before it, as many as shared says; nil: with none.
func (p *pages) suffixes(b []byte, shared []int64, rows int) (plain []byte, err error) {
	lengths, b, err := p.deltas(b, rows)
	if shared == nil {
		shared = make([]int64, len(lengths))
	}
	if err != nil || len(shared) != len(lengths) {
		return nil, cmp.Or(err, errDamaged)
	}
	all, last, fixed := 0, int64(0), p.kind != format.ByteArray
	for i, n := range lengths {
		if shared[i] < 0 || shared[i] > last || n < 0 || n > int64(len(b)) || fixed && shared[i]+n != int64(p.size) || all > mostPage {
			return nil, errDamaged
		}
		last = shared[i] + n
		all += 4 + int(last)
	}
	if err := p.allowed.take(all); err != nil {
		return nil, err
	}
	plain = make([]byte, 0, all)
	var text []byte
	for i, n := range lengths {
		if n > int64(len(b)) {
			return nil, errDamaged
		}
		if !fixed {
			plain = binary.LittleEndian.AppendUint32(plain, uint32(shared[i]+n))
		}
		at := len(plain)
		plain = append(append(plain, text[:shared[i]]...), b[:n]...)
		text, b = plain[at:], b[n:]
	}
	return plain, nil
}

// varint cuts a number off that has as many bytes as it needs.
func varint(b []byte) (v uint64, rest []byte, err error) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, errDamaged
	}
	return v, b[n:], nil
}

// zigzag returns the number with a sign that a varint stands for: 0, −1, 1, −2, 2, …
func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// unpack is the i-th of the numbers of width bits in b.
func unpack(b []byte, i, width uint) uint64 {
	b, shift := b[i*width/8:], i*width%8
	var v uint64
	if len(b) >= 8 {
		v = binary.LittleEndian.Uint64(b)
	} else {
		for j, c := range b {
			v |= uint64(c) << (8 * j)
		}
	}
	v >>= shift
	if shift+width > 64 && len(b) > 8 {
		v |= uint64(b[8]) << (64 - shift)
	}
	return v & (1<<width - 1)
}
