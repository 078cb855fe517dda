package v1

import (
	"context"
	"fmt"
	"net/http"

	"github.com/klauspost/compress/gzip"

	"heliograph/graph/relay"
	"heliograph/graph/scalar"
	"heliograph/graph/server"
	"heliograph/internal/domain/evm/calls"
	"heliograph/rest"
)

// streamTrace writes a trace while its transaction runs. It sends nothing before the transaction was found.
func streamTrace(w http.ResponseWriter, r *rest.Request, run func(context.Context) *server.Result) (*server.Result, bool) {
	t := &traceWriter{w: w}
	res := run(relay.WithTraceSink(r.HTTP.Context(), t))
	if !t.started {
		return res, false
	}
	if res == nil || len(res.Errors) > 0 {
		// The status was sent. Only an aborted connection can signal an incomplete response.
		panic(http.ErrAbortHandler)
	}
	t.end()
	return res, true
}

// traceWriter writes a trace as JSON in gzip.
type traceWriter struct {
	w        http.ResponseWriter
	zip      *gzip.Writer
	buf      []byte
	started  bool
	returned []byte
	steps    int
}

// flushAt is the buffer size in bytes of JSON.
const flushAt = 16 << 10

// Head implements relay.TraceSink.
func (t *traceWriter) Head(trace *calls.OpcodeTrace) error {
	h := t.w.Header()
	h.Set("Content-Type", "application/json;charset=UTF-8")
	h.Set("Content-Encoding", "gzip")
	h.Add("Vary", "Accept-Encoding")
	t.w.WriteHeader(http.StatusOK)
	t.started, t.zip, t.returned = true, gzip.NewWriter(t.w), trace.ReturnValue
	b := t.buf
	b = append(b, `{"address":"`...)
	b = trace.Address.Append(b)
	b = append(b, `","contract_id":`...)
	b = scalar.AppendEntityID(b, trace.ContractID, scalar.REST)
	b = fmt.Appendf(b, `,"failed":%t,"gas":%d,"opcodes":[`, trace.Failed, trace.Gas)
	t.buf = b
	return nil
}

// Step implements relay.TraceSink.
func (t *traceWriter) Step(s *calls.OpcodeStep) error {
	b := t.buf
	t.steps++
	if t.steps > 1 {
		b = append(b, ',')
	}
	b = fmt.Appendf(b, `{"depth":%d,"gas":%d,"gas_cost":%d,"memory":`, s.Depth, s.Gas, s.GasCost)
	b = appendWords(b, s.Memory)
	b = fmt.Appendf(b, `,"op":"%s","pc":%d,"reason":`, s.Op, s.Pc)
	b = scalar.AppendHex(b, s.Reason, scalar.REST)
	b = appendWords(append(b, `,"stack":`...), s.Stack)
	b = append(b, `,"storage":{`...)
	for i, v := range s.Storage {
		if i > 0 {
			b = append(b, ',')
		}
		b = scalar.AppendHex(b, v.Key, scalar.REST)
		b = scalar.AppendHex(append(b, ':'), v.Value, scalar.REST)
	}
	b = append(b, "}}"...)
	t.buf = b
	if len(t.buf) < flushAt {
		return nil
	}
	return t.flush()
}

func appendWords(b []byte, words [][]byte) []byte {
	b = append(b, '[')
	for i, w := range words {
		if i > 0 {
			b = append(b, ',')
		}
		b = scalar.AppendHex(b, w, scalar.REST)
	}
	return append(b, ']')
}

func (t *traceWriter) flush() error {
	_, err := t.zip.Write(t.buf)
	t.buf = t.buf[:0]
	if err != nil {
		return fmt.Errorf("sending a trace: %w", err)
	}
	return nil
}

// end writes the text after the steps. The client may have disconnected.
func (t *traceWriter) end() {
	t.buf = scalar.AppendHex(append(t.buf, `],"return_value":`...), t.returned, scalar.REST)
	t.buf = append(t.buf, '}')
	if t.flush() == nil {
		_ = t.zip.Close()
	}
}
