package finality

// Evidence is two votes of one validator at one height for different blocks: nobody who follows the protocol signs both.
type Evidence struct{ First, Second Vote }

// evidenceSize is the length of encoded evidence.
const evidenceSize = 2 * VoteSize

// Encode returns both votes, the one with the lesser digest first.
func (e Evidence) Encode() []byte {
	first, second := e.First, e.Second
	if string(first.Digest[:]) > string(second.Digest[:]) {
		first, second = second, first
	}
	return append(first.Encode(), second.Encode()...)
}

// DecodeEvidence reads what Encode writes. Whether the signatures verify is for Voters.VerifyEvidence.
func DecodeEvidence(b []byte) (e Evidence, err error) {
	if len(b) != evidenceSize {
		return e, invalid("evidence has %d bytes, not %d", evidenceSize, len(b))
	}
	if e.First, err = DecodeVote(b[:VoteSize]); err != nil {
		return Evidence{}, err
	}
	if e.Second, err = DecodeVote(b[VoteSize:]); err != nil {
		return Evidence{}, err
	}
	if string(e.First.Digest[:]) >= string(e.Second.Digest[:]) {
		return Evidence{}, invalid("evidence: the votes are equal or in the wrong order")
	}
	return e, nil
}

// VerifyEvidence checks that both votes are the same validator's, at one height, for different blocks: ErrInvalid if not.
func (v *Voters) VerifyEvidence(e Evidence) error {
	if e.First.Index != e.Second.Index || e.First.Height != e.Second.Height || e.First.Digest == e.Second.Digest {
		return invalid("evidence: the votes do not conflict")
	}
	if err := v.Verify(e.First); err != nil {
		return err
	}
	return v.Verify(e.Second)
}
