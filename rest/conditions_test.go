package rest

import "testing"

func TestInstant(t *testing.T) {
	t.Parallel()
	const (
		none     = "No timestamp range or eq operator provided"
		ne       = "Not equals operator not supported for timestamp param"
		lower    = "Multiple gt or gte operators not permitted for timestamp param"
		upper    = "Multiple lt or lte operators not permitted for timestamp param"
		combined = "Cannot combine eq with ne, gt, gte, lt, or lte for timestamp param"
		open     = "Timestamp range must have gt (or gte) and lt (or lte), or eq operator"
		length   = "Timestamp range by the lower and upper bounds must be positive and within 7d"
	)
	for _, c := range []struct {
		name   string
		values []string
		want   string
	}{
		{"nothing", nil, none},
		{"not equal", []string{"ne:1"}, ne},
		{"not equal comes before two bounds", []string{"gt:1", "gt:2", "ne:1"}, ne},
		{"two lower bounds", []string{"gt:1", "gte:2", "lt:3", "lt:3"}, lower},
		{"two upper bounds", []string{"gt:1", "lte:2", "lt:3"}, upper},
		{"an instant with a range", []string{"1", "gt:1"}, combined},
		{"two instants", []string{"1", "2"}, ""},
		{"only a lower bound", []string{"gt:1"}, open},
		{"only an upper bound", []string{"lte:1"}, open},
		{"an empty range", []string{"gt:1", "lt:1.000000001"}, length},
		{"an inverted range", []string{"gte:2", "lte:1"}, length},
		{"one instant as a range", []string{"gte:1", "lte:1"}, ""},
		{"seven days", []string{"gte:1000000000", "lt:1000604800"}, ""},
		{"a nanosecond more", []string{"gte:1000000000", "lte:1000604800"}, length},
		{"seven days between", []string{"gt:1000000000", "lte:1000604800"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var values []Value
			for _, text := range c.values {
				v, ok := ByGroup.read(text)
				if !ok {
					t.Fatalf("%q cannot be read", text)
				}
				values = append(values, v)
			}
			s, err := TimestampsOf(values)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.CheckInstant(); got != c.want {
				t.Errorf("CheckInstant: %q, want %q", got, c.want)
			}
		})
	}
}
