package chain

import "fmt"

// Kinds of log entries: the first byte of each.
const (
	kindBlock    = 0x01
	kindCeremony = 0x02
)

// MaxCeremonyEntry bounds a ceremony entry, in bytes.
const MaxCeremonyEntry = 1 << 20

// BlockEntry is the log entry that proposes a block.
func BlockEntry(b *Block) []byte { return append([]byte{kindBlock}, b.Encode()...) }

// CeremonyEntry is the log entry that carries a member's ceremony message, opaque to the chain.
func CeremonyEntry(payload []byte) []byte { return append([]byte{kindCeremony}, payload...) }

// decodeEntry reads a log entry: exactly one of the results is set unless there is an error.
func decodeEntry(entry []byte) (block *Block, ceremony []byte, err error) {
	if len(entry) == 0 {
		return nil, nil, fmt.Errorf("log entry: %w: empty", ErrInvalid)
	}
	payload := entry[1:]
	switch entry[0] {
	case kindBlock:
		block, err = DecodeBlock(payload)
		if err != nil {
			return nil, nil, err
		}
		return block, nil, nil
	case kindCeremony:
		if len(payload) == 0 || len(payload) > MaxCeremonyEntry {
			return nil, nil, fmt.Errorf("log entry: %w: ceremony message of %d bytes; want 1..%d", ErrInvalid, len(payload), MaxCeremonyEntry)
		}
		return nil, payload, nil
	}
	return nil, nil, fmt.Errorf("log entry: %w: unknown kind 0x%02x", ErrInvalid, entry[0])
}
