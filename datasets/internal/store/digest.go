package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"os"

	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/internal/memory"
	"github.com/plrank/plrank/internal/parallel"
)

// Digest is bytes to be hashed. Lists are preceded by their lengths, so that no
// two sequences of lists are the same bytes.
type Digest []byte

// DigestNames is a list of numbers and a list of names.
func DigestNames(numbers []int, names []string) Digest {
	b := binary.AppendVarint(nil, int64(len(numbers)))
	for _, v := range numbers {
		b = binary.AppendVarint(b, int64(v))
	}
	return appendStrings(binary.AppendVarint(b, int64(len(names))), names)
}

// DigestLists is lists of names; a nil one is another than an empty one.
func DigestLists(lists [][]string) (b Digest) {
	for _, list := range lists {
		n := int64(len(list))
		if list == nil {
			n = -1
		}
		b = appendStrings(binary.AppendVarint(b, n), list)
	}
	return b
}

// appendStrings appends strings to b, each with its length before it.
func appendStrings(b []byte, list []string) []byte {
	for _, s := range list {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}

// String is the hash.
func (b Digest) String() string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// DigestFloats is hashes of a list, after its length.
func DigestFloats(values []float32) Digest {
	b := memory.Bytes(values)
	sums, _ := hashes(int64(len(b)), func(_ []byte, from, to int64) ([]byte, error) { return b[from:to], nil })
	return append(binary.AppendVarint(nil, int64(len(values))), sums...)
}

// DigestFile is the text of hashes of all of a file.
func DigestFile(ctx context.Context, f *os.File, size int64) (string, error) {
	sums, err := hashes(size, func(room []byte, from, to int64) ([]byte, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		_, err := f.ReadAt(room[:to-from], from)
		return room[:to-from], err
	})
	return sums.String(), err
}

const digestBlock = 1 << 20 // bytes

// hashes returns the SHA-256 of each block of the given number of bytes, made on all cores, for which processors have
// instructions. Nobody can make other bytes with the same, as they can for checksums. Read gives bytes from one to another,
// maybe in the room.
func hashes(size int64, read func(room []byte, from, to int64) ([]byte, error)) (Digest, error) {
	n := int((size + digestBlock - 1) / digestBlock)
	workers, room := parallel.Workers(n), int(min(digestBlock, size))
	rooms, sums := make([]byte, workers*room), make(Digest, sha256.Size*n)
	err := parallel.Each(n, workers, func(worker, i int) error {
		from := int64(i) * digestBlock
		block, err := read(rooms[worker*room:], from, min(from+digestBlock, size))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(block)
		copy(sums[sha256.Size*i:], sum[:])
		file.Relieve()
		return nil
	})
	return sums, err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC is CRC-32C of a block, for which processors have an instruction.
func CRC(block []byte) uint32 { return crc32.Checksum(block, castagnoli) }
