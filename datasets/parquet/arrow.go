package parquet

import (
	"encoding/base64"
	"encoding/binary"

	"github.com/parquet-go/parquet-go/format"
)

// durations returns the names of the columns that the Arrow schema of a file says are durations, which have no type of
// their own in Parquet. A schema that cannot be read has none.
func durations(meta *format.FileMetaData) map[string]bool {
	found := map[string]bool{}
	for _, pair := range meta.KeyValueMetadata {
		b, err := base64.StdEncoding.DecodeString(pair.Value)
		if pair.Key != "ARROW:schema" || err != nil {
			continue
		}
		for len(b) >= 4 && int32(binary.LittleEndian.Uint32(b)) == -1 { // then the length of the message, and the message
			b = b[4:]
		}
		const header, fields, name, kind, duration = 2, 1, 0, 2, 18 // see Message.fbs and Schema.fbs of Arrow
		m := flat(b[min(4, len(b)):])
		list := m.follow(m.field(m.follow(m.field(m.follow(0), header)), fields))
		for i := range min(m.size(list), len(m)/4) {
			field := m.follow(list + 4 + 4*i)
			if m.number(m.field(field, kind), 1) == duration {
				from := m.follow(m.field(field, name))
				text := m[min(from+4, len(m)):]
				found[string(text[:min(m.size(from), len(text))])] = true
			}
		}
	}
	return found
}

// flat is a FlatBuffer. Whatever lies beyond its end is 0.
type flat []byte

// number returns the number of a few bytes at a position.
func (f flat) number(at, size int) (v int) {
	for i := range size {
		if at+i >= 0 && at+i < len(f) {
			v |= int(f[at+i]) << (8 * i)
		}
	}
	return v
}

// size returns the size or the offset at a position, cut to the length of all.
func (f flat) size(at int) int { return int(min(uint(f.number(at, 4)), uint(len(f)))) }

// follow returns the position that the offset at a position leads to, cut to the end.
func (f flat) follow(at int) int { return min(at+f.size(at), len(f)) }

// field returns the position of a field of the table at a position; beyond the end where the table lacks it.
func (f flat) field(table, n int) int {
	fields := table - int(int32(f.number(table, 4)))
	if at := 4 + 2*n; at < f.number(fields, 2) {
		if offset := f.number(fields+at, 2); offset > 0 {
			return table + offset
		}
	}
	return len(f)
}
