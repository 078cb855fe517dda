package rest

import "testing"

func TestTimestampRules(t *testing.T) {
	t.Parallel()
	strict := StrictTimestamps()
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
		rules  TimestampRules
		values []string
		want   string
	}{
		{"nothing", strict, nil, none},
		{"nothing needed", TimestampRules{Strict: true, Closed: true}, nil, ""},
		{"not equal", strict, []string{"ne:1"}, ne},
		{"not equal comes before two bounds", strict, []string{"gt:1", "gt:2", "ne:1"}, ne},
		{"not equal allowed", TimestampRules{Strict: true}, []string{"ne:1"}, ""},
		{"two lower bounds", strict, []string{"gt:1", "gte:2", "lt:3", "lt:3"}, lower},
		{"two upper bounds", strict, []string{"gt:1", "lte:2", "lt:3"}, upper},
		{"an instant with a range", strict, []string{"1", "gt:1"}, combined},
		{"an instant with not equal", TimestampRules{Strict: true}, []string{"1", "ne:2"}, combined},
		{"two instants", strict, []string{"1", "2"}, ""},
		{"only a lower bound", strict, []string{"gt:1"}, open},
		{"only an upper bound", strict, []string{"lte:1"}, open},
		{"several bounds where the rules are not strict", TimestampRules{
			Required: true, NoNe: true, Closed: true,
			Bounded: true,
		}, []string{"gt:1", "gt:2", "lt:3"}, ""},
		{"an empty range", strict, []string{"gt:1", "lt:1.000000001"}, length},
		{"an inverted range", strict, []string{"gte:2", "lte:1"}, length},
		{"one instant as a range", strict, []string{"gte:1", "lte:1"}, ""},
		{"seven days", strict, []string{"gte:1000000000", "lt:1000604800"}, ""},
		{"a nanosecond more", strict, []string{"gte:1000000000", "lte:1000604800"}, length},
		{"seven days between", strict, []string{"gt:1000000000", "lte:1000604800"}, ""},
		{"not bounded", TimestampRules{Strict: true, Closed: true}, []string{"gt:1", "lt:1000604800"}, ""},
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
			if got := s.Check(c.rules); got != c.want {
				t.Errorf("Check: %q, want %q", got, c.want)
			}
		})
	}
}
