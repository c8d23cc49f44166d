// Package digest makes short texts of data that are the same for the same data alone.
package digest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"os"

	"github.com/plrank/plrank/datasets/internal/memory"
	"github.com/plrank/plrank/internal/mapped"
	"github.com/plrank/plrank/internal/parallel"
)

// Digest is bytes to be hashed. Lists are preceded by their lengths, so that no
// two sequences of lists are the same bytes.
type Digest []byte

func (b *Digest) Ints(list []int) {
	*b = binary.AppendVarint(*b, int64(len(list)))
	for _, v := range list {
		*b = binary.AppendVarint(*b, int64(v))
	}
}

func (b *Digest) Strings(list []string) {
	*b = binary.AppendVarint(*b, int64(len(list)))
	*b = append(*b, AppendStrings(nil, list)...)
}

// Floats is two checksums of each block of a list, made on all cores, after its
// length. (SHA-256 of all of it would take several times as long.)
func Floats(values []float32) Digest {
	b := memory.Bytes(values)
	sums := make([]uint64, (len(b)+blockSize-1)/blockSize)
	memory.For(len(sums), func(i int) {
		part := b[i*blockSize : min((i+1)*blockSize, len(b))]
		sums[i] = checksums(part)
		mapped.Done(part)
	})
	return append(binary.AppendVarint(nil, int64(len(values))), ofSums(sums)...)
}

const blockSize = 1 << 20 // bytes

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC is CRC-32C of a block, for which processors have an instruction.
func CRC(block []byte) uint32 { return crc32.Checksum(block, castagnoli) }

// checksums are two of a block, side by side.
func checksums(block []byte) uint64 {
	return uint64(CRC(block))<<32 | uint64(crc32.ChecksumIEEE(block))
}

// ofSums is the checksums of all blocks, to be hashed.
func ofSums(sums []uint64) Digest {
	var all Digest
	for _, sum := range sums {
		all = binary.LittleEndian.AppendUint64(all, sum)
	}
	return all
}

// String is the first digits of the hash.
func (b Digest) String() string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// File reads all of a file, on all cores, for two checksums of each block: at the speed
// of reading, where SHA-256 would take several times as long.
func File(ctx context.Context, f *os.File, size int64) (string, error) {
	n := int((size + blockSize - 1) / blockSize)
	sums := make([]uint64, n)
	workers := parallel.Workers(n)
	room := int(min(blockSize, size))
	blocks := make([]byte, workers*room)
	err := parallel.Each(n, workers, func(worker, i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		from := int64(i) * blockSize
		block := blocks[worker*room:][:min(blockSize, size-from)]
		if _, err := f.ReadAt(block, from); err != nil {
			return err
		}
		sums[i] = checksums(block)
		return nil
	})
	return ofSums(sums).String(), err
}

// AppendStrings appends strings to b, each with its length before it.
func AppendStrings(b []byte, list []string) []byte {
	for _, s := range list {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}
