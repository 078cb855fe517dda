package fees_test

import (
	"runtime"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"heliograph/internal/domain/fees"
)

// BenchmarkIntrinsic parses and estimates a common transaction: a transfer of a token between two accounts with one
// signature.
func BenchmarkIntrinsic(b *testing.B) {
	s, tx := schedule(b), signed(b, transfer(nil, fungible(9)), 1)
	b.ReportAllocs()
	for b.Loop() {
		t, err := fees.Parse(tx)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Estimate(t, fees.Options{Mode: fees.Intrinsic}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestAllocations limits the allocations of an estimate.
func TestAllocations(t *testing.T) { // not parallel: other tests allocate too
	s, tx := schedule(t), signed(t, transfer(nil, fungible(9)), 1)
	got := testing.AllocsPerRun(50, func() {
		if _, err := s.Estimate(parse(t, tx), fees.Options{Mode: fees.Intrinsic}); err != nil {
			t.Fatal(err)
		}
	})
	if got >= 100 {
		t.Errorf("%v allocations, should be below 100", got)
	}
}

// TestMemory checks that the longest accepted transactions use about a hundred times their size in memory at most,
// regardless of their content.
func TestMemory(t *testing.T) {
	repeat := func(b []byte, most int) []byte {
		var out []byte
		for len(out)+len(b) <= most {
			out = append(out, b...)
		}
		return out
	}
	field := func(num protowire.Number, content []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), content)
	}
	const most = fees.MaxBytes - 64
	for name, tx := range map[string][]byte{
		"signatures":      repeat(field(3, field(1, nil)), most),
		"more signatures": field(3, repeat(field(1, nil), most)),
		"token transfers": field(5, field(1, field(14, repeat(field(2, nil), most)))),
		"amounts":         field(5, field(1, field(14, field(1, repeat(field(1, nil), most))))),
		"keys":            field(5, field(1, field(11, field(1, field(6, repeat(field(1, nil), most)))))),
		"metadata":        field(5, field(1, field(37, repeat(field(3, nil), most)))),
		"serials":         field(5, field(1, field(53, field(2, repeat([]byte{1}, most))))),
		"custom fees":     field(5, field(1, field(29, repeat(field(21, nil), most)))),
	} {
		if len(tx) > fees.MaxBytes {
			t.Fatalf("%s: %d bytes", name, len(tx))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if parsed, err := fees.Parse(tx); err == nil {
			// the result does not matter
			_, _ = schedule(t).Estimate(parsed, fees.Options{Mode: fees.State, Facts: nil})
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 128*fees.MaxBytes {
			t.Errorf("%s: %d bytes of memory for %d", name, used, len(tx))
		}
	}
}

// FuzzEstimate searches for input that makes the estimator panic or return an inconsistent estimate.
func FuzzEstimate(f *testing.F) {
	for _, b := range []*body{
		transfer(pay([]byte("aaaaaaaaaaaaaaaaaaaa")), fungible(9), nfts(3, 2)), message(3),
		cryptoCreate(listKey(3), 1), contractUpdate(), fileUpdate(150, 2, 5), tokenCreate(true),
		schedules(true), highVolume(mint(0, 2)), airdrop(fungible(1)), updateTopic(), prng(),
	} {
		f.Add(signed(f, b, 2))
	}
	f.Add([]byte{})
	s := schedule(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		tx, err := fees.Parse(b)
		if err != nil {
			return
		}
		tx.Questions()
		for _, mode := range []fees.Mode{fees.Intrinsic, fees.State} {
			e, err := s.Estimate(tx, fees.Options{Mode: mode, HighVolumeThrottle: int64(len(b)) % 10001})
			if err != nil {
				if _, refused := err.(*fees.InputError); !refused { //nolint:errorlint // must not be wrapped
					t.Errorf("%v", err)
				}
				continue
			}
			if e.Total < 0 || e.Node.Subtotal < 0 || e.Service.Subtotal < 0 || e.Network.Subtotal < 0 ||
				e.HighVolumeMultiplier < 1 {
				t.Errorf("%+v", e)
			}
			for _, c := range append(e.Node.Extras, e.Service.Extras...) {
				if c.Charged < 1 || c.Charged != c.Count-c.Included || c.Subtotal < 0 || c.FeePerUnit < 1 {
					t.Errorf("%+v", c)
				}
			}
		}
	})
}
