package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// pageOf is the pages of a column in a file of a megabyte, to decode values of.
func pageOf(kind format.Type) *pages {
	return &pages{leaf: leaf{kind: kind, size: sizes[kind]}, allowed: newAllowance(1 << 20)}
}

// wholes are numbers as plain values.
func wholes(values []int64) (plain []byte) {
	for _, v := range values {
		plain = binary.LittleEndian.AppendUint64(plain, uint64(v))
	}
	return plain
}

// The bytes are the second example of the format's page on encodings: 7, 5, 3, 1, 2, 3, 4, 5, whose differences are −2, −2,
// −2, 1, 1, 1, 1, of at least −2, so that 0, 0, 0, 3, 3, 3, 3 are kept, in two bits each, first bits first, and filled up to
// 32 numbers.
func TestDifferencesOfTheSpecification(t *testing.T) {
	encoded := append([]byte{128, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0xc0, 0x3f}, make([]byte, 6)...)
	values, rest, err := pageOf(format.Int64).deltas(append(encoded, "rest"...), 8)
	if want := []int64{7, 5, 3, 1, 2, 3, 4, 5}; err != nil || !slices.Equal(values, want) || string(rest) != "rest" {
		t.Errorf("%v, rest %q, error %v, want %v", values, rest, err, want)
	}
	for n := range encoded[:12] {
		if _, _, err := pageOf(format.Int64).deltas(encoded[:n], 8); !errors.Is(err, errDamaged) {
			t.Errorf("%d bytes: error %v", n, err)
		}
	}
	for at, b := range map[int]byte{0: 129, 2: 0, 3: 9, 6: 65} { // an odd block, no parts, more numbers than rows, bits of no number
		damaged := bytes.Clone(encoded)
		damaged[at] = b
		if _, _, err := pageOf(format.Int64).deltas(damaged, 8); !errors.Is(err, errDamaged) {
			t.Errorf("byte %d is %d: error %v", at, b, err)
		}
	}
}

// Numbers that differ by up to w bits are what they were, for every w, as another program encodes them.
func TestDifferencesOfEveryWidth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	for width := range 65 {
		for _, n := range []int{0, 1, 2, 33, 300} {
			values := make([]int64, n)
			for i := range values {
				values[i] = int64(rng.Uint64() & (1<<width - 1))
			}
			b, err := parquet.DeltaBinaryPacked.EncodeInt64(nil, values)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := pageOf(format.Int64).decode(b, n, format.DeltaBinaryPacked); err != nil || !bytes.Equal(got, wholes(values)) {
				t.Errorf("%d numbers of %d bits: %v, error %v, want %v", n, width, got, err, wholes(values))
			}
		}
	}
}

// Bytes that claim more values than a file of their size may have are refused before there is room for these.
func TestEncodingsAllocateLittle(t *testing.T) {
	encode := func(values ...int32) []byte {
		b, err := parquet.DeltaBinaryPacked.EncodeInt32(nil, values)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	const rows = 1 << 30
	huge := binary.AppendUvarint([]byte{128, 1, 1}, rows)
	long := strings.Repeat("a", 1<<20)
	lengths, shared := make([]int32, 4000), slices.Repeat([]int32{1 << 20}, 4000)
	lengths[0], shared[0] = 1<<20, 0
	for _, c := range []struct {
		what     string
		kind     format.Type
		encoding format.Encoding
		b        []byte
	}{
		{"numbers", format.Int64, format.DeltaBinaryPacked, append(huge, 0, 0, 0)},
		{"lengths", format.ByteArray, format.DeltaLengthByteArray, append(huge, 0, 0, 0)},
		{"beginnings", format.ByteArray, format.DeltaByteArray, append(huge, 0, 0, 0)},
		{"lengths after beginnings", format.ByteArray, format.DeltaByteArray, slices.Concat(encode(0), huge, []byte{0, 0, 0})},
		{"texts that repeat a long one", format.ByteArray, format.DeltaByteArray,
			slices.Concat(encode(shared...), encode(lengths...), []byte(long))},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := pageOf(c.kind).decode(c.b, rows, c.encoding)
		runtime.ReadMemStats(&after)
		if n := int(after.TotalAlloc - before.TotalAlloc); !errors.Is(err, errDamaged) || n > 64<<20 {
			t.Errorf("%s: error %v, %d bytes allocated", c.what, err, n)
		}
	}
}

// Texts whose beginnings or lengths are of no text are refused, and values of fixed length that have another one.
func TestDamagedTextsAreRefused(t *testing.T) {
	encode := func(shared, lengths []int32) []byte {
		a, errA := parquet.DeltaBinaryPacked.EncodeInt32(nil, shared)
		b, errB := parquet.DeltaBinaryPacked.EncodeInt32(nil, lengths)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		return slices.Concat(a, b, []byte("abcd"))
	}
	fixed := pageOf(format.FixedLenByteArray)
	fixed.size = 3
	if got, err := fixed.decode(encode([]int32{0, 2}, []int32{3, 1}), 2, format.DeltaByteArray); string(got) != "abcabd" || err != nil {
		t.Errorf("%q, error %v", got, err)
	}
	if _, err := fixed.decode(encode([]int32{0, 2}, []int32{3, 0}), 2, format.DeltaByteArray); !errors.Is(err, errDamaged) {
		t.Errorf("a value of two bytes for three: error %v", err)
	}
	for _, c := range [][2][]int32{
		{{1, 0}, {2, 2}}, {{0, 3}, {2, 2}}, {{0, -1}, {2, 2}}, {{0, 0}, {2, 3}}, {{0, 0}, {5, -1}}, {{0}, {2, 2}},
	} {
		if got, err := pageOf(format.ByteArray).decode(encode(c[0], c[1]), 2, format.DeltaByteArray); !errors.Is(err, errDamaged) {
			t.Errorf("beginnings %d, lengths %d: %q, error %v", c[0], c[1], got, err)
		}
	}
	for _, kind := range []format.Type{format.Boolean, format.Double} {
		if _, err := pageOf(kind).decode([]byte("abcd"), 1, format.DeltaByteArray); !errors.Is(err, errUnread) {
			t.Errorf("%v: error %v", kind, err)
		}
	}
}
