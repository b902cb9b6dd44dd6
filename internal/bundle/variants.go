package bundle

import (
	"encoding/binary"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Variants are stored one after the other: the length of a message, the message,
// and the checksum of all so far, in which the length is a number of 64 bits.

// variantBytes returns what is stored of variants, and its checksum.
func variantBytes(t *core.Tensor) (b []byte, crc uint32, err error) {
	p, err := core.EncodeTensor(t)
	if err != nil {
		return nil, 0, err
	}
	for _, v := range p.GetVariantVal() {
		m, err := proto.MarshalOptions{Deterministic: true}.Marshal(v)
		if err != nil {
			return nil, 0, err
		}
		b = append(binary.AppendUvarint(b, uint64(len(m))), m...)
		crc = extendVariant(crc, m)
		sum := binary.LittleEndian.AppendUint32(nil, record.Mask(crc))
		b, crc = append(b, sum...), record.ExtendCRC(crc, sum)
	}
	return b, crc, nil
}

func extendVariant(crc uint32, m []byte) uint32 {
	return record.ExtendCRC(record.ExtendCRC(crc, binary.LittleEndian.AppendUint64(nil, uint64(len(m)))), m)
}

// parseVariants returns the variants that are stored in b, and its checksum.
func parseVariants(b []byte, s core.Shape) (t *core.Tensor, crc uint32, err error) {
	p := &pb.TensorProto{Dtype: pb.DataType_DT_VARIANT, TensorShape: core.ShapeProto(s)}
	for i := range s.NumElements() {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) || uint64(len(b)-size)-n < 4 {
			return nil, 0, core.Errorf(core.DataLoss, "Variant %d is longer than what is stored", i)
		}
		m, sum := b[size:size+int(n)], b[size+int(n):][:4]
		b = b[size+int(n)+4:]
		crc = extendVariant(crc, m)
		if stored := record.Unmask(binary.LittleEndian.Uint32(sum)); stored != crc {
			return nil, 0, core.Errorf(core.DataLoss, "The checksum after Variant %d does not match. Expected %d but got %d", i, stored, crc)
		}
		crc = record.ExtendCRC(crc, sum)
		v := &pb.VariantTensorDataProto{}
		if err := proto.Unmarshal(m, v); err != nil {
			return nil, 0, core.Errorf(core.DataLoss, "Variant %d is not parseable", i)
		}
		p.VariantVal = append(p.VariantVal, v)
	}
	t, err = core.TensorFromProto(p)
	return t, crc, err
}
