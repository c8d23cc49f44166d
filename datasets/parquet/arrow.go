package parquet

import (
	"encoding/base64"
	"encoding/binary"

	flatbuffers "github.com/google/flatbuffers/go"
)

// durations returns the names of the columns that the Arrow schema of a file says are durations, which have no type of
// their own in Parquet. A schema that cannot be read has none.
func durations(meta *fileMeta) map[string]bool {
	found := map[string]bool{}
	for _, pair := range meta.Pairs {
		b, err := base64.StdEncoding.DecodeString(pair.Value)
		if pair.Key == "ARROW:schema" && err == nil {
			addDurations(found, b)
		}
	}
	return found
}

// addDurations adds the names of a schema. It stops where that goes beyond its bytes, as the module panics there.
func addDurations(found map[string]bool, b []byte) {
	defer func() { _ = recover() }()
	for int32(binary.LittleEndian.Uint32(b)) == -1 { // then the length of the message, and the message
		b = b[4:]
	}
	b = b[4:]
	const header, fields, name, kind, duration = 2, 1, 0, 2, 18      // see Message.fbs and Schema.fbs of Arrow
	field := func(t flatbuffers.Table, n int) flatbuffers.UOffsetT { // its position, or the position of the table that lacks it
		return t.Pos + flatbuffers.UOffsetT(t.Offset(flatbuffers.VOffsetT(4+2*n)))
	}
	message := flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}
	schema := flatbuffers.Table{Bytes: b, Pos: message.Indirect(field(message, header))}
	list := schema.Indirect(field(schema, fields))
	for i := range flatbuffers.GetUOffsetT(b[list:]) {
		column := flatbuffers.Table{Bytes: b, Pos: schema.Indirect(list + 4 + 4*i)}
		if flatbuffers.GetByte(b[field(column, kind):]) == duration {
			found[string(column.ByteVector(field(column, name)))] = true
		}
	}
}
