package respond

import (
	"bytes"
	"fmt"
	"testing"
)

// BenchmarkEncoders compresses a body of 50 KB with an encoder that has been used before, and with a new one, for each
// content coding.
func BenchmarkEncoders(b *testing.B) {
	var body bytes.Buffer
	for n := 0; body.Len() < 50_000; n++ {
		fmt.Fprintf(&body, `{"account":"0.0.%d","balance":%d,"timestamp":"1779021%03d.%09d","tokens":[]},`,
			1_000+n*7%977, n*n*7_919, n%1_000, n*n*104_729%1_000_000_000)
	}
	parts := [][]byte{body.Bytes()}
	for _, coding := range codings {
		b.Run(coding+"/used", func(b *testing.B) {
			for b.Loop() {
				encode(coding, parts)
			}
		})
		b.Run(coding+"/new", func(b *testing.B) {
			for b.Loop() {
				e, _ := encoders[coding].New().(*encoder)
				e.w.Reset(&e.out)
				_, _ = e.w.Write(parts[0])
				_ = e.w.Close()
			}
		})
	}
}
