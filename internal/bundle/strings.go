package bundle

import (
	"encoding/binary"
	"math"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf/core"
)

// Strings are stored as all lengths, the checksum of the lengths and all bytes.

// stringHead returns what precedes the bytes of strings, and the checksum so
// far. It is one of lengths as numbers, not of the varints.
func stringHead(values []string) (head []byte, crc uint32) {
	for _, s := range values {
		head = binary.AppendUvarint(head, uint64(len(s)))
		crc = extendLength(crc, uint64(len(s)))
	}
	sum := binary.LittleEndian.AppendUint32(nil, record.Mask(crc))
	return append(head, sum...), record.ExtendCRC(crc, sum)
}

func extendLength(crc uint32, n uint64) uint32 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	if n <= math.MaxUint32 {
		return record.ExtendCRC(crc, b[:4])
	}
	return record.ExtendCRC(crc, b[:])
}

// parseStrings fills values from what is stored, and returns its checksum.
func parseStrings(b []byte, values []string) (crc uint32, err error) {
	lengths, err := memory.TryMake[uint64](len(values))
	if err != nil {
		return 0, core.AsError(err)
	}
	for i := range lengths {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return 0, core.Errorf(core.DataLoss, "String lengths longer than expected")
		}
		lengths[i], b = v, b[n:]
		crc = extendLength(crc, v)
	}
	if len(b) < 4 {
		return 0, core.Errorf(core.DataLoss, "String lengths longer than expected")
	}
	if stored := record.Unmask(binary.LittleEndian.Uint32(b)); stored != crc {
		return 0, core.Errorf(core.DataLoss, "The length checksum does not match: expected %08d but actual is %08d", stored, crc)
	}
	crc = record.ExtendCRC(crc, b)
	b = b[4:]
	for i, n := range lengths {
		if n > uint64(len(b)) {
			return 0, core.Errorf(core.DataLoss, "String %d is longer than what is stored", i)
		}
		values[i], b = string(b[:n]), b[n:]
	}
	return crc, nil
}
