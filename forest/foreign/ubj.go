package foreign

import (
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
}

var errShort = errors.New("UBJ: the file is not complete")

// fromUBJ returns the JSON of a text.
func fromUBJ(data []byte) ([]byte, error) {
	u := ubj{in: data, out: make([]byte, 0, 2*len(data))}
	kind, err := u.take(1)
	if err == nil {
		err = u.value(kind[0])
	}
	if err == nil && len(u.in) > 0 {
		err = fmt.Errorf("UBJ: the file has %d bytes after its end", len(u.in))
	}
	return u.out, err
}

func (u *ubj) take(n int) ([]byte, error) {
	if n < 0 || n > len(u.in) {
		return nil, errShort
	}
	head := u.in[:n]
	u.in = u.in[n:]
	return head, nil
}

// sizes are the bytes of numbers.
var sizes = map[byte]int{'i': 1, 'U': 1, 'I': 2, 'l': 4, 'L': 8, 'd': 4, 'D': 8}

// whole reads an integer.
func (u *ubj) whole(kind byte) (int64, error) {
	b, err := u.take(sizes[kind])
	if err != nil {
		return 0, err
	}
	switch kind {
	case 'i':
		return int64(int8(b[0])), nil
	case 'U':
		return int64(b[0]), nil
	case 'I':
		return int64(int16(binary.BigEndian.Uint16(b))), nil
	case 'l':
		return int64(int32(binary.BigEndian.Uint32(b))), nil
	case 'L':
		return int64(binary.BigEndian.Uint64(b)), nil
	}
	return 0, fmt.Errorf("UBJ: type %q, want a whole number", kind)
}

// length reads a whole number, and its type before.
func (u *ubj) length() (int, error) {
	kind, err := u.take(1)
	if err != nil {
		return 0, err
	}
	n, err := u.whole(kind[0])
	if err == nil && (n < 0 || n > int64(len(u.in))) {
		err = errShort
	}
	return int(n), err
}

func (u *ubj) text() error {
	n, err := u.length()
	if err != nil {
		return err
	}
	b, err := u.take(n)
	if err != nil {
		return err
	}
	quoted, err := json.Marshal(string(b))
	u.out = append(u.out, quoted...)
	return err
}

func (u *ubj) value(kind byte) (err error) {
	switch kind {
	case 'Z':
		u.out = append(u.out, "null"...)
	case 'T':
		u.out = append(u.out, "true"...)
	case 'F':
		u.out = append(u.out, "false"...)
	case 'S':
		return u.text()
	case 'd', 'D':
		b, err := u.take(sizes[kind])
		if err != nil {
			return err
		}
		v, bits := 0., 64
		if kind == 'd' {
			v, bits = float64(math.Float32frombits(binary.BigEndian.Uint32(b))), 32
		} else {
			v = math.Float64frombits(binary.BigEndian.Uint64(b))
		}
		if v-v != 0 {
			return u.value('Z')
		}
		u.out = strconv.AppendFloat(u.out, v, 'g', -1, bits)
	case '{', '[':
		return u.nested(kind)
	default:
		v, err := u.whole(kind)
		u.out = strconv.AppendInt(u.out, v, 10)
		return err
	}
	return nil
}

// nested reads an object or an array.
func (u *ubj) nested(kind byte) error {
	if u.depth++; u.depth > 1000 {
		return errors.New("UBJ: it is nested more than 1000 deep")
	}
	defer func() { u.depth-- }()
	end := kind + 2 // } and ]
	u.out = append(u.out, kind)
	of, count := byte(0), -1
	if len(u.in) > 1 && u.in[0] == '$' {
		if of = u.in[1]; sizes[of] == 0 {
			return fmt.Errorf("UBJ: an array of type %q, want numbers", of)
		}
		u.in = u.in[2:]
	}
	if len(u.in) > 0 && u.in[0] == '#' {
		u.in = u.in[1:]
		n, err := u.length()
		if err != nil {
			return err
		}
		count = n
	}
	if of != 0 && count < 0 {
		return errors.New("UBJ: an array with a type and without a length")
	}
	for i := 0; i != count; i++ {
		if len(u.in) == 0 {
			return errShort
		}
		if count < 0 && u.in[0] == end {
			u.in = u.in[1:]
			break
		}
		if i > 0 {
			u.out = append(u.out, ',')
		}
		if kind == '{' {
			if err := u.text(); err != nil {
				return err
			}
			u.out = append(u.out, ':')
		}
		of := of
		if of == 0 {
			b, err := u.take(1)
			if err != nil {
				return err
			}
			of = b[0]
		}
		if err := u.value(of); err != nil {
			return err
		}
	}
	u.out = append(u.out, end)
	return nil
}
