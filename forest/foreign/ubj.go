package foreign

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// A ubj is the rest of a text in Universal Binary JSON, as XGBoost writes it, and the JSON of what was read.
type ubj struct {
	in, out []byte
	depth   int
	err     error // the first, after which zeros are read
}

var errShort = errors.New("UBJ: the file is not complete")

// fromUBJ returns the JSON of a text.
func fromUBJ(data []byte) ([]byte, error) {
	u := ubj{in: data, out: make([]byte, 0, 2*len(data))}
	u.value(u.take(1)[0])
	if len(u.in) > 0 {
		u.fail(fmt.Errorf("UBJ: the file has %d bytes after its end", len(u.in)))
	}
	return u.out, u.err
}

func (u *ubj) fail(err error) {
	u.err = cmp.Or(u.err, err)
	u.in = nil
}

// take returns the next bytes: at most 8, or as many as there are.
func (u *ubj) take(n int) []byte {
	if n > len(u.in) {
		u.fail(errShort)
		return make([]byte, n)
	}
	head := u.in[:n]
	u.in = u.in[n:]
	return head
}

// sizes are the bytes of numbers.
var sizes = map[byte]int{'i': 1, 'U': 1, 'I': 2, 'l': 4, 'L': 8, 'd': 4, 'D': 8}

// whole reads an integer.
func (u *ubj) whole(kind byte) int64 {
	switch b := u.take(sizes[kind]); kind {
	case 'i':
		return int64(int8(b[0]))
	case 'U':
		return int64(b[0])
	case 'I':
		return int64(int16(binary.BigEndian.Uint16(b)))
	case 'l':
		return int64(int32(binary.BigEndian.Uint32(b)))
	case 'L':
		return int64(binary.BigEndian.Uint64(b))
	}
	u.fail(fmt.Errorf("UBJ: type %q, want a whole number", kind))
	return 0
}

// length reads a whole number, and its type before.
func (u *ubj) length() int {
	n := u.whole(u.take(1)[0])
	if n < 0 || n > int64(len(u.in)) {
		u.fail(errShort)
		return 0
	}
	return int(n)
}

func (u *ubj) text() {
	quoted, err := json.Marshal(string(u.take(u.length())))
	if u.out = append(u.out, quoted...); err != nil {
		u.fail(err)
	}
}

func (u *ubj) value(kind byte) {
	switch kind {
	case 'Z':
		u.out = append(u.out, "null"...)
	case 'T':
		u.out = append(u.out, "true"...)
	case 'F':
		u.out = append(u.out, "false"...)
	case 'S':
		u.text()
	case 'd':
		u.number(float64(math.Float32frombits(binary.BigEndian.Uint32(u.take(4)))), 32)
	case 'D':
		u.number(math.Float64frombits(binary.BigEndian.Uint64(u.take(8))), 64)
	case '{', '[':
		u.nested(kind)
	default:
		u.out = strconv.AppendInt(u.out, u.whole(kind), 10)
	}
}

// number writes a number of that many bits, null for one that is not finite.
func (u *ubj) number(v float64, bits int) {
	if v-v != 0 {
		u.value('Z')
		return
	}
	u.out = strconv.AppendFloat(u.out, v, 'g', -1, bits)
}

// nested reads an object or an array.
func (u *ubj) nested(kind byte) {
	if u.depth++; u.depth > 1000 {
		u.fail(errors.New("UBJ: it is nested more than 1000 deep"))
	}
	defer func() { u.depth-- }()
	end := kind + 2 // } and ]
	u.out = append(u.out, kind)
	all, count := byte(0), -1 // the type of all values, if they have one, and their number
	if len(u.in) > 1 && u.in[0] == '$' {
		if all = u.in[1]; sizes[all] == 0 {
			u.fail(fmt.Errorf("UBJ: an array of type %q, want numbers", all))
		}
		u.take(2)
	}
	if len(u.in) > 0 && u.in[0] == '#' {
		u.take(1)
		count = u.length()
	}
	if all != 0 && count < 0 {
		u.fail(errors.New("UBJ: an array with a type and without a length"))
	}
	for i := 0; i != count && u.err == nil; i++ {
		if count < 0 && len(u.in) > 0 && u.in[0] == end {
			u.take(1)
			break
		}
		if i > 0 {
			u.out = append(u.out, ',')
		}
		if kind == '{' {
			u.text()
			u.out = append(u.out, ':')
		}
		one := all
		if one == 0 {
			one = u.take(1)[0]
		}
		u.value(one)
	}
	u.out = append(u.out, end)
}
