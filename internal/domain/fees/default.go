package fees

import (
	_ "embed"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"heliograph/internal/domain/fees/feepb"
)

// builtIn is the schedule of a new network, as JSON.
//
//go:embed simple_fees.json
var builtIn []byte

// Default returns the schedule of a new network. It is used if the database has none.
func Default() (*Schedule, error) {
	file, err := DefaultFile()
	if err != nil {
		return nil, err
	}
	return ParseSchedule(file)
}

// DefaultFile returns the content of the fee schedule file of a new network: a serialized FeeSchedule.
func DefaultFile() ([]byte, error) { return EncodeSchedule(builtIn) }

// EncodeSchedule converts a schedule from JSON to a serialized FeeSchedule, in the same order. It does not validate the schedule.
func EncodeSchedule(text []byte) ([]byte, error) {
	var s feepb.FeeSchedule
	if err := protojson.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%w: reading its JSON form: %w", ErrSchedule, err)
	}
	b, err := proto.Marshal(&s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchedule, err)
	}
	return b, nil
}
