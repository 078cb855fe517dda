package fees

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/encoding/protowire"
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

// jsonReference, jsonDefinition and jsonSchedule are the JSON form of a schedule.
type (
	jsonReference struct {
		Name     string `json:"name"`
		Included int32  `json:"includedCount"`
	}
	jsonDefinition struct {
		Name   string          `json:"name"`
		Base   int64           `json:"baseFee"`
		Extras []jsonReference `json:"extras"`
		Free   bool            `json:"free"`
		Exempt bool            `json:"nodeNetworkFeeExempt"`
		Rates  *struct {
			Most  int32 `json:"maxMultiplier"`
			Curve *struct {
				Linear *struct {
					Points []struct {
						Utilization int32 `json:"utilizationBasisPoints"`
						Multiplier  int32 `json:"multiplier"`
					} `json:"points"`
				} `json:"piecewiseLinear"`
			} `json:"pricingCurve"`
		} `json:"highVolumeRates"`
	}
	jsonSchedule struct {
		Node struct {
			Base   int64           `json:"baseFee"`
			Extras []jsonReference `json:"extras"`
		} `json:"node"`
		Network struct {
			Multiplier int32 `json:"multiplier"`
		} `json:"network"`
		Unreadable struct {
			Fee int64 `json:"fee"`
		} `json:"unreadable"`
		Extras []struct {
			Name string `json:"name"`
			Fee  int64  `json:"fee"`
		} `json:"extras"`
		Services []struct {
			Name     string           `json:"name"`
			Schedule []jsonDefinition `json:"schedule"`
		} `json:"services"`
	}
)

// writer encodes a protobuf message field by field. It omits zero values, as in proto3.
type writer []byte

func (w writer) num(field protowire.Number, v int64) writer {
	if v == 0 {
		return w
	}
	return protowire.AppendVarint(protowire.AppendTag(w, field, protowire.VarintType), uint64(v))
}

func (w writer) msg(field protowire.Number, v []byte) writer {
	return protowire.AppendBytes(protowire.AppendTag(w, field, protowire.BytesType), v)
}

// references adds references to extras.
func (w writer) references(field protowire.Number, list []jsonReference) (writer, error) {
	for _, r := range list {
		e, err := extraOf(r.Name)
		if err != nil {
			return nil, err
		}
		w = w.msg(field, writer(nil).num(1, int64(e)).num(2, int64(r.Included)))
	}
	return w, nil
}

func extraOf(name string) (Extra, error) {
	for e := range Extra(extras) {
		if e.String() == name {
			return e, nil
		}
	}
	return 0, fmt.Errorf("%w: extra %q is not known", ErrSchedule, name)
}

// EncodeSchedule converts a schedule from JSON to a serialized FeeSchedule, in the same order. It does not validate the schedule.
func EncodeSchedule(text []byte) ([]byte, error) {
	var s jsonSchedule
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%w: reading its JSON form: %w", ErrSchedule, err)
	}
	node, err := writer(nil).num(1, s.Node.Base).references(2, s.Node.Extras)
	if err != nil {
		return nil, err
	}
	w := writer(nil).msg(1, node).msg(2, writer(nil).num(1, int64(s.Network.Multiplier))).msg(3, writer(nil).num(1, s.Unreadable.Fee))
	for _, e := range s.Extras {
		extra, err := extraOf(e.Name)
		if err != nil {
			return nil, err
		}
		w = w.msg(4, writer(nil).num(1, int64(extra)).num(2, e.Fee))
	}
	for _, svc := range s.Services {
		x := writer(nil).msg(1, []byte(svc.Name))
		for i := range svc.Schedule {
			d, err := svc.Schedule[i].encode()
			if err != nil {
				return nil, err
			}
			x = x.msg(2, d)
		}
		w = w.msg(5, x)
	}
	return w, nil
}

// encode returns the serialized ServiceFeeDefinition.
func (d *jsonDefinition) encode() (writer, error) {
	function, known := services.HederaFunctionality_value[d.Name]
	if !known {
		return nil, fmt.Errorf("%w: there is no function %q", ErrSchedule, d.Name)
	}
	flag := map[bool]int64{true: 1}
	w, err := writer(nil).num(1, int64(function)).num(2, d.Base).references(3, d.Extras)
	if err != nil {
		return nil, err
	}
	w = w.num(4, flag[d.Free])
	if r := d.Rates; r != nil {
		rates := writer(nil).num(2, int64(r.Most))
		if r.Curve != nil && r.Curve.Linear != nil {
			var points writer
			for _, p := range r.Curve.Linear.Points {
				points = points.msg(1, writer(nil).num(1, int64(p.Utilization)).num(2, int64(p.Multiplier)))
			}
			rates = rates.msg(3, writer(nil).msg(1, points))
		}
		w = w.msg(5, rates)
	}
	return w.num(6, flag[d.Exempt]), nil
}
